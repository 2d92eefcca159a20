"""Derived outputs follow what is committed, never ahead of it, and are made again where lost."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from geomi.app import crawl
from geomi.engine.inspect.export import records
from geomi.engine.worker.publisher import PAGES_PER_TURN, Publisher
from geomi.engine.worker.supervisor import Supervisor
from geomi.model.job import JobState, StopReason
from geomi.model.page import CaptureRow
from geomi.ports.store import Pages
from tests.support.crawl import Crawled, Ear, crawl_in, crawl_site, home_in, paths, plan
from tests.support.server import Site
from tests.support.stores import world_with
from tests.support.waiting import waits
from tests.support.webs import random_web

WEB = random_web(31, pages=30)


@waits
async def archived(root: Path, job: str) -> bytes:
    """Return the records of a job as the archive has them."""
    async with home_in(root, Ear()) as home:
        return b"".join([line + b"\n" async for line in records(home.world, job)])


def first_part(root: Path, site: Site, *, pages: int = 12) -> Crawled:
    """Crawl a part of a site."""
    return crawl_site(root, site.url("/"), max_pages=pages)


def rest(root: Path, site: Site) -> Crawled:
    """Crawl what is left of it."""
    return crawl_site(root, site.url("/"), max_pages=0, resume=True)


def output(root: Path, crawled: Crawled) -> Path:
    """Return where a job's records are written."""
    return root / "jobs" / crawled.report.job.id / "pages.jsonl"


class TestResumed:
    """The file of a job that goes on."""

    @pytest.mark.parametrize("damage", ["nothing", "garbage", "missing", "cut", "emptied"])
    def test_it_equals_the_captures(self, tmp_path: Path, damage: str) -> None:
        """Garbage behind the committed length is cut off; what is shorter is written anew."""
        with Site(WEB.routes) as site:
            first = first_part(tmp_path, site)
            path = output(tmp_path, first)
            match damage:
                case "garbage":
                    with path.open("ab") as file:
                        file.write(b'{"url": "http://half')
                case "missing":
                    path.unlink()
                case "cut":
                    os.truncate(path, path.stat().st_size - 1)
                case "emptied":
                    os.truncate(path, 0)
            again = rest(tmp_path, site)
            assert Counter(paths(site.log)) == Counter(WEB.reachable)
        assert path.read_bytes() == archived(tmp_path, first.report.job.id)
        assert Counter(again.urls) == Counter(site.url(page) for page in WEB.reachable)

    def test_a_folder_of_markdown_is_made_again(self, tmp_path: Path) -> None:
        """One file a page, also after the folder was lost."""
        with Site(WEB.routes) as site:
            first = first_part(tmp_path, site)
            folder = tmp_path / "jobs" / first.report.job.id / "md"
            assert len(list(folder.rglob("*.md"))) == 12
            for file in folder.rglob("*.md"):
                file.unlink()
            for each in sorted(folder.rglob("*"), reverse=True):
                each.rmdir()
            folder.rmdir()
            rest(tmp_path, site)
        assert len(list(folder.rglob("*.md"))) == 30

    def test_more_than_one_turn(self, tmp_path: Path) -> None:
        """A file that is lost is made again in batches, each page once."""
        many = random_web(32, pages=PAGES_PER_TURN + 30)
        with Site(many.routes) as site:
            first = first_part(tmp_path, site, pages=PAGES_PER_TURN + 10)
            output(tmp_path, first).unlink()
            again = rest(tmp_path, site)
        assert Counter(again.urls) == Counter(site.url(page) for page in many.reachable)


class TestDamagedArchive:
    """Segments that the disk has lost: their pages are fetched again."""

    @pytest.mark.parametrize("pages", [12, 0])
    @pytest.mark.parametrize("how", ["missing", "cut"])
    def test_what_is_lost_is_fetched_again(self, tmp_path: Path, how: str, pages: int) -> None:
        """Also where the job was done: a finished job with holes is not finished."""
        with Site(WEB.routes) as site:
            first = first_part(tmp_path, site, pages=pages)
            kept = len(first.records)
            (segment,) = (tmp_path / "jobs" / first.report.job.id / "warc").glob("*.warc.gz")
            if how == "missing":
                segment.unlink()
            else:
                os.truncate(segment, segment.stat().st_size - 1)
            again = rest(tmp_path, site)
            asked = Counter(paths(site.log))
        assert again.report.job.id == first.report.job.id
        assert set(asked) == WEB.reachable
        assert sum(asked.values()) == 30 + kept
        assert any(f"{kept} pages will be fetched again" in told for told in again.ear.warnings)
        assert again.report.job.state is JobState.COMPLETED
        assert again.report.stop is StopReason.DONE
        assert again.report.job.stats.collected == again.report.job.stats.settled == 30
        assert Counter(again.urls) == Counter(site.url(page) for page in WEB.reachable)
        assert output(tmp_path, first).read_bytes() == archived(tmp_path, first.report.job.id)

    def test_a_whole_archive_repeats_nothing(self, tmp_path: Path) -> None:
        """A finished job that is resumed asks for nothing."""
        with Site(WEB.routes) as site:
            done = first_part(tmp_path, site, pages=0)
            asked = len(site.log)
            again = rest(tmp_path, site)
            assert len(site.log) == asked
        assert again.report.job == done.report.job
        assert again.ear.warnings == []


