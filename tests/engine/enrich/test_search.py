"""Answering a query."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from geomi.adapters.index.sqlite import SqliteIndex, open_sqlite_index
from geomi.engine.enrich.search import MAX_HITS, search, understands
from geomi.errors import ModelBusy
from geomi.model.index.search import ChunkKey, Filters, KeptText, SearchResults
from geomi.ports.models import OnAnswer, Vectors, unheard
from tests.contracts.suites.documents import FILLER, document, towards
from tests.support.waiting import waits


class Compass:
    """An embedder of two directions, which remembers what it was asked."""

    name = "compass"
    dimensions = 2

    def __init__(self, *languages: str) -> None:
        self.languages = frozenset(languages)
        self.asked: list[str] = []
        self.problem = ""

    async def embed(
        self, texts: Sequence[str], *, is_query: bool = False, on_answer: OnAnswer = unheard
    ) -> Vectors:
        """Point north for whatever is about cats."""
        if self.problem:
            raise ModelBusy(self.problem)
        self.asked += texts if is_query else []
        return np.stack([towards(0, 1) if "cat" in text else towards(1, 0) for text in texts])


@asynccontextmanager
async def filled(folder: Path, embedder: Compass) -> AsyncIterator[SqliteIndex]:
    """Open an index with four documents and their vectors."""
    made = [
        document("cats", "All about a cat and its habits."),
        document("felines", "A feline sleeps most of the day, says the catalogue."),
        document("dogs", "A dog barks at the feline."),
        document("한국", "고양이는 하루 종일 잠을 잔다.", language="ko"),
    ]
    index = open_sqlite_index(folder, tenant="local")
    try:
        await index.put(made)
        for one in made:
            vectors = await embedder.embed([one.chunks[0].text])
            await index.vectors.put(embedder.name, [ChunkKey(one.id, one.chunks[0].id)], vectors)
        yield index
    finally:
        index.close()


def names(found: SearchResults) -> list[str]:
    """Return the documents of hits."""
    return [hit.passage.key.document for hit in found.hits]


@pytest.mark.req("IDX-02")
@waits
async def test_a_hit_shows_its_link_and_a_short_quotation(tmp_path: Path) -> None:
    """What was looked for is marked in at most 200 characters."""
    async with filled(tmp_path, Compass("en")) as index:
        await index.put([document("long", f"{FILLER * 6} The needle is here. {FILLER * 6}")])
        (hit,) = (await search(index, "needle")).hits
    assert hit.passage.url == "https://a.test/long"
    assert len(hit.snippet.text) <= 200
    assert [hit.snippet.text[start:end] for start, end in hit.snippet.marks] == ["needle"]
    assert hit.ranks == {"words": 1}


@waits
async def test_both_rankings_are_fused(tmp_path: Path) -> None:
    """A chunk that only its vector finds is an answer, too; found by both it comes first."""
    model = Compass("en")
    async with filled(tmp_path, model) as index:
        assert names(await search(index, "cat")) == ["cats"]
        found = await search(index, "cat", embedder=model, limit=2)
    assert names(found) == ["cats", "felines"]
    assert [hit.ranks for hit in found.hits] == [{"words": 1, "vectors": 1}, {"vectors": 2}]
    assert found.problem == ""


@waits
async def test_a_model_that_cannot_be_asked_leaves_words(tmp_path: Path) -> None:
    """There is an answer, and it says what it lacks."""
    model = Compass("en")
    async with filled(tmp_path, model) as index:
        model.problem = "answered 429"
        found = await search(index, "cat", embedder=model)
    assert names(found) == ["cats"]
    assert found.problem == "answered 429"


@waits
async def test_vectors_are_asked_only_in_languages_of_the_embedder(tmp_path: Path) -> None:
    """A model that has never seen Korean has no voice in it."""
    model = Compass("en")
    async with filled(tmp_path, model) as index:
        found = await search(index, "고양이", embedder=model)
    assert names(found) == ["한국"]
    assert model.asked == []


@pytest.mark.parametrize(
    ("languages", "text", "does"),
    [
        (("en",), "cat", True),
        (("en",), "how do I open the file and read it", True),
        (("en",), "고양이", False),
        (("en",), "猫", False),
        (("en", "ko"), "고양이", True),
        (("ko",), "고양이", True),
        (("ko",), "cat", False),
        (("ko", "de"), "Katze", True),
        (("en",), "wie kann ich die Datei öffnen und das ist nicht der Fall", False),
        (("en",), "café", False),
        (("en",), "", False),
    ],
)
def test_understands(languages: tuple[str, ...], text: str, does: bool) -> None:
    """What cannot be told is taken for the embedder's language only in plain letters."""
    assert understands(Compass(*languages), text) is does


@waits
async def test_a_text_that_many_pages_have_is_one_answer(tmp_path: Path) -> None:
    """The same chunk on ten pages is shown once."""
    async with filled(tmp_path, Compass("en")) as index:
        await index.put([document(f"copy{at}", f"the same footer {FILLER}") for at in range(10)])
        await index.put([document("other", f"another footer {FILLER}")])
        assert len((await search(index, "footer")).hits) == 2


@waits
async def test_filters_and_limits(tmp_path: Path) -> None:
    """Filters hold for both rankings, and nobody gets more than the most."""
    model = Compass("en")
    async with filled(tmp_path, model) as index:
        korean = Filters(languages=("ko",))
        assert names(await search(index, "cat", filters=korean, embedder=model)) == ["한국"]
        await index.put([document(f"d{at}", f"word number{at}") for at in range(MAX_HITS + 1)])
        assert len((await search(index, "word", limit=MAX_HITS + 1)).hits) == MAX_HITS
        assert await search(index, "") == SearchResults(())


@pytest.mark.req("IDX-02", "IDX-03")
@waits
async def test_a_quotation_of_a_text_that_is_not_kept_comes_from_its_preview(
    tmp_path: Path,
) -> None:
    """What is found beyond the preview is shown by its beginning."""
    async with filled(tmp_path, Compass("en")) as index:
        text = f"It begins here. {FILLER * 7} needle"
        await index.put([document("docs", text, kept=KeptText.PREVIEW)])
        (hit,) = (await search(index, "needle")).hits
    assert hit.snippet.text.startswith("It begins here.")
    assert hit.snippet.marks == ()
