"""Quotas while many workers claim, settle and delete at the same moment."""

from __future__ import annotations

import asyncio

import pytest

from geomi.model.tenant import Quota
from geomi.ports.store import Store
from tests.contracts.suites.crowding import WORKERS, at_once
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    START_S,
    batch,
    claim,
    config,
    give_back,
    job,
    page,
    url,
    visit,
)
from tests.contracts.suites.metering import PAGE_BYTES, standing

__all__ = ["TestQuotasAtOnce"]


class TestQuotasAtOnce:
    """What is used is counted and kept exactly, whoever is at work."""

    @pytest.mark.req("JOB-05")
    def test_the_day_is_used_up_exactly(self, durable_stores: Stores) -> None:
        store, most = durable_stores("local"), 37
        asyncio.run(store.quotas.allow(Quota(max_daily_pages=most)))
        asyncio.run(_make_jobs(store))
        parts = at_once(durable_stores, lambda each, number: asyncio.run(_work(each, f"{number}")))
        used = asyncio.run(standing(store))
        assert (sum(parts), used.pages, used.stored_bytes) == (most, most, most * PAGE_BYTES)

    def test_what_is_kept_is_counted_while_jobs_are_deleted(self, durable_stores: Stores) -> None:
        store = durable_stores("local")
        asyncio.run(store.quotas.allow(Quota(max_daily_pages=0)))
        asyncio.run(_make_jobs(store))

        async def work_or_delete(each: Store, number: int) -> int:
            if number < WORKERS - 1:
                return await _work(each, f"{number}")
            for other in range(WORKERS - 2):
                await _work(each, f"{number}", most=4)  # the others have begun by then
                await each.jobs.delete(f"{other}")
            return 0

        at_once(durable_stores, lambda each, number: asyncio.run(work_or_delete(each, number)))
        names = [f"{number}" for number in range(WORKERS)]
        feeds = [asyncio.run(store.pages.feed(name, after=0, limit=999)) for name in names]
        used = asyncio.run(standing(store))
        assert used.stored_bytes == sum(len(feed) for feed in feeds) * PAGE_BYTES


async def _make_jobs(store: Store) -> None:
    for number in range(WORKERS):
        await store.jobs.create(job(f"{number}", rules=config(delay_s=0.0)))
        found = [url(f"/{n}", f"h{n % 5}.test") for n in range(20)]
        await store.frontier.add(f"{number}", found, now_s=START_S)


async def _work(store: Store, name: str, *, most: int = 100) -> int:
    """Take pages of a job until several claims in a row bring nothing; return how many."""
    taken = idle = 0
    now_s = START_S
    while idle < 20 and taken < most:
        now_s += 1.0
        leases = await claim(store, name, hosts=2, urls=3, now_s=now_s, owner=name)
        idle = 0 if leases else idle + 1
        for lease in leases:
            visits = [
                visit(lease, entry, now_s=now_s, page=page(url(entry.url)))
                for entry in lease.entries
            ]
            await store.frontier.settle(batch(*visits, give_back(lease, end_s=now_s)))
            taken += len(visits)
    return taken
