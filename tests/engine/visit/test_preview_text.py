"""Jobs that keep a preview of a page: found by all its words, and nowhere are its sentences."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.adapters.blob.spool import DirectorySpool
from geomi.app import DataDirectory
from geomi.app.index import delete_from_index, open_search_index, prepare_index, update_index
from geomi.app.use.crawl import check_storing
from geomi.app.use.retention import clean
from geomi.engine.enrich.loop import SearchIndex, change_rules, enrich_all, is_behind
from geomi.engine.enrich.search import search
from geomi.engine.visit.preview_text import MAX_TAG_CHARS, shortened
from geomi.engine.visit.record import RecordFields
from geomi.errors import ConfigError, StoreError
from geomi.model.config import CrawlConfig, Storing
from geomi.model.event import PageSettled
from geomi.model.index.analysis import AnalysisRules
from geomi.model.index.document import DocumentState
from geomi.model.index.search import PREVIEW_CHARS, Hit, IndexScope, KeptText
from tests.engine.enrich.test_loop import CountingEmbedder, Falling, rows
from tests.support.crawl import (
    Crawled,
    Ear,
    crawl_in,
    home_in,
    plan,
    profile_config,
    read_records,
)
from tests.support.private_site import traces
from tests.support.server import Reply, Route, Seen, Site
from tests.support.stores import world_with
from tests.support.waiting import waits

OPENING = "A lighthouse keeper writes down what the sea has brought to the shore. "
# 1,000 characters further on, and still in the first chunk of its page.
SENTENCE = "The grey heron keeps seventeen brass keys under the third stair of the tower."
BETWEEN = [
    f"On day {day} the {thing} came in with the tide and was put on the shelf by the window."
    for day, thing in enumerate("rope crate oar bottle hat plank chair lamp net coin boot".split())
]
NEEDLES = (
    b"heron keeps seventeen", b"under the third stair", b"keys under", b"seventeen brass",
)  # fmt: skip
QUERY = "heron brass keys stair"
PREVIEW = ("store.text=preview", "analysis.quality_threshold=0")


def lighthouse(name: str = "light", sentence: str = SENTENCE, *links: str) -> Reply:
    """Make a page that says the sentence in its text, and in every other place that is read."""
    told = [
        {"@context": "https://schema.org", "@type": "Article", "articleBody": sentence},
        {
            "@context": "https://schema.org",
            "@type": "FAQPage",
            "mainEntity": [
                {
                    "@type": "Question",
                    "name": "Who keeps the keys?",
                    "acceptedAnswer": {"@type": "Answer", "text": sentence},
                }
            ],
        },
    ]
    data = "".join(f"<script type='application/ld+json'>{json.dumps(one)}</script>" for one in told)
    tag = f"<meta property='og:long' content='{'Well. ' * 40}{sentence}'>"
    text = OPENING + " ".join([*BETWEEN, sentence, "The storm came later that night."])
    anchors = f"<a href='/'>{sentence}</a>" + "".join(f"<a href='{link}'>x</a>" for link in links)
    return Reply(
        f"<html lang=en><head><title>{name}</title>{tag}{data}</head><body><main><h1>{name}</h1>"
        f"<p>{text}</p><p>{anchors}</p></main></body></html>".encode()
    )


async def crawl_previews(home: DataDirectory, ear: Ear, site: Site, *assignments: str) -> Crawled:
    formats = "md,jsonl,warc,llms,llms-full,cdxj"
    asked = plan([site.url("/")], assignments=(*PREVIEW, *assignments), format=formats)
    return await crawl_in(home, ear, asked)


async def hits(search_index: SearchIndex, text: str = QUERY) -> tuple[Hit, ...]:
    return (await search(search_index.index, text)).hits


def waiting(root: Path) -> list[Path]:
    return sorted(path for path in (root / "spool").rglob("*") if path.is_file())


def bags(root: Path) -> Iterator[bytes]:
    """Yield the words that an index keeps packed."""
    for path in (root / "index").rglob("*.db"):
        with closing(sqlite3.connect(path)) as db:
            for (bag,) in db.execute("SELECT bag FROM chunks"):
                yield zlib.decompress(bag)


class TestKeeping:
    """What is left, and what can be done with it."""

    @pytest.mark.req("LEG-01", "DAT-06", "IDX-03", "IDX-04", "C-39")
    @pytest.mark.parametrize("has_vectors", [False, True], ids=["words", "vectors"])
    @waits
    async def test_found_by_all_words_and_no_sentence_is_left(
        self, tmp_path: Path, has_vectors: bool
    ) -> None:
        ear, embedder = Ear(), CountingEmbedder()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as plain:
            search_index = replace(plain, embedder=embedder) if has_vectors else plain
            with Site({"/": lighthouse("light", SENTENCE, "/2"), "/2": lighthouse("two")}) as at:
                crawled = await crawl_previews(home, ear, at)
            assert len(waiting(tmp_path)) == len(crawled.records) == 2
            assert await enrich_all(home.world, search_index) == 2
            (hit, *_) = await hits(search_index)
            assert hit.passage.url == crawled.urls[0]
            assert OPENING.startswith(hit.snippet.text[:40]) or "light" in hit.snippet.text
            assert len(hit.snippet.text) <= 200
            counts = await search_index.index.count()
            assert bool(counts.vectors) == has_vectors
            assert not has_vectors or SENTENCE in embedder.asked[0][0]
        assert waiting(tmp_path) == []
        assert list(traces(tmp_path, NEEDLES)) == []
        for bag in bags(tmp_path):
            assert b"heron" in bag and bag.split() == sorted(bag.split())
        for record in read_records(tmp_path):
            _check(record)
        (page, *_) = sorted((tmp_path / "md").rglob("*.md"))
        assert "lighthouse keeper" in page.read_text()

    @waits
    async def test_what_was_understood_is_of_the_whole_text_and_holds_none_of_it(
        self, tmp_path: Path
    ) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site({"/": lighthouse()}) as site:
                await crawl_previews(home, ear, site)
            await enrich_all(home.world, search_index)
            (row,) = (await rows(home.world)).values()
            told = json.loads(row.analysis)
            assert row.state is DocumentState.INDEXED and row.detail == "no rule excludes it"
            assert told["read"]["is_whole"] and told["quality"]["overall"] == row.quality
            assert len(told["summary"]["long"]) <= PREVIEW_CHARS
            assert told["summary"]["short"] in OPENING + " ".join(BETWEEN)

    @waits
    async def test_a_job_that_indexes_nothing_keeps_the_preview_alone(self, tmp_path: Path) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home:
            with Site({"/": lighthouse()}) as site:
                await crawl_previews(home, ear, site, "analysis.index=false")
            assert list(traces(tmp_path, NEEDLES)) == [] == waiting(tmp_path)

    @waits
    async def test_a_job_that_keeps_everything_is_full_of_traces(self, tmp_path: Path) -> None:
        """Else the search for them would prove nothing."""
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site({"/": lighthouse()}) as site:
                await crawl_previews(home, ear, site, "store.text=full")
            await enrich_all(home.world, search_index)
        named = {name.partition(".")[2] for name, _ in traces(tmp_path, NEEDLES)}
        assert named >= {"jsonl", "md", "txt", "db"}
        assert any(name.endswith("warc.gz") for name in named)

    def test_responses_and_previews_exclude_each_other(self) -> None:
        store = Storing(raw=True, text=KeptText.PREVIEW)
        with pytest.raises(ConfigError, match=r"store.raw = true demands them"):
            check_storing(CrawlConfig(store=store))
        check_storing(CrawlConfig(store=replace(store, raw=False)))

    def test_the_profile_of_documentation(self) -> None:
        assert profile_config("docs").store.is_preview
        assert not CrawlConfig().store.is_preview


def _check(record: dict[str, object]) -> None:
    assert len(str(record["markdown"])) <= PREVIEW_CHARS
    assert all(link["text"] == "" for link in record["links"])  # type: ignore[attr-defined]
    told = record["metadata"]
    assert isinstance(told, dict)
    assert told["preview_of"] > 1000
    assert not {"things", "headings", "og:long"} & told.keys()
    assert not [name for name in told if name.startswith(("ld:", "item:"))]


@pytest.mark.parametrize(
    ("field", "value", "kept"),
    [
        ("og:title", "x" * MAX_TAG_CHARS, True),
        ("og:title", "x" * (MAX_TAG_CHARS + 1), False),
        ("og:image", "https://a.test/" + "x" * MAX_TAG_CHARS, True),
        ("words", 12, True),
        ("things", ["x"], False),
        ("ld:Product.name", "x", False),
        ("item:Product.name", "x", False),
    ],
)
def test_what_a_preview_keeps_of_metadata(field: str, value: object, kept: bool) -> None:
    fields: RecordFields = {  # type: ignore[typeddict-item]  # what else a record has does not matter
        "title": "t" * (PREVIEW_CHARS + 1),
        "description": "d" * (PREVIEW_CHARS + 1),
        "markdown": "m" * (PREVIEW_CHARS + 1),
        "links": [{"url": "https://a.test/", "text": "x", "rel": "", "internal": True}],
        "metadata": {field: value},
    }
    short = shortened(fields, until_s=None)
    assert (field in short["metadata"]) is kept
    assert "whole_until" not in short["metadata"]
    assert short["metadata"]["preview_of"] == PREVIEW_CHARS + 1
    for name in ("title", "description", "markdown"):
        assert len(short[name]) <= PREVIEW_CHARS
    assert short["links"][0]["text"] == ""


class TestFalls:
    """Wherever it ends, no page is lost and no text stays."""

    @pytest.mark.parametrize(
        "place", ["index.put", "documents.put", "spool.drop", "pages.advance", "index.vectors"]
    )
    @waits
    async def test_a_fall_while_enriching(self, tmp_path: Path, place: str) -> None:
        ear, embedder = Ear(), CountingEmbedder()
        part, _, method = place.partition(".")
        async with home_in(tmp_path, ear) as home, open_search_index(home) as plain:
            search_index = replace(plain, embedder=embedder) if method == "vectors" else plain
            with Site({"/": lighthouse()}) as site:
                await crawl_previews(home, ear, site)
            world, broken = home.world, search_index
            if method == "vectors":
                broken = replace(search_index, embedder=Falling(embedder, "embed", 1))  # type: ignore[arg-type]
            elif part == "index":
                broken = replace(search_index, index=Falling(search_index.index, method, 1))  # type: ignore[arg-type]
            elif part == "spool":
                world = replace(world, spool=Falling(world.spool, method, 1))  # type: ignore[arg-type]
            else:
                falling = Falling(getattr(world.store, part), method, 1)
                world = world_with(world, **{part: falling})
            with pytest.raises(ConnectionResetError):
                await enrich_all(world, broken)
            await enrich_all(home.world, search_index)
            assert not await is_behind(home.world, search_index)
            assert len(await hits(search_index)) == 1
            (row,) = (await rows(home.world)).values()
            assert json.loads(row.analysis)["read"]["is_whole"]
            assert (await search_index.index.count()).vectors == (method == "vectors")
            assert waiting(tmp_path) == []

    @waits
    async def test_a_text_that_nothing_points_at_goes_in_time(self, tmp_path: Path) -> None:
        """Whoever is killed between the spool and the settlement leaves one."""
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            now_s = int(home.world.clock.wall_s())
            left = {f"{now_s - 1}-{'a' * 32}": b"over", f"{now_s + 60}-{'b' * 32}": b"not yet"}
            for job in ("job-1", "job-2"):
                await home.world.spool.put(job, left)
            await update_index(home, search_index)
            assert [path.name[-1] for path in waiting(tmp_path)] == ["b", "b"]
            await home.world.spool.put("job-1", left)
            await clean(home)
            assert [path.name[-1] for path in waiting(tmp_path)] == ["b", "b"]

    @waits
    async def test_a_spool_that_is_away_costs_no_page(self, tmp_path: Path) -> None:
        class Away(DirectorySpool):
            async def put(self, job: str, texts: Mapping[str, bytes]) -> None:
                raise StoreError("the bucket cannot be used")

            async def sweep(self, *, wall_s: float) -> int:
                raise StoreError("the bucket cannot be used")

        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            away = replace(home, world=replace(home.world, spool=Away(tmp_path)))
            with Site({"/": lighthouse()}) as site:
                await crawl_previews(away, ear, site)
            assert any("1 texts cannot wait" in warning for warning in ear.warnings)
            assert "the bucket cannot be used" in ear.warnings
            await update_index(away, search_index)
            assert len(await hits(search_index, "lighthouse keeper")) == 1

    @pytest.mark.parametrize("setting", ["store.whole_text_s=0", "store.whole_text_s=1"])
    @waits
    async def test_a_page_whose_text_is_gone_is_found_by_its_preview_and_says_so(
        self, tmp_path: Path, setting: str
    ) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site({"/": lighthouse()}) as site:
                await crawl_previews(home, ear, site, setting)
            await home.world.spool.sweep(wall_s=home.world.clock.wall_s() + 2)
            assert waiting(tmp_path) == []
            await enrich_all(home.world, search_index)
            (row,) = (await rows(home.world)).values()
            assert row.state is DocumentState.INDEXED and row.quality is None
            assert "it analysed the preview alone" in row.detail
            assert await hits(search_index) == ()
            assert len(await hits(search_index, "lighthouse keeper")) == 1


def tagged(seen: Seen) -> Reply:
    """Answer 304 to whoever has the page."""
    if seen.headers.get("if-none-match") == '"1"':
        return Reply(status=304, headers=(("ETag", '"1"'),))
    return replace(lighthouse(), headers=(("ETag", '"1"'),))


class TestAgain:
    """The same page once more, when its text is no longer here."""

    @pytest.mark.req("HTTP-08", "LEG-02", "STO-05")
    @waits
    async def test_what_was_made_of_a_text_stays_while_the_text_does(self, tmp_path: Path) -> None:
        ear = Ear()
        routes: dict[str, Route] = {"/": tagged}
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site(routes) as site:
                first = await crawl_previews(home, ear, site)
                await enrich_all(home.world, search_index)
                second = await crawl_previews(home, ear, site)
                assert ear.of(PageSettled)[-1].outcome == "not_modified"
                assert waiting(tmp_path) == []
                await enrich_all(home.world, search_index)
                (row,) = (await rows(home.world)).values()
                assert row.job == second.report.job.id and row.quality is not None
                await delete_from_index(home, IndexScope.JOB, [first.report.job.id])
                assert len(await hits(search_index)) == 1
                other = "A red kite left four silver spoons behind the second door at noon."
                routes["/"] = lambda _: lighthouse("light", other)
                await crawl_previews(home, ear, site)
            await enrich_all(home.world, search_index)
            assert await hits(search_index) == ()
            assert len(await hits(search_index, "silver spoons")) == 1

    @waits
    async def test_what_was_not_indexed_whole_is_asked_for_whole(self, tmp_path: Path) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site({"/": tagged}) as site:
                await crawl_previews(home, ear, site, "store.whole_text_s=0")
                await enrich_all(home.world, search_index)
                assert await hits(search_index) == ()
                await crawl_previews(home, ear, site)
                assert ear.of(PageSettled)[-1].outcome == "ok"
            await enrich_all(home.world, search_index)
            assert len(await hits(search_index)) == 1

    @waits
    async def test_other_rules_do_not_replace_a_text_by_its_preview(self, tmp_path: Path) -> None:
        ear = Ear()

        def shorter(config: CrawlConfig) -> CrawlConfig:
            rules: AnalysisRules = replace(config.analysis, min_chars=50)
            return replace(config, analysis=rules)

        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site({"/": lighthouse()}) as site:
                await crawl_previews(home, ear, site)
            await enrich_all(home.world, search_index)
            await change_rules(home.world, shorter)
            await update_index(home, search_index)
            await prepare_index(home, search_index, again=True)
            await update_index(home, search_index)
            assert len(await hits(search_index)) == 1
            (row,) = (await rows(home.world)).values()
            assert row.quality is not None
