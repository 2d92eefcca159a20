"""What every index of chunks has to forget: what is deleted, and texts that may not be kept."""

from __future__ import annotations

import pytest

from geomi.model.index.search import ChunkKey, IndexCounts, IndexScope, KeptText
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

__all__ = ["TestDeletes", "TestPreviews"]

PREVIEW_CHARS = 500


class TestDeletes:
    """What is deleted is found no more, in any way."""

    @pytest.mark.parametrize(
        ("scope", "name", "left"),
        [
            (IndexScope.DOCUMENT, "a", {"b", "c"}),
            (IndexScope.SITE, "a.test", {"b"}),
            (IndexScope.JOB, "job-2", {"a", "b"}),
            (IndexScope.COLLECTION, "side", {"a", "c"}),
            (IndexScope.TENANT, "", set()),
            (IndexScope.SITE, "nobody.test", {"a", "b", "c"}),
        ],
    )
    @waits
    async def test_delete(
        self, indexes: Indexes, scope: IndexScope, name: str, left: set[str]
    ) -> None:
        index = indexes("local")
        made = [
            document("a", f"shared words, a. {FILLER * 60}"),
            document("b", "shared words, b", site="b.test", collection="side"),
            document("c", "shared words, c", job="job-2", kept=KeptText.PREVIEW),
        ]
        await index.put(made)
        for one in made:
            await embed(index, one, towards(1, 1))
        assert set(await nearest(index, towards(1, 0), limit=50)) == {"a", "b", "c"}
        assert await index.delete(scope, name) == 3 - len(left)
        assert set(await found(index, "shared")) == left
        assert set(await nearest(index, towards(1, 0), limit=50)) == left
        passages = await index.read([ChunkKey(one.id, one.chunks[0].id) for one in made])
        assert {passage.key.document for passage in passages} == left
        chunks = sum(len(one.chunks) for one in made if one.id in left)
        assert await index.count() == IndexCounts(len(left), chunks, chunks)

    @waits
    async def test_what_another_job_has_adopted_stays(self, indexes: Indexes) -> None:
        index = indexes("local")
        made = [document(name, f"shared words, {name}", kept=KeptText.PREVIEW) for name in "ab"]
        await index.put(made)
        await embed(index, made[0], towards(1, 1))
        await index.adopt("job-2", [made[0].id, "unknown"])
        await index.adopt("job-3", [])
        assert await index.delete(IndexScope.JOB, made[0].job) == 1
        assert await found(index, "shared") == await nearest(index, towards(1, 0)) == ["a"]
        assert await index.delete(IndexScope.JOB, "job-2") == 1
        assert await index.count() == IndexCounts(0, 0, 0)

    @waits
    async def test_many_documents_go_at_once(self, indexes: Indexes) -> None:
        index = indexes("local")
        await index.put([document(f"d{at}", f"number {at}") for at in range(250)])
        await index.put([document("stays", "number", site="b.test")])
        assert await index.delete(IndexScope.SITE, "a.test") == 250
        assert await found(index, "number") == ["stays"]
        assert await index.delete(IndexScope.SITE, "a.test") == 0

    @waits
    async def test_what_was_deleted_can_come_back(self, indexes: Indexes) -> None:
        index = indexes("local")
        for _ in range(2):
            await index.put([document("a", "some words")])
            assert await found(index, "words") == ["a"]
            assert await index.delete(IndexScope.DOCUMENT, "a") == 1
            assert await found(index, "words") == []
        await index.scrub()
        assert await index.count() == IndexCounts(0, 0, 0)


class TestPreviews:
    """Where a text may not be kept, it is found all the same."""

    @pytest.mark.req("IDX-03", "IDX-04", "DAT-06", "C-39")
    @waits
    async def test_a_preview_is_all_that_is_kept(self, indexes: Indexes) -> None:
        index = indexes("local")
        text = f"{FILLER * 7} The needle stands at the very end."
        one = document("one", text, kept=KeptText.PREVIEW)
        assert len(one.chunks) == 1
        await index.put([one])
        assert await found(index, "needle") == ["one"]
        await embed(index, one, towards(1, 0))
        assert await nearest(index, towards(1, 0)) == ["one"]
        (passage,) = await index.read([ChunkKey("one", one.chunks[0].id)])
        assert passage.text == one.chunks[0].text[:PREVIEW_CHARS]
        assert "needle" not in passage.text

    @waits
    async def test_a_phrase_is_all_its_words(self, indexes: Indexes) -> None:
        index = indexes("local")
        await index.put([document("one", "brown and quick", kept=KeptText.PREVIEW)])
        assert await found(index, '"quick brown"') == ["one"]
        assert await found(index, '"quick red"') == []

    @waits
    async def test_what_is_kept_can_change(self, indexes: Indexes) -> None:
        index = indexes("local")
        text = f"{FILLER * 7} needle"
        for kept in (KeptText.FULL, KeptText.PREVIEW, KeptText.FULL):
            one = document("one", text, kept=kept)
            await index.put([one])
            assert await found(index, "needle") == ["one"]
            (passage,) = await index.read([ChunkKey("one", one.chunks[0].id)])
            assert ("needle" in passage.text) == (kept is KeptText.FULL)
        await index.delete(IndexScope.DOCUMENT, "one")
        assert await found(index, "needle") == []
