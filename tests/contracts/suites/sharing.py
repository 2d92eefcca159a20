"""Captures that several processes work on at once: the same in every store."""

from __future__ import annotations

import asyncio

import pytest

from geomi.model.page import CaptureShare
from geomi.ports.store import Store
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.keeping import keep
from tests.contracts.suites.material import START_S, page, url
from tests.support.waiting import waits

__all__ = ["TestShares", "TestSharesAtOnce"]

WORK = "enrich 1"


async def lend(
    store: Store,
    owner: str = "one",
    *,
    many: int = 2,
    now_s: float = START_S,
    work: str = WORK,
    behind: str = "",
) -> CaptureShare | None:
    """Claim captures of the job `job` for a minute."""
    return await store.shares.claim(
        "job", work, owner=owner, until_s=now_s + 60, now_s=now_s, many=many, behind=behind
    )


async def take(
    store: Store,
    owner: str = "one",
    *,
    many: int = 2,
    now_s: float = START_S,
    work: str = WORK,
    behind: str = "",
) -> CaptureShare:
    """Claim captures that are there."""
    share = await lend(store, owner, many=many, now_s=now_s, work=work, behind=behind)
    assert share is not None
    return share


def names(share: CaptureShare) -> str:
    return "".join(row.url[-1] for row in share.captures)


class TestShares:
    """Each capture is lent once; what a dead process had is lent again."""

    @pytest.mark.req("SCL-06")
    @waits
    async def test_each_capture_is_lent_once_in_order(self, stores: Stores) -> None:
        store = stores("local")
        await keep(store, *(page(url(f"/{number}")) for number in range(5)))
        shares = [await take(store, owner) for owner in ("one", "two", "three")]
        assert [names(share) for share in shares] == ["01", "23", "4"]
        assert await lend(store) is None
        for share in shares:
            assert await store.shares.is_behind("job", WORK)
            assert await store.shares.settle(share, share.last)
            assert not await store.shares.settle(share, share.last)
        assert not await store.shares.is_behind("job", WORK)
        assert await lend(store) is None

    @waits
    async def test_a_silent_process_loses_its_share(self, stores: Stores) -> None:
        store = stores("local")
        await keep(store, *(page(url(f"/{number}")) for number in range(3)))
        lost, kept = await take(store, "dead"), await take(store, "alive")
        assert await store.shares.renew(kept, until_s=START_S + 120)
        found = await take(store, "two", now_s=START_S + 60)
        assert (names(found), found.last) == ("01", lost.last)
        assert await lend(store, "two", now_s=START_S + 61) is None
        assert not await store.shares.renew(lost, until_s=START_S + 500)
        assert not await store.shares.settle(lost, lost.last)
        assert await store.shares.settle(found, found.last)

    @waits
    async def test_a_dead_process_leaves_its_share_at_once(self, stores: Stores) -> None:
        store = stores("local")
        await keep(store, page(url("/0")))
        await take(store, "dead")
        assert await lend(store, "two") is None
        await store.workers.leave(["dead"])
        assert names(await take(store, "two")) == "0"

    @waits
    async def test_what_is_left_of_a_share_is_lent_again(self, stores: Stores) -> None:
        store = stores("local")
        await keep(store, *(page(url(f"/{number}")) for number in range(4)))
        share = await take(store, many=3)
        assert await store.shares.settle(share, share.captures[0].seq)
        assert [names(await take(store)) for _ in "ab"] == ["12", "3"]

    @waits
    async def test_a_page_is_in_one_share_at_a_time(self, stores: Stores) -> None:
        store = stores("local")
        again = page(url("/0"))
        others = [page(url(f"/{number}")) for number in (1, 2, 3)]
        await keep(store, again, *others[:2], again, others[2])
        first = await take(store)
        other = await take(store, "two", many=9)
        assert names(other) == "2"
        assert await lend(store, "two") is None
        assert await store.shares.settle(first, first.last)
        assert names(await take(store, "two")) == "03"

    @waits
    async def test_one_work_follows_another(self, stores: Stores) -> None:
        store = stores("local")
        await keep(store, *(page(url(f"/{number}")) for number in range(4)))
        assert await lend(store, many=9, work="embed 1", behind=WORK) is None
        first, second = await take(store, "one"), await take(store, "two")
        assert await store.shares.settle(second, second.last)
        assert await lend(store, many=9, work="embed 1", behind=WORK) is None
        assert await store.shares.settle(first, first.captures[0].seq)
        assert names(await take(store, many=9, work="embed 1", behind=WORK)) == "0"
        rest = await take(store)
        assert await store.shares.settle(rest, rest.last)
        assert names(await take(store, many=9, work="embed 1", behind=WORK)) == "123"

    @waits
    async def test_it_begins_again(self, stores: Stores) -> None:
        store = stores("local")
        await keep(store, page(url("/0")))
        lost, other = await take(store), await take(store, work="other")
        await store.shares.rewind("job", WORK)
        assert not await store.shares.settle(lost, lost.last)
        assert names(await take(store, "two")) == "0"
        assert await store.shares.settle(other, other.last)

    @waits
    async def test_it_is_the_tenants(self, stores: Stores) -> None:
        store, stranger = stores("local"), stores("stranger")
        await keep(store, page(url("/0")))
        assert await lend(stranger) is None
        assert not await stranger.shares.is_behind("job", WORK)
        share = await take(store)
        await stranger.shares.rewind("job", WORK)
        assert not await stranger.shares.settle(share, share.last)
        assert await store.shares.settle(share, share.last)


class TestSharesAtOnce:
    """Several processes that ask at the same moment."""

    @pytest.mark.req("SCL-06")
    @waits
    async def test_many_processes_share_without_overlap(self, stores: Stores) -> None:
        handles = [stores("local") for _ in range(4)]
        await keep(handles[0], *(page(url(f"/{number}")) for number in range(60)))

        async def work(store: Store, owner: str) -> list[int]:
            done: list[int] = []
            while share := await lend(store, owner, many=3):
                done += [row.seq for row in share.captures]
                await asyncio.sleep(0)
                assert await store.shares.settle(share, share.last)
            return done

        async with asyncio.TaskGroup() as group:
            works = [
                group.create_task(work(store, f"w{number}")) for number, store in enumerate(handles)
            ]
        done = [seq for one in works for seq in one.result()]
        assert len(done) == len(set(done)) == 60
