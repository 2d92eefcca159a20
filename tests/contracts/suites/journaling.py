"""The journal: each step of a job once, in order, and told of once."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from geomi.adapters.store.tables.journal import MAX_ERROR_CHARS
from geomi.errors import StoreError
from geomi.model.job import MAX_LISTED_EVENTS, STATE_EVENT, CrawlJob, JobEvent, JobState, StopReason
from geomi.model.named_value import MAX_LISTED_VALUES, MAX_NAMED_VALUE_BYTES, NamedValue
from geomi.ports.store import Store
from tests.contracts.suites.crowding import at_once
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import START_S, batch, begin, claim_one, job, url, visit
from tests.support.waiting import waits

__all__ = ["TestJournal", "TestJournalAtOnce", "TestUntold"]

SLIP = NamedValue("a", "deliveries", "1", b"{}", due_at_s=5.0)


def made(name: str = "1", *, tenant: str = "a", collection: str = "docs") -> CrawlJob:
    """Return a job of the service that has not begun."""
    return replace(job(name, tenant=tenant, state=JobState.PENDING), collection=collection)


async def states(store: Store, name: str = "1") -> list[tuple[int, str, bool, str | None]]:
    """Return number, state, pause and stop of each of a job's events."""
    events = await store.journal.read(name, limit=99)
    bodies = [json.loads(event.body) for event in events]
    return [
        (event.n, body["state"], body["paused"], body["stop"])
        for event, body in zip(events, bodies, strict=True)
    ]


