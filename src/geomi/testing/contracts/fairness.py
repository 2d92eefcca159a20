"""Who comes first where several want the same: jobs and tenants on a host, hosts in a job."""

from __future__ import annotations

from collections import Counter

import pytest

from geomi.model.entry import Discovered
from geomi.testing.contracts.handles import Store, Stores
from geomi.testing.contracts.material import (
    DELAY_S,
    START_S,
    begin,
    claim,
    config,
    job,
    url,
    visit_all,
    waits,
)

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


async def _begin(store: Store, name: str, tenant: str, found: list[Discovered]) -> None:
    await store.jobs.create(job(name, tenant=tenant))
    await store.frontier.add(name, found, now_s=START_S)
