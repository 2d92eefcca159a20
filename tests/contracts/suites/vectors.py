"""What every index of chunks has to do with vectors."""

from __future__ import annotations

import asyncio

import pytest

from geomi.errors import StoreError
from geomi.model.index.search import NO_FILTERS, ChunkKey, IndexCounts, IndexDocument, IndexScope
from geomi.ports.index import KeptIndex
from tests.contracts.suites.documents import (
    FILLER,
    Indexes,
    document,
    embed,
    found,
    nearest,
    towards,
)
from tests.support.waiting import waits

__all__ = ["TestVectors"]


class TestVectors:
    """Chunks are found by vectors, where they have any."""

    @pytest.mark.req("IDX-01")
    @waits
    async def test_the_nearest_comes_first(self, indexes: Indexes) -> None:
        index = indexes("local")
        directions = {"east": (1, 0), "north": (0, 1), "west": (-1, 0)}
        made = [document(name, f"to the {name}") for name in (*directions, "nowhere")]
        await index.put(made)
        for one, numbers in zip(made, directions.values(), strict=False):
            assert await embed(index, one, towards(*numbers)) == 1
        assert await nearest(index, towards(1, 0.2)) == ["east", "north", "west"]
        assert await nearest(index, towards(0.2, 1), limit=1) == ["north"]
        matches = await index.vectors.nearest("model", towards(1, 0), NO_FILTERS, limit=1)
        assert matches[0].score == pytest.approx(1.0)

    @waits
    async def test_vectors_come_later_than_their_text(self, indexes: Indexes) -> None:
        index = indexes("local")
        one = document("one", f"# A\n\n{FILLER * 30}\n\n# B\n\nThe end. {FILLER * 20}")
        await index.put([one])
        ids = [chunk.id for chunk in one.chunks]
        assert await index.vectors.lacking("model", "one") == ids
        assert await nearest(index, towards(1, 0)) == []
        await index.vectors.put("model", [ChunkKey("one", ids[0])], towards(1, 0).reshape(1, 2))
        assert await index.vectors.lacking("model", "one") == ids[1:]
        assert await index.vectors.lacking("another", "one") == ids

    @waits
    async def test_a_chunk_that_stays_keeps_its_vector(self, indexes: Indexes) -> None:
        index = indexes("local")
        parts = [f"# {name}\n\n{name} {FILLER * 22}" for name in ("One", "Two", "Three")]
        before = document("page", "\n\n".join(parts))
        assert len(before.chunks) == 3
        await index.put([before])
        await embed(index, before, towards(1, 0))
        after = document("page", "\n\n".join([parts[0], f"{parts[1]} An edit.", parts[2]]))
        await index.put([after])
        assert await index.vectors.lacking("model", "page") == [after.chunks[1].id]
        assert await index.count() == IndexCounts(1, 3, 2)
        assert len(await nearest(index, towards(1, 0))) == 2

    @waits
    async def test_a_vector_is_replaced(self, indexes: Indexes) -> None:
        index = indexes("local")
        made = [document(name, f"document {name}") for name in ("a", "b")]
        await index.put(made)
        await embed(index, made[0], towards(1, 0))
        await embed(index, made[1], towards(0, 1))
        assert await nearest(index, towards(1, 0.1)) == ["a", "b"]
        await embed(index, made[0], towards(-1, 0))
        assert await nearest(index, towards(1, 0.1)) == ["b", "a"]

    @waits
    async def test_vectors_of_chunks_that_are_gone_are_dropped(self, indexes: Indexes) -> None:
        index = indexes("local")
        one = document("one", "here for a moment")
        await index.put([one])
        await index.delete(IndexScope.DOCUMENT, "one")
        assert await embed(index, one, towards(1, 0)) == 0
        assert await nearest(index, towards(1, 0)) == []

    @waits
    async def test_models_do_not_mix(self, indexes: Indexes) -> None:
        index = indexes("local")
        one = document("one", "some text")
        await index.put([one])
        await embed(index, one, towards(1, 0))
        assert await index.vectors.nearest("another", towards(1, 0), NO_FILTERS, limit=1) == []
        with pytest.raises(StoreError, match="`model` have 2 numbers"):
            await embed(index, one, towards(1, 0, 0))
        with pytest.raises(StoreError, match="these have 3"):
            await nearest(index, towards(1, 0, 0))

    @waits
    async def test_writers_at_once_lose_nothing(self, indexes: Indexes) -> None:
        handles = [indexes("local") for _ in range(3)]
        made = [[document(f"d{at}{n}", f"text {at} {n}") for n in range(4)] for at in range(3)]

        async def write(index: KeptIndex, documents: list[IndexDocument]) -> None:
            for one in documents:
                await index.put([one])
                assert await embed(index, one, towards(1, 0)) == 1

        async with asyncio.TaskGroup() as group:
            for index, documents in zip(handles, made, strict=True):
                group.create_task(write(index, documents))
        assert await handles[0].count() == IndexCounts(documents=12, chunks=12, vectors=12)
        assert len(await found(handles[1], "text", limit=20)) == 12

    @waits
    async def test_two_handles_of_one_tenant_see_the_same(self, indexes: Indexes) -> None:
        one, other = indexes("local"), indexes("local")
        made = [document(f"d{at}", f"text {at}") for at in range(3)]
        await one.put(made)
        await embed(one, made[0], towards(1, 0))
        assert await nearest(other, towards(1, 0)) == ["d0"]
        await embed(one, made[1], towards(0, 1))
        await one.delete(IndexScope.DOCUMENT, "d0")
        assert await nearest(other, towards(1, 0)) == ["d1"]
        assert set(await found(other, "text")) == {"d1", "d2"}
