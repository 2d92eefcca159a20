"""Leases between claim and settle: reserved, renewed, lost, buried."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.model.entry import HostState, HostUpdate, Lease
from geomi.ports.store import Store
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    DELAY_S,
    LEASE_S,
    START_S,
    batch,
    begin,
    claim,
    claim_one,
    config,
    give_back,
    job,
    url,
    visit,
    visit_all,
)
from tests.support.waiting import waits

__all__ = ["TestDeadOwners", "TestRenewing", "TestReserving"]


async def reserve(
    store: Store, host: str = "a.test:80", *, now_s: float = START_S, delay_s: float = DELAY_S
) -> Lease | float:
    """Reserve as whoever fetches a robots.txt does."""
    return await store.frontier.reserve(
        "job", host, owner="worker", lease_s=LEASE_S, delay_s=delay_s, now_s=now_s
    )


class TestReserving:
    """One named host, for everything outside the crawl loop."""

    @waits
    async def test_a_host_nobody_has_met_is_free(self, stores: Stores) -> None:
        lease = await reserve(stores("local"), "new.test:443")
        assert isinstance(lease, Lease)
        assert (lease.host, lease.entries, lease.token) == ("new.test:443", (), 1)
        assert (lease.until_s, lease.floor_s) == (START_S + LEASE_S, DELAY_S)

    @waits
    async def test_every_lease_of_a_host_is_counted(self, stores: Stores) -> None:
        store = stores("local")
        assert await store.census.leases("new.test:443") == 0
        for number in (1, 2):
            lease = await reserve(store, "new.test:443", now_s=START_S + 100 * number)
            assert isinstance(lease, Lease)
            assert await stores("another").census.leases("new.test:443") == number
            await store.frontier.settle(batch(give_back(lease)))

    @pytest.mark.req("POL-05")
    @waits
    async def test_a_reserved_host_is_not_claimed_and_a_claimed_one_not_reserved(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await begin(store, url())
        reserved = await reserve(store)
        assert isinstance(reserved, Lease)
        assert await claim(store) == []
        await store.frontier.settle(batch(give_back(reserved, end_s=START_S + 1)))
        lease = await claim_one(store, now_s=START_S + 1 + DELAY_S)
        earliest_s = await reserve(store, now_s=START_S + 20)
        assert earliest_s == lease.until_s + DELAY_S

    @waits
    async def test_a_resting_host_says_when(self, stores: Stores) -> None:
        store = stores("local")
        lease = await reserve(store)
        assert isinstance(lease, Lease)
        await store.frontier.settle(batch(give_back(lease, end_s=START_S + 2, next_s=START_S + 2)))
        assert await reserve(store, now_s=START_S + 3, delay_s=30) == START_S + 32
        assert isinstance(await reserve(store, now_s=START_S + 32, delay_s=30), Lease)

    @waits
    async def test_a_full_address_is_asked_later(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(), url("/", "b.test"), rules=config(per_ip=1))
        one, two = await claim(store)
        for lease in (one, two):
            await store.frontier.place(lease, "192.0.2.1", per_ip=2, now_s=START_S)
        await visit_all(store, one)
        again = await reserve(store, now_s=START_S + 20)
        assert isinstance(again, float) and START_S + 20 < again <= START_S + 21


class TestRenewing:
    """A live lease can be prolonged, a lost one cannot."""

    @waits
    async def test_a_live_lease_is_prolonged(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        now_s = START_S + LEASE_S - 0.001
        (renewed,) = await store.frontier.renew([lease], lease_s=LEASE_S, now_s=now_s)
        assert renewed == replace(lease, until_s=now_s + LEASE_S)
        assert await claim(store, now_s=START_S + LEASE_S + DELAY_S) == []

    @waits
    async def test_lost_leases_are_missing(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(), url("/", "b.test"), url("/", "c.test"))
        given, stale, live = await claim(store)
        await visit_all(store, given)
        renewed = await store.frontier.renew(
            [given, replace(stale, token=99), live], lease_s=LEASE_S, now_s=START_S + 1
        )
        assert [lease.host for lease in renewed] == [live.host]
        late_s = START_S + 1 + LEASE_S
        assert await store.frontier.renew(renewed, lease_s=LEASE_S, now_s=late_s) == []

    @waits
    async def test_a_renewed_lease_learns_of_a_slower_job(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        await store.jobs.create(job("slow", rules=config(delay_s=40.0)))
        await store.frontier.add("slow", [url()], now_s=START_S)
        (renewed,) = await store.frontier.renew([lease], lease_s=LEASE_S, now_s=START_S + 1)
        assert renewed.floor_s == 40.0
        assert await store.census.floor_s(lease.host) == 40.0
        assert await store.census.floor_s("nobody.test:80") == 0.0


class TestDeadOwners:
    """What a crash leaves behind comes due without breaking the delay."""

    @waits
    async def test_hosts_of_dead_owners_rest_one_delay_from_now(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(), url("/", "b.test"))
        (dead,) = await claim(store, owner="dead", hosts=1)
        (live,) = await claim(store, owner="live", hosts=1)
        now_s = START_S + 5
        assert await store.census.release_dead(["dead", "unknown"], now_s=now_s) == 1
        assert (await store.census.outlook("job", now_s=now_s)).next_s == now_s + DELAY_S
        assert await claim(store, now_s=now_s + DELAY_S - 0.001) == []
        again = await claim_one(store, now_s=now_s + DELAY_S)
        assert (again.host, again.state.last_end_s) == (dead.host, now_s)
        assert live.host != dead.host
        assert await store.census.release_dead(["dead"], now_s=now_s + 20) == 0

    @pytest.mark.parametrize(
        ("state", "rest_s"),
        [
            (HostState("a.test:80", crawl_delay_s=30.0), 30.0),
            (HostState("a.test:80", crawl_delay_s=86_400.0), 60.0),
            (HostState("a.test:80", backoff_s=45.0), 45.0),
            (HostState("a.test:80", crawl_delay_s=1.0, backoff_s=1.0), DELAY_S),
        ],
        ids=["crawl-delay", "capped-crawl-delay", "backoff", "delay"],
    )
    @waits
    async def test_the_rest_is_the_longest_of_what_is_known(
        self, stores: Stores, state: HostState, rest_s: float
    ) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        await store.frontier.settle(batch(HostUpdate(lease, state)))
        await store.census.release_dead(["worker"], now_s=START_S + 1)
        assert (await store.census.outlook("job", now_s=START_S + 1)).next_s == START_S + 1 + rest_s

    @waits
    async def test_a_visit_of_a_lease_that_was_ended_still_counts(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        await store.census.release_dead(["worker"], now_s=START_S + 5)
        settled = await store.frontier.settle(batch(visit(lease), give_back(lease, end_s=START_S)))
        assert settled.lost == ()
        kept = await store.census.outlook("job", now_s=START_S + 5)
        assert kept.pending == 0
        assert await reserve(store, now_s=START_S + 14) == START_S + 15
