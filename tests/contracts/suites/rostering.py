"""The roster: the jobs of every tenant that somebody has to look after, the oldest first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.adapters.store.rows import MAX_NAME_BYTES
from geomi.errors import StoreError
from geomi.model.job import JobKind, JobState
from geomi.ports.store import Store
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import START_S, job
from tests.support.waiting import waits

__all__ = ["TestRoster"]


async def make(
    store: Store,
    tenant: str,
    name: str,
    state: JobState,
    *,
    collection: str = "docs",
    at_s: float = START_S,
    paused: bool = False,
) -> None:
    """Create a job of a tenant, of the service unless it has no collection."""
    made = job(name, tenant=tenant, state=state, paused=paused)
    await store.jobs.create(replace(made, collection=collection, created_at_s=at_s))


class TestRoster:
    """What is on which list."""

    @waits
    async def test_workers_take_up_the_jobs_of_every_tenant(self, stores: Stores) -> None:
        one, two = stores("a"), stores("b")
        await make(one, "a", "late", JobState.PROCESSING, at_s=3.0)
        await make(two, "b", "early", JobState.PROCESSING, at_s=1.0)
        await make(two, "b", "command", JobState.FINALIZING, at_s=2.0, collection="")
        await make(two, "b", "finished-here", JobState.FINALIZING)
        await make(one, "a", "paused", JobState.PROCESSING, paused=True)
        for state in set(JobState) - {JobState.PROCESSING, JobState.FINALIZING}:
            await make(one, "a", state.value, state)
        found = [("b", "early"), ("b", "command"), ("a", "late")]
        assert list(await stores("").roster.active(9)) == found
        assert list(await stores("").roster.active(limit=2)) == found[:2]
        assert list(await stores("").roster.active(-1)) == []

    @pytest.mark.req("WF-01")
    @waits
    async def test_a_job_waits_until_its_first_page(self, stores: Stores) -> None:
        store = stores("a")
        for at_s, state in enumerate(reversed(JobState)):
            await make(store, "a", state.value, state, at_s=float(at_s))
        await make(store, "a", "paused", JobState.PENDING, paused=True)
        await make(store, "a", "command", JobState.PENDING, collection="")
        found = ["discovering", "initializing", "pending"]
        assert [name for _, name in await store.roster.waiting(9)] == found

    @waits
    async def test_a_tenant_with_many_jobs_keeps_nobody_waiting(self, stores: Stores) -> None:
        many, few = stores("a"), stores("b")
        for number in range(3):
            await make(many, "a", f"a{number}", JobState.PENDING, at_s=float(number))
        await make(few, "b", "b0", JobState.PENDING, at_s=10.0)
        await make(few, "b", "b1", JobState.PENDING, at_s=0.5)
        listed = [name for _, name in await many.roster.waiting(9)]
        assert listed == ["a0", "b1", "a1", "b0", "a2"]
        assert [name for _, name in await many.roster.waiting(2)] == listed[:2]

    @waits
    async def test_the_service_finishes_its_own_jobs(self, stores: Stores) -> None:
        store = stores("a")
        await make(store, "a", "second", JobState.FINALIZING, at_s=2.0)
        await make(store, "a", "first", JobState.FINALIZING, at_s=1.0)
        await make(store, "a", "paused", JobState.FINALIZING, paused=True)
        await make(store, "a", "command", JobState.FINALIZING, collection="")
        await make(store, "a", "busy", JobState.PROCESSING)
        found = [("a", "first"), ("a", "second")]
        assert list(await stores("b").roster.finalizing(9)) == found
        assert list(await stores("b").roster.finalizing(1)) == found[:1]

    @pytest.mark.req("CHG-04")
    @waits
    async def test_watched_crawls_are_named_when_they_are_to_be_looked_at(
        self, stores: Stores
    ) -> None:
        one, two, roster = stores("a"), stores("b"), stores("").roster
        for name in ("late", "early", "rests", "off", "unplanned"):
            await make(one, "a", name, JobState.COMPLETED)
        await make(two, "b", "command", JobState.COMPLETED, collection="")
        await make(one, "a", "runs", JobState.PROCESSING)
        for name, at_s in (("late", 30.0), ("early", 20.0), ("rests", None)):
            await one.jobs.look_again(name, at_s, f"until {at_s}")
        off = await one.jobs.get("off")
        assert off is not None and off.is_watched
        unwatched = replace(off.config, recrawl=replace(off.config.recrawl, watch=False))
        await one.jobs.update(replace(off, config=unwatched))
        again = replace(off, id="again", kind=JobKind.RECRAWL, crawl="late")
        await one.jobs.create(again)
        await one.jobs.create(replace(off, id="forced", provider="somebody"))

        async def due(wall_s: float, limit: int = 9, *, is_served: bool = True) -> list[str]:
            found = await roster.watched(wall_s=wall_s, limit=limit, is_served=is_served)
            return [name for _, name in found]

        assert await due(10.0) == ["unplanned"]
        assert await due(30.0) == ["unplanned", "early", "late"]
        assert await due(30.0, 2) == ["unplanned", "early"]
        assert await due(30.0, is_served=False) == ["command"]
        # Another step of the job leaves its plan as it is.
        early = await one.jobs.get("early")
        assert early is not None and (early.next_look_s, early.watch_note) == (20.0, "until 20.0")
        await one.jobs.update(replace(early, next_look_s=1.0))
        assert (await one.jobs.get("early")) == early
        # Only its own tenant can move a crawl.
        await two.jobs.look_again("late", 0.0)
        assert await due(29.0) == ["unplanned", "early"]

    @waits
    async def test_a_crawl_gives_way_to_one_that_did_the_same_later(self, stores: Stores) -> None:
        store = stores("a")
        for name, collection in (("old", "docs"), ("other", "more"), ("new", "docs")):
            await make(store, "a", name, JobState.COMPLETED, collection=collection)
        await make(store, "a", "failed", JobState.FAILED)
        await make(stores("b"), "b", "foreign", JobState.COMPLETED)
        found = [await store.jobs.successor(name) for name in ("old", "other", "new", "none")]
        assert found == ["new", "", "", ""]
        assert await stores("b").jobs.successor("old") == ""

    @pytest.mark.req("DAT-08")
    @waits
    async def test_each_job_is_somebodys(self, stores: Stores) -> None:
        await make(stores("a"), "a", "1", JobState.PENDING)
        await make(stores("b"), "b", "2", JobState.COMPLETED, collection="")
        roster = stores("").roster
        assert [await roster.tenant_of(name) for name in "123"] == ["a", "b", None]

    @pytest.mark.req("DAT-08")
    @waits
    async def test_whoever_has_a_job_is_named_once(self, stores: Stores) -> None:
        assert list(await stores("").roster.tenants()) == []
        await make(stores("b"), "b", "1", JobState.COMPLETED, collection="")
        await make(stores("a-b"), "a-b", "2", JobState.PENDING, paused=True)
        await make(stores("a0"), "a0", "3", JobState.FAILED)
        await make(stores("b"), "b", "4", JobState.PROCESSING)
        assert list(await stores("c").roster.tenants()) == ["a-b", "a0", "b"]

    @waits
    async def test_a_collection_has_a_name_that_fits_a_key(self, stores: Stores) -> None:
        with pytest.raises(StoreError, match="collection"):
            await make(
                stores("a"), "a", "1", JobState.PENDING, collection="x" * (MAX_NAME_BYTES + 1)
            )
