"""What a frontier keeps of the URLs it is given."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.errors import UnknownName
from geomi.model.entry import EntryKind, Source, UrlEntry
from geomi.model.verdict import Outcome, State
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import START_S, batch, begin, claim_one, job, url, visit
from tests.support.waiting import waits

__all__ = ["TestAdding"]


class TestAdding:
    """The unique key decides what is new; a known URL can only come nearer."""

    @pytest.mark.req("FRN-05", "FRN-07", "FRN-16")
    @waits
    async def test_a_url_is_new_once(self, stores: Stores) -> None:
        store = stores("local")
        await store.jobs.create(job())
        urls = [url("/"), url("/a"), url("/a"), url("/", "b.test")]
        assert await store.frontier.add("job", urls, now_s=START_S) == 3
        assert await store.frontier.add("job", urls, now_s=START_S + 5) == 0
        kept = await store.census.entries("job", state=State.PENDING, after=b"", limit=10)
        assert sorted(entry.url for entry in kept) == sorted({u.url for u in urls})

    @waits
    async def test_an_entry_keeps_everything_that_was_found(self, stores: Stores) -> None:
        store = stores("local")
        found = replace(url("/a", depth=2, priority=70), nesting=3, pattern="page", lastmod_s=17.5)
        await begin(store, found)
        assert await store.census.entry("job", found.url_hash) == UrlEntry(
            job="job",
            url_hash=found.url_hash,
            url="http://a.test/a",
            host="a.test:80",
            depth=2,
            priority=70,
            source=Source.LINK,
            kind=EntryKind.PAGE,
            parent="http://a.test/",
            origin=None,
            hops=0,
            state=State.PENDING,
            attempts=0,
            due_s=0.0,
            discovered_s=START_S,
            nesting=3,
            pattern="page",
            lastmod_s=17.5,
        )

    @pytest.mark.parametrize(
        ("depth", "priority", "kept"),
        [(1, 90, (1, 90)), (1, 10, (1, 70)), (2, 90, (2, 70)), (3, 90, (2, 70))],
        ids=["nearer", "nearer-but-less-wanted", "as-near", "farther"],
    )
    @pytest.mark.parametrize("in_one_call", [True, False])
    @waits
    async def test_a_pending_url_found_again_only_comes_nearer(
        self, stores: Stores, depth: int, priority: int, kept: tuple[int, int], in_one_call: bool
    ) -> None:
        store = stores("local")
        first, again = url(depth=2, priority=70), url(depth=depth, priority=priority)
        await store.jobs.create(job())
        for urls in [[first, again]] if in_one_call else [[first], [again]]:
            await store.frontier.add("job", urls, now_s=START_S)
        entry = await store.census.entry("job", first.url_hash)
        assert entry is not None
        assert (entry.depth, entry.priority) == kept

    @pytest.mark.parametrize(
        ("outcome", "state", "depth"),
        [
            (Outcome.OK, State.COMPLETED, 2),
            (Outcome.OK, State.COMPLETED, 3),
            (Outcome.GONE, State.FAILED, 0),
            (Outcome.REDIRECTED, State.SKIPPED, 0),
            (Outcome.ROBOTS, State.BLOCKED, 0),
        ],
        ids=["as-near", "farther", "failed", "skipped", "blocked"],
    )
    @waits
    async def test_a_settled_url_found_again_stays_as_it_is(
        self, stores: Stores, outcome: Outcome, state: State, depth: int
    ) -> None:
        store = stores("local")
        await begin(store, url(depth=2))
        done = visit(await claim_one(store), outcome=outcome, state=state)
        await store.frontier.settle(batch(done))
        before = await store.census.entry("job", url().url_hash)
        assert await store.frontier.add("job", [url(depth=depth)], now_s=START_S) == 0
        assert await store.census.entry("job", url().url_hash) == before

    @waits
    async def test_one_url_belongs_to_each_job_that_found_it(self, stores: Stores) -> None:
        store = stores("local")
        for name in ("one", "two"):
            await store.jobs.create(job(name))
            assert await store.frontier.add(name, [url()], now_s=START_S) == 1

    @waits
    async def test_a_job_that_is_not_there_takes_no_urls(self, stores: Stores) -> None:
        with pytest.raises(UnknownName, match="`nobody`"):
            await stores("local").frontier.add("nobody", [url()], now_s=START_S)

    @waits
    async def test_more_links_than_one_look_up_takes(self, stores: Stores) -> None:
        store = stores("local")
        await store.jobs.create(job())
        many = [url(f"/{number}") for number in range(600)]
        assert await store.frontier.add("job", many[::2], now_s=START_S) == 300
        assert await store.frontier.add("job", many, now_s=START_S) == 300
