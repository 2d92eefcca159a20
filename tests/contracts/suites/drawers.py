"""Drawers: small things by name, changed by one at a time, of one tenant alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from geomi.adapters.store.keys import MAX_NAME_BYTES
from geomi.errors import StoreError
from geomi.model.named_value import MAX_LISTED_VALUES, MAX_NAMED_VALUE_BYTES, SYSTEM, NamedValue
from geomi.ports.named_values import NamedValues
from tests.contracts.suites.handles import Stores
from tests.support.waiting import waits

__all__ = ["TestDrawers", "TestDueSlips"]

BODY = '{"이름": "\\u0000"}'.encode()


async def names(drawers: NamedValues, **asked: object) -> str:
    """Return the names in a drawer, as they are listed."""
    found = await drawers.list("hooks", **{"limit": 10, **asked})  # type: ignore[arg-type]
    return "".join(slip.name for slip in found)


async def fill(drawers: NamedValues, *them: str) -> None:
    """Put things of some names into a drawer."""
    for name in them:
        assert await drawers.add("hooks", name, BODY)


class TestDrawers:
    """What one tenant keeps by name."""

    @waits
    async def test_what_was_put_is_found(self, stores: Stores) -> None:
        drawers = stores("a").named_values
        assert await drawers.add("hooks", "one", BODY, due_at_s=7.5)
        assert await drawers.get("hooks", "one") == NamedValue("a", "hooks", "one", BODY, 1, 7.5)

    @waits
    async def test_a_name_is_taken_once(self, stores: Stores) -> None:
        drawers = stores("a").named_values
        assert await drawers.add("hooks", "one", BODY)
        assert not await drawers.add("hooks", "one", b"{}")
        assert await drawers.add("keys", "one", b"{}")
        found = await drawers.get("hooks", "one")
        assert found is not None and found.body == BODY

    @waits
    async def test_of_many_who_take_a_name_one_has_it(self, stores: Stores) -> None:
        async with asyncio.TaskGroup() as group:
            tries = [
                group.create_task(stores("a").named_values.add("hooks", "one", b"%d" % number))
                for number in range(5)
            ]
        assert sum(one.result() for one in tries) == 1

    @waits
    async def test_of_two_who_change_it_one_is_told(self, stores: Stores) -> None:
        drawers = stores("a").named_values
        await fill(drawers, "1")
        read = await drawers.get("hooks", "1")
        assert read is not None
        assert await drawers.change(replace(read, body=b"1", due_at_s=3.0))
        assert not await drawers.change(replace(read, body=b"2"))
        assert await drawers.get("hooks", "1") == NamedValue("a", "hooks", "1", b"1", 2, 3.0)

    @waits
    async def test_what_was_changed_is_not_removed_by_who_did_not_know(
        self, stores: Stores
    ) -> None:
        drawers = stores("a").named_values
        await fill(drawers, "1")
        read = await drawers.get("hooks", "1")
        assert read is not None and await drawers.change(read)
        assert not await drawers.remove(read)
        assert await drawers.remove(replace(read, revision=2))
        assert await drawers.get("hooks", "1") is None
        assert not await drawers.change(replace(read, revision=2))

    @waits
    async def test_a_drawer_is_listed_in_the_order_of_names(self, stores: Stores) -> None:
        drawers = stores("a").named_values
        await fill(drawers, "b", "B", "a", "é", "c")
        assert await names(drawers) == "Babcé"
        assert await names(drawers, after="a", limit=2) == "bc"
        assert await names(drawers, is_backwards=True, limit=2) == "éc"
        assert await names(drawers, is_backwards=True, after="b") == "aB"
        assert await names(drawers, limit=0) == ""
        assert await names(drawers, limit=-1) == ""
        assert await drawers.count("hooks") == 5
        assert await drawers.count("keys") == 0

    @waits
    async def test_an_answer_has_a_limit(self, stores: Stores) -> None:
        drawers = stores("a").named_values
        await fill(drawers, *(f"{number:04}" for number in range(MAX_LISTED_VALUES + 1)))
        assert len(await drawers.list("hooks", limit=MAX_LISTED_VALUES + 1)) == MAX_LISTED_VALUES

    @waits
    async def test_a_tenant_sees_its_own_alone(self, stores: Stores) -> None:
        own, foreign, system = (
            stores("a").named_values,
            stores("b").named_values,
            stores(SYSTEM).named_values,
        )
        await fill(own, "1")
        read = await own.get("hooks", "1")
        assert read is not None
        for other in (foreign, system):
            assert await other.get("hooks", "1") is None
            assert await names(other) == ""
            assert await other.count("hooks") == 0
            assert not await other.change(replace(read, body=b"mine"))
            assert not await other.remove(read)
        assert await own.get("hooks", "1") == read

    @pytest.mark.parametrize(
        ("drawer", "name", "body"),
        [
            ("é" * (MAX_NAME_BYTES // 2) + "x", "1", b""),
            ("hooks", "é" * (MAX_NAME_BYTES // 2) + "x", b""),
            ("hooks", "1", b"x" * (MAX_NAMED_VALUE_BYTES + 1)),
        ],
        ids=["drawer", "name", "body"],
    )
    @waits
    async def test_what_is_too_large_is_refused(
        self, stores: Stores, drawer: str, name: str, body: bytes
    ) -> None:
        with pytest.raises(StoreError):
            await stores("a").named_values.add(drawer, name, body)


class TestDueSlips:
    """What somebody waits for, whoever's it is."""

    @waits
    async def test_what_is_due_comes_first_that_waits_longest(self, stores: Stores) -> None:
        await stores("a").named_values.add("hooks", "late", BODY, due_at_s=30.0)
        await stores("a").named_values.add("hooks", "soon", BODY, due_at_s=20.0)
        await stores("b").named_values.add("hooks", "first", BODY, due_at_s=10.0)
        await stores("b").named_values.add("hooks", "never", BODY)
        await stores("b").named_values.add("keys", "other", BODY, due_at_s=1.0)
        due = stores(SYSTEM).due_values
        assert [slip.name for slip in await due.due("hooks", wall_s=20.0, limit=10)] == [
            "first",
            "soon",
        ]
        assert [slip.tenant for slip in await due.due("hooks", wall_s=99.0, limit=1)] == ["b"]
        assert await due.next_due_s("hooks") == 10.0

    @waits
    async def test_what_was_done_is_not_due(self, stores: Stores) -> None:
        store = stores("a")
        await store.named_values.add("hooks", "1", BODY, due_at_s=10.0)
        (slip,) = await store.due_values.due("hooks", wall_s=10.0, limit=10)
        assert await store.named_values.change(replace(slip, due_at_s=None))
        assert await store.due_values.due("hooks", wall_s=99.0, limit=10) == []
        assert await store.due_values.next_due_s("hooks") is None
