"""What is kept for a time only: a job's URLs, then the job with its pages and requests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.errors import StoreError
from geomi.model.config import CrawlConfig, Retention
from geomi.model.entry import Batch, Lease
from geomi.model.history import HistoryUpdate, PageHistory, Version
from geomi.model.job import CrawlJob, Expired, JobState, StopReason
from geomi.model.page import PageRecord, Ref
from geomi.ports.store import Store
from tests.contracts.suites.alike import sketch_of
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    DELAY_S,
    START_S,
    asked,
    claim,
    config,
    give_back,
    job,
    page,
    url,
    visit,
)
from tests.support.waiting import waits

__all__ = ["TestRetention"]

DAY_S = 86_400.0
KEPT = Retention(urls_days=7, jobs_days=90)
ENDED_S = START_S + 500
WEEK_OVER_S = ENDED_S + 7 * DAY_S
ALL_OVER_S = ENDED_S + 90 * DAY_S
PAGES = 5


def _rules(kept: Retention = KEPT) -> CrawlConfig:
    return replace(config(), retention=kept)


def _page(name: str, number: int) -> PageRecord:
    """Return a page that every job of a tenant collects, each to a place of its own."""
    found = page(url(f"/{number}"), sketch=sketch_of(7 + number))
    return replace(found, record=Ref(f"jobs/{name}/warc/w-0001.warc.gz", number * 100, 20))


async def _collected(
    store: Store,
    name: str,
    *,
    ended_s: float | None = ENDED_S,
    kept: Retention = KEPT,
    crawl: str = "",
) -> CrawlJob:
    """Let a job collect the same pages as every other, and end."""
    now_s = START_S + DELAY_S * len(await store.jobs.list(limit=9))  # each host rests in between
    begun = replace(job(name, rules=_rules(kept)), crawl=crawl)
    await store.jobs.create(begun)
    urls = [url(f"/{number}") for number in range(PAGES)]
    urls += [replace(url("/waits"), pattern="p"), url("/elsewhere", "b.test")]
    await store.frontier.add(name, urls, now_s=now_s)
    lease = next(one for one in await _due_hosts(store, name, now_s) if one.host == "a.test:80")
    visits = [
        replace(visit(lease, entry, page=_page(name, number)), learned=_learned())
        for number, entry in enumerate(lease.entries[:PAGES])
    ]
    log = tuple(asked(f"/{number}", job=name, at_s=START_S + number) for number in range(PAGES))
    ended = replace(give_back(lease, end_s=now_s), asked=log)
    await store.frontier.settle(Batch(tuple(visits), (ended,)))
    if ended_s is None:
        return begun
    over = replace(begun, state=JobState.COMPLETED, ended_at_s=ended_s, stop=StopReason.MAX_PAGES)
    await store.jobs.update(over)
    return over


async def _due_hosts(store: Store, name: str, now_s: float) -> list[Lease]:
    leases = await claim(store, name, now_s=now_s)
    others = [give_back(one, end_s=now_s) for one in leases if one.host != "a.test:80"]
    await store.frontier.settle(Batch((), tuple(others)))
    return leases


def _learned() -> HistoryUpdate:
    history = PageHistory(visited_at_s=START_S, visits=2)
    return HistoryUpdate(history, due_s=START_S, pattern="", before=Version("c" * 64, START_S - 9))


async def _forget_all(store: Store, name: str, *, limit: int = 2) -> dict[str, int]:
    """Let everything of a job go, as whoever cleans does."""
    kept = store.retention
    gone = {"urls": 0, "pages": 0, "captures": 0, "requests": 0}
    while count := await kept.forget_urls(name, limit=limit):
        assert count <= limit
        gone["urls"] += 1
    after = 0
    while True:
        after, count = await kept.forget_pages(name, after=after, limit=limit)
        gone["pages"] += count
        if not after:
            break
    while count := await kept.forget_captures(name, limit=limit):
        gone["captures"] += count
    while True:
        after, count = await kept.forget_requests(name, after=after, limit=limit)
        gone["requests"] += count
        if not after:
            break
    return gone


async def _urls(store: Store, name: str) -> int:
    return len(await store.census.entries(name, state=None, after=b"", limit=100))


async def _log(store: Store) -> list[str]:
    rows = await store.requests.of_host("a.test:80", after_s=0.0, limit=100)
    return [one.job for one in rows]


class TestRetention:
    """Nothing goes before its time, nothing of anybody else, and nothing that is used again."""

    @pytest.mark.req("FRN-14", "STO-06", "G-04", "JOB-13")
    @waits
    async def test_urls_are_due_after_a_week_and_jobs_after_ninety_days(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await _collected(store, "kept", kept=Retention())
        await _collected(store, "job")
        await _collected(store, "open", ended_s=None)
        for wall_s, due in (
            (WEEK_OVER_S - 1, []),
            (WEEK_OVER_S, [("job", Expired.URLS_GOING)]),
            (ALL_OVER_S, [("job", Expired.JOB_GOING)]),
        ):
            assert await store.retention.due(wall_s=wall_s, limit=9) == due

    @waits
    async def test_a_crawl_ages_from_the_end_of_its_last_job(self, stores: Stores) -> None:
        store = stores("local")
        await _collected(store, "first")
        again = await _collected(store, "again", crawl="first", ended_s=None)
        assert await store.retention.due(wall_s=ALL_OVER_S, limit=9) == []
        over = replace(again, state=JobState.COMPLETED, ended_at_s=ENDED_S + DAY_S)
        await store.jobs.update(over)
        assert await store.retention.due(wall_s=WEEK_OVER_S, limit=9) == []
        assert await store.retention.due(wall_s=WEEK_OVER_S + DAY_S, limit=9) == [
            ("first", Expired.URLS_GOING),
            ("again", Expired.URLS_GOING),
        ]

    @waits
    async def test_urls_go_a_few_at_a_time_and_pages_stay(self, stores: Stores) -> None:
        store = stores("local")
        await _collected(store, "job")
        assert await store.retention.forget_urls("job", limit=9) == 0
        assert await _urls(store, "job") == PAGES + 2
        assert await store.retention.begin("job", Expired.URLS_GOING, wall_s=WEEK_OVER_S)
        assert await store.retention.forget_urls("job", limit=4) == 4
        assert await _urls(store, "job") == PAGES + 2 - 4
        assert await store.retention.due(wall_s=START_S, limit=9) == [("job", Expired.URLS_GOING)]
        while await store.retention.forget_urls("job", limit=4):
            pass
        found = await store.jobs.get("job")
        assert found is not None
        assert (found.expired, found.stats.collected) == (Expired.URLS, PAGES)
        assert await store.retention.due(wall_s=WEEK_OVER_S, limit=9) == []
        assert (await store.census.outlook("job", now_s=START_S)).pending == 0
        assert len(await store.pages.feed("job", after=0, limit=99)) == PAGES
        assert await store.pages.get(url("/0").url_hash) == _page("job", 0)
        assert len(await _log(store)) == PAGES

    @waits
    async def test_a_job_whose_urls_are_going_does_not_go_on(self, stores: Stores) -> None:
        store = stores("local")
        over = await _collected(store, "job")
        assert await store.retention.begin("job", Expired.URLS_GOING, wall_s=WEEK_OVER_S)
        again = replace(over, state=JobState.PROCESSING, ended_at_s=None)
        with pytest.raises(StoreError, match="have expired"):
            await store.jobs.update(again)
        assert not await store.jobs.turn(again, was=JobState.COMPLETED)
        await store.jobs.update(replace(over, error="still told"))
        assert await store.roster.active(limit=9) == []

    @waits
    async def test_a_job_that_goes_on_loses_nothing(self, stores: Stores) -> None:
        store = stores("local")
        over = await _collected(store, "job")
        await store.jobs.update(replace(over, state=JobState.PROCESSING, ended_at_s=None))
        assert not await store.retention.begin("job", Expired.URLS_GOING, wall_s=ALL_OVER_S)
        assert not await store.retention.begin("nobody", Expired.URLS_GOING, wall_s=ALL_OVER_S)
        assert set((await _forget_all(store, "job")).values()) == {0}

    @pytest.mark.req("STO-04", "STO-06")
    @waits
    async def test_a_job_goes_with_its_pages_and_requests(self, stores: Stores) -> None:
        store = stores("local")
        await _collected(store, "job")
        assert await store.retention.begin("job", Expired.JOB_GOING, wall_s=ALL_OVER_S)
        gone = await _forget_all(store, "job")
        assert (gone["pages"], gone["captures"], gone["requests"]) == (PAGES,) * 3
        await store.jobs.delete("job")
        assert await store.jobs.get("job") is None
        for number in range(PAGES):
            found = url(f"/{number}").url_hash
            assert await store.pages.get(found) is None
            assert await store.pages.near(sketch_of(7 + number)) == []
            assert await store.histories.of([found]) == {}
            assert await store.histories.versions(found, limit=9) == []
        assert await _log(store) == []

    @waits
    async def test_what_a_younger_job_has_collected_stays(self, stores: Stores) -> None:
        store = stores("local")
        await _collected(store, "job")
        await _collected(store, "young", ended_s=ENDED_S + DAY_S)
        assert await store.retention.begin("job", Expired.JOB_GOING, wall_s=ALL_OVER_S)
        gone = await _forget_all(store, "job")
        assert (gone["pages"], gone["captures"]) == (0, PAGES)
        await store.jobs.delete("job")
        assert await _urls(store, "young") == PAGES + 2
        assert len(await store.pages.feed("young", after=0, limit=99)) == PAGES
        for number in range(PAGES):
            found = url(f"/{number}").url_hash
            assert await store.pages.get(found) == _page("young", number)
            assert len(await store.pages.near(sketch_of(7 + number))) == 1
            assert list(await store.histories.of([found])) == [found]
        assert set(await _log(store)) == {"young"}

    @waits
    async def test_a_job_that_is_going_is_finished_whatever_the_clock_says(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await _collected(store, "job")
        assert await store.retention.begin("job", Expired.JOB_GOING, wall_s=ALL_OVER_S)
        assert await store.retention.due(wall_s=START_S, limit=9) == [("job", Expired.JOB_GOING)]
        assert await store.retention.begin("job", Expired.JOB_GOING, wall_s=START_S)

    @waits
    async def test_another_tenant_keeps_everything(self, stores: Stores) -> None:
        store, other = stores("local"), stores("other")
        await _collected(store, "job")
        assert await other.retention.due(wall_s=ALL_OVER_S, limit=9) == []
        assert not await other.retention.begin("job", Expired.JOB_GOING, wall_s=ALL_OVER_S)
        assert await store.retention.begin("job", Expired.JOB_GOING, wall_s=ALL_OVER_S)
        assert set((await _forget_all(other, "job")).values()) == {0}
        assert await _urls(store, "job") == PAGES + 2