class TestJournal:
    """What is written down of a job."""

    @pytest.mark.req("WF-01")
    @waits
    async def test_each_step_is_an_event(self, stores: Stores) -> None:
        store, new = stores("a"), made()
        await store.jobs.create(new)
        assert await store.jobs.begin("1", most=0, wall_s=START_S + 1)
        begun = replace(new, state=JobState.PROCESSING)
        await store.jobs.update(begun, wall_s=START_S + 2)
        await store.jobs.update(replace(begun, paused=True), wall_s=START_S + 3)
        await store.jobs.update(begun, wall_s=START_S + 4)
        ended = replace(begun, state=JobState.FINALIZING, stop=StopReason.DAILY_QUOTA)
        assert await store.jobs.turn(ended, was=JobState.PROCESSING, wall_s=START_S + 5)
        assert await states(store) == [
            (1, "pending", False, None),
            (2, "initializing", False, None),
            (3, "processing", False, None),
            (4, "processing", True, None),
            (5, "processing", False, None),
            (6, "finalizing", False, "daily_quota"),
        ]
        events = await store.journal.read("1", limit=99)
        assert [event.at_s for event in events] == [START_S + n for n in range(6)]
        assert {(event.tenant, event.job, event.kind) for event in events} == {
            ("a", "1", STATE_EVENT)
        }

    @waits
    async def test_what_is_no_step_is_no_event(self, stores: Stores) -> None:
        store, new = stores("a"), made()
        await store.jobs.create(new)
        await store.jobs.update(replace(new, error="x", started_at_s=5.0))
        assert not await store.jobs.turn(new, was=JobState.PROCESSING)
        assert not await store.jobs.turn(
            replace(new, state=JobState.FAILED), was=JobState.PROCESSING
        )
        assert not await stores("b").jobs.begin("1", most=0, wall_s=START_S)
        assert len(await store.journal.read("1", limit=9)) == 1

    @waits
    async def test_an_event_tells_how_the_job_was(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        await store.frontier.settle(batch(visit(lease)))
        failed = replace(job(), state=JobState.FAILED, stop=StopReason.FAILED, ended_at_s=7000.0)
        error = "이유 \N{FIRE}" + "x" * MAX_ERROR_CHARS
        await store.jobs.update(replace(failed, error=error))
        _, event = await store.journal.read("job", limit=9)
        body = json.loads(event.body)
        assert event.at_s == 7000.0
        assert body["error"] == error[:MAX_ERROR_CHARS]
        assert body["stats"]["settled"] == body["stats"]["discovered"] == 1
        assert (body["collection"], body["crawl"]) == ("", "")

    @waits
    async def test_a_reader_goes_on_where_it_stopped(self, stores: Stores) -> None:
        store, new = stores("a"), made()
        await store.jobs.create(new)
        for number in range(4):
            await store.jobs.update(replace(new, paused=number % 2 == 0))
        first = await store.journal.read("1", limit=2)
        rest = await store.journal.read("1", after=first[-1].n, limit=9)
        assert [event.n for event in (*first, *rest)] == [1, 2, 3, 4, 5]
        assert await store.journal.read("1", after=5, limit=9) == []
        assert await store.journal.read("1", limit=-1) == []
        assert await store.journal.read("nothing", limit=9) == []

    @pytest.mark.req("SEC-09", "DAT-08")
    @waits
    async def test_a_tenant_reads_its_own_alone(self, stores: Stores) -> None:
        await stores("a").jobs.create(made())
        assert await stores("b").journal.read("1", limit=9) == []

    @waits
    async def test_it_is_forgotten_with_its_job(self, stores: Stores) -> None:
        store = stores("a")
        for _ in range(2):
            await store.jobs.create(made())
            await store.jobs.update(replace(made(), state=JobState.CANCELLED))
            assert [event.n for event in await store.journal.read("1", limit=9)] == [1, 2]
            assert len(await store.unsent_events.list(9)) == 2
            await store.jobs.delete("1")
            assert await store.journal.read("1", limit=9) == []
            assert await store.unsent_events.list(9) == []


class TestUntold:
    """Who has to be told, and is, once."""

    @waits
    async def test_events_of_the_service_are_to_be_told_oldest_first(self, stores: Stores) -> None:
        one, two = stores("a"), stores("b")
        await one.jobs.create(made())
        await two.jobs.create(made("2", tenant="b"))
        await two.jobs.create(made("3", tenant="b", collection=""))
        await one.jobs.update(replace(made(), state=JobState.CANCELLED))
        listed = await stores("").unsent_events.list(9)
        assert [(event.tenant, event.job, event.n) for event in listed] == [
            ("a", "1", 1),
            ("b", "2", 1),
            ("a", "1", 2),
        ]
        assert list(listed[::2]) == list(await one.journal.read("1", limit=9))
        assert await stores("").unsent_events.list(2) == listed[:2]
        assert await stores("").unsent_events.list(-1) == []

    @waits
    async def test_handing_over_keeps_named_values_once(self, stores: Stores) -> None:
        store = stores("a")
        await store.jobs.create(made())
        (event,) = await store.unsent_events.list(9)
        other = replace(SLIP, tenant="b", name="2", due_at_s=None)
        assert await store.unsent_events.hand_over(event, [SLIP, other])
        assert not await store.unsent_events.hand_over(event, [replace(SLIP, name="3")])
        assert await store.unsent_events.list(9) == []
        assert await store.named_values.get("deliveries", "1") == SLIP
        assert await stores("b").named_values.get("deliveries", "2") == other
        assert await store.named_values.count("deliveries") == 1
        assert await store.journal.read("1", limit=9) == [event]

    @waits
    async def test_what_is_not_there_is_not_told(self, stores: Stores) -> None:
        store = stores("a")
        await store.jobs.create(made())
        (event,) = await store.unsent_events.list(9)
        for wrong in (
            replace(event, n=2),
            replace(event, tenant="b"),
            JobEvent("a", "2", 1, STATE_EVENT, "{}", 1.0),
        ):
            assert not await store.unsent_events.hand_over(wrong, [SLIP])
        assert await store.named_values.count("deliveries") == 0
        assert await store.unsent_events.list(9) == [event]

    @pytest.mark.parametrize(
        "named_values",
        [
            [SLIP] * (MAX_LISTED_VALUES + 1),
            [replace(SLIP, body=b"x" * (MAX_NAMED_VALUE_BYTES + 1))],
        ],
        ids=["many", "large"],
    )
    @waits
    async def test_what_is_too_much_is_refused_as_a_whole(
        self, stores: Stores, named_values: list[NamedValue]
    ) -> None:
        store = stores("a")
        await store.jobs.create(made())
        (event,) = await store.unsent_events.list(9)
        with pytest.raises(StoreError):
            await store.unsent_events.hand_over(event, named_values)
        assert await store.unsent_events.list(9) == [event]

    @waits
    async def test_an_answer_has_a_limit(self, stores: Stores) -> None:
        store, new = stores("a"), made()
        await store.jobs.create(new)
        for number in range(MAX_LISTED_EVENTS):
            await store.jobs.update(replace(new, paused=number % 2 == 0))
        assert len(await store.journal.read("1", limit=MAX_LISTED_EVENTS + 1)) == MAX_LISTED_EVENTS
        assert len(await store.unsent_events.list(MAX_LISTED_EVENTS + 1)) == MAX_LISTED_EVENTS


class TestJournalAtOnce:
    """The same while several change one job and tell of it."""

    def test_numbers_have_no_gap_and_each_event_is_told_once(self, durable_stores: Stores) -> None:
        store, new = durable_stores("local"), made(tenant="local")
        asyncio.run(store.jobs.create(new))

        async def change_and_tell(each: Store, number: int) -> int:
            told = 0
            for turn in range(10):
                await each.jobs.update(replace(new, paused=(turn + number) % 2 == 0))
                for event in await each.unsent_events.list(3):
                    named = NamedValue("local", "deliveries", f"{number}-{turn}-{event.n}", b"{}")
                    told += await each.unsent_events.hand_over(event, [named])
            return told

        told = at_once(
            durable_stores, lambda each, number: asyncio.run(change_and_tell(each, number))
        )
        events = asyncio.run(store.journal.read("1", limit=99))
        left = asyncio.run(store.unsent_events.list(99))
        assert [event.n for event in events] == list(range(1, len(events) + 1))
        assert sum(told) + len(left) == len(events)
        assert asyncio.run(store.named_values.count("deliveries")) == sum(told)
