"""Namespaces: small things by name, changed by one at a time, of one tenant alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from geomi.adapters.store.rows import MAX_NAME_BYTES
from geomi.errors import StoreError
from geomi.model.named_value import MAX_LISTED_VALUES, MAX_NAMED_VALUE_BYTES, SYSTEM, NamedValue
from geomi.ports.named_values import NamedValues
from tests.contracts.suites.handles import Stores
from tests.support.waiting import waits

__all__ = ["TestDueValues", "TestNamedValues"]

BODY = '{"이름": "\\u0000"}'.encode()


async def names(named_values: NamedValues, **asked: object) -> str:
    """Return the names in a namespace, as they are listed."""
    found = await named_values.list("hooks", **{"limit": 10, **asked})  # type: ignore[arg-type]
    return "".join(named.name for named in found)


async def fill(named_values: NamedValues, *them: str) -> None:
    """Put things of some names into a namespace."""
    for name in them:
        assert await named_values.add("hooks", name, BODY)


class TestNamedValues:
    """What one tenant keeps by name."""

    @waits
    async def test_what_was_put_is_found(self, stores: Stores) -> None:
        named_values = stores("a").named_values
        assert await named_values.add("hooks", "one", BODY, due_at_s=7.5)
        assert await named_values.get("hooks", "one") == NamedValue(
            "a", "hooks", "one", BODY, 1, 7.5
        )

    @waits
    async def test_a_name_is_taken_once(self, stores: Stores) -> None:
        named_values = stores("a").named_values
        assert await named_values.add("hooks", "one", BODY)
        assert not await named_values.add("hooks", "one", b"{}")
        assert await named_values.add("keys", "one", b"{}")
        found = await named_values.get("hooks", "one")
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
        named_values = stores("a").named_values
        await fill(named_values, "1")
        read = await named_values.get("hooks", "1")
        assert read is not None
        assert await named_values.change(replace(read, body=b"1", due_at_s=3.0))
        assert not await named_values.change(replace(read, body=b"2"))
        assert await named_values.get("hooks", "1") == NamedValue("a", "hooks", "1", b"1", 2, 3.0)

    @waits
    async def test_what_was_changed_is_not_removed_by_who_did_not_know(
        self, stores: Stores
    ) -> None:
        named_values = stores("a").named_values
        await fill(named_values, "1")
        read = await named_values.get("hooks", "1")
        assert read is not None and await named_values.change(read)
        assert not await named_values.remove(read)
        assert await named_values.remove(replace(read, revision=2))
        assert await named_values.get("hooks", "1") is None
        assert not await named_values.change(replace(read, revision=2))

    @waits
    async def test_a_namespace_is_listed_in_the_order_of_names(self, stores: Stores) -> None:
        named_values = stores("a").named_values
        await fill(named_values, "b", "B", "a", "é", "c")
        assert await names(named_values) == "Babcé"
        assert await names(named_values, after="a", limit=2) == "bc"
        assert await names(named_values, is_backwards=True, limit=2) == "éc"
        assert await names(named_values, is_backwards=True, after="b") == "aB"
        assert await names(named_values, limit=0) == ""
        assert await names(named_values, limit=-1) == ""
        assert await named_values.count("hooks") == 5
        assert await named_values.count("keys") == 0

    @waits
    async def test_an_answer_has_a_limit(self, stores: Stores) -> None:
        named_values = stores("a").named_values
        await fill(named_values, *(f"{number:04}" for number in range(MAX_LISTED_VALUES + 1)))
        assert (
            len(await named_values.list("hooks", limit=MAX_LISTED_VALUES + 1)) == MAX_LISTED_VALUES
        )

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
        ("namespace", "name", "body"),
        [
            ("é" * (MAX_NAME_BYTES // 2) + "x", "1", b""),
            ("hooks", "é" * (MAX_NAME_BYTES // 2) + "x", b""),
            ("hooks", "1", b"x" * (MAX_NAMED_VALUE_BYTES + 1)),
        ],
        ids=["namespace", "name", "body"],
    )
    @waits
    async def test_what_is_too_large_is_refused(
        self, stores: Stores, namespace: str, name: str, body: bytes
    ) -> None:
        with pytest.raises(StoreError):
            await stores("a").named_values.add(namespace, name, body)


class TestDueValues:
    """What somebody waits for, whoever's it is."""

    @waits
    async def test_what_is_due_comes_first_that_waits_longest(self, stores: Stores) -> None:
        await stores("a").named_values.add("hooks", "late", BODY, due_at_s=30.0)
        await stores("a").named_values.add("hooks", "soon", BODY, due_at_s=20.0)
        await stores("b").named_values.add("hooks", "first", BODY, due_at_s=10.0)
        await stores("b").named_values.add("hooks", "never", BODY)
        await stores("b").named_values.add("keys", "other", BODY, due_at_s=1.0)
        due = stores(SYSTEM).due_values
        assert [named.name for named in await due.due("hooks", wall_s=20.0, limit=10)] == [
            "first",
            "soon",
        ]
        assert [named.tenant for named in await due.due("hooks", wall_s=99.0, limit=1)] == ["b"]

    @waits
    async def test_what_was_done_is_not_due(self, stores: Stores) -> None:
        store = stores("a")
        await store.named_values.add("hooks", "1", BODY, due_at_s=10.0)
        (named,) = await store.due_values.due("hooks", wall_s=10.0, limit=10)
        assert await store.named_values.change(replace(named, due_at_s=None))
        assert await store.due_values.due("hooks", wall_s=99.0, limit=10) == []
