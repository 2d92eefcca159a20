"""A tenant's index file in SQLite: its threads, and how documents are put in and taken out.

Rules kept:
- Each tenant has a file of its own, so that no answer holds anything of another tenant, not even
  how rare a word is. The file is apart from the store: the crawl's writer never waits for an index.
- Writes run on one thread and reads on another, neither on the event loop's. A put or a delete is
  one transaction.
- The table of words holds no text. To take a chunk out, exactly the tokens that were put in are
  named again. They are made from the chunk's text where it is kept. Where only a preview may be
  kept, the tokens go in in alphabetical order (IDX-03), and a compressed copy of them lies beside
  the chunk.
"""

from __future__ import annotations

import asyncio
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from geomi.adapters.index.chunk_words import body_words, head_words, headings_text, kept_text
from geomi.adapters.machine.disk import refusal
from geomi.adapters.machine.threads import MeasuredThreads
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.statements import statements
from geomi.model.index.chunk import Chunk
from geomi.model.index.search import IndexDocument, IndexScope, KeptText
from geomi.search.tokens import VERSION
from geomi.text.encoding import replace_surrogates
from geomi.text.identifiers import sha256_hex

T = TypeVar("T")
# One batch of documents is written in less than a second.
BUSY_TIMEOUT_S = 30.0
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
INDEX_SQL = statements("index", "index")
# Documents that are taken out in one transaction, so that other writers get their turn.
DELETED_AT_ONCE = 100
VECTORS_GONE = "vectors_gone"
TOKENS_VERSION = "tokens_version"
_SOME = {
    IndexScope.DOCUMENT: INDEX_SQL["some_of_document"],
    IndexScope.SITE: INDEX_SQL["some_of_site"],
    IndexScope.JOB: INDEX_SQL["some_of_job"],
    IndexScope.COLLECTION: INDEX_SQL["some_of_collection"],
}


def index_path(folder: Path, tenant: str) -> Path:
    """Return where a tenant's index lies; a name that is no file name is written as a digest."""
    is_plain = _PLAIN_NAME.fullmatch(tenant) is not None
    return folder / f"{tenant if is_plain else '_' + sha256_hex(tenant)[:32]}.db"


class IndexFile:
    """One file, opened once."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refusal(error, path.parent) from error
        self._database = SqliteDatabase(path, busy_timeout_s=BUSY_TIMEOUT_S, package="index")
        self._reading = MeasuredThreads(max_workers=1, thread_name_prefix="geomi-index")
        self._database.write_now(renew_words)

    async def write(self, work: Callable[[SqliteSession], T]) -> T:
        """Run one transaction."""
        return await self._database.write(work)

    async def read(self, work: Callable[[SqliteSession], T]) -> T:
        """Run reads that see one state; ranking takes milliseconds, too long for the loop."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._reading, self._read, work)

    async def scrub(self) -> None:
        """Leave nothing in the file of what was deleted."""
        await self._database.write(lambda db: db.execute(INDEX_SQL["merge_words"]))
        await self._database.scrub()

    def close(self) -> None:
        """Finish what is under way and close the file."""
        self._reading.shutdown()
        self._database.close()

    def _read(self, work: Callable[[SqliteSession], T]) -> T:
        with self._database.reading() as db:
            db.execute("BEGIN")
            try:
                return work(db)
            finally:
                db.execute("ROLLBACK")


class _Known(NamedTuple):
    """A document that is in the index."""

    number: int
    title: str
    kept: str


class _Row(NamedTuple):
    """A chunk that is in the index."""

    number: int
    id: str
    headings: str
    text: str
    bag: bytes | None


def put_documents(db: SqliteSession, documents: Sequence[IndexDocument]) -> None:
    """Replace documents; one without chunks is deleted."""
    for document in documents:
        if document.chunks:
            _put(db, replace(document, title=replace_surrogates(document.title)))
        else:
            delete_some(db, IndexScope.DOCUMENT, document.id)


def delete_some(db: SqliteSession, scope: IndexScope, name: str) -> int:
    """Take out some documents of a scope; return how many, 0 when none is left."""
    found = db.execute(_SOME[scope], (name, DELETED_AT_ONCE)).fetchall()
    for known in (_Known(*row) for row in found):
        for row in db.execute(INDEX_SQL["chunks_of"], (known.number,)).fetchall():
            _forget(db, known, _Row(*row))
        db.execute(INDEX_SQL["forget_document"], (known.number,))
    return len(found)


