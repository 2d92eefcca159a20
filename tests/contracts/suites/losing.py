"""What a store that outlives its workers has to keep: lost segments, owners that left."""

from __future__ import annotations

from dataclasses import replace

from geomi.model.page import Ref
from geomi.model.verdict import Outcome, State
from tests.contracts.suites.alike import sketch_of
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


class TestLostSegments:
    """Captures whose bytes are gone."""

    @waits
    async def test_pages_in_a_lost_segment_wait_again(self, durable_stores: Stores) -> None:
        store = durable_stores("local")
        await begin(store, url("/1"), url("/2"), url("/3"))
        lease = await claim_one(store)
        one, two, three = lease.entries
        copy = page(url("/2"), duplicate_of=url("/1").url)
        safe = replace(page(url("/3")), record=Ref("other", 0, 1), response=None)
        await store.frontier.settle(
            batch(
                visit(lease, one, page=page(url("/1"), sketch=sketch_of(7))),
                visit(lease, two, page=copy, outcome=Outcome.DUPLICATE),
                visit(lease, three, page=safe),
                give_back(lease),
            )
        )
        assert await store.segments.job_ends("job") == {"segment-1": 70, "other": 1}
        assert await store.segments.requeue(["segment-1"]) == 2
        found = await store.jobs.get("job")
        assert found is not None
        stats = found.stats
        assert (stats.settled, stats.collected, stats.duplicates) == (1, 1, 0)
        outlook = await store.census.outlook("job", now_s=START_S)
        assert outlook.by_state == {State.PENDING: 2, State.COMPLETED: 1}
        assert [row.url for row in await store.pages.feed("job", after=0, limit=9)] == [three.url]
        assert await store.pages.near(sketch_of(7)) == []
        again = await claim_one(store, now_s=START_S + DELAY_S)
        assert [entry.url for entry in again.entries] == [one.url, two.url]

    @waits
    async def test_a_page_that_was_opened_again_is_fetched_anew(
        self, durable_stores: Stores
    ) -> None:
        store = durable_stores("local")
        await begin(store, url("/1", depth=2))
        lease = await claim_one(store)
        await store.frontier.settle(batch(visit(lease, page=page(url("/1"))), give_back(lease)))
        await store.frontier.add("job", [url("/1", depth=0)], now_s=START_S)
        assert await store.segments.requeue(["segment-1"]) == 1
        found = await store.jobs.get("job")
        assert found is not None and (found.stats.settled, found.stats.collected) == (0, 0)
        outlook = await store.census.outlook("job", now_s=START_S)
        assert outlook.by_state == {State.PENDING: 1}
        (entry,) = (await claim_one(store, now_s=START_S + DELAY_S)).entries
        assert (entry.outcome, entry.depth) == (None, 0)


class TestOwners:
    """Who holds what."""

    @waits
    async def test_whoever_left_without_giving_back_is_named(self, durable_stores: Stores) -> None:
        store = durable_stores("local")
        await begin(store, *(url("/", f"{letter}.test") for letter in "abc"))
        (given_back,) = await claim(store, owner="gone", hosts=1)
        await claim(store, owner="lost", hosts=1)
        await claim(store, owner="lost", hosts=1)
        await store.frontier.settle(batch(give_back(given_back)))
        assert store.lease_owners() == ["lost"]
        assert await store.census.release_dead(["lost"], now_s=START_S) == 2
        assert store.lease_owners() == []
