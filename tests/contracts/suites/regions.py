"""Regions: a host that names its regions is lent to their workers alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from geomi.model.config import CrawlConfig, Regions
from geomi.model.entry import Lease, WaitingRegion
from geomi.ports.store import Store
from tests.contracts.suites.attending import card
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import START_S, begin, claim, config, url
from tests.support.waiting import waits

__all__ = ["TestRegions", "TestRegionsAtOnce"]

HOSTS = ("a.kr", "b.kr", "shop.kr", "a.jp", "kr", "a.test")


def rules(*hosts: str, job: tuple[str, ...] = ()) -> CrawlConfig:
    """Return the configuration of a job that names regions."""
    return replace(config(), regions=Regions(job, hosts))


async def scattered(store: Store, configuration: CrawlConfig) -> None:
    """Begin a job on hosts of several regions, with a worker in each of two and one in none."""
    await begin(store, *(url("/", host) for host in HOSTS), rules=configuration)
    for owner, region in (("korean", "kr"), ("japanese", "jp"), ("homeless", "")):
        await store.workers.enrol(replace(card(owner), region=region))


def names(leases: list[Lease]) -> set[str]:
    """Name the hosts that were lent."""
    return {lease.host.partition(":")[0] for lease in leases}


class TestRegions:
    """Which worker is lent which host."""

    @pytest.mark.req("FUT-20", "HTTP-17", "SCL-05")
    @waits
    async def test_hosts_are_lent_to_workers_of_their_regions_alone(self, stores: Stores) -> None:
        store = stores("local")
        await scattered(store, rules(".kr=kr", "shop.kr=jp+kr", ".jp=jp"))
        assert names(await claim(store, owner="unknown", hosts=1)) == {"a.test"}
        assert names(await claim(store, owner="homeless")) == {"kr"}
        assert names(await claim(store, owner="korean")) == {"a.kr", "b.kr", "shop.kr"}
        assert names(await claim(store, owner="japanese")) == {"a.jp"}

    @pytest.mark.req("FUT-20")
    @waits
    async def test_a_whole_job_may_name_its_regions(self, stores: Stores) -> None:
        store = stores("local")
        await scattered(store, rules("a.test=jp", job=("kr",)))
        assert await claim(store, owner="homeless") == []
        assert names(await claim(store, owner="japanese")) == {"a.test"}
        assert names(await claim(store, owner="korean")) == set(HOSTS) - {"a.test"}

    @waits
    async def test_no_more_hosts_are_lent_than_asked_for(self, stores: Stores) -> None:
        store = stores("local")
        await scattered(store, rules(".kr=kr", ".jp=jp"))
        leases = [lease for _ in HOSTS for lease in await claim(store, owner="korean", hosts=1)]
        assert sorted(names(leases)) == ["a.kr", "a.test", "b.kr", "kr", "shop.kr"]
        assert len(leases) == 5

    @waits
    async def test_new_hosts_and_other_jobs_are_looked_up_too(self, stores: Stores) -> None:
        store = stores("local")
        await scattered(store, rules(".kr=kr"))
        await claim(store, owner="homeless")
        await store.frontier.add("job", [url("/", "late.kr"), url("/", "late")], now_s=START_S)
        assert names(await claim(store, owner="homeless")) == {"late"}
        assert "late.kr" in names(await claim(store, owner="korean"))
        # A job that names no region does not care.
        await begin_other(store)
        assert names(await claim(store, "other", owner="homeless")) == {"free.kr"}

    @waits
    async def test_what_waits_is_counted_by_region(self, stores: Stores) -> None:
        store = stores("local")
        await scattered(store, rules(".kr=kr", "shop.kr=jp+kr"))
        await store.frontier.add("job", [url("/2", "a.kr")], now_s=START_S)
        await claim(store, owner="homeless", hosts=1)
        assert list(await store.census.regions("job")) == [
            WaitingRegion((), 3, 3),
            WaitingRegion(("jp", "kr"), 1, 1),
            WaitingRegion(("kr",), 2, 3),
        ]
        await begin_other(store)
        assert list(await store.census.regions("other")) == []
        assert list(await stores("else").census.regions("job")) == []

    @waits
    async def test_a_resumed_job_may_name_others(self, stores: Stores) -> None:
        store = stores("local")
        await scattered(store, rules(".kr=kr"))
        await claim(store, owner="homeless")
        job = await store.jobs.get("job")
        assert job is not None
        await store.jobs.update(replace(job, config=rules(".kr=jp")))
        assert await claim(store, owner="korean") == []
        assert names(await claim(store, owner="japanese", hosts=1)) <= {"a.kr", "b.kr", "shop.kr"}
        await store.jobs.update(replace(job, config=config()))
        assert len(await claim(store, owner="homeless")) == 2


class TestRegionsAtOnce:
    """Two groups of workers that claim side by side."""

    @waits
    async def test_many_workers_share_the_hosts_of_their_region(self, stores: Stores) -> None:
        store = stores("local")
        hosts = [f"{number}.{suffix}" for number in range(30) for suffix in ("kr", "jp")]
        await begin(store, *(url("/", host) for host in hosts), rules=rules(".kr=kr", ".jp=jp"))
        owners = [(f"{region}-{n}", region) for n in range(3) for region in ("kr", "jp")]
        for owner, region in owners:
            await store.workers.enrol(replace(card(owner), region=region))

        async def work(owner: str, region: str) -> list[str]:
            mine: list[str] = []
            for _ in range(40):
                mine += names(await claim(store, owner=owner, hosts=2))
            assert all(host.endswith(f".{region}") for host in mine)
            return mine

        found = await asyncio.gather(*(work(*one) for one in owners))
        assert sorted(host for one in found for host in one) == sorted(hosts)


async def begin_other(store: Store) -> None:
    """Begin a job without regions."""
    job = await store.jobs.get("job")
    assert job is not None
    await store.jobs.create(replace(job, id="other", config=config()))
    await store.frontier.add("other", [url("/", "free.kr")], now_s=START_S)
