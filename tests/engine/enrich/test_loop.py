"""The enrich loop: it follows a crawl, ends where it should after any fall, and never goes back."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from geomi.app import DataDirectory
from geomi.app.index import delete_from_index, open_search_index, prepare_index, update_index
from geomi.engine.enrich.document import version_of
from geomi.engine.enrich.follower import PAGES_PER_SHARE
from geomi.engine.enrich.loop import enrich_all, is_behind
from geomi.engine.enrich.search import search
from geomi.engine.inspect.why import explain
from geomi.engine.world import World
from geomi.model.event import Enriched
from geomi.model.index.document import DocumentFilter, DocumentRow, DocumentState
from geomi.model.index.search import IndexScope
from geomi.model.job import CrawlJob
from geomi.model.page import CaptureShare, Ref
from geomi.ports.index import Index
from geomi.ports.models import OnAnswer, unheard
from geomi.url.parse import split as split_url
from tests.support.crawl import Crawled, Ear, crawl_in, home_in, page, plan
from tests.support.server import Reply, Site
from tests.support.stores import world_with
from tests.support.waiting import waits

NOUNS = (
    "bridge river cart summer arch stone railing town visitor toll egg village book answer miller "
    "harbour ladder window orchard candle winter letter meadow barrel ferry lantern garden clock"
).split()
DEEDS = (
    "carried built painted repaired sold borrowed measured counted opened forgot drew kept".split()
)


def told(name: str, *links: str) -> Reply:
    """Make a page of its own, worth indexing, that has one word which no other page has."""
    rng = random.Random(name)
    sentences = [
        f"In the {rng.choice(NOUNS)} the {name} {rng.choice(DEEDS)} a {rng.choice(NOUNS)} and a "
        f"{rng.choice(NOUNS)} that nobody {rng.choice(DEEDS)} before the {rng.choice(NOUNS)}."
        for _ in range(14)
    ]
    return page(name, *links, text=" ".join(sentences))


def village(pages: int) -> dict[str, Reply]:
    """Make a site of so many pages, each with a word of its own."""
    links = [f"/p{number}" for number in range(1, pages)]
    return {"/": told("start", *links)} | {
        f"/p{number}": told(f"p{number}word") for number in range(1, pages)
    }


async def crawl_all(home: DataDirectory, ear: Ear, site: Site, *assignments: str) -> Crawled:
    every = (
        "analysis.quality_threshold=0",
        *assignments,
    )  # how good a page is, is tested elsewhere
    return await crawl_in(home, ear, plan([site.url("/")], assignments=every))


async def rows(world: World) -> dict[str, DocumentRow]:
    """Return a store's documents by the last part of their URLs."""
    found = await world.store.documents.list(DocumentFilter(), after="", limit=1000)
    return {row.url.rpartition("/")[2]: row for row in found}


async def found(index: Index, text: str) -> list[str]:
    return [hit.passage.url.rpartition("/")[2] for hit in (await search(index, text)).hits]


