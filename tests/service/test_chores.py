"""What the service does by itself: a chore that fails ends nothing, and one process does them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from geomi.app import DataDirectory
from geomi.app.use.ranks import (
    NAME,
    NAMESPACE,
    REFRESH_S,
    import_ranks,
    refresh_due_ranks,
    stored_list,
)
from geomi.engine import jobs
from geomi.errors import StoreBusy
from geomi.model.named_value import SYSTEM
from geomi.model.site import RankList
from geomi.service import background_tasks
from geomi.service.background_tasks import DUTY, BackgroundTask, run_background_tasks
from geomi.service.crawling import crawls
from geomi.service.crawling.crawls import CrawlOrder
from geomi.service.service import Service, TenantService
from tests.api.asking import LOCAL, serving
from tests.service.working import crawled, until
from tests.support.crawl import Ear, page
from tests.support.server import Reply, Seen, Site
from tests.support.waiting import waits

LONGEST_S = 20.0
ENOUGH = 3
AT_ONCE = 1e-9  # days


class Tally:
    """A chore that counts how often it was done, and may fail each time."""

    def __init__(self, error: Exception | None = None) -> None:
        self.times = 0
        self.is_enough = asyncio.Event()
        self._error = error

    async def work(self, service: Service) -> int:
        """Count, or fail."""
        self.times += 1
        if self.times >= ENOUGH:
            self.is_enough.set()
        if self._error is not None:
            raise self._error
        return 0


@waits
async def test_a_chore_that_raises_is_told_and_does_not_end_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ear = Ear()
    async with serving(tmp_path, LOCAL, ear) as ground:
        busy = Tally(StoreBusy("the store is away", hint="it comes back"))
        faulty, well = Tally(ZeroDivisionError("ours")), Tally()
        made = [
            BackgroundTask(name, 0.001, tally.work)
            for name, tally in (("wait", busy), ("divide", faulty), ("count", well))
        ]
        monkeypatch.setattr(background_tasks, "BACKGROUND_TASKS", made)
        doing = asyncio.ensure_future(run_background_tasks(ground.service))
        try:
            async with asyncio.timeout(LONGEST_S):
                for tally in (busy, faulty, well):
                    await tally.is_enough.wait()
            assert not doing.done()
        finally:
            doing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await doing
        assert ear.warnings.count("could not wait: the store is away") == 1
        assert any("could not divide" in text and "ours" in text for text in ear.warnings)


@pytest.mark.slow  # the host rests for a second after robots.txt
@pytest.mark.req("PRI-06")
@waits
async def test_the_service_refreshes_a_rank_list_once_a_day(tmp_path: Path) -> None:
    """A server that fails is left alone for a day as well, and the list stays."""
    answers = [Reply(b"1,busy.test\n", headers=(("ETag", '"one"'),)), Reply(status=500)]

    def listed(seen: Seen) -> Reply:
        return answers.pop(0)

    ear = Ear()
    with Site({"/top.csv": listed}) as site:
        async with serving(tmp_path, LOCAL, ear) as ground:
            home = ground.service.home
            first = await import_ranks(home, site.url("/top.csv"))
            assert await refresh_due_ranks(home) is False  # the day is not over
            yesterday_s = first.checked_at_s - REFRESH_S
            await _keep_list(home, replace(first, checked_at_s=yesterday_s))
            doing = asyncio.ensure_future(run_background_tasks(ground.service))
            for _ in range(round(LONGEST_S / 0.05)):
                if any("could not refresh the rank list" in text for text in ear.warnings):
                    break
                await asyncio.sleep(0.05)
            doing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await doing
            held = await stored_list(home)
            assert held is not None and held.checked_at_s > first.checked_at_s
            assert await refresh_due_ranks(home) is False
            assert await home.store.ranks.find(["busy.test"]) == {"busy.test": 1}
        asked = [seen for seen in site.log if seen.path == "/top.csv"]
    assert [seen.headers.get("if-none-match") for seen in asked] == [None, '"one"']


async def _keep_list(home: DataDirectory, held: RankList) -> None:
    values = home.store.open_for(SYSTEM).named_values
    named = await values.get(NAMESPACE, NAME)
    assert named is not None
    await values.change(replace(named, body=orjson.dumps(held)))


@waits
async def test_chores_are_left_to_whoever_has_the_duty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(tmp_path) as ground:
        world = ground.service.home.world
        now_s = world.clock.now_s()
        until_s = now_s + 3600
        assert (
            await world.store.workers.take(DUTY, owner="another", until_s=until_s, now_s=now_s)
            == "another"
        )
        tally = Tally()
        monkeypatch.setattr(
            background_tasks, "BACKGROUND_TASKS", [BackgroundTask("count", 0.001, tally.work)]
        )
        doing = asyncio.ensure_future(run_background_tasks(ground.service))
        for _ in range(50):  # it has looked more than once by then
            await world.store.workers.list()
            await asyncio.sleep(0.001)
        assert tally.times == 0
        await world.store.workers.drop(DUTY, owner="another")
        async with asyncio.timeout(LONGEST_S):
            await tally.is_enough.wait()
        doing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await doing
        # Whoever leaves gives the duty up, so that the next does not wait for its silence.
        assert (
            await world.store.workers.take(DUTY, owner="next", until_s=until_s, now_s=now_s)
            == "next"
        )


@pytest.mark.req("FRN-14", "JOB-13")
@waits
async def test_what_has_expired_goes_by_itself(tmp_path: Path) -> None:
    """The URLs of one crawl, and the whole of another; nobody asks for it."""
    with Site({"/": page("home")}) as site:
        async with serving(tmp_path) as ground:
            urls, whole = [
                await _ended(ground.desk, site, {f"retention.{kept}_days": AT_ONCE})
                for kept in ("urls", "jobs")
            ]
            assert (await ground.mine.get(f"/crawls/{urls}/urls")).json["urls"]

            async def is_gone() -> bool:
                left = (await ground.mine.get(f"/crawls/{urls}/urls")).json
                return not left.get("urls") and (
                    (await ground.mine.get(f"/crawls/{whole}")).status == 404
                )

            doing = asyncio.ensure_future(run_background_tasks(ground.service))
            try:
                await until(is_gone)
            finally:
                doing.cancel()
            kept = (await ground.mine.get(f"/crawls/{urls}")).json
            assert kept["status"] == "completed"


async def _ended(desk: TenantService, site: Site, kept: dict[str, object]) -> str:
    """Crawl a site to the end, under some terms of retention."""
    order = CrawlOrder("c", (site.url("/"),), settings=kept)
    job = await crawls.start(desk, order)
    await jobs.complete(desk.world, await crawled(desk, job.id))
    return job.id
