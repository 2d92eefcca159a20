"""Questions that change nothing, and what is kept apart: tenants, and the store's own time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.errors import StoreError, UnknownName
from geomi.model.job import JobState
from geomi.model.verdict import Outcome, State
from geomi.ports.runtime import ClockAnchor
from tests.contracts.suites.alike import sketch_of
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.keeping import keep
from tests.contracts.suites.material import (
    START_S,
    batch,
    begin,
    claim,
    claim_one,
    job,
    page,
    url,
    visit,
)
from tests.support.waiting import waits

__all__ = ["TestCensus", "TestTenants", "TestTime"]


class TestCensus:
    """Questions that change nothing."""

    @waits
    async def test_the_outlook_tells_what_is_left_and_when(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/2"), url("/3"), url("/", "b.test"))
        outlook = await store.census.outlook("job", now_s=START_S)
        assert (outlook.pending, outlook.leased, outlook.next_s) == (4, 0, START_S)
        assert outlook.by_state == {State.PENDING: 4}
        await claim(store, hosts=1, urls=2)
        outlook = await store.census.outlook("job", now_s=START_S)
        assert (outlook.pending, outlook.leased, outlook.next_s) == (4, 2, START_S)

    @waits
    async def test_the_next_time_is_that_of_the_first_retry(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/2"))
        lease = await claim_one(store)
        again = [
            replace(visit(lease, entry, state=State.PENDING, outcome=Outcome.TIMEOUT), due_s=due_s)
            for entry, due_s in zip(lease.entries, (START_S + 90, START_S + 70), strict=True)
        ]
        await store.frontier.settle(batch(*again))
        await store.census.release_dead(["worker"], now_s=START_S)
        assert (await store.census.outlook("job", now_s=START_S)).next_s == START_S + 70

    @waits
    async def test_nothing_left_is_never_due(self, stores: Stores) -> None:
        store = stores("local")
        await store.jobs.create(job())
        for name in ("job", "nobody"):
            outlook = await store.census.outlook(name, now_s=START_S)
            assert (outlook.pending, outlook.next_s, outlook.by_state) == (0, None, {})

    @pytest.mark.req("FRN-16")
    @waits
    async def test_entries_are_listed_in_parts(self, stores: Stores) -> None:
        store = stores("local")
        urls = [url(f"/{n}", host) for host in ("a.test", "b.test", "c.test") for n in range(7)]
        await begin(store, *urls)
        listed: list[bytes] = []
        while part := await store.census.entries(
            "job", state=State.PENDING, after=listed[-1] if listed else b"", limit=4
        ):
            listed += [entry.url_hash for entry in part]
        assert listed == sorted(found.url_hash for found in urls)
        assert await store.census.entries("job", state=State.FAILED, after=b"", limit=4) == []

    @waits
    async def test_an_entry_is_found_with_and_without_its_host(self, stores: Stores) -> None:
        store, found = stores("local"), url("/", "b.test")
        await begin(store, url(), found)
        entry = await store.census.entry("job", found.url_hash)
        assert entry is not None and entry.url == found.url
        assert await store.census.entry("job", found.url_hash, host="b.test:80") == entry
        assert await store.census.entry("job", found.url_hash, host="a.test:80") is None
        assert await store.census.entry("job", b"\0" * 16) is None


class TestTenants:
    """A handle sees its own tenant's rows, and nothing else of other people's work."""

    @pytest.mark.req("DAT-08")
    @waits
    async def test_another_tenants_job_is_one_that_is_not_there(self, stores: Stores) -> None:
        store, stranger = stores("local"), stores("stranger")
        await keep(store, page(url("/0"), exact_key=b"k" * 16, sketch=sketch_of(7)))
        await store.pages.advance("job", "out", after=0, seq=1, length=1)
        await store.frontier.add("job", [url("/more")], now_s=START_S)
        assert await stranger.jobs.get("job") is None
        assert await stranger.jobs.list(limit=9) == []
        assert await claim(stranger, now_s=START_S + 1000) == []
        assert await stranger.census.entry("job", url("/0").url_hash) is None
        assert await stranger.census.entries("job", state=None, after=b"", limit=9) == []
        assert await stranger.census.exclusions("job") == {}
        assert (await stranger.census.outlook("job", now_s=START_S)).pending == 0
        assert await stranger.pages.get(url("/0").url_hash) is None
        assert await stranger.pages.feed("job", after=0, limit=9) == []
        assert await stranger.pages.twins("job", [b"k" * 16]) == {}
        assert await stranger.pages.near(sketch_of(7)) == []
        assert await stranger.pages.cursor("job", "out") == (0, 0)

    @waits
    async def test_another_tenants_job_cannot_be_changed(self, stores: Stores) -> None:
        store, stranger = stores("local"), stores("stranger")
        await begin(store, url())
        lease = await claim_one(store)
        for change in (
            stranger.frontier.add("job", [url("/x")], now_s=START_S),
            stranger.jobs.update(job(state=JobState.CANCELLED)),
            stranger.jobs.delete("job"),
            stranger.pages.advance("job", "out", after=0, seq=1, length=1),
        ):
            with pytest.raises(UnknownName):
                await change
        assert (await stranger.frontier.settle(batch(visit(lease)))).lost == ("a.test:80",)
        with pytest.raises(StoreError, match="`stranger`"):
            await stranger.jobs.create(job("mine"))
        assert (await store.census.outlook("job", now_s=START_S)).pending == 1


class TestTime:
    """The anchor of a store's time is laid once."""

    @waits
    async def test_only_who_read_the_last_anchor_may_lay_the_next(self, stores: Stores) -> None:
        store, other = stores("local"), stores("other")
        first, second = ClockAnchor("boot-1", 5.0, 1e9), ClockAnchor("boot-1", 6.0, 2e9)
        assert (store.anchor(), store.greatest_end_s()) == (None, 0.0)
        assert store.set_anchor(first, instead_of=None) == first
        assert other.set_anchor(second, instead_of=None) == first
        assert other.set_anchor(second, instead_of=first) == second
        assert store.anchor() == second
