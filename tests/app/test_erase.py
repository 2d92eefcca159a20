"""Erasing a site leaves no byte of it, and every byte of all others, also when it is cut short."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.adapters.blob.cdxj import index_lines
from geomi.adapters.machine.presence import PresenceLock
from geomi.app import DataDirectory
from geomi.app.index import open_search_index
from geomi.app.use.deletion import MAX_REASON_CHARS, SiteHoldings, erase_site, site_holdings
from geomi.engine.enrich.loop import enrich_all
from geomi.engine.enrich.search import search
from geomi.errors import ConfigError, StoreBusy
from geomi.model.site import Takedown
from tests.engine.enrich.test_loop import Falling
from tests.engine.visit.test_preview_text import waiting
from tests.support.crawl import Crawled, Ear, crawl_in, home_in, page, plan, read_records
from tests.support.server import Site
from tests.support.stores import directory_with
from tests.support.waiting import waits

OURS, THEIRS = "the quiet canary in the north", "a bold magpie of the south"
FORMS = "md,jsonl,warc,llms,llms-full,cdxj"


def north() -> Site:
    return Site(
        {
            "/": page("north", "/a", text=f"First, {OURS} one. " * 30),
            "/a": page("north-a", text=f"Then, {OURS} again. " * 30),
        }
    )


def south() -> Site:
    return Site({"/": page("south", text=f"Here is {THEIRS}. " * 30)}, address="127.0.0.2")


def traces(root: Path, text: str) -> set[str]:
    """Name the files that hold a text, whatever wraps it."""
    found = set()
    for path in root.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            unpacked = gzip.decompress(content) if path.suffix == ".gz" else b""
            if text.encode() in content + unpacked:
                found.add(path.name)
    return found


async def collect(home: DataDirectory, *seeds: str, assignments: Sequence[str] = ()) -> Crawled:
    rules = ("analysis.quality_threshold=0", *assignments)
    return await crawl_in(home, Ear(), plan(seeds, assignments=rules, format=FORMS))


async def erase(home: DataDirectory, site: Site) -> tuple[SiteHoldings, Takedown]:
    found = await site_holdings(home, site.address)
    return found, await erase_site(home, found, "they wrote on 1 May")


@pytest.mark.req("LEG-06")
@pytest.mark.parametrize("mode", ["full", "preview"])
@waits
async def test_of_a_job_of_two_sites_one_goes_and_the_other_stays(
    tmp_path: Path, mode: str
) -> None:
    async with home_in(tmp_path, Ear()) as home, open_search_index(home) as search_index:
        with north() as ours, south() as theirs:
            setting = (f"store.text={mode}",)
            both = await collect(home, ours.url("/"), theirs.url("/"), assignments=setting)
        if mode == "full":
            await enrich_all(home.world, search_index)
        before = {record["url"]: record for record in both.records}
        found, line = await erase(home, ours)
        assert ([job.id for job in found.parts], found.whole) == ([both.report.job.id], ())
        assert (line.jobs, line.pages, line.key) == (0, 2, f"site {ours.address}")
        assert await home.world.store.providers.takedowns() == [line]
        assert (await search(search_index.index, "canary")).hits == ()
        (kept,) = read_records(tmp_path)
        assert kept == before[theirs.url("/")]
        for name in ("pages.jsonl", "llms-full.txt", "md"):
            assert (tmp_path / name).exists()
        await enrich_all(home.world, search_index)
        (hit,) = (await search(search_index.index, "magpie")).hits
        assert hit.passage.url == theirs.url("/")
        (segment,) = (tmp_path / "warc").glob("*.warc.gz")
        lines = list(index_lines(segment, segment.stat().st_size))
        assert len(lines) == (mode == "full")
        index = tmp_path / "warc" / "index.cdxj"
        assert index.read_bytes() == b"".join(lines)
    assert traces(tmp_path, OURS) == set()
    assert traces(tmp_path, THEIRS)


@pytest.mark.parametrize("mode", ["full", "preview"])
@waits
async def test_a_job_of_one_site_goes_whole(tmp_path: Path, mode: str) -> None:
    async with home_in(tmp_path, Ear()) as home:
        with north() as ours, south() as theirs:
            await collect(home, ours.url("/"), assignments=(f"store.text={mode}",))
            assert len(waiting(tmp_path)) == (2 if mode == "preview" else 0)
            kept = await collect(home, theirs.url("/"))
        found, line = await erase(home, ours)
        assert (len(found.whole), found.parts, line.jobs, line.pages) == (1, (), 1, 2)
        (left,) = await home.world.store.jobs.list(limit=9)
        assert left.id == kept.report.job.id
        again, nothing = await erase(home, ours)
        assert (again.whole, again.parts, nothing.pages) == ((), (), 0)
        assert waiting(tmp_path) == []
    assert traces(tmp_path, OURS) == set()
    assert "pages.jsonl" in traces(tmp_path, THEIRS)


@pytest.mark.parametrize("place", ["archive.blank", "providers.erase", "pages.cursor"])
@waits
async def test_one_that_was_cut_short_is_finished_by_the_next(tmp_path: Path, place: str) -> None:
    part, _, method = place.partition(".")
    async with home_in(tmp_path, Ear()) as home:
        with north() as ours, south() as theirs:
            await collect(home, ours.url("/"), theirs.url("/"))
        if part == "archive":
            broken = replace(home, archive=Falling(home.archive, method, 1))  # type: ignore[arg-type]
        else:
            falling = Falling(getattr(home.store, part), method, 1)
            broken = directory_with(home, **{part: falling})
        with pytest.raises(ConnectionResetError):
            await erase(broken, ours)
        await erase(home, ours)
    assert traces(tmp_path, OURS) == set()
    assert traces(tmp_path, THEIRS)


@waits
async def test_another_tenants_copy_is_not_erased(tmp_path: Path) -> None:
    async with home_in(tmp_path, Ear()) as home:
        with north() as ours:
            await collect(home, ours.url("/"))
        stranger = home.open_for("stranger")
        found, line = await erase(stranger, ours)
        assert (found.whole, found.parts, line.pages) == ((), (), 0)
        assert len(await home.world.store.jobs.list(limit=9)) == 1
    assert "pages.jsonl" in traces(tmp_path, OURS)


@waits
async def test_a_job_at_work_is_not_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with home_in(tmp_path, Ear()) as home:
        with north() as ours, south() as theirs:
            both = await collect(home, ours.url("/"), theirs.url("/"))
        monkeypatch.setattr("geomi.app.use.deletion.LOOKS", 1)
        monkeypatch.setattr("geomi.app.use.deletion.LOOK_S", 0.0)

        with (
            PresenceLock(tmp_path, f"job-{both.report.job.id}"),
            pytest.raises(StoreBusy, match="has not ended yet"),
        ):
            await erase(home, ours)
        assert len(read_records(tmp_path)) == 3


@waits
async def test_a_reason_has_a_limit(tmp_path: Path) -> None:
    async with home_in(tmp_path, Ear()) as home:
        found = await site_holdings(home, "a.test")
        await erase_site(home, found, "x" * MAX_REASON_CHARS)
        with pytest.raises(ConfigError, match="more than"):
            await erase_site(home, found, "x" * (MAX_REASON_CHARS + 1))