def delete_all(db: SqliteSession) -> int:
    """Take out everything; return how many documents there were."""
    (documents, *_) = db.execute(INDEX_SQL["counts"]).fetchone()
    for name in ("words", "vectors", "chunks", "documents"):
        db.execute(INDEX_SQL[f"forget_all_{name}"])
    bump(db, VECTORS_GONE)
    return int(documents)


def renew_words(db: SqliteSession) -> None:
    """Index every chunk again if the rules of tokens have changed.

    Where a text was not kept there is nothing to make its words of: those of its body stay until
    the page is put again.
    """
    found = db.execute(INDEX_SQL["get_fact"], (TOKENS_VERSION,)).fetchone()
    if found == (VERSION,):
        return
    if found is not None:
        db.execute(INDEX_SQL["forget_all_words"])
        for number, title, headings, text, bag, kept in db.execute(INDEX_SQL["all_chunks"]):
            body = _unpacked(bag) if kept == KeptText.PREVIEW else body_words(text, KeptText.FULL)
            db.execute(INDEX_SQL["add_words"], (number, head_words(title, headings, kept), body))
    db.execute(INDEX_SQL["put_fact"], (TOKENS_VERSION, VERSION))


def bump(db: SqliteSession, fact: str) -> None:
    """Add one to a fact that readers watch."""
    found = db.execute(INDEX_SQL["get_fact"], (fact,)).fetchone()
    db.execute(INDEX_SQL["put_fact"], (fact, found[0] + 1 if found else 1))


def _put(db: SqliteSession, document: IndexDocument) -> None:
    """Write a document; chunks that are the same as before stay as they are."""
    found = db.execute(INDEX_SQL["find_document"], (document.id,)).fetchone()
    columns = {
        "id": document.id, "url": document.url, "title": document.title,
        "collection": document.collection, "site": document.site, "job": document.job,
        "page_type": document.page_type, "language": document.language,
        "date_s": document.date_s, "kept": document.kept.value,
    }  # fmt: skip
    if found is None:
        number = db.execute(INDEX_SQL["add_document"], columns).lastrowid
        _add_chunks(db, int(number or 0), document, document.chunks)
    else:
        known = _Known(*found)
        new = _keep_same(db, known, document)
        db.execute(INDEX_SQL["change_document"], {**columns, "number": known.number})
        _add_chunks(db, known.number, document, new)


def _keep_same(db: SqliteSession, known: _Known, document: IndexDocument) -> list[Chunk]:
    """Delete what has changed, and return the chunks to add."""
    is_same = (known.title, known.kept) == (document.title, document.kept)
    wanted = {(chunk.id, headings_text(chunk)): chunk for chunk in document.chunks}
    for row in (
        _Row(*row) for row in db.execute(INDEX_SQL["chunks_of"], (known.number,)).fetchall()
    ):
        chunk = wanted.get((row.id, row.headings)) if is_same else None
        if chunk is None:
            _forget(db, known, row)
        else:
            moved = {"position": chunk.position, "url": chunk.url, "number": row.number}
            db.execute(INDEX_SQL["move_chunk"], moved)
            del wanted[row.id, row.headings]
    return list(wanted.values())


def _add_chunks(
    db: SqliteSession, number: int, document: IndexDocument, chunks: Sequence[Chunk]
) -> None:
    for chunk in chunks:
        body, headings = body_words(chunk.text, document.kept), headings_text(chunk)
        columns = {
            "document": number, "id": chunk.id, "position": chunk.position, "url": chunk.url,
            "headings": headings,
            "text": kept_text(chunk.text, document.kept),
            "tokens": chunk.tokens, "tokenizer": chunk.tokenizer,
            "bag": zlib.compress(body.encode()) if document.kept is KeptText.PREVIEW else None,
        }  # fmt: skip
        row = db.execute(INDEX_SQL["add_chunk"], columns).lastrowid
        head = head_words(document.title, headings, document.kept)
        db.execute(INDEX_SQL["add_words"], (row, head, body))


def _forget(db: SqliteSession, known: _Known, row: _Row) -> None:
    body = body_words(row.text, KeptText.FULL) if row.bag is None else _unpacked(row.bag)
    head = head_words(known.title, row.headings, known.kept)
    db.execute(INDEX_SQL["forget_words"], (row.number, head, body))
    if db.execute(INDEX_SQL["forget_vectors"], (row.number,)).rowcount:
        bump(db, VECTORS_GONE)
    db.execute(INDEX_SQL["forget_chunk"], (row.number,))


def _unpacked(bag: bytes) -> str:
    return zlib.decompress(bag).decode()
