"""What an order asks of a store apart from links: ranks of domains, and when pages were visited."""

from __future__ import annotations

import pytest

from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    START_S,
    batch,
    begin,
    claim_one,
    page,
    url,
    visit,
)
from tests.support.waiting import waits

__all__ = ["TestRanks", "TestVisited"]


class TestRanks:
    """A list of domains, the busiest first, for every tenant."""

    @pytest.mark.req("PRI-06")
    @waits
    async def test_names_have_the_rank_of_the_newest_list(self, stores: Stores) -> None:
        store = stores("local")
        await store.ranks.put([("a.test", 1), ("b.test", 2)], edition=1)
        await store.ranks.put([("b.test", 7), ("c.test", 8)], edition=2)
        assert await store.ranks.find(["a.test", "b.test"]) == {"a.test": 1, "b.test": 7}
        await store.ranks.keep_only(2)
        names = ["a.test", "b.test", "c.test", "d.test"]
        assert await stores("stranger").ranks.find(names) == {"b.test": 7, "c.test": 8}
        assert await store.ranks.count() == 2

    @waits
    async def test_of_two_ranks_in_one_list_the_better_holds(self, stores: Stores) -> None:
        store = stores("local")
        await store.ranks.put([("a.test", 5), ("a.test", 3)], edition=1)
        await store.ranks.put([("a.test", 4)], edition=1)
        assert await store.ranks.find(["a.test"]) == {"a.test": 3}

    @waits
    async def test_without_a_list_nothing_has_a_rank(self, stores: Stores) -> None:
        ranks = stores("local").ranks
        assert (await ranks.find(["a.test"]), await ranks.find([]), await ranks.count()) == (
            {},
            {},
            0,
        )


class TestVisited:
    """When pages were fetched last, and when they are due."""

    @pytest.mark.req("PRI-08")
    @waits
    async def test_pages_that_are_here_tell_their_times(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        await store.frontier.settle(batch(visit(lease, page=page(url()))))
        hashes = [url().url_hash, url("/other").url_hash]
        times = {url().url_hash: (START_S, START_S + 86_400)}
        assert await store.pages.visited(hashes) == times
        assert await store.pages.visited([]) == {}
        assert await stores("stranger").pages.visited(hashes) == {}
