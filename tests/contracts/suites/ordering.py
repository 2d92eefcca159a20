"""The order `weighted`: what waits holds cash, and the best of it is lent first (adr 14)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from geomi.frontier.importance import LIFT, points
from geomi.frontier.priority import shares
from geomi.model.config import UrlOrder, Weights
from geomi.model.entry import Discovered, Settlement
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
    config,
    give_back,
    url,
    visit,
    visit_all,
)
from tests.support.waiting import waits

__all__ = ["TestCash", "TestNothingWaitsForEver"]

RANKED = config(order=UrlOrder.WEIGHTED)
SHARE = shares(Weights())[0]


class TestCash:
    """A page's cash goes to what it links to, and the richest is next."""

    @pytest.mark.req("PRI-04", "PRI-05")
    @waits
    async def test_links_share_what_their_page_holds(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, page(), rules=RANKED)
        await _settle(store, {"/": ["/a", "/b"]})
        assert await _priorities(store) == {"/a": _worth(1 / 2), "/b": _worth(1 / 2)}

    @pytest.mark.req("PRI-04")
    @waits
    async def test_a_page_that_waits_already_is_given_its_share(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, page(), rules=RANKED)
        await _settle(store, {"/": ["/a", "/b", "/c"]})
        await _settle(store, {"/a": ["/c"]})  # known by now, so it comes as a link alone
        assert await _priorities(store) == {"/b": _worth(1 / 3), "/c": _worth(2 / 3)}
        lease = await claim_one(store, now_s=START_S + 2 * DELAY_S)
        assert [entry.url[-2:] for entry in lease.entries] == ["/c"]

    @waits
    async def test_what_is_added_from_outside_shares_the_first_cash(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, page("/1"), page("/2"), page("/", "b.test"), rules=RANKED)
        assert set((await _priorities(store)).values()) == {_worth(1 / 3)}
        await store.frontier.add("job", [page("/1"), page("/3")], now_s=START_S)
        assert (await _priorities(store))["/3"] == 0

    @waits
    async def test_a_page_without_links_pays_the_root_which_pays_the_next(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await begin(store, page("/1"), page("/2"), rules=RANKED)
        await _settle(store, {"/1": []})
        await _settle(store, {"/2": ["/3"]})  # it waits alone: the root pays it all
        assert await _priorities(store) == {"/3": _worth(1.0)}

    @waits
    async def test_a_page_that_failed_pays_the_root_and_a_retry_keeps_its_cash(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await begin(store, page("/1"), rules=RANKED)
        lease = await claim_one(store)
        again = visit(lease, outcome=Outcome.TIMEOUT, state=State.PENDING)
        await store.frontier.settle(batch(again, give_back(lease)))
        assert await _priorities(store) == {"/1": _worth(1.0)}
        lease = await claim_one(store, now_s=START_S + DELAY_S)
        gone = visit(lease, outcome=Outcome.GONE, state=State.FAILED)
        await store.frontier.settle(batch(gone, give_back(lease)))
        await store.frontier.add("job", [page("/2")], now_s=START_S)
        assert await _priorities(store) == {"/2": _worth(1.0)}

    @waits
    async def test_links_to_what_has_ended_or_is_not_there_take_their_share_along(
        self, stores: Stores
    ) -> None:
        store = stores("local")
        await begin(store, page(), rules=RANKED)
        await _settle(store, {"/": ["/a", "/b"]})
        elsewhere = (page("/", "nowhere.test"), page())
        await _settle(store, {"/a": ["/c", "/a"]}, elsewhere=elsewhere)
        worth = await _priorities(store)
        assert worth == {"/b": _worth(1 / 2), "/c": _worth(1 / 6)}

    @pytest.mark.req("PRI-02")
    @waits
    async def test_importance_adds_to_what_a_url_is_worth_by_itself(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, page(), rules=RANKED)
        lease = await claim_one(store)
        found = (page("/a", merit=400_000), page("/b"))
        done = replace(visit(lease), discovered=found)
        await store.frontier.settle(batch(done, give_back(lease)))
        half = points(SHARE, 1 / 2)
        assert await _priorities(store) == {"/a": 400_000 + half, "/b": half}

    @waits
    async def test_the_pages_of_one_batch_pay_together(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, page("/1"), page("/", "b.test"), rules=RANKED)
        leases = await claim(store)
        found = (page("/x", "c.test"),)
        visits = [visit(lease, discovered=found) for lease in leases]
        await store.frontier.settle(batch(*visits, *map(give_back, leases)))
        assert await _priorities(store) == {"/x": _worth(1.0)}

    @waits
    async def test_other_orders_keep_no_cash(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, page())
        await _settle(store, {"/": ["/a", "/b"]})
        assert await _priorities(store) == {"/a": 0, "/b": 0}

    @waits
    async def test_the_first_leases_are_short(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, *(page(f"/{n}") for n in range(40)), rules=RANKED)
        now_s, lengths = START_S, []
        for _ in range(14):
            (lease,) = await claim(store, now_s=now_s)
            lengths.append(len(lease.entries))
            await visit_all(store, lease, now_s=now_s)
            now_s += DELAY_S
        assert lengths == [1] * 10 + [2] * 4


class TestNothingWaitsForEver:
    """Under a stream of better URLs the oldest is taken all the same."""

    @pytest.mark.req("PRI-02")
    @waits
    async def test_a_poor_url_is_taken_while_rich_ones_keep_coming(self, stores: Stores) -> None:
        store = stores("local")
        poor = page("/poor")
        await begin(store, *(page(f"/start/{n}") for n in range(100)), rules=RANKED)
        now_s = await _settle_all(store)
        await store.frontier.add("job", [poor], now_s=now_s)
        rich = iter(range(10_000))
        for _ in range(2):
            found = [page(f"/rich/{next(rich)}", merit=900_000) for _ in range(20)]
            await store.frontier.add("job", found, now_s=now_s)
            (lease,) = await claim(store, now_s=now_s)
            assert len(lease.entries) == 10
            await visit_all(store, lease, now_s=now_s)
            now_s += DELAY_S
            if lease.entries[0].url == poor.url:
                assert lease.entries[0].priority >= LIFT
                return
        raise AssertionError("a URL waits for ever")

    @waits
    async def test_other_orders_are_kept_to_the_letter(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, page("/poor"), *(page(f"/{n}", merit=1) for n in range(30)))
        (lease,) = await claim(store)
        assert [entry.url[-2:] for entry in lease.entries] == [f"/{n}" for n in range(10)]


def page(path: str = "/", host: str = "a.test", *, merit: int = 0) -> Discovered:
    """Return a URL that is worth nothing unless somebody links to it."""
    return url(path, host, priority=merit)


def _worth(cash: float) -> int:
    return points(SHARE, cash)


async def _settle(
    store: Store, links: Mapping[str, list[str]], *, elsewhere: tuple[Discovered, ...] = ()
) -> None:
    """Visit what is due of some pages and give each its links; known ones are links alone."""
    entries = await store.census.entries("job", state=None, after=b"", limit=1000)
    known = {entry.url for entry in entries}
    now_s = START_S + DELAY_S * sum(entry.state is not State.PENDING for entry in entries)
    parts: list[Settlement] = []
    (lease,) = await claim(store, now_s=now_s)
    for entry in lease.entries:
        own = [page(path) for path in links[entry.url.removeprefix("http://a.test")]]
        new = tuple(one for one in own if one.url not in known)
        endorsed = tuple((one.host, one.url_hash) for one in (*own, *elsewhere))
        parts.append(replace(visit(lease, entry, now_s=now_s, discovered=new), endorsed=endorsed))
    await store.frontier.settle(batch(*parts, give_back(lease, end_s=now_s)))


async def _settle_all(store: Store) -> float:
    now_s = START_S
    while leases := await claim(store, now_s=now_s):
        for lease in leases:
            await visit_all(store, lease, now_s=now_s)
        now_s += DELAY_S
    return now_s


async def _priorities(store: Store) -> dict[str, int]:
    """Return the priorities of what waits, by path."""
    entries = await store.census.entries("job", state=State.PENDING, after=b"", limit=1000)
    return {entry.url.partition(".test")[2]: entry.priority for entry in entries}
