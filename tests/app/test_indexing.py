"""Pages are indexed beside a crawl, by a process that costs it nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from geomi.adapters.machine.processes import start_worker
from geomi.app.index import open_search_index
from geomi.engine.enrich.loop import is_behind
from geomi.engine.worker.supervisor import Supervisor
from geomi.errors import ConfigError, StoreBusy
from geomi.model.event import Enriched
from geomi.model.job import StopReason
from geomi.processes.index import INDEX_PROGRAM, IndexOrder, crawl_and_index
from tests.engine.enrich.test_loop import found, village
from tests.engine.visit.test_preview_text import NEEDLES, lighthouse, waiting
from tests.support.crawl import LOCAL, Ear, home_in, plan
from tests.support.private_site import traces
from tests.support.server import Site
from tests.support.waiting import waits

EVERY = ("analysis.quality_threshold=0",)


@waits
async def test_what_was_collected_is_found_when_the_crawl_is_over(tmp_path: Path) -> None:
    ear = Ear()
    async with home_in(tmp_path, ear) as home:
        with Site(village(5)) as site:
            asked = plan([site.url("/")], assignments=EVERY)
            report = await crawl_and_index(home, asked)
        assert report.stop is StopReason.DONE
        assert sum(event.indexed for event in ear.of(Enriched)) == 5
        async with open_search_index(home) as search_index:
            assert not await is_behind(home.world, search_index)
            assert (await found(search_index.index, "p3word"))[0] == "p3"


@waits
async def test_a_whole_text_is_gone_when_the_crawl_is_over(tmp_path: Path) -> None:
    async with home_in(tmp_path, Ear()) as home:
        with Site({"/": lighthouse()}) as site:
            rules = (*EVERY, "store.text=preview")
            await crawl_and_index(home, plan([site.url("/")], assignments=rules))
    assert waiting(tmp_path) == [] and list(traces(tmp_path, NEEDLES)) == []


@waits
async def test_an_index_that_cannot_be_opened_costs_no_page(tmp_path: Path) -> None:
    ear = Ear()
    (tmp_path / "index").write_text("in the way")
    async with home_in(tmp_path, ear) as home:
        with Site(village(2)) as site:
            report = await crawl_and_index(home, plan([site.url("/")], assignments=EVERY))
    assert report.job.stats.collected == 2
    assert any("the pages are not indexed" in warning for warning in ear.warnings)


@waits
async def test_an_interrupted_crawl_does_not_wait_for_the_rest(tmp_path: Path) -> None:
    def stop(supervisor: Supervisor) -> None:
        supervisor.interrupt()

    ended: list[Callable[[], None]] = []
    async with home_in(tmp_path, Ear()) as home:
        with Site(village(3)) as site:
            asked = plan([site.url("/")], assignments=EVERY)
            report = await crawl_and_index(home, asked, on_start=stop, on_end=ended.append)
    assert ended == []
    assert report.stop is StopReason.INTERRUPTED


@waits
async def test_a_crawl_that_fails_says_so(tmp_path: Path) -> None:
    async with home_in(tmp_path, Ear()) as home:
        with Site(village(2)) as site:
            asked = plan([site.url("/")], assignments=EVERY)

            def fail(_: Supervisor) -> None:
                raise StoreBusy("somebody else is at it")

            with pytest.raises(StoreBusy, match="somebody else"):
                await crawl_and_index(home, asked, on_start=fail)
            kept_out = plan([site.url("/")], assignments=("analysis.index=false",))
            with pytest.raises(ConfigError, match=r"analysis\.index"):
                await crawl_and_index(home, kept_out)


@waits
async def test_without_its_crawl_it_ends_by_itself(tmp_path: Path) -> None:
    async with home_in(tmp_path, Ear()) as home:
        with Site(village(2)) as site:
            report = await crawl_and_index(home, plan([site.url("/")], assignments=EVERY))
        started = start_worker(INDEX_PROGRAM)
        started.pipe.send(IndexOrder(tmp_path, LOCAL, report.job.id))
        started.pipe.close()
        await asyncio.to_thread(started.wait)
