"""Limits over the whole system: hosts that a job holds at once, requests an hour and a day."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.model.entry import Lease, RequestCap
from geomi.model.job import JobBatch
from geomi.model.site import RequestWindow
from geomi.ports.store import Store
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    DELAY_S,
    LEASE_S,
    START_S,
    begin,
    claim,
    config,
    job,
    url,
    visit_all,
)
from tests.support.waiting import waits

__all__ = ["TestCaps", "TestDomainCaps", "TestHostsAtOnce", "TestJobBatches"]

HOUR_S, DAY_S = 3600.0, 86_400.0


async def permits(
    store: Store, many: int, *, now_s: float, per_hour: int, per_day: int, domain: str = ""
) -> int:
    """Ask for permits and return how many were given."""
    given = 0
    for _ in range(many):
        cap = RequestCap(domain, per_hour, per_day)
        answer_s = await store.frontier.permit([cap], now_s=now_s)
        assert answer_s >= now_s
        given += answer_s == now_s
    return given


class TestHostsAtOnce:
    """A job with `max_hosts` holds no more hosts, however many workers it has."""

    @pytest.mark.req("POL-02")
    @waits
    async def test_all_workers_together_hold_the_limit(self, stores: Stores) -> None:
        store = stores("local")
        urls = [url("/", f"{letter}.test") for letter in "abcdef"]
        await begin(store, *urls, rules=config(max_hosts=3))
        first = await claim(store, hosts=2)
        second = await claim(store, owner="other")
        assert (len(first), len(second)) == (2, 1)
        assert await claim(store, owner="third") == []
        await visit_all(store, first[0])
        assert len(await claim(store)) == 1

    @waits
    async def test_a_lease_that_ran_out_holds_nothing(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(), url("/", "b.test"), rules=config(max_hosts=1))
        assert len(await claim(store)) == 1
        assert await claim(store, now_s=START_S + LEASE_S - 1) == []
        assert len(await claim(store, now_s=START_S + LEASE_S)) == 1

    @waits
    async def test_a_reserved_host_counts_but_is_not_refused(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, *(url("/", f"{x}.test") for x in "abc"), rules=config(max_hosts=2))
        await claim(store, hosts=1)
        for guest in ("x.test:443", "y.test:443"):
            lease = await store.frontier.reserve(
                "job", guest, owner="worker", lease_s=LEASE_S, delay_s=0.0, now_s=START_S
            )
            assert isinstance(lease, Lease)
        assert await claim(store) == []

    @waits
    async def test_other_jobs_have_their_own(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(), url("/", "b.test"), rules=config(max_hosts=1))
        await store.jobs.create(job("free"))
        await store.frontier.add("free", [url("/", f"{x}.test") for x in "xyz"], now_s=START_S)
        assert (len(await claim(store)), len(await claim(store, "free"))) == (1, 3)

    @waits
    async def test_a_job_that_holds_all_it_may_waits_for_the_first_to_end(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await begin(store, url(), url("/", "b.test"), rules=config(max_hosts=1))
        await claim(store)
        outlook = await store.census.outlook("job", now_s=START_S)
        assert (outlook.pending, outlook.next_s) == (2, START_S + LEASE_S)


class TestCaps:
    """No window of an hour or a day, wherever it starts, holds more requests than its cap."""

    @pytest.mark.req("POL-03")
    @waits
    async def test_a_full_hour_says_when_it_has_room(self, stores: Stores) -> None:
        store = stores("local")
        assert await permits(store, 5, now_s=START_S, per_hour=3, per_day=0) == 3
        again_s = await store.frontier.permit([RequestCap("", 3, 0)], now_s=START_S + 7)
        assert START_S + HOUR_S <= again_s <= START_S + HOUR_S + 180
        assert await permits(store, 1, now_s=again_s - 0.001, per_hour=3, per_day=0) == 0
        assert await permits(store, 5, now_s=again_s, per_hour=3, per_day=0) == 3

    @pytest.mark.req("POL-03")
    @waits
    async def test_a_full_day_holds_longer_than_its_hours(self, stores: Stores) -> None:
        store = stores("local")
        now_s, given = START_S, 0
        while now_s < START_S + DAY_S:
            given += await permits(store, 3, now_s=now_s, per_hour=2, per_day=7)
            now_s += HOUR_S / 2
        assert given == 7
        again_s = await store.frontier.permit([RequestCap("", 2, 7)], now_s=START_S + DAY_S)
        assert START_S + DAY_S <= again_s <= START_S + DAY_S + 180

    @waits
    async def test_every_job_and_tenant_takes_from_the_same_cap(self, stores: Stores) -> None:
        one, other = stores("local"), stores("stranger")
        assert await permits(one, 2, now_s=START_S, per_hour=3, per_day=0) == 2
        assert await permits(other, 2, now_s=START_S, per_hour=3, per_day=0) == 1
        assert await permits(other, 9, now_s=START_S, per_hour=0, per_day=4) == 1

    @waits
    async def test_without_a_cap_nothing_is_counted(self, stores: Stores) -> None:
        store = stores("local")
        assert await permits(store, 50, now_s=START_S, per_hour=0, per_day=0) == 50
        assert await permits(store, 2, now_s=START_S + DELAY_S, per_hour=1, per_day=1) == 1

    @waits
    async def test_a_lower_cap_holds_at_once(self, stores: Stores) -> None:
        store = stores("local")
        assert await permits(store, 10, now_s=START_S, per_hour=10, per_day=0) == 10
        late_s = await store.frontier.permit([RequestCap("", 4, 0)], now_s=START_S + 60)
        assert late_s >= START_S + HOUR_S


class TestJobBatches:
    """A job with batches lends no more than is left of one, and nothing before it begins."""

    @pytest.mark.req("POL-09")
    @waits
    async def test_all_workers_together_hold_the_batch(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, *(url(f"/{number}", f"{number}.test") for number in range(6)))
        ready_s = START_S + 5
        batch = JobBatch(number=1, size=3, end=3, failed=0, ready_s=ready_s)
        assert await store.jobs.turn_batch("job", batch, was=0)
        found = await store.jobs.get("job")
        assert found is not None
        assert found.batch == batch
        assert await claim(store, now_s=ready_s - 0.1) == []
        outlook = await store.census.outlook("job", now_s=START_S)
        assert outlook.next_s == ready_s
        first = await claim(store, now_s=ready_s, hosts=2)
        second = await claim(store, now_s=ready_s, owner="other")
        assert (len(first), len(second)) == (2, 1)
        await visit_all(store, first[0])
        assert await claim(store, now_s=ready_s) == []  # a settled page is still of the batch
        assert await store.jobs.turn_batch("job", JobBatch(2, 5, 6, 0, ready_s), was=1)
        assert len(await claim(store, now_s=ready_s)) == 3

    @waits
    async def test_one_process_alone_begins_a_batch(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        assert await store.jobs.turn_batch("job", JobBatch(1, 1, 1), was=0)
        assert not await store.jobs.turn_batch("job", JobBatch(1, 9, 9), was=0)
        assert not await stores("stranger").jobs.turn_batch("job", JobBatch(2, 9, 9), was=1)
        await store.jobs.update(replace(job(), paused=True))  # a pause of a person leaves it
        found = await store.jobs.get("job")
        assert found is not None
        assert found.batch == JobBatch(1, 1, 1)


class TestDomainCaps:
    """Requests are counted by domain and window of time, and the counts expire."""

    @pytest.mark.req("POL-11")
    @waits
    async def test_each_domain_has_its_own_count(self, stores: Stores) -> None:
        store = stores("local")
        for domain, given in (("a.test", 3), ("b.test", 3), ("a.test", 0)):
            now_s = START_S
            taken = await permits(store, 4, now_s=now_s, per_hour=3, per_day=0, domain=domain)
            assert taken == given
        assert await permits(stores("stranger"), 1, now_s=START_S, per_hour=3, per_day=0) == 1

    @waits
    async def test_a_request_counts_under_every_cap_or_under_none(self, stores: Stores) -> None:
        store = stores("local")
        both = [RequestCap("", 9), RequestCap("a.test", 1)]
        assert await store.frontier.permit(both, now_s=START_S) == START_S
        assert await store.frontier.permit(both, now_s=START_S) > START_S
        assert [one.requests for one in await store.census.windows("", now_s=START_S)] == [1]
        own = await store.census.windows("a.test", now_s=START_S)
        assert [one.requests for one in own] == [1]

    @pytest.mark.req("DAT-04")
    @waits
    async def test_a_window_has_its_domain_start_count_and_end(self, stores: Stores) -> None:
        store = stores("local")
        await permits(store, 2, now_s=START_S, per_hour=9, per_day=9, domain="a.test")
        start_s = START_S - START_S % 60
        window = RequestWindow("a.test", start_s, 2, start_s + DAY_S + 120)
        assert await store.census.windows("a.test", now_s=START_S) == [window]
        assert await store.census.windows("a.test", now_s=window.expires_s - 1) == [window]
        assert await store.census.windows("a.test", now_s=window.expires_s) == []
        assert await store.census.windows("b.test", now_s=START_S) == []

    @waits
    async def test_the_counts_of_one_domain_expire_when_another_is_asked(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await permits(store, 1, now_s=START_S, per_hour=9, per_day=9, domain="a.test")
        later_s = START_S + DAY_S + 180
        await permits(store, 1, now_s=later_s, per_hour=9, per_day=9, domain="b.test")
        assert await store.census.windows("a.test", now_s=START_S) == []
