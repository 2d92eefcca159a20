"""What was in hand when processes died."""

from __future__ import annotations

from dataclasses import replace

from geomi.model.worker import FORGET_S, Suspect, WorkInHand, WorkKind
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import begin, claim_one, url
from tests.support.waiting import waits

__all__ = ["TestSuspects"]

PAGE = WorkInHand("local", WorkKind.PAGE, url().url_hash, url().url)
TASK = replace(PAGE, kind=WorkKind.TASK)
WALL_S = 1_800_000_000.0


class TestSuspects:
    """How many processes died of what."""

    @waits
    async def test_each_death_counts_once(self, stores: Stores) -> None:
        suspects = stores("local").suspects
        first = await suspects.note(PAGE, owner="w-1", wall_s=WALL_S)
        assert first == Suspect(WorkKind.PAGE, PAGE.name, PAGE.label, 1, "w-1", WALL_S)
        assert await suspects.note(PAGE, owner="w-1", wall_s=WALL_S + 9) == first
        second = await suspects.note(PAGE, owner="w-2", wall_s=WALL_S + 9)
        assert second == replace(first, deaths=2, owner="w-2", noted_s=WALL_S + 9)
        assert await suspects.find(WorkKind.PAGE, PAGE.name) == second
        assert await suspects.find(WorkKind.TASK, PAGE.name) is None
        assert await stores("stranger").suspects.find(WorkKind.PAGE, PAGE.name) is None

    @waits
    async def test_what_was_read_since_is_forgotten(self, stores: Stores) -> None:
        suspects = stores("local").suspects
        for work in (PAGE, TASK, replace(PAGE, name=b"other")):
            await suspects.note(work, owner="w-1", wall_s=WALL_S)
        await suspects.clear(WorkKind.PAGE, b"other")
        await stores("stranger").suspects.clear(WorkKind.PAGE, PAGE.name)
        (left,) = await suspects.list(WorkKind.PAGE, limit=9)
        assert left.name == PAGE.name
        assert len(await suspects.list(WorkKind.TASK, limit=9)) == 1
        assert await suspects.list(WorkKind.TASK, limit=0) == []
        assert await stores("stranger").suspects.list(WorkKind.PAGE, limit=9) == []

    @waits
    async def test_what_is_long_ago_is_forgotten_for_everybody(self, stores: Stores) -> None:
        suspects = stores("local").suspects
        await suspects.note(PAGE, owner="w-1", wall_s=WALL_S)
        await stores("stranger").suspects.forget(wall_s=WALL_S + FORGET_S)
        assert await suspects.find(WorkKind.PAGE, PAGE.name) is not None
        await stores("stranger").suspects.forget(wall_s=WALL_S + FORGET_S + 1)
        assert await suspects.find(WorkKind.PAGE, PAGE.name) is None
        await suspects.note(PAGE, owner="w-1", wall_s=WALL_S)
        again = await suspects.note(PAGE, owner="w-2", wall_s=WALL_S + FORGET_S + 1)
        assert again.deaths == 1

    @waits
    async def test_a_claim_tells_the_deaths_of_each_entry(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url(), url("/other"))
        await store.suspects.note(PAGE, owner="w-1", wall_s=WALL_S)
        await store.suspects.note(PAGE, owner="w-2", wall_s=WALL_S)
        other = WorkInHand("local", WorkKind.DOCUMENT, url("/other").url_hash, "")
        await store.suspects.note(other, owner="w-3", wall_s=WALL_S)
        lease = await claim_one(store)
        assert {entry.url: entry.deaths for entry in lease.entries} == {
            url().url: 2,
            url("/other").url: 0,
        }
