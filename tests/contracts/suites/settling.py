"""What closing a visit changes, all of it or nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.frontier.state import SETTLED
from geomi.model.entry import HostState, HostUpdate
from geomi.model.job import CrawlStats
from geomi.model.page import Template
from geomi.model.verdict import Exclusion, Outcome, State
from geomi.ports.store import Store
from tests.contracts.suites.alike import sketch_of
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    DELAY_S,
    LEASE_S,
    START_S,
    asked,
    batch,
    begin,
    claim,
    claim_one,
    give_back,
    page,
    url,
    visit,
    visit_all,
)
from tests.support.waiting import waits

__all__ = ["TestCounting", "TestFencing", "TestSettling"]


async def stats(store: Store) -> CrawlStats:
    """Return the counters of the job `job`."""
    found = await store.jobs.get("job")
    assert found is not None
    return found.stats


class TestSettling:
    """Fate, children, page and host in one step."""

    @pytest.mark.req("FRN-01", "FRN-13", "FRN-16")
    @pytest.mark.parametrize("state", [state for state in State if state is not State.PENDING])
    @waits
    async def test_an_entry_ends(self, stores: Stores, state: State) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        outcome = next(each for each, settled in SETTLED.items() if settled is state)
        ending = replace(
            visit(lease, state=state, outcome=outcome, now_s=START_S + 3),
            status=404,
            detail="gone",
            media_type="text/html",
            body_bytes=2**40,
        )
        await store.frontier.settle(batch(ending))
        (entry,) = await store.census.entries("job", state=state, after=b"", limit=9)
        assert entry == replace(
            lease.entries[0],
            state=state,
            outcome=outcome,
            status=404,
            detail="gone",
            media_type="text/html",
            body_bytes=2**40,
            attempts=1,
            settled_s=START_S + 3,
            is_known=True,  # only a claim looks
        )
        outlook = await store.census.outlook("job", now_s=START_S + 3)
        assert (outlook.pending, outlook.leased, outlook.by_state) == (0, 0, {state: 1})

    @waits
    async def test_a_visit_that_the_table_of_states_forbids_is_not_written(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        (before,) = await store.census.entries("job", state=None, after=b"", limit=9)
        for forbidden in (
            visit(lease, state=State.COMPLETED, outcome=Outcome.GONE),
            visit(lease, replace(before, state=State.FAILED)),
        ):
            with pytest.raises(ValueError, match="cannot"):
                await store.frontier.settle(batch(forbidden))
        assert await store.census.entries("job", state=None, after=b"", limit=9) == [before]

    @waits
    async def test_links_become_entries_in_the_same_step(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        links = (url("/1"), url("/2"), url("/1"), url(), url("/", "b.test"))
        settled = await store.frontier.settle(
            batch(visit(lease, discovered=links), give_back(lease))
        )
        assert (settled.new_urls, settled.lost) == (3, ())
        assert [x.host for x in await claim(store, now_s=START_S + DELAY_S)] == [
            "b.test:80",
            "a.test:80",
        ]

    @waits
    async def test_a_page_is_kept_and_replaced(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        first = page(url(), exact_key=b"k" * 16, simhash=2**64 - 1, sketch=sketch_of(7), words=9)
        await store.frontier.settle(batch(visit(lease, page=first)))
        assert await store.pages.get(url().url_hash) == first
        await store.frontier.add("job", [url("/copy")], now_s=START_S)
        (again,) = await claim(store, now_s=START_S + LEASE_S + DELAY_S)
        second = replace(page(url(), title="New", duplicate_of="http://x.test/"), response=None)
        await store.frontier.settle(batch(visit(again, page=second)))
        assert await store.pages.get(url().url_hash) == second

    @waits
    async def test_a_hosts_politeness_is_remembered(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/2"))
        (lease,) = await claim(store, urls=1)
        state = HostState(
            "a.test:80", START_S + 2, 7.0, 3.0, 2, 0.25, "192.0.2.7", Template(3, (1, 2), ((3, 1),))
        )
        await store.frontier.settle(batch(visit(lease), HostUpdate(lease, state, START_S + 50)))
        again = await claim_one(store, now_s=START_S + 50)
        assert again.state == state

    @waits
    async def test_an_update_without_an_end_keeps_the_lease(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/2"))
        lease = await claim_one(store)
        await store.frontier.place(lease, "192.0.2.7", per_ip=1, now_s=START_S)
        state = HostState("a.test:80", last_end_s=START_S + 1)
        await store.frontier.settle(batch(visit(lease), HostUpdate(lease, state)))
        (renewed,) = await store.frontier.renew([lease], lease_s=LEASE_S, now_s=START_S + 1)
        assert renewed.state == replace(state, ip="192.0.2.7")
        assert (await store.census.outlook("job", now_s=START_S + 1)).leased == 1

    @waits
    async def test_the_last_end_never_moves_back(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/2"))
        (lease,) = await claim(store, urls=1)
        later = HostState("a.test:80", last_end_s=START_S + 9)
        await store.frontier.settle(batch(HostUpdate(lease, later)))
        await store.frontier.settle(batch(give_back(lease, end_s=START_S + 1)))
        assert store.greatest_end_s() == START_S + 9

    @waits
    async def test_a_responses_end_is_known_before_its_host_is_given_back(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/2"))
        lease = await claim_one(store)
        sent = asked("/1", at_s=START_S + 3)
        await store.frontier.settle(batch(replace(visit(lease), asked=(sent,))))
        assert store.greatest_end_s() == sent.ended_s

    @pytest.mark.req("SCP-13")
    @waits
    async def test_exclusions_are_counted_with_some_examples(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"), url("/2"))
        lease = await claim_one(store)
        for number, entry in enumerate(lease.entries):
            out = [Exclusion("scope.host", f"http://x.test/{n // 2}") for n in range(6)]
            out += [Exclusion("scope.host", f"http://y.test/{number}/{n}") for n in range(2)]
            out.append(Exclusion("depth", "http://a.test/deep"))
            await store.frontier.settle(batch(replace(visit(lease, entry), excluded=tuple(out))))
        x, y = "http://x.test/", "http://y.test/"
        assert await store.census.exclusions("job") == {
            "depth": (2, ("http://a.test/deep",)),
            "scope.host": (16, (f"{x}0", f"{x}1", f"{x}2", f"{y}0/0", f"{y}0/1")),
        }
        assert (await stats(store)).discovered == 2


class TestCounting:
    """Counters change with what they count."""

    @pytest.mark.parametrize(
        ("outcome", "state", "has_page", "counted"),
        [
            (Outcome.OK, State.COMPLETED, True, {"settled": 1, "collected": 1}),
            (Outcome.NOT_MODIFIED, State.COMPLETED, False, {"settled": 1}),
            (
                Outcome.DUPLICATE,
                State.COMPLETED,
                True,
                {"settled": 1, "collected": 1, "duplicates": 1},
            ),
            (Outcome.REDIRECTED, State.SKIPPED, False, {"skipped": 1, "redirected": 1}),
            (Outcome.ROBOTS, State.BLOCKED, False, {"blocked": 1}),
            (Outcome.GONE, State.FAILED, False, {"failed": 1}),
            (Outcome.POISONED, State.FAILED, False, {"failed": 1, "poisoned": 1}),
            (Outcome.TIMEOUT, State.PENDING, False, {"retries": 1}),
        ],
        ids=lambda value: str(value) if isinstance(value, Outcome) else "",
    )
    @waits
    async def test_each_visit_counts_for_what_it_was(
        self,
        stores: Stores,
        outcome: Outcome,
        state: State,
        has_page: bool,
        counted: dict[str, int],
    ) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        kept = page(url()) if has_page else None
        done = visit(lease, outcome=outcome, state=state, page=kept, discovered=(url("/new"),))
        await store.frontier.settle(batch(replace(done, requests=3)))
        assert await stats(store) == CrawlStats(
            discovered=2, requests=3, bytes_received=1000, **counted
        )

    @waits
    async def test_one_transaction_counts_many_visits(self, stores: Stores) -> None:
        store = stores("local")
        urls = [url(f"/{n}", host) for host in ("a.test", "b.test") for n in range(3)]
        await begin(store, *urls)
        visits = [visit(lease, entry) for lease in await claim(store) for entry in lease.entries]
        await store.frontier.settle(batch(*visits))
        assert await stats(store) == CrawlStats(
            discovered=6, settled=6, requests=6, bytes_received=6000
        )
        outlook = await store.census.outlook("job", now_s=START_S)
        assert outlook.by_state == {State.COMPLETED: 6}


class TestFencing:
    """Nobody writes under a token that was lent again, and nothing is written twice."""

    @waits
    async def test_a_lost_lease_writes_nothing(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        zombie = await claim_one(store)
        later_s = START_S + LEASE_S + DELAY_S
        owner = await claim_one(store, now_s=later_s)
        before = (await stats(store), await store.census.outlook("job", now_s=later_s))
        settled = await store.frontier.settle(
            batch(
                visit(zombie, discovered=(url("/new"),), page=page(url())),
                give_back(zombie, end_s=later_s, next_s=later_s),
            )
        )
        assert (settled.lost, settled.new_urls) == (("a.test:80",), 0)
        assert before == (await stats(store), await store.census.outlook("job", now_s=later_s))
        assert await store.pages.get(url().url_hash) is None
        assert await store.frontier.renew([owner], lease_s=LEASE_S, now_s=later_s)

    @waits
    async def test_the_rest_of_a_batch_is_written(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(), url("/", "b.test"))
        lost, kept = await claim(store)
        stale = replace(lost, token=lost.token - 1)
        settled = await store.frontier.settle(batch(visit(stale), visit(kept)))
        assert settled.lost == (lost.host,)
        assert (await stats(store)).settled == 1

    @waits
    async def test_a_lease_that_ran_out_settles_until_it_is_lent_again(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        late_s = START_S + 2 * LEASE_S
        settled = await store.frontier.settle(batch(visit(lease, now_s=late_s)))
        assert settled.lost == ()
        assert (await store.census.outlook("job", now_s=late_s)).pending == 0

    @pytest.mark.parametrize("state", [State.COMPLETED, State.PENDING])
    @waits
    async def test_a_visit_sent_twice_is_written_once(self, stores: Stores, state: State) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        sent = batch(visit(lease, state=state, page=page(url()), discovered=(url("/x"),)))
        await store.frontier.settle(sent)
        before = (await stats(store), await store.census.entry("job", url().url_hash))
        settled = await store.frontier.settle(sent)
        assert (settled.lost, settled.new_urls) == ((), 0)
        assert before == (await stats(store), await store.census.entry("job", url().url_hash))
        assert len(await store.pages.feed("job", after=0, limit=9)) == 1

    @waits
    async def test_an_ended_entry_ends_once(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        await visit_all(store, lease)
        await store.frontier.settle(
            batch(visit(lease, state=State.FAILED, outcome=Outcome.TIMEOUT))
        )
        entry = await store.census.entry("job", url().url_hash)
        assert entry is not None and entry.state is State.COMPLETED
        assert (await stats(store)).failed == 0

    @waits
    async def test_a_deleted_jobs_visits_are_lost_but_its_host_rests(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        await store.jobs.delete("job")
        settled = await store.frontier.settle(batch(visit(lease), give_back(lease)))
        assert settled.lost == ("a.test:80",)
        assert store.greatest_end_s() == START_S
