"""Jobs of a tenant: listed by their ids, and begun when there is a place for them."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from geomi.model.job import BEGUN, MAX_LISTED_JOBS, JobFilter, JobState
from geomi.ports.store import Store
from tests.contracts.suites.crowding import WORKERS, at_once
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import START_S, job
from tests.support.waiting import waits

__all__ = ["TestBeginning", "TestBeginningAtOnce", "TestJobPages"]


async def make(store: Store, *names: str, state: JobState, collection: str = "docs") -> None:
    """Create jobs of the service."""
    for name in names:
        await store.jobs.create(replace(job(name, state=state), collection=collection))


async def begin(store: Store, name: str, *, most: int = 0) -> bool:
    """Let a job begin."""
    return await store.jobs.begin(name, most=most, wall_s=START_S + 5)


class TestJobPages:
    """Lists that can be walked while jobs come and go."""

    @pytest.mark.req("DAT-08")
    @waits
    async def test_jobs_are_walked_from_the_newest(self, stores: Stores) -> None:
        store = stores("local")
        await make(store, "c", "a", "d", "b", state=JobState.PENDING)
        await stores("other").jobs.create(job("e", tenant="other"))
        first = await store.jobs.page(JobFilter(), limit=3)
        await make(store, "f", state=JobState.PENDING)
        rest = await store.jobs.page(JobFilter(), before=first[-1].id, limit=3)
        assert [one.id for one in (*first, *rest)] == ["d", "c", "b", "a"]
        assert first[0] == await store.jobs.get("d")
        assert await store.jobs.page(JobFilter(), before="a", limit=3) == []
        assert await store.jobs.page(JobFilter(), limit=-1) == []

    @waits
    async def test_jobs_are_filtered(self, stores: Stores) -> None:
        store = stores("local")
        for number, state in enumerate(JobState):
            await make(store, f"{number}", state=state, collection="docs" if number % 2 else "news")
        for which, found in (
            (JobFilter(collection="news"), "6420"),
            (JobFilter(state=JobState.FAILED), "6"),
            (JobFilter("docs", JobState.FAILED), ""),
            (JobFilter("docs", JobState.COMPLETED), "5"),
            (JobFilter(collection="nothing"), ""),
        ):
            assert "".join(one.id for one in await store.jobs.page(which, limit=9)) == found
        (one,) = await store.jobs.page(JobFilter("news"), before="2", limit=9)
        assert one.id == "0"

    @waits
    async def test_jobs_are_counted_by_state(self, stores: Stores) -> None:
        store = stores("local")
        assert await store.jobs.counts() == {}
        await make(store, "1", "2", state=JobState.PENDING)
        await make(store, "3", state=JobState.FAILED)
        await stores("other").jobs.create(job("e", tenant="other"))
        assert await store.jobs.counts() == {JobState.PENDING: 2, JobState.FAILED: 1}

    @waits
    async def test_an_answer_has_a_limit(self, stores: Stores) -> None:
        store = stores("local")
        names = (f"{number:04}" for number in range(MAX_LISTED_JOBS + 1))
        await make(store, *names, state=JobState.PENDING)
        assert len(await store.jobs.page(JobFilter(), limit=9999)) == MAX_LISTED_JOBS


class TestBeginning:
    """A job begins where its tenant has a place."""

    @pytest.mark.req("JOB-05", "WF-01")
    @waits
    async def test_as_many_begin_as_there_are_places(self, stores: Stores) -> None:
        store = stores("local")
        await make(store, "1", "2", "3", state=JobState.PENDING)
        assert [await begin(store, name, most=2) for name in "123"] == [True, True, False]
        begun, waiting = await store.jobs.get("1"), await store.jobs.get("3")
        assert begun is not None and waiting is not None
        assert (begun.state, begun.started_at_s) == (JobState.INITIALIZING, START_S + 5)
        assert (waiting.state, waiting.started_at_s) == (JobState.PENDING, None)
        await store.jobs.update(replace(begun, state=JobState.COMPLETED))
        assert await begin(store, "3", most=2)

    @pytest.mark.parametrize("state", JobState)
    @waits
    async def test_who_has_begun_has_a_place_also_while_paused(
        self, stores: Stores, state: JobState
    ) -> None:
        store = stores("local")
        await store.jobs.create(job("first", state=state, paused=True))
        await make(store, "1", state=JobState.PENDING)
        assert await begin(store, "1", most=1) == (state not in BEGUN)

    @pytest.mark.req("SEC-09")
    @waits
    async def test_another_tenants_jobs_take_no_place(self, stores: Stores) -> None:
        store = stores("local")
        await stores("other").jobs.create(job("theirs", tenant="other"))
        await make(store, "1", state=JobState.PENDING)
        assert not await begin(stores("other"), "1")
        assert await begin(store, "1", most=1)

    @waits
    async def test_without_a_limit_every_job_begins_once(self, stores: Stores) -> None:
        store = stores("local")
        await make(store, "1", "2", state=JobState.PENDING)
        assert [await begin(store, name) for name in "1212"] == [True, True, False, False]
        assert not await begin(store, "nothing")

    @pytest.mark.req("JOB-05")
    @waits
    async def test_a_job_that_was_over_comes_back_where_there_is_a_place(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await make(store, "over", state=JobState.COMPLETED)
        await make(store, "busy", state=JobState.PROCESSING)
        back = job("over", state=JobState.PROCESSING)
        assert not await store.jobs.turn(back, was=JobState.COMPLETED, most=1)
        assert await store.jobs.turn(back, was=JobState.COMPLETED, most=2)
        assert not await begin(store, "over", most=2)

    @waits
    async def test_a_paused_job_does_not_begin(self, stores: Stores) -> None:
        store = stores("local")
        await store.jobs.create(job("1", state=JobState.PENDING, paused=True))
        assert not await begin(store, "1")


class TestBeginningAtOnce:
    """The same where many ask at the same moment."""

    @pytest.mark.req("JOB-05")
    def test_never_too_many_begin(self, durable_stores: Stores) -> None:
        store = durable_stores("local")
        names = [f"{number:02}" for number in range(WORKERS * 4)]
        asyncio.run(make(store, *names, state=JobState.PENDING))

        async def begin_all(each: Store, own: list[str]) -> int:
            return sum([await begin(each, name, most=5) for name in own])

        # Each asks for its own jobs first, and then for everybody else's.
        begun = at_once(
            durable_stores,
            lambda each, number: asyncio.run(begin_all(each, names[number * 4 :] + names)),
        )
        assert sum(begun) == 5
        jobs = asyncio.run(store.jobs.page(JobFilter(state=JobState.INITIALIZING), limit=99))
        assert len(jobs) == 5
