"""Which hosts a frontier lends, with what, and when not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.model.entry import HostState, HostUpdate
from geomi.model.job import JobState
from geomi.model.verdict import Outcome, State
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

__all__ = ["TestClaiming", "TestPageLimit", "TestSharing"]


class TestClaiming:
    """One host, one lease, never before its time."""

    @waits
    async def test_a_lease_names_its_terms(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        assert (lease.host, lease.job, lease.token) == ("a.test:80", "job", 1)
        assert (lease.until_s, lease.floor_s) == (START_S + LEASE_S, DELAY_S)
        assert [entry.url for entry in lease.entries] == ["http://a.test/"]

    @pytest.mark.req("FRN-02", "FRN-04", "C-40", "C-79")
    @waits
    async def test_best_priority_first_then_the_order_of_discovery(self, stores: Stores) -> None:
        store = stores("local")
        paths = {"/x": 70, "/y": 100, "/b": 70, "/c": 100}
        await begin(store, *(url(path, priority=priority) for path, priority in paths.items()))
        (lease,) = await claim(store, urls=3)
        assert [entry.url[-2:] for entry in lease.entries] == ["/y", "/c", "/x"]

    @pytest.mark.req("POL-05", "FRN-09", "POL-16")
    @waits
    async def test_a_lent_host_is_lent_to_nobody_else(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/2"), url("/", "b.test"))
        first = await claim(store, hosts=1, urls=1)
        second = await claim(store, owner="other", urls=1)
        third = await claim(store, owner="third", urls=1)
        assert [lease.host for lease in first + second + third] == ["a.test:80", "b.test:80"]

    @waits
    async def test_a_host_rests_its_delay_after_the_last_response(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/2"))
        (lease,) = await claim(store, urls=1)
        end_s = START_S + 3
        # The worker asks for less than the job's delay; the store knows better.
        await store.frontier.settle(
            batch(visit(lease), give_back(lease, end_s=end_s, next_s=end_s))
        )
        assert await claim(store, now_s=end_s + DELAY_S - 0.001) == []
        assert await claim(store, now_s=end_s + DELAY_S)

    @waits
    async def test_a_host_told_to_rest_longer_rests_longer(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/2"))
        (lease,) = await claim(store, urls=1)
        await store.frontier.settle(batch(visit(lease), give_back(lease, next_s=START_S + 500)))
        assert await claim(store, now_s=START_S + 499) == []
        assert await claim(store, now_s=START_S + 500)

    @waits
    async def test_a_lease_that_ran_out_may_have_asked_until_its_end(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        await claim_one(store)
        assert await claim(store, now_s=START_S + LEASE_S + DELAY_S - 0.001) == []
        lease = await claim_one(store, now_s=START_S + LEASE_S + DELAY_S)
        assert (lease.token, lease.state.last_end_s) == (2, START_S + LEASE_S)

    @waits
    async def test_a_late_worker_tells_of_a_response_after_its_lease(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        end_s = START_S + LEASE_S + 5
        late = HostUpdate(lease, HostState(lease.host, last_end_s=end_s))
        await store.frontier.settle(batch(late))
        assert await claim(store, now_s=end_s + DELAY_S - 0.001) == []
        assert await claim(store, now_s=end_s + DELAY_S)

    @waits
    async def test_a_retry_waits_for_its_own_time(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1", priority=50), url("/2", priority=10))
        (lease,) = await claim(store, urls=1)
        again = visit(lease, outcome=Outcome.SERVER_ERROR, state=State.PENDING)
        again = replace(again, due_s=START_S + 300)
        await store.frontier.settle(batch(again, give_back(lease)))
        other = await claim_one(store, now_s=START_S + DELAY_S)
        assert [entry.url[-2:] for entry in other.entries] == ["/2"]
        await visit_all(store, other, now_s=START_S + DELAY_S)
        assert await claim(store, now_s=START_S + 299) == []
        retried = await claim_one(store, now_s=START_S + 300)
        assert [(entry.url[-2:], entry.attempts) for entry in retried.entries] == [("/1", 1)]

    @waits
    async def test_a_retry_that_is_due_goes_by_its_priority(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1", priority=50))
        lease = await claim_one(store)
        again = visit(lease, outcome=Outcome.TIMEOUT, state=State.PENDING)
        again = replace(again, due_s=START_S + 30)
        await store.frontier.settle(batch(again, give_back(lease)))
        fresh = [url("/2", priority=90), url("/3", priority=10), url("/4", priority=50)]
        await store.frontier.add("job", fresh, now_s=START_S)
        lease = await claim_one(store, now_s=START_S + 30)
        assert [entry.url[-2:] for entry in lease.entries] == ["/2", "/1", "/4", "/3"]

    @waits
    async def test_the_host_that_has_waited_longest_comes_first(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/", "b.test"))
        await store.frontier.add("job", [url("/", "a.test")], now_s=START_S + 5)
        leases = await claim(store, now_s=START_S + 9)
        assert [lease.host for lease in leases] == ["b.test:80", "a.test:80"]

    @pytest.mark.req("JOB-14")
    @pytest.mark.parametrize(
        "change",
        [{"paused": True}, *({"state": state} for state in JobState if state.is_final)],
        ids=str,
    )
    @waits
    async def test_a_paused_or_finished_job_takes_nothing(
        self, stores: Stores, change: dict[str, JobState | bool]
    ) -> None:
        store = stores("local")
        await begin(store, url())
        await store.jobs.update(replace(job(), **change))  # type: ignore[arg-type]  # a table row
        assert await claim(store) == []
        assert (await store.census.outlook("job", now_s=START_S)).next_s is None
        await store.jobs.update(job())
        assert await claim(store)

    @waits
    async def test_a_job_that_is_not_there_has_nothing_to_lend(self, stores: Stores) -> None:
        assert await claim(stores("local"), "nobody") == []


class TestPageLimit:
    """Never more lent than the limit leaves, whoever asks."""

    @pytest.mark.req("JOB-09")
    @waits
    async def test_the_limit_holds_across_workers(self, stores: Stores) -> None:
        store = stores("local")
        urls = [url(f"/{n}", host) for host in ("a.test", "b.test", "c.test") for n in range(4)]
        await begin(store, *urls, rules=config(max_pages=6))
        first = await claim(store, hosts=1)
        second = await claim(store, owner="other")
        assert [len(lease.entries) for lease in first + second] == [4, 2]
        assert await claim(store, owner="third") == []
        await visit_all(store, first[0])
        assert await claim(store, owner="third") == []
        await visit_all(store, second[0])
        later_s = START_S + DELAY_S
        assert await claim(store, now_s=later_s) == []
        assert (await store.census.outlook("job", now_s=later_s)).next_s is None

    @waits
    async def test_a_visit_that_does_not_count_gives_its_place_back(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/", "b.test"), rules=config(max_pages=1))
        lease = await claim_one(store)
        assert await claim(store) == []
        gone = visit(lease, outcome=Outcome.GONE, state=State.FAILED)
        await store.frontier.settle(batch(gone, give_back(lease)))
        assert [lease.host for lease in await claim(store)] == ["b.test:80"]

    @waits
    async def test_a_dead_workers_share_returns_when_its_lease_ends(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/", "b.test"), rules=config(max_pages=1))
        await claim_one(store)
        assert (await store.census.outlook("job", now_s=START_S)).next_s == START_S + LEASE_S
        assert [x.host for x in await claim(store, now_s=START_S + LEASE_S)] == ["b.test:80"]


class TestSharing:
    """A host belongs to nobody: every job and tenant obeys the same row."""

    @waits
    async def test_a_host_obeys_the_longest_delay_of_its_active_jobs(self, stores: Stores) -> None:
        store, stranger = stores("local"), stores("stranger")
        await begin(store, url("/1"), url("/2"))
        slow = job("slow", tenant="stranger", rules=config(delay_s=40.0))
        await stranger.jobs.create(slow)
        await stranger.frontier.add("slow", [url()], now_s=START_S)
        (lease,) = await claim(store, urls=1)
        assert lease.floor_s == 40.0
        await store.frontier.settle(batch(visit(lease), give_back(lease, next_s=START_S + DELAY_S)))
        assert await claim(store, now_s=START_S + 39) == []
        await stranger.jobs.update(replace(slow, paused=True))
        (lease,) = await claim(store, now_s=START_S + 40)
        assert lease.floor_s == DELAY_S

    @waits
    async def test_a_job_without_a_delay_asks_for_the_least_it_may_use(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await begin(store, url(), rules=config(delay_s=None))
        assert (await claim_one(store)).floor_s == pytest.approx(2 / 3)

    @pytest.mark.parametrize(
        ("delay_s", "rate", "floor_s"), [(None, 0.1, 10.0), (1.0, 0.5, 2.0), (3.0, 0.5, 3.0)]
    )
    @waits
    async def test_of_a_delay_and_a_rate_the_slower_binds_everybody(
        self, stores: Stores, delay_s: float | None, rate: float, floor_s: float
    ) -> None:
        store = stores("local")
        rules = config(delay_s=delay_s, requests_per_second=rate)
        await begin(store, url(), rules=rules)
        assert (await claim_one(store)).floor_s == pytest.approx(floor_s)

    @waits
    async def test_jobs_take_turns_on_a_host(self, stores: Stores) -> None:
        store = stores("local")
        for name in ("one", "two"):
            await store.jobs.create(job(name))
            await store.frontier.add(name, [url(f"/{n}") for n in range(4)], now_s=START_S)
        now_s, served = START_S, []
        for _ in range(4):
            for name in ("one", "two"):
                for lease in await claim(store, name, now_s=now_s, urls=1):
                    served.append(name)
                    await visit_all(store, lease, now_s=now_s)
            now_s += DELAY_S
        assert served == ["one", "two", "one", "two"]

    @waits
    async def test_a_job_does_not_wait_long_for_one_that_never_comes(self, stores: Stores) -> None:
        store = stores("local")
        for name in ("one", "idle"):
            await store.jobs.create(job(name))
            await store.frontier.add(name, [url("/1"), url("/2")], now_s=START_S)
        (lease,) = await claim(store, "one", urls=1)
        await visit_all(store, lease)
        free_s = START_S + DELAY_S
        assert await claim(store, "one", now_s=free_s) == []
        next_s = (await store.census.outlook("one", now_s=free_s)).next_s
        assert next_s is not None and free_s < next_s <= free_s + 2
        assert await claim(store, "one", now_s=next_s)

    @pytest.mark.parametrize("per_ip", [1, 2])
    @waits
    async def test_hosts_of_one_address_share_its_leases(self, stores: Stores, per_ip: int) -> None:
        store = stores("local")
        urls = [url(f"/{n}", f"{name}.test") for name in "abc" for n in range(2)]
        await begin(store, *urls, rules=config(per_ip=per_ip))
        for lease in await claim(store, urls=1):
            assert await store.frontier.place(lease, "192.0.2.1", per_ip=1, now_s=START_S)
            await visit_all(store, lease)
        assert len(await claim(store, now_s=START_S + 100)) == per_ip
        assert await claim(store, now_s=START_S + 101, owner="other") == []

    @waits
    async def test_placing_a_host_on_a_full_address_is_refused(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(), url("/", "b.test"))
        one, two = await claim(store)
        assert await store.frontier.place(one, "192.0.2.1", per_ip=1, now_s=START_S)
        assert await store.frontier.place(one, "192.0.2.1", per_ip=1, now_s=START_S)
        assert not await store.frontier.place(two, "192.0.2.1", per_ip=1, now_s=START_S)
        await visit_all(store, one)
        assert await store.frontier.place(two, "192.0.2.1", per_ip=1, now_s=START_S)
        assert not await store.frontier.place(one, "192.0.2.9", per_ip=1, now_s=START_S)