class TestFollowing:
    """From captures to documents and answers."""

    @pytest.mark.req("ANA-01", "IDX-05", "IDX-06", "WF-05")
    @waits
    async def test_what_was_collected_can_be_found(self, tmp_path: Path) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site(village(PAGES_PER_SHARE + 8)) as site:
                crawled = await crawl_all(home, ear, site)
            assert await is_behind(home.world, search_index)
            assert await enrich_all(home.world, search_index) == PAGES_PER_SHARE + 8
            assert not await is_behind(home.world, search_index)
            documents = await rows(home.world)
            assert {row.state for row in documents.values()} == {DocumentState.INDEXED}
            assert {row.job for row in documents.values()} == {crawled.report.job.id}
            assert (await found(search_index.index, "p7word"))[0] == "p7"
            assert sum(event.indexed for event in ear.of(Enriched)) == PAGES_PER_SHARE + 8

    @pytest.mark.req("ANA-13", "ANA-22", "DUP-06", "CFG-16", "CTY-10")
    @waits
    async def test_what_is_not_worth_it_has_a_reason_and_its_links_were_followed(
        self, tmp_path: Path
    ) -> None:
        ear = Ear()
        routes = {"/": page("thin", "/good", text="Too little."), "/good": told("good")}
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site(routes) as site:
                crawled = await crawl_all(home, ear, site)
            await enrich_all(home.world, search_index)
            documents = await rows(home.world)
            assert (documents[""].state, documents[""].reason) == ("skipped", "too_short")
            assert "analysis.min_chars is 100" in documents[""].detail
            assert documents["good"].state is DocumentState.INDEXED
            assert await found(search_index.index, "little") == []
            assert await found(search_index.index, "good") == ["good"]
            job = crawled.report.job
            why = await explain(home.world, job, split_url(documents[""].url), [])
            last = why.steps[-1]
            assert (last.name, last.verdict.admitted) == ("index", False)
            assert "skipped in collection default" in last.verdict.detail
            assert why.answer == "fetched and kept"

    @waits
    async def test_jobs_that_want_no_index_have_no_documents(self, tmp_path: Path) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site(village(3)) as site:
                await crawl_all(home, ear, site, "analysis.index=false")
            assert await enrich_all(home.world, search_index) == 0
            assert await rows(home.world) == {}

    @pytest.mark.req("CHK-04", "CTY-09", "C-73")
    @waits
    async def test_chunks_are_the_markdown_up_to_its_limit(self, tmp_path: Path) -> None:
        """What stands behind the first 100,000 characters is collected, and not found."""
        ear = Ear()
        filler = "".join(
            f"<p>On day {day} the {word} {deed}.</p>"
            for day in range(30)
            for word in NOUNS
            for deed in DEEDS
        )
        listing = "<pre><code class=language-sh>loom --thread silk</code></pre>"
        body = f"<h2>Threads</h2>{listing}{filler}<p>A xylophone at last.</p>"
        routes = {"/": Reply(f"<title>Looms</title><main>{body}</main>".encode())}
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site(routes) as site:
                crawled = await crawl_all(home, ear, site)
            assert "xylophone" in crawled.records[0]["markdown"][100_000:]
            await enrich_all(home.world, search_index)
            (hit, *_) = (await search(search_index.index, "loom thread silk")).hits
            assert "```sh\nloom --thread silk\n```" in hit.passage.text
            assert hit.passage.headings == ("Threads",)
            assert await found(search_index.index, "xylophone") == []
            assert (await rows(home.world))[""].chunks > 50

    @pytest.mark.req("CFG-18", "IDX-05")
    @waits
    async def test_the_collection_of_a_job(self, tmp_path: Path) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site(village(3)) as site:
                await crawl_all(home, ear, site, "analysis.collection=manuals")
            await enrich_all(home.world, search_index)
            assert [one.collection for one in await home.world.store.documents.collections()] == [
                "manuals"
            ]
            (hit, *_) = (await search(search_index.index, "bridge")).hits
            assert hit.passage.collection == "manuals"


@dataclass
class Falling:
    """A part that falls once, at a certain call."""

    real: object
    name: str
    at: int
    calls: int = 0

    def __getattr__(self, name: str) -> object:
        found = getattr(self.real, name)
        if name != self.name:
            return found

        async def call(*arguments: object, **named: object) -> object:
            self.calls += 1
            if self.calls == self.at:
                raise ConnectionResetError(self.name)
            return await found(*arguments, **named)

        return call


@dataclass
class Stuck:
    """An index that hangs while another process takes what is in hand."""

    real: Index
    world: World
    is_cancelled: bool = False

    def __getattr__(self, name: str) -> object:
        return getattr(self.real, name)

    async def put(self, documents: Sequence[object]) -> None:
        await self.world.store.workers.leave([self.world.owner])
        held = await other_claim(self.world)
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            self.is_cancelled = True
            raise
        finally:
            await self.world.store.shares.settle(held, held.after)


async def other_claim(world: World, many: int = 32) -> CaptureShare:
    """Lend captures of the only job to another process."""
    (job,) = await world.store.jobs.list(limit=2)
    work, now_s = f"enrich {version_of(job.config.analysis)}", world.clock.now_s()
    share = await world.store.shares.claim(
        job.id, work, owner="w-other", until_s=now_s + 60, now_s=now_s, many=many
    )
    assert share is not None
    return share


