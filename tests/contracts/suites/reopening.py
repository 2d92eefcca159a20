"""A page that is found again nearer to the seeds: its links are followed anew, it counts once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.model.entry import EntryKind, Lease, Settlement
from geomi.model.job import CrawlStats
from geomi.model.verdict import Outcome, State
from geomi.ports.store import Store
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    DELAY_S,
    START_S,
    batch,
    begin,
    claim,
    claim_one,
    give_back,
    page,
    url,
    visit,
)
from tests.support.waiting import waits

__all__ = ["TestReopening", "expand"]

KEPT = [Outcome.OK, Outcome.DUPLICATE, Outcome.NOT_MODIFIED]
AGAIN_S = START_S + DELAY_S


def expand(lease: Lease, *, now_s: float = AGAIN_S) -> Settlement:
    """Close an entry that only had its links followed anew."""
    entry = lease.entries[0]
    assert entry.outcome is not None
    done = visit(lease, now_s=now_s, outcome=entry.outcome)
    return replace(done, counts=False, requests=0, bytes_received=0, status=entry.status)


async def collect(store: Store, outcome: Outcome = Outcome.OK, *, depth: int = 2) -> None:
    """Collect one page of the job `job`."""
    await begin(store, url(depth=depth, priority=80))
    lease = await claim_one(store)
    kept = page(url(), duplicate_of="http://x.test/" if outcome is Outcome.DUPLICATE else "")
    await store.frontier.settle(batch(visit(lease, outcome=outcome, page=kept), give_back(lease)))


async def stats(store: Store) -> CrawlStats:
    """Return the counters of the job `job`."""
    found = await store.jobs.get("job")
    assert found is not None
    return found.stats


class TestReopening:
    """A depth limit must not hide pages that a shorter path leads to."""

    @pytest.mark.parametrize("outcome", KEPT)
    @waits
    async def test_a_kept_page_found_nearer_waits_with_its_outcome(
        self, stores: Stores, outcome: Outcome
    ) -> None:
        store = stores("local")
        await collect(store, outcome)
        before = await store.census.entry("job", url().url_hash)
        assert before is not None
        assert await store.frontier.add("job", [url(depth=1, priority=90)], now_s=AGAIN_S) == 0
        after = replace(before, depth=1, priority=90, state=State.PENDING)
        assert await store.census.entry("job", url().url_hash) == after
        outlook = await store.census.outlook("job", now_s=AGAIN_S)
        assert (outlook.pending, outlook.by_state) == (1, {State.PENDING: 1})
        assert outlook.next_s is not None and outlook.next_s <= AGAIN_S
        assert (await claim_one(store, now_s=AGAIN_S)).entries == (after,)

    @pytest.mark.parametrize("outcome", KEPT)
    @waits
    async def test_it_counts_once_however_often_it_is_expanded(
        self, stores: Stores, outcome: Outcome
    ) -> None:
        store = stores("local")
        await collect(store, outcome)
        counted = await stats(store)
        for turn in (1, 2):
            now_s = START_S + turn * DELAY_S
            await store.frontier.add("job", [url(depth=2 - turn)], now_s=now_s)
            assert await stats(store) == counted
            lease = await claim_one(store, now_s=now_s)
            ended = expand(lease, now_s=now_s)
            await store.frontier.settle(batch(ended, give_back(lease, end_s=now_s)))
            assert await stats(store) == counted
            outlook = await store.census.outlook("job", now_s=now_s)
            assert outlook.by_state == {State.COMPLETED: 1}
        assert len(await store.pages.feed("job", after=0, limit=9)) == 1

    @waits
    async def test_a_page_that_links_to_it_opens_it_in_the_same_step(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/deep", depth=3), url("/near", depth=0, priority=10))
        lease = await claim_one(store)
        deep, near = lease.entries
        links = (url("/deep", depth=1), url("/new", depth=1))
        settled = await store.frontier.settle(
            batch(visit(lease, deep), visit(lease, near, discovered=links), give_back(lease))
        )
        assert settled.new_urls == 1
        again = await claim_one(store, now_s=AGAIN_S)
        assert {(one.url[-4:], one.depth) for one in again.entries} == {("deep", 1), ("/new", 1)}
        assert (await stats(store)).settled == 2

    @waits
    async def test_all_pages_of_a_job_can_wait_once_more_for_their_links(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        sitemap = replace(url("/map"), kind=EntryKind.SITEMAP)
        await begin(store, url("/kept"), url("/gone"), url("/waits"), sitemap)
        (lease,) = await claim(store, urls=4)
        by_name = {entry.url.rpartition("/")[2]: entry for entry in lease.entries}
        closed = (
            visit(lease, by_name["kept"]),
            visit(lease, by_name["gone"], outcome=Outcome.GONE, state=State.FAILED),
            visit(lease, by_name["map"]),
        )
        await store.frontier.settle(batch(*closed, give_back(lease)))
        counted = await stats(store)
        assert await store.frontier.reopen("job") == 1
        assert await stats(store) == counted
        outlook = await store.census.outlook("job", now_s=AGAIN_S)
        assert outlook.by_state == {State.PENDING: 2, State.COMPLETED: 1, State.FAILED: 1}
        again = await claim_one(store, now_s=AGAIN_S)
        assert [one.url.rpartition("/")[2] for one in again.entries] == ["kept", "waits"]
        assert again.entries[0].outcome is Outcome.OK

    @waits
    async def test_it_waits_in_its_old_place(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, *(url(f"/{number}", depth=2) for number in range(4)))
        (lease,) = await claim(store, urls=2)
        visits = (visit(lease, entry) for entry in lease.entries)
        await store.frontier.settle(batch(*visits, give_back(lease)))
        await store.frontier.add("job", [url("/1", depth=1)], now_s=AGAIN_S)
        again = await claim_one(store, now_s=AGAIN_S)
        assert [entry.url[-2:] for entry in again.entries] == ["/1", "/2", "/3"]

    @waits
    async def test_a_page_that_came_nearer_while_it_was_lent_is_expanded_anew(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await begin(store, url(depth=3))
        lease = await claim_one(store)
        await store.frontier.add("job", [url(depth=1)], now_s=START_S)
        await store.frontier.settle(batch(visit(lease, page=page(url())), give_back(lease)))
        outlook = await store.census.outlook("job", now_s=AGAIN_S)
        assert (outlook.pending, outlook.by_state) == (1, {State.PENDING: 1})
        assert (await stats(store)).collected == 1
        again = await claim_one(store, now_s=AGAIN_S)
        (entry,) = again.entries
        assert (entry.depth, entry.outcome, entry.attempts) == (1, Outcome.OK, 1)
        await store.frontier.settle(batch(expand(again), give_back(again, end_s=AGAIN_S)))
        assert (await store.census.outlook("job", now_s=AGAIN_S)).by_state == {State.COMPLETED: 1}
        assert (await stats(store)).settled == 1

    @pytest.mark.parametrize("kind", [EntryKind.SITEMAP, EntryKind.LISTING])
    @waits
    async def test_a_list_of_urls_is_never_opened_again(
        self, stores: Stores, kind: EntryKind
    ) -> None:
        store = stores("local")
        await begin(store, replace(url(depth=2), kind=kind))
        lease = await claim_one(store)
        await store.frontier.settle(batch(visit(lease), give_back(lease)))
        await store.frontier.add("job", [replace(url(depth=0), kind=kind)], now_s=AGAIN_S)
        assert await claim(store, now_s=AGAIN_S) == []

    @waits
    async def test_an_old_visit_sent_again_does_not_close_it(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(depth=2))
        lease = await claim_one(store)
        sent = batch(visit(lease))
        await store.frontier.settle(sent)
        await store.frontier.add("job", [url(depth=0)], now_s=START_S)
        await store.frontier.settle(sent)
        assert (await store.census.outlook("job", now_s=START_S)).by_state == {State.PENDING: 1}
