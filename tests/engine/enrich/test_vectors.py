"""Chunks get their vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from geomi.adapters.index.sqlite import SqliteIndex, open_sqlite_index
from geomi.engine.enrich.vectors import embed_documents, embedded_text
from geomi.errors import ModelBusy
from geomi.model.index.search import IndexDocument
from geomi.ports.models import BATCH, OnAnswer, Vectors, unheard
from tests.contracts.suites.documents import FILLER, document, found, nearest, towards
from tests.support.waiting import waits


class Counter:
    """An embedder that remembers what it was given, and has enough after some batches."""

    name = "model"
    dimensions = 2
    languages = frozenset({"en"})

    def __init__(self, batches: int = 100) -> None:
        self.given: list[Sequence[str]] = []
        self._batches = batches

    async def embed(
        self, texts: Sequence[str], *, is_query: bool = False, on_answer: OnAnswer = unheard
    ) -> Vectors:
        """Point east."""
        if len(self.given) == self._batches:
            raise ModelBusy("enough")
        self.given.append(texts)
        return np.stack([towards(1, 0)] * len(texts))


@contextmanager
def opened(folder: Path) -> Iterator[SqliteIndex]:
    """Open an index and close it again."""
    index = open_sqlite_index(folder, tenant="local")
    try:
        yield index
    finally:
        index.close()


def long_page(name: str, sections: int) -> IndexDocument:
    """Return a document with as many chunks as it has sections."""
    parts = [f"# Part {at}\n\nNumber {at}. {FILLER * 22}" for at in range(sections)]
    made = document(name, "\n\n".join(parts))
    assert len(made.chunks) == sections
    return made


@pytest.mark.req("EMB-01")
@waits
async def test_chunks_are_embedded_25_at_a_time(tmp_path: Path) -> None:
    """Batches go across documents, and nothing is embedded twice."""
    made = [long_page("a", 20), long_page("b", 20)]
    model = Counter()
    with opened(tmp_path) as index:
        await index.put(made)
        assert await embed_documents(index, model, made) == 40
        assert await embed_documents(index, model, made) == 0
        edited = replace(made[0], chunks=long_page("a", 21).chunks)
        await index.put([edited])
        assert await embed_documents(index, model, [edited]) == 1
    assert [len(texts) for texts in model.given] == [BATCH, 15, 1]


@pytest.mark.req("C-80")
@waits
async def test_text_is_found_before_its_vectors_and_without_them(tmp_path: Path) -> None:
    """What was embedded before a model had enough is kept, and the rest comes later (C-80)."""
    page = long_page("a", 30)
    with opened(tmp_path) as index:
        await index.put([page])
        assert await found(index, "filler part") != []
        with pytest.raises(ModelBusy):
            await embed_documents(index, Counter(batches=1), [page])
        assert (await index.count()).vectors == BATCH
        assert await embed_documents(index, Counter(), [page]) == 5


@pytest.mark.parametrize(
    ("language", "text", "embedded"),
    [
        ("en", "plain words", True),
        ("ko", "plain words", False),
        ("", "plain words", True),
        ("", "고양이는 하루 종일 잠을 잔다.", False),
        ("", "", False),
    ],
)
@waits
async def test_only_languages_of_the_embedder(
    tmp_path: Path, language: str, text: str, embedded: bool
) -> None:
    """A text that a model cannot read has no place among its vectors."""
    one = document("one", text, language=language)
    with opened(tmp_path) as index:
        await index.put([one])
        await embed_documents(index, Counter(), [one])
        assert (await nearest(index, towards(1, 0)) == ["one"]) is embedded


def test_what_a_vector_is_made_of() -> None:
    """The title, the headings above, the text; a title that is the first heading stands once."""
    one = document("one", "# Guide\n\n## Install\n\nRun it.", title="Guide")
    assert (
        embedded_text(one, one.chunks[0]) == "Guide › Install\n\n# Guide\n\n## Install\n\nRun it."
    )
    bare = document("two", "Run \ud83d it.", title="")
    assert embedded_text(bare, bare.chunks[0]) == "Run ? it."
