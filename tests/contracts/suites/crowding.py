"""Several workers at once on one store that outlives them: nothing is lent, counted or read wrong.

Each worker has a handle and a thread of its own; what they do is real, only time is made up.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TypeVar

import pytest

from geomi.model.config import UrlOrder
from geomi.model.entry import Discovered, Lease
from geomi.model.verdict import State
from geomi.ports.store import Store
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    START_S,
    batch,
    begin,
    claim,
    config,
    give_back,
    page,
    url,
    visit,
)

T = TypeVar("T")

WORKERS = 4
HOSTS = 12
PAGES = 6  # of each host


class TestManyWorkers:
    """The claim protocol under real concurrency."""

    @pytest.mark.req("FRN-11")
    @pytest.mark.parametrize("max_pages", [0, 37])
    def test_each_url_is_lent_once_and_never_too_many(
        self, durable_stores: Stores, max_pages: int
    ) -> None:
        urls = [url(f"/{n}", f"h{host}.test") for host in range(20) for n in range(5)]
        store = durable_stores("local")
        asyncio.run(begin(store, *urls, rules=config(max_pages=max_pages, delay_s=0.0)))
        parts = at_once(durable_stores, lambda each, _: _work(each, lambda lease: ()))
        visited = [url_hash for part in parts for url_hash in part]
        assert len(visited) == len(set(visited)) == (max_pages or len(urls))
        found = asyncio.run(store.jobs.get("job"))
        assert found is not None
        assert (found.stats.settled, found.stats.discovered) == (len(visited), len(urls))

    @pytest.mark.parametrize("order", [UrlOrder.SCORE, UrlOrder.WEIGHTED])
    def test_counters_equal_a_recount_whoever_found_what_first(
        self, durable_stores: Stores, order: UrlOrder
    ) -> None:
        # Every page links to pages of all hosts, often nearer than they were known: entries are
        # added, approached, paid, opened again and closed by all workers at the same time.
        store = durable_stores("local")
        rules = config(delay_s=0.0, order=order)
        asyncio.run(begin(store, url("/0", "h0.test", depth=9), rules=rules))
        parts = at_once(durable_stores, lambda each, seed: _work(each, _links(seed)))
        found = asyncio.run(store.jobs.get("job"))
        entries = asyncio.run(
            store.census.entries("job", state=None, after=b"", limit=HOSTS * PAGES * 2)
        )
        outlook = asyncio.run(store.census.outlook("job", now_s=START_S))
        assert found is not None
        assert {entry.url_hash for entry in entries} == {h for part in parts for h in part}
        assert outlook.by_state == {State.COMPLETED: len(entries)}
        assert found.stats.discovered == len(entries) == HOSTS * PAGES

    @pytest.mark.parametrize("limit", ["max_hosts", "per_ip"])
    def test_limits_on_hosts_hold_between_claims_at_the_same_moment(
        self, durable_stores: Stores, limit: str
    ) -> None:
        rules = config(delay_s=0.0, max_hosts=3 if limit == "max_hosts" else 0, per_ip=3)
        urls = [url("/", f"h{host}.test") for host in range(HOSTS)]
        store = durable_stores("local")
        asyncio.run(begin(store, *urls, rules=rules))
        if limit == "per_ip":
            asyncio.run(_place_all(store, urls))
        later_s = START_S + 100
        asked = at_once(
            durable_stores,
            lambda each, owner: asyncio.run(
                claim(each, owner=f"w{owner}", hosts=2, urls=1, now_s=later_s)
            ),
        )
        lent = [lease.host for leases in asked for lease in leases]
        assert len(lent) == len(set(lent)) <= 3

    def test_who_follows_the_feed_misses_no_commit(self, durable_stores: Stores) -> None:
        urls = [url(f"/{n}", f"h{host}.test") for host in range(HOSTS) for n in range(PAGES)]
        is_over = Event()
        store = durable_stores("local")
        asyncio.run(begin(store, *urls, rules=config(delay_s=0.0)))
        with ThreadPoolExecutor(1) as reader:
            read = reader.submit(_follow, durable_stores, is_over)
            at_once(durable_stores, lambda each, _: _work(each, lambda lease: ()))
            is_over.set()
            seen = read.result()
        assert len(seen) == len(set(seen)) == len(urls)


def at_once(stores: Stores, work: Callable[[Store, int], T]) -> list[T]:
    """Let several workers work at the same time, each with a handle of its own."""

    def one(number: int) -> T:
        store = stores("local")
        return work(store, number)

    with ThreadPoolExecutor(WORKERS) as crowd:
        return list(crowd.map(one, range(WORKERS)))


def _work(store: Store, found_by: Callable[[Lease], tuple[Discovered, ...]]) -> list[bytes]:
    """Claim and settle until nothing is lent any more; every claim comes a second later."""
    return asyncio.run(_crawl(store, found_by))


async def _crawl(store: Store, found_by: Callable[[Lease], tuple[Discovered, ...]]) -> list[bytes]:
    visited: list[bytes] = []
    now_s, idle = START_S, 0
    while idle < 20:
        leases = await claim(store, now_s=now_s, hosts=2, urls=2)
        for lease in leases:
            visited += [entry.url_hash for entry in lease.entries]
            visits = [
                visit(
                    lease,
                    entry,
                    now_s=now_s,
                    discovered=found_by(lease),
                    page=page(url(entry.url.partition(".test")[2], lease.host.split(".")[0])),
                )
                for entry in lease.entries
            ]
            await store.frontier.settle(batch(*visits, give_back(lease, end_s=now_s, next_s=now_s)))
        idle = 0 if leases else idle + 1
        if not leases:
            await asyncio.sleep(0.005)  # what another worker holds is not lent yet
        now_s += 1
    return visited


def _links(seed: int) -> Callable[[Lease], tuple[Discovered, ...]]:
    rng = random.Random(seed)

    def found_by(_: Lease) -> tuple[Discovered, ...]:
        return tuple(
            url(f"/{number}", f"h{host}.test", depth=rng.randrange(10))
            for host in rng.sample(range(HOSTS), 6)
            for number in range(PAGES)
        )

    return found_by


async def _place_all(store: Store, urls: list[Discovered]) -> None:
    """Let every host be known to have the same address."""
    held = Counter(one.host for one in urls)
    for _ in held:
        (lease,) = await claim(store, hosts=1, urls=1)
        await store.frontier.place(lease, "192.0.2.7", per_ip=99, now_s=START_S)
        await store.frontier.settle(batch(give_back(lease, next_s=START_S + 50)))


def _follow(stores: Stores, is_over: Event) -> list[str]:
    """Read captures as a publisher does: each read starts where the last one ended."""

    async def follow(store: Store) -> list[str]:
        seen: list[str] = []
        after = 0
        while True:
            was_over = is_over.is_set()
            rows = await store.pages.feed("job", after=after, limit=5)
            seen += [f"{row.url}" for row in rows]
            after = rows[-1].seq if rows else after
            if was_over and not rows:
                return seen

    store = stores("local")
    return asyncio.run(follow(store))
