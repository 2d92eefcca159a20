"""Quotas: what a tenant has used is counted exactly, and no more than is left is lent."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest

from geomi.adapters.store.tables.quotas import MAX_QUOTA, day_of
from geomi.errors import StoreError
from geomi.model.config import Retention
from geomi.model.job import Expired, JobState
from geomi.model.tenant import Quota, TenantUsage
from geomi.model.verdict import Outcome, State
from geomi.ports.store import Store
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    DELAY_S,
    LEASE_S,
    START_S,
    WALL_S,
    batch,
    begin,
    claim,
    config,
    give_back,
    job,
    page,
    url,
    visit,
)
from tests.contracts.suites.sites import TAKEDOWN
from tests.support.waiting import waits

__all__ = ["TestDailyPages", "TestLostBytes", "TestQuotas", "TestStorage"]

DAY_S = 86_400.0
PAGE_BYTES = 60  # a record of 20 bytes and a response of 40
LIMITS = list(Quota.__dataclass_fields__)


async def standing(store: Store, *, days: int = 0) -> TenantUsage:
    """Return what the tenant has used, today or some days from now."""
    return await store.quotas.standing(wall_s=WALL_S + days * DAY_S)


async def lent(store: Store, name: str = "job", *, now_s: float = START_S, days: int = 0) -> int:
    """Claim all that a job may have and return how many entries it got."""
    leases = await claim(store, name, now_s=now_s, wall_s=WALL_S + days * DAY_S)
    return sum(len(lease.entries) for lease in leases)


async def collect(store: Store, name: str, *, pages: int, kept: Retention | None = None) -> None:
    """Let a job of its own host collect pages."""
    rules = replace(config(), retention=kept or Retention())
    await store.jobs.create(job(name, rules=rules))
    found = [url(f"/{number}", f"{name}.test") for number in range(pages)]
    await store.frontier.add(name, found, now_s=START_S)
    (lease,) = await claim(store, name)
    visits = (visit(lease, entry, page=page(url())) for entry in lease.entries)
    kept_pages = (
        replace(one, page=replace(page(url()), url_hash=one.entry.url_hash)) for one in visits
    )
    await store.frontier.settle(batch(*kept_pages, give_back(lease)))


class TestQuotas:
    """What a tenant may use, and what counts for it."""

    @pytest.mark.req("JOB-05")
    def test_the_defaults_are_those_of_the_catalogue(self) -> None:
        assert astuple(Quota()) == (3, 100, 1000, 10**9)

    @waits
    async def test_without_a_quota_nothing_is_counted_or_refused(self, stores: Stores) -> None:
        store = stores("local")
        await collect(store, "job", pages=3)
        assert await standing(store) == TenantUsage(day_of(WALL_S))

    @waits
    async def test_new_limits_leave_what_was_used(self, stores: Stores) -> None:
        store = stores("local")
        await store.quotas.allow(Quota())
        await collect(store, "job", pages=3)
        await store.quotas.allow(Quota(1, 2, 3, 4))
        used = TenantUsage("2027-01-15", 3, 3 * PAGE_BYTES, Quota(1, 2, 3, 4))
        assert await standing(store) == used

    @waits
    async def test_what_was_kept_before_counts(self, stores: Stores) -> None:
        store = stores("local")
        await collect(store, "job", pages=3)
        await store.quotas.allow(Quota())
        assert await standing(store) == TenantUsage("2027-01-15", 0, 3 * PAGE_BYTES, Quota())

    @pytest.mark.req("SEC-09", "DAT-08")
    @waits
    async def test_each_tenant_has_its_own(self, stores: Stores) -> None:
        store, other = stores("local"), stores("other")
        await other.quotas.allow(Quota(max_daily_pages=1))
        await store.quotas.allow(Quota())
        await collect(store, "job", pages=3)
        used = await standing(other)
        assert (used.pages, used.stored_bytes, used.quota) == (0, 0, Quota(max_daily_pages=1))

    @pytest.mark.parametrize("most", [-1, MAX_QUOTA + 1])
    @pytest.mark.parametrize("name", LIMITS)
    @waits
    async def test_a_limit_that_cannot_be_kept_is_refused(
        self, stores: Stores, name: str, most: int
    ) -> None:
        with pytest.raises(StoreError, match=name):
            await stores("local").quotas.allow(replace(Quota(), **{name: most}))


class TestDailyPages:
    """So many pages on one day, of all jobs of a tenant together."""

    @pytest.mark.req("JOB-05", "C-45")
    @waits
    async def test_no_more_is_lent_than_the_day_leaves(self, stores: Stores) -> None:
        store = stores("local")
        await store.quotas.allow(Quota(max_daily_pages=5))
        await begin(store, *(url(f"/{number}") for number in range(9)))
        (lease,) = await claim(store)
        assert len(lease.entries) == 5
        visits = [visit(lease, entry) for entry in lease.entries]
        await store.frontier.settle(batch(*visits, give_back(lease)))
        used = await standing(store)
        assert (used.pages, used.has_pages_left) == (5, False)
        assert await lent(store, now_s=START_S + DELAY_S) == 0
        outlook = await store.census.outlook("job", now_s=START_S + DELAY_S)
        assert outlook.by_state[State.PENDING] == 4

    @pytest.mark.req("JOB-05")
    @waits
    async def test_all_jobs_of_a_tenant_share_it(self, stores: Stores) -> None:
        store, other = stores("local"), stores("other")
        await store.quotas.allow(Quota(max_daily_pages=5))
        for name, many in (("one", 3), ("two", 4), ("three", 1)):
            await store.jobs.create(job(name))
            found = [url(f"/{number}", f"{name}.test") for number in range(many)]
            await store.frontier.add(name, found, now_s=START_S)
        await other.jobs.create(job("theirs", tenant="other"))
        await other.frontier.add("theirs", [url("/", "theirs.test")], now_s=START_S)
        assert await lent(other, "theirs") == 1
        assert [await lent(store, name) for name in ("one", "two", "three")] == [3, 2, 0]

    @waits
    async def test_what_is_lent_by_a_job_that_is_over_counts_still(self, stores: Stores) -> None:
        store = stores("local")
        await store.quotas.allow(Quota(max_daily_pages=2))
        for name in ("over", "next"):
            await store.jobs.create(job(name))
            found = [url(f"/{number}", f"{name}.test") for number in range(2)]
            await store.frontier.add(name, found, now_s=START_S)
        assert await lent(store, "over") == 2
        await store.jobs.update(job("over", state=JobState.CANCELLED))
        assert await lent(store, "next") == 0
        assert await lent(store, "next", now_s=START_S + LEASE_S + DELAY_S) == 2

    @waits
    async def test_a_day_is_as_good_as_another(self, stores: Stores) -> None:
        store = stores("local")
        await store.quotas.allow(Quota(max_daily_pages=2))
        await begin(store, *(url(f"/{number}") for number in range(9)))
        (lease,) = await claim(store)
        # It was lent today and is settled tomorrow, for which it counts then.
        visits = [visit(lease, entry) for entry in lease.entries]
        await store.frontier.settle(batch(*visits, give_back(lease), wall_s=WALL_S + DAY_S))
        assert [(await standing(store, days=days)).pages for days in range(3)] == [0, 2, 0]
        assert await lent(store, now_s=START_S + DELAY_S, days=1) == 0
        assert await lent(store, now_s=START_S + DELAY_S, days=2) == 2

    @waits
    async def test_only_visits_count_that_were_written_and_count(self, stores: Stores) -> None:
        store = stores("local")
        await store.quotas.allow(Quota())
        await begin(store, *(url(f"/{number}") for number in range(3)))
        (lease,) = await claim(store)
        one, two, three = lease.entries
        retried = visit(lease, two, outcome=Outcome.TIMEOUT, state=State.PENDING)
        first = visit(lease, one)
        await store.frontier.settle(batch(first, retried))
        await store.frontier.settle(batch(first))
        await store.frontier.settle(batch(replace(visit(lease, three), token=99)))
        assert (await standing(store)).pages == 1

    @waits
    async def test_without_a_daily_limit_pages_are_counted_all_the_same(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await store.quotas.allow(Quota(max_daily_pages=0, max_storage_bytes=0))
        await collect(store, "job", pages=3)
        used = await standing(store)
        assert (used.pages, used.has_pages_left, used.has_room) == (3, True, True)


class TestStorage:
    """So many bytes of the archive."""

    @pytest.mark.req("JOB-05", "STO-06")
    @waits
    async def test_nothing_is_lent_while_there_is_no_room(self, stores: Stores) -> None:
        store = stores("local")
        await store.quotas.allow(Quota(max_storage_bytes=2 * PAGE_BYTES))
        await collect(store, "full", pages=2)
        used = await standing(store)
        assert (used.stored_bytes, used.has_room) == (2 * PAGE_BYTES, False)
        await begin(store, url())
        assert await lent(store) == 0
        await store.jobs.delete("full")
        assert (await standing(store)).stored_bytes == 0
        assert await lent(store) == 1

    @waits
    async def test_what_is_erased_gives_its_bytes_back(self, stores: Stores) -> None:
        store = stores("local")
        await store.quotas.allow(Quota())
        await collect(store, "one", pages=3)
        await store.providers.erase(TAKEDOWN, [url("/0", "one.test").url_hash])
        assert (await standing(store)).stored_bytes == 2 * PAGE_BYTES

    @pytest.mark.req("STO-06")
    @waits
    async def test_what_expires_gives_its_bytes_back(self, stores: Stores) -> None:
        store = stores("local")
        await store.quotas.allow(Quota())
        await collect(store, "one", pages=3, kept=Retention(urls_days=1, jobs_days=1))
        await collect(store, "two", pages=1)
        over = job("one", rules=replace(config(), retention=Retention(urls_days=1, jobs_days=1)))
        await store.jobs.update(replace(over, state=JobState.COMPLETED, ended_at_s=START_S))
        assert await store.retention.begin("one", Expired.JOB_GOING, wall_s=START_S + DAY_S)
        assert await store.retention.forget_captures("one", limit=2) == 2
        assert (await standing(store)).stored_bytes == 2 * PAGE_BYTES
        assert await store.retention.forget_captures("one", limit=2) == 1
        assert (await standing(store)).stored_bytes == PAGE_BYTES
        await store.jobs.delete("one")
        assert (await standing(store)).stored_bytes == PAGE_BYTES


class TestLostBytes:
    """Where bytes are lost, nobody pays for them."""

    @waits
    async def test_lost_segments_give_their_bytes_back(self, durable_stores: Stores) -> None:
        store, other = durable_stores("local"), durable_stores("other")
        await store.quotas.allow(Quota())
        await other.quotas.allow(Quota())
        await collect(store, "one", pages=3)
        assert await other.segments.requeue(["segment-1"]) == 3
        used = await standing(store)
        assert (used.pages, used.stored_bytes) == (3, 0)
        assert (await standing(other)).stored_bytes == 0
