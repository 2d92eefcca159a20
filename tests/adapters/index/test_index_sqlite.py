"""What an index in a file has to do beside the contract."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import resources
from itertools import pairwise
from pathlib import Path

import pytest

from geomi.adapters.index import chunk_words, sqlite, sqlite_file
from geomi.adapters.index.sqlite import SqliteIndex, open_sqlite_index
from geomi.adapters.index.sqlite_file import index_path
from geomi.errors import StoreError
from geomi.model.index.search import NO_FILTERS, ChunkKey, Filters, IndexScope, KeptText
from geomi.search.tokens import parse_query
from tests.contracts.suites.documents import FILLER, document, embed, found, towards
from tests.support.waiting import waits

SENTENCE = "Zebras quietly juggle xylophones behind velvet curtains"


@contextmanager
def opened(folder: Path) -> Iterator[SqliteIndex]:
    """Open an index and close it again."""
    index = open_sqlite_index(folder, tenant="local")
    try:
        yield index
    finally:
        index.close()


def on_disk(folder: Path) -> bytes:
    """Return every byte of all files."""
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()))


@pytest.mark.parametrize(
    ("tenant", "name"),
    [
        ("local", "local.db"),
        ("a-1", "a-1.db"),
        ("../x", None),
        ("A", None),
        ("", None),
        (".", None),
    ],
)
def test_a_tenant_has_a_file_of_its_own(tmp_path: Path, tenant: str, name: str | None) -> None:
    """No name leads out of the folder, or to another tenant's file."""
    path = index_path(tmp_path, tenant)
    assert path.parent == tmp_path
    assert path.name == name if name else path.name.startswith("_")


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """The message names it."""
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="file"):
        open_sqlite_index(tmp_path / "file", tenant="local")


@pytest.mark.req("IDX-03", "IDX-04")
@waits
async def test_nothing_of_a_text_is_on_the_disk_but_its_preview(tmp_path: Path) -> None:
    """Neither a sentence nor two words in their order, beyond the first 500 characters."""
    one = document("one", f"{FILLER * 7} {SENTENCE}.", kept=KeptText.PREVIEW)
    with opened(tmp_path) as index:
        await index.put([one])
        await embed(index, one, towards(1, 0))
        assert await found(index, "xylophones") == ["one"]
    held = on_disk(tmp_path).lower()
    words = SENTENCE.lower().split()
    for first, second in pairwise(words):
        assert f"{first} {second}".encode() not in held
    assert b"so that a chunk has" in held  # the preview
    with closing(sqlite3.connect(tmp_path / "local.db")) as db:
        db.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, instance)")
        rows = db.execute("SELECT term FROM terms WHERE col = 'body' ORDER BY offset").fetchall()
    assert rows == sorted(rows)


@waits
async def test_what_was_deleted_is_not_on_the_disk(tmp_path: Path) -> None:
    """A word that only an erased page had is nowhere in the file or its log."""
    with opened(tmp_path) as index:
        await index.put([document("gone", f"{SENTENCE}. {FILLER}"), document("stays", FILLER)])
        await index.put([document("previewed", f"{FILLER} quixotic", kept=KeptText.PREVIEW)])
        for name in ("gone", "previewed"):
            await index.delete(IndexScope.DOCUMENT, name)
        await index.scrub()
        held = on_disk(tmp_path).lower()
        assert b"plain words" in held
        for word in (*SENTENCE.lower().split(), "quixotic"):
            assert word.encode() not in held


@waits
async def test_an_index_of_older_tokens_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever updates geomi finds what was indexed before, and can delete it."""
    with monkeypatch.context() as past:
        past.setattr(sqlite_file, "VERSION", 0)
        past.setattr(chunk_words, "tokens", lambda text: [f"old{word}" for word in text.split()])
        with opened(tmp_path) as index:
            await index.put([document("one", "some words", title="Name")])
            assert await found(index, "words") == []
            assert await found(index, "oldsome") == ["one"]
    with opened(tmp_path) as index:
        assert await found(index, "words") == ["one"]
        assert await found(index, "name") == ["one"]
        assert await found(index, "oldsome") == []
        await index.delete(IndexScope.DOCUMENT, "one")
        assert await found(index, "words") == []


@waits
async def test_common_words_do_not_choose_but_rank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large index gives the same order, of those that have the rarest words."""
    texts = [f"common {'shared ' * (at % 3)} filler {at}" for at in range(60)]
    texts += ["rare common text", "rare common shared text shared", "rare text"]
    with opened(tmp_path) as index:
        await index.put([document(f"d{at}", text) for at, text in enumerate(texts)])
        query = parse_query("common shared rare absent")
        whole = await index.match(query, NO_FILTERS, limit=3)
        monkeypatch.setattr(sqlite, "RANKED_CHUNKS", 5)
        chosen = await index.match(query, NO_FILTERS, limit=3)
        assert [match.key for match in chosen] == [match.key for match in whole]
        assert {match.key.document for match in chosen} == {"d60", "d61", "d62"}
        monkeypatch.setattr(sqlite, "ENOUGH", 4)
        assert len(await index.match(query, NO_FILTERS, limit=30)) == 30  # all words choose
        monkeypatch.setattr(sqlite, "ENOUGH", 3)
        assert len(await index.match(query, NO_FILTERS, limit=30)) == 3
        only = await index.match(parse_query("common"), Filters(sites=("a.test",)), limit=50)
        assert len(only) == 50


@waits
async def test_an_index_outlives_its_process(tmp_path: Path) -> None:
    """What was put is there when the file is opened again."""
    one = document("one", "some words")
    with opened(tmp_path) as index:
        await index.put([one])
        await embed(index, one, towards(1, 0))
    with opened(tmp_path) as index:
        assert await found(index, "words") == ["one"]
        assert len(await index.vectors.nearest("model", towards(1, 0), NO_FILTERS, limit=9)) == 1


@waits
async def test_a_batch_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    """A batch that fails half way leaves nothing behind."""
    good = document("good", "good words")
    bad = document("bad", "bad words", url=object())
    with opened(tmp_path) as index:
        with pytest.raises(Exception, match="type"):
            await index.put([good, bad])
        assert await found(index, "words") == []
        assert (await index.count()).documents == 0


@waits
async def test_an_index_of_the_first_schema_leads_to_its_documents(tmp_path: Path) -> None:
    """Its chunks know of no page but that of their document."""
    folder = resources.files("geomi.adapters.index").joinpath("migrations")
    path = index_path(tmp_path, "local")
    with closing(sqlite3.connect(path)) as db:
        db.executescript(folder.joinpath("0001_initial.sql").read_text("utf-8"))
        db.execute(
            "INSERT INTO documents VALUES (1, 'one', 'https://a.test/', 'T', 'main', 'a.test', 'j',"
            " '', 'en', 0, 'full')"
        )
        db.execute("INSERT INTO chunks VALUES (1, 1, 'c-0', 0, '[]', 'old words', 2, 'x', NULL)")
        db.execute("PRAGMA user_version = 1")
        db.commit()
    with opened(tmp_path) as index:
        (passage,) = await index.read([ChunkKey("one", "c-0")])
    assert (passage.url, passage.text) == ("https://a.test/", "old words")