class TestFalls:
    """Wherever it ends, it goes on as if it had not."""

    @pytest.mark.parametrize("at", [1, 2])
    @pytest.mark.parametrize("place", ["index.put", "documents.put", "shares.settle"])
    @waits
    async def test_a_fall_between_two_steps_changes_nothing(
        self, tmp_path: Path, place: str, at: int
    ) -> None:
        ear = Ear()
        part, _, method = place.partition(".")
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site(village(PAGES_PER_SHARE + 5)) as site:
                await crawl_all(home, ear, site)
            world, broken = replace(home.world, owner="w-fallen"), search_index
            if part == "index":
                falling = Falling(search_index.index, method, at)
                broken = replace(search_index, index=falling)  # type: ignore[arg-type]
            else:
                falling = Falling(getattr(world.store, part), method, at)
                world = world_with(world, **{part: falling})
            with pytest.raises(ConnectionResetError):
                await enrich_all(world, broken)
            await home.world.store.workers.leave(["w-fallen"])
            await enrich_all(home.world, search_index)
            assert not await is_behind(home.world, search_index)
            documents = await rows(home.world)
            assert len(documents) == PAGES_PER_SHARE + 5
            counts = await search_index.index.count()
            assert counts.documents == len(documents)
            assert counts.chunks == sum(row.chunks for row in documents.values())

    @pytest.mark.req("ERR-17", "WF-06")
    @waits
    async def test_a_record_that_cannot_be_understood_costs_itself_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site(village(3)) as site:
                await crawl_all(home, ear, site)
            archive, read = home.world.archive, home.world.archive.read

            async def spoilt(ref: Ref) -> bytes:
                record = await read(ref)
                return record.replace(b'"title"', b'"tidle"') if b"p1word" in record else record

            monkeypatch.setattr(archive, "read", spoilt)
            await enrich_all(home.world, search_index)
            documents = await rows(home.world)
            assert documents["p1"].state is DocumentState.FAILED
            assert "title" in documents["p1"].detail
            assert documents["p2"].state is DocumentState.INDEXED

    @waits
    async def test_what_another_has_in_hand_is_left_to_it(self, tmp_path: Path) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site(village(3)) as site:
                await crawl_all(home, ear, site)
            held = await other_claim(home.world, 1)
            assert await enrich_all(home.world, search_index) == 2
            assert await is_behind(home.world, search_index)
            assert await home.world.store.shares.settle(held, held.after)
            assert await enrich_all(home.world, search_index) == 1
            assert not await is_behind(home.world, search_index)

    @waits
    async def test_who_loses_a_share_stops_at_once(self, tmp_path: Path) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site(village(3)) as site:
                await crawl_all(home, ear, site)
            world = replace(home.world, owner="w-slow", silence_s=0.3)
            stuck = Stuck(search_index.index, world)
            slow = replace(search_index, index=stuck)  # type: ignore[arg-type]
            assert await enrich_all(world, slow) == 0
            assert stuck.is_cancelled
            assert await enrich_all(home.world, search_index) == 3

    @waits
    async def test_told_to_leave_it_keeps_the_batch_under_way(self, tmp_path: Path) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site(village(PAGES_PER_SHARE + 5)) as site:
                await crawl_all(home, ear, site)
            leave = asyncio.Event()
            put = search_index.index.put

            async def leave_after(documents: Sequence[object]) -> None:
                await put(documents)  # type: ignore[arg-type]
                leave.set()

            index = Falling(search_index.index, "", 0)
            index.put = leave_after  # type: ignore[attr-defined]
            leaving = replace(search_index, index=index)  # type: ignore[arg-type]
            assert await enrich_all(home.world, leaving, leave=leave) == PAGES_PER_SHARE
            assert await enrich_all(home.world, search_index) == 5

    @waits
    async def test_an_index_that_is_lost_is_made_again(self, tmp_path: Path) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home:
            async with open_search_index(home) as search_index:
                with Site(village(4)) as site:
                    await crawl_all(home, ear, site)
                await update_index(home, search_index)
            for file in (tmp_path / "index").iterdir():
                file.unlink()
            async with open_search_index(home) as search_index:
                assert await update_index(home, search_index) == 4
                assert (await found(search_index.index, "p2word"))[0] == "p2"
                assert await update_index(home, search_index) == 0
                await prepare_index(home, search_index, again=True)
                assert await update_index(home, search_index) == 4


