"""Workers that come, beat and leave, and duties that one of them has at a time."""

from __future__ import annotations

from dataclasses import replace

from geomi.model.job import JobState, StopReason
from geomi.model.worker import WorkerCard, WorkerRole
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    START_S,
    batch,
    begin,
    claim,
    claim_one,
    give_back,
    job,
    url,
    visit,
)
from tests.support.waiting import waits

__all__ = ["TestDuties", "TestTurns", "TestWorkers"]

SILENCE_S = 60.0


def card(owner: str = "w-1", *, at_s: float = START_S) -> WorkerCard:
    """Return the card of a worker that has just come."""
    return WorkerCard(
        owner=owner,
        machine="m-1",
        root="/data",
        pid=7,
        role=WorkerRole.WORKER,
        version="1.2",
        started_s=at_s,
        beat_s=at_s,
        silence_s=SILENCE_S,
        jobs=("job",),
    )


class TestWorkers:
    """Who is there."""

    @waits
    async def test_a_worker_comes_beats_and_leaves(self, stores: Stores) -> None:
        store = stores("local")
        assert await store.workers.list() == []
        await store.workers.enrol(card("w-2", at_s=START_S + 1))
        await store.workers.enrol(card())
        assert await store.workers.list() == [card(), card("w-2", at_s=START_S + 1)]
        heard = await store.workers.beat(
            "w-1", jobs=("a", "b"), pages=12, pages_per_s=1.5, now_s=START_S + 9
        )
        assert heard
        (first, _) = await store.workers.list()
        assert first == replace(
            card(), jobs=("a", "b"), pages=12, pages_per_s=1.5, beat_s=START_S + 9
        )
        await store.workers.leave(["w-1", "nobody"])
        assert [one.owner for one in await store.workers.list()] == ["w-2"]

    @waits
    async def test_one_that_was_struck_off_is_told_and_may_come_back(self, stores: Stores) -> None:
        store = stores("local")
        await store.workers.enrol(card())
        await store.workers.leave(["w-1"])
        heard = await store.workers.beat("w-1", jobs=(), pages=0, pages_per_s=0.0, now_s=START_S)
        assert not heard
        assert await store.workers.list() == []
        for at_s in (START_S + 1, START_S + 2):  # the second in place of the first
            await store.workers.enrol(card(at_s=at_s))
        assert await store.workers.list() == [card(at_s=START_S + 2)]

    @waits
    async def test_all_tenants_share_the_workers(self, stores: Stores) -> None:
        await stores("local").workers.enrol(card())
        assert await stores("other").workers.list() == [card()]

    @waits
    async def test_the_hosts_that_a_worker_holds_are_counted(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(), url("/", "b.test"), url("/", "c.test"))
        await store.workers.enrol(card())
        await store.workers.enrol(card("w-2"))
        (given, _) = await claim(store, owner="w-1", hosts=2)
        await claim(store, owner="w-2", hosts=1)
        assert [one.hosts for one in await store.workers.list()] == [2, 1]
        await store.frontier.settle(batch(give_back(given)))
        assert [one.hosts for one in await store.workers.list()] == [1, 1]

    @waits
    async def test_silence_is_counted_from_the_last_beat(self, stores: Stores) -> None:
        store = stores("local")
        await store.workers.enrol(card())
        await store.workers.beat("w-1", jobs=(), pages=0, pages_per_s=0.0, now_s=START_S + 30)
        (found,) = await store.workers.list()
        assert not found.is_silent(START_S + 30 + SILENCE_S)
        assert found.is_silent(START_S + 30 + SILENCE_S + 0.001)


class TestDuties:
    """What only one does at a time."""

    @waits
    async def test_a_duty_is_held_by_one_until_its_time_is_over(self, stores: Stores) -> None:
        workers = stores("local").workers
        assert await workers.take("reap", owner="a", until_s=START_S + 10, now_s=START_S) == "a"
        assert await workers.take("reap", owner="b", until_s=START_S + 12, now_s=START_S + 2) == "a"
        assert await workers.take("reap", owner="a", until_s=START_S + 15, now_s=START_S + 5) == "a"
        late_s = START_S + 14.999
        assert await workers.take("reap", owner="b", until_s=START_S + 20, now_s=late_s) == "a"
        assert (
            await workers.take("reap", owner="b", until_s=START_S + 25, now_s=START_S + 15) == "b"
        )
        assert await workers.take("other", owner="a", until_s=START_S + 25, now_s=START_S) == "a"

    @waits
    async def test_a_duty_that_was_given_back_is_free(self, stores: Stores) -> None:
        workers = stores("local").workers
        for duty in ("one", "two"):
            await workers.take(duty, owner="a", until_s=START_S + 10, now_s=START_S)
        await workers.drop("one", owner="b")  # not theirs to give
        assert await workers.take("one", owner="b", until_s=START_S + 10, now_s=START_S) == "a"
        await workers.drop("one", owner="a")
        assert await workers.take("one", owner="b", until_s=START_S + 10, now_s=START_S) == "b"
        await workers.leave(["a"])
        assert await workers.take("two", owner="b", until_s=START_S + 10, now_s=START_S) == "b"


class TestTurns:
    """Steps of a job that several may want to take."""

    @waits
    async def test_one_of_two_takes_the_step(self, stores: Stores) -> None:
        store = stores("local")
        await store.jobs.create(job())
        over = replace(
            job(state=JobState.FINALIZING), stop=StopReason.DONE, ended_at_s=START_S, error="x"
        )
        assert await store.jobs.turn(over, was=JobState.PROCESSING)
        assert not await store.jobs.turn(over, was=JobState.PROCESSING)
        assert await store.jobs.get("job") == over

    @waits
    async def test_a_pause_that_came_meanwhile_stays(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        await store.jobs.update(job(paused=True))
        assert await store.jobs.turn(job(state=JobState.FINALIZING), was=JobState.PROCESSING)
        found = await store.jobs.get("job")
        assert found is not None and found.paused
        assert await claim(store) == []

    @waits
    async def test_a_job_is_not_over_while_a_url_waits(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        over = job(state=JobState.COMPLETED)
        assert not await store.jobs.turn(over, was=JobState.PROCESSING, only_empty=True)
        lease = await claim_one(store)
        await store.frontier.settle(batch(visit(lease), give_back(lease)))
        assert await store.jobs.turn(over, was=JobState.PROCESSING, only_empty=True)
        assert await store.roster.active(limit=9) == []