class _Recorder:
    """An output that keeps what it is given and can be told to have lost it."""

    def __init__(self, name: str, *, loses: bool = False) -> None:
        self.name = name
        self.loses = loses
        self.opened: list[int] = []
        self.records: list[bytes] = []
        self.is_closed = False
        self.written = asyncio.Event()

    def open(self, committed: int) -> bool:
        self.opened.append(committed)
        return committed == 0 or not self.loses

    def write(self, records: Sequence[bytes]) -> int:
        self.records += records
        self.written.set()
        return len(self.records)

    def close(self) -> None:
        self.is_closed = True


class _Growing:
    """Pages of which each of the first looks sees only so many."""

    def __init__(self, pages: Pages, visible: Sequence[int]) -> None:
        self._pages = pages
        self._visible = list(visible)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pages, name)

    async def feed(self, job: str, *, after: int, limit: int) -> list[CaptureRow]:
        rows = await self._pages.feed(job, after=after, limit=limit)
        return rows[: self._visible.pop(0)] if self._visible else rows


class TestPublisher:
    """The reader of captures itself."""

    @waits
    async def test_outputs_at_different_places(self, tmp_path: Path) -> None:
        """One goes on after its cursor, one has lost everything, one is new."""
        ear = Ear()
        async with home_in(tmp_path, ear) as home:
            with Site(WEB.routes) as site:
                report = await crawl(home, plan([site.url("/")]))
            job, pages = report.job.id, home.world.store.pages
            rows = await pages.feed(job, after=0, limit=100)
            for name in ("behind", "lost"):
                await pages.advance(job, name, after=0, seq=rows[19].seq, length=20)
            outlets = [_Recorder("behind"), _Recorder("lost", loses=True), _Recorder("new")]
            publisher = Publisher(home.world, job, outlets)
            publisher.end()
            await publisher.run()
            assert [len(outlet.records) for outlet in outlets] == [10, 30, 30]
            assert [outlet.opened for outlet in outlets] == [[20], [20, 0], [0]]
            assert outlets[1].records == outlets[2].records
            assert outlets[0].records == outlets[1].records[20:]
            assert all(outlet.is_closed for outlet in outlets)
            assert await pages.cursor(job, "new") == (rows[-1].seq, 30)

    @waits
    async def test_what_is_read_for_another_output_is_not_taken_for_all(
        self, tmp_path: Path
    ) -> None:
        """Pages may be committed after one output has looked and before the next one does."""
        async with home_in(tmp_path, Ear()) as home:
            with Site(WEB.routes) as site:
                report = await crawl(home, plan([site.url("/")]))
            late = _Recorder("late")
            growing = world_with(home.world, pages=_Growing(home.world.store.pages, [0, 5]))
            publisher = Publisher(growing, report.job.id, [late, ending := _Recorder("end")])
            async with asyncio.TaskGroup() as group:
                group.create_task(publisher.run())
                await ending.written.wait()
                publisher.end()
            assert (len(late.records), len(ending.records)) == (30, 30)

    @waits
    async def test_it_follows_a_crawl(self, tmp_path: Path) -> None:
        """Pages reach an output while the crawl goes on."""
        live = _Recorder("live")

        with Site(WEB.routes) as site:
            ear = Ear()
            started: list[Supervisor] = []
            async with home_in(tmp_path, ear) as home, asyncio.TaskGroup() as group:
                planned = plan([site.url("/")], delay=0.03)
                running = group.create_task(
                    crawl(home, planned, extra=[live], on_start=started.append)
                )
                await live.written.wait()
                seen = len(live.records)
                assert not running.done()
                started[0].interrupt()
            assert 1 <= seen < 30


@waits
async def test_a_crawl_without_files_writes_none(tmp_path: Path) -> None:
    """`--set run.format=` keeps pages in the archive alone, without their raw bytes."""
    with Site(WEB.routes) as site:
        url = site.url("/")
        ear = Ear()
        async with home_in(tmp_path, ear) as home:
            crawled = await crawl_in(home, ear, plan([url], assignments=["run.format="]))
            lines = [line async for line in records(home.world, crawled.report.job.id)]
            assert len(lines) == 30
    assert not (tmp_path / "pages.jsonl").exists()
    assert not (tmp_path / "md").exists()