class TestChanges:
    """What is known gives way to what is newer, in time and in rules."""

    @pytest.mark.req("LEG-02")
    @waits
    async def test_a_page_that_changed_replaces_what_it_said(self, tmp_path: Path) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            routes = {"/": told("oldword")}
            with Site(routes) as site:
                first = await crawl_all(home, ear, site)
                await enrich_all(home.world, search_index)
                routes["/"] = told("newword")
                second = await crawl_all(home, ear, site)
                assert second.report.job.id != first.report.job.id
            await enrich_all(home.world, search_index)
            assert await found(search_index.index, "newword") == [""]
            assert await found(search_index.index, "oldword") == []
            # The first job understood anew must not bring back what the second replaced.
            await home.world.store.pages.advance(
                first.report.job.id, _cursor(first.report.job), after=1, seq=0, length=0
            )
            await enrich_all(home.world, search_index)
            assert await found(search_index.index, "oldword") == []

    @waits
    async def test_a_page_that_is_no_longer_worth_it_is_taken_out(self, tmp_path: Path) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            routes = {"/": told("goodword")}
            with Site(routes) as site:
                await crawl_all(home, ear, site)
                await enrich_all(home.world, search_index)
                routes["/"] = page("goodword", text="Gone fishing.")
                await crawl_all(home, ear, site)
            await enrich_all(home.world, search_index)
            assert (await rows(home.world))[""].state is DocumentState.SKIPPED
            assert (await search_index.index.count()).documents == 0

    @waits
    async def test_other_rules_understand_all_pages_anew(self, tmp_path: Path) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site(village(3)) as site:
                job = (await crawl_all(home, ear, site)).report.job
            await enrich_all(home.world, search_index)
            strict = replace(job.config.analysis, quality_threshold=10.0)
            config = replace(job.config, analysis=strict)
            await home.world.store.jobs.update(replace(job, config=config))
            assert await enrich_all(home.world, search_index) == 3
            assert {row.reason for row in (await rows(home.world)).values()} == {"quality"}
            assert (await search_index.index.count()).documents == 0

    @pytest.mark.parametrize("end", ["gone", "noindex"])
    @waits
    async def test_a_page_that_is_gone_is_found_no_more(self, tmp_path: Path, end: str) -> None:
        ear = Ear()
        routes = village(3)
        async with home_in(tmp_path, ear) as home, open_search_index(home) as search_index:
            with Site(routes) as site:
                await crawl_all(home, ear, site)
                await enrich_all(home.world, search_index)
                assert "p1" in await rows(home.world)
                if end == "gone":
                    del routes["/p1"]
                else:
                    noindex = "<meta name=robots content=noindex>"
                    routes["/p1"] = page("p1word", head=noindex)
                await crawl_all(home, ear, site)
            await enrich_all(home.world, search_index)
            assert set(await rows(home.world)) == {"", "p2"}
            assert "p1" not in await found(search_index.index, "p1word")

    @waits
    async def test_a_job_that_is_forgotten_is_found_no_more(self, tmp_path: Path) -> None:
        ear = Ear()
        async with home_in(tmp_path, ear) as home:
            async with open_search_index(home) as search_index:
                with Site(village(3)) as site:
                    job = (await crawl_all(home, ear, site)).report.job
                await enrich_all(home.world, search_index)
            await delete_from_index(home, IndexScope.JOB, [job.id])
            await home.world.store.jobs.delete(job.id)
            assert await rows(home.world) == {}
            async with open_search_index(home) as search_index:
                assert await found(search_index.index, "p1word") == []
            files = b"".join(file.read_bytes() for file in (tmp_path / "index").iterdir())
            assert b"p1word" not in files


def _cursor(job: CrawlJob) -> str:
    return f"enrich {version_of(job.config.analysis)}"


class CountingEmbedder:
    """Vectors of no meaning, and a list of what was asked for."""

    name, dimensions, languages = "counting", 4, frozenset({"en"})

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    async def embed(
        self, texts: Sequence[str], *, is_query: bool = False, on_answer: OnAnswer = unheard
    ) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        on_answer(sum(map(len, texts)))
        return np.full((len(texts), 4), 0.5, np.float32)


class TestVectors:
    """They come after, in batches, for languages that the embedder knows."""

    @pytest.mark.req("EMB-01", "EMB-04")
    @waits
    async def test_only_what_is_new_is_embedded(self, tmp_path: Path) -> None:
        ear, embedder = Ear(), CountingEmbedder()
        async with home_in(tmp_path, ear) as home, open_search_index(home) as plain:
            search_index = replace(plain, embedder=embedder)
            routes = village(4)
            with Site(routes) as site:
                await crawl_all(home, ear, site)
                await enrich_all(home.world, search_index)
                counts = await search_index.index.count()
                assert counts.vectors == counts.chunks == 4
                assert max(map(len, embedder.asked)) <= 25
                embedder.asked.clear()
                routes["/p1"] = told("changedword")
                await crawl_all(home, ear, site)
            await enrich_all(home.world, search_index)
            (texts,) = embedder.asked
            assert len(texts) == 1 and "changedword" in texts[0]

    @waits
    async def test_other_languages_have_none(self, tmp_path: Path) -> None:
        ear, embedder = Ear(), CountingEmbedder()
        korean = "다리는 한 여름에 손으로 지었고 지금도 매일 아침 수레가 강을 건넌다. " * 8
        routes = {"/": Reply(f"<html lang=ko><title>다리</title><main><p>{korean}".encode())}
        async with home_in(tmp_path, ear) as home, open_search_index(home) as plain:
            search_index = replace(plain, embedder=embedder)
            with Site(routes) as site:
                await crawl_all(home, ear, site, "analysis.quality_threshold=0")
            await enrich_all(home.world, search_index)
            counts = await search_index.index.count()
            assert (counts.documents, counts.vectors) == (1, 0)
            assert embedder.asked == []
