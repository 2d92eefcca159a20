"""Who comes first where several want the same: jobs and tenants on a host, hosts in a job."""

from __future__ import annotations

from collections import Counter

import pytest

from geomi.model.entry import Discovered, HostState, HostUpdate, Lease
from geomi.ports.store import Store
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    DELAY_S,
    START_S,
    batch,
    begin,
    claim,
    config,
    job,
    url,
    visit,
    visit_all,
)
from tests.support.waiting import waits

__all__ = ["TestFairness"]


class TestFairness:
    """Nobody starves: neither a small job beside a large one nor a host among many."""

    @pytest.mark.req("FRN-09")
    @pytest.mark.parametrize("tenants", [("local", "local"), ("local", "stranger")], ids="-".join)
    @waits
    async def test_a_large_and_a_small_job_take_turns_on_a_host(
        self, stores: Stores, tenants: tuple[str, str]
    ) -> None:
        large, small = stores(tenants[0]), stores(tenants[1])
        await _begin(large, "large", tenants[0], [url(f"/{n}") for n in range(300)])
        await _begin(small, "small", tenants[1], [url(f"/{n}") for n in range(4)])
        served: list[str] = []
        now_s = START_S
        for _ in range(8):
            for name, store in (("large", large), ("small", small)):
                for lease in await claim(store, name, now_s=now_s, urls=1):
                    served.append(name)
                    await visit_all(store, lease, now_s=now_s)
            now_s += DELAY_S
        assert served == ["large", "small"] * 4

    @waits
    async def test_a_job_with_one_host_is_served_beside_one_with_very_many(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        many = [url(f"/{n}", f"h{host:03}.test") for host in range(200) for n in range(2)]
        await _begin(store, "many", "local", many)
        await _begin(store, "one", "local", [url(f"/one/{n}", "h000.test") for n in range(3)])
        served: Counter[str] = Counter()
        now_s = START_S
        for _ in range(6):
            for name in ("many", "one"):  # the larger one always asks first
                for lease in await claim(store, name, now_s=now_s, hosts=20, urls=1):
                    served[f"{name} {lease.host}"] += 1
                    await visit_all(store, lease, now_s=now_s)
            now_s += DELAY_S
        assert served["one h000.test:80"] == 3
        assert sum(name.startswith("many") for name in served) >= 6 * 19

    @pytest.mark.parametrize(
        ("tenant", "per_ips"),
        [("local", (1, 1)), ("stranger", (1, 1)), ("local", (2, 1)), ("local", (3, 3))],
    )
    @waits
    async def test_jobs_take_turns_on_an_address(
        self, stores: Stores, tenant: str, per_ips: tuple[int, int]
    ) -> None:
        """One has many hosts there and asks at once for the next; the other has one."""
        many = _Worker(stores("local"), "many", [f"h{n:02}.test" for n in range(6)])
        one = _Worker(stores(tenant), "one", ["one.test"])
        await many.begin("local", per_ips[0])
        await one.begin(tenant, per_ips[1])
        now_s = START_S + DELAY_S
        for _ in range(120):
            for worker in (many, one):
                await worker.work(now_s)
            now_s += 0.5
        assert one.served >= 6  # of 27 that its host's own rest would allow
        assert many.served >= 10

    @waits
    async def test_a_job_that_waits_for_an_address_no_more_holds_nobody_up(
        self, stores: Stores
    ) -> None:
        many = _Worker(stores("local"), "many", [f"h{n:02}.test" for n in range(6)])
        one = _Worker(stores("local"), "one", ["one.test"])
        for worker in (many, one):
            await worker.begin("local", 1)
        now_s = START_S + DELAY_S
        await many.work(now_s)
        await one.work(now_s)  # in vain, and never again
        for _ in range(60):
            await many.work(now_s)
            now_s += 0.5
        assert many.served >= 10

    @waits
    async def test_every_host_is_served_before_any_is_served_again(self, stores: Stores) -> None:
        store = stores("local")
        found = [url(f"/{n}", f"h{host:02}.test") for host in range(30) for n in range(3)]
        await begin(store, *found, rules=config(delay_s=1.0))
        now_s = START_S
        for turn in range(3):
            served: Counter[str] = Counter()
            for _ in range(6):
                for lease in await claim(store, now_s=now_s, hosts=5, urls=1):
                    served[lease.host] += 1
                    await visit_all(store, lease, now_s=now_s)
                now_s += 1.0
            assert set(served.values()) == {1} and len(served) == 30, turn

    @waits
    async def test_a_host_with_few_urls_is_not_kept_waiting_by_one_with_many(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await begin(store, *(url(f"/{n}", priority=200) for n in range(300)))
        await store.frontier.add("job", [url("/", "b.test", priority=0)], now_s=START_S)
        (first,) = await claim(store, hosts=1)
        (second,) = await claim(store, hosts=1)
        assert [first.host, second.host] == ["a.test:80", "b.test:80"]


class _Worker:
    """A worker of a job whose hosts all have one address; each page takes it two seconds."""

    ADDRESS = "192.0.2.7"
    PAGE_S = 2.0

    def __init__(self, store: Store, name: str, hosts: list[str]) -> None:
        self._store = store
        self._name = name
        self._hosts = hosts
        self._held: list[tuple[Lease, float]] = []
        self._per_ip = 0
        self.served = 0

    async def begin(self, tenant: str, per_ip: int) -> None:
        """Begin the job, and visit each host once, so that its address is known."""
        rules = config(delay_s=0.1, per_ip=per_ip)
        await self._store.jobs.create(job(self._name, tenant=tenant, rules=rules))
        found = [url(f"/{n}", host) for host in self._hosts for n in range(40)]
        await self._store.frontier.add(self._name, found, now_s=START_S)
        self._per_ip = per_ip
        for lease in await claim(self._store, self._name, hosts=99, urls=1):
            await self._give_back(lease, START_S)
        self.served = 0

    async def work(self, now_s: float) -> None:
        """Give back what is done, and ask for as much as may be asked at once."""
        for lease, end_s in self._held[:]:
            if end_s <= now_s:
                self._held.remove((lease, end_s))
                await self._give_back(lease, now_s)
        room = self._per_ip - len(self._held)
        if room:
            leases = await claim(self._store, self._name, now_s=now_s, hosts=room, urls=1)
            self._held += [(lease, now_s + self.PAGE_S) for lease in leases]

    async def _give_back(self, lease: Lease, now_s: float) -> None:
        self.served += 1
        state = HostState(lease.host, last_end_s=now_s, ip=self.ADDRESS)
        ended = HostUpdate(lease, state, now_s + lease.floor_s)
        await self._store.frontier.settle(batch(visit(lease, now_s=now_s), ended))


async def _begin(store: Store, name: str, tenant: str, found: list[Discovered]) -> None:
    await store.jobs.create(job(name, tenant=tenant))
    await store.frontier.add(name, found, now_s=START_S)
