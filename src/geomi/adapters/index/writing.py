"""Putting documents into the index and taking them out again, inside one transaction.

The table of words holds no text: to take a chunk out, exactly the tokens that were put in have to
be named again. They are made of the chunk's text where it is kept. Where only a preview may be
kept, the tokens go in in alphabetical order, with nothing of the text's order (IDX-03), and lie
beside it, compressed.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from geomi.adapters.index.entry import body_words, head_words, headings_text, kept_text
from geomi.adapters.statements import statements
from geomi.model.chunk import Chunk
from geomi.model.search import Document, KeptText, Scope
from geomi.search.tokens import VERSION
from geomi.text.signs import whole_signs

SQL = statements("index", "index")

# Documents that are taken out in one transaction, so that other writers get their turn.
DELETED_AT_ONCE = 100
VECTORS_GONE = "vectors_gone"
TOKENS_VERSION = "tokens_version"

_SOME = {
    Scope.DOCUMENT: SQL["some_of_document"],
    Scope.SITE: SQL["some_of_site"],
    Scope.JOB: SQL["some_of_job"],
    Scope.COLLECTION: SQL["some_of_collection"],
}


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


def put_documents(db: sqlite3.Connection, documents: Sequence[Document]) -> None:
    """Keep documents in place of those before; one that has no chunks left is taken out."""
    for document in documents:
        if document.chunks:
            _put(db, replace(document, title=whole_signs(document.title)))
        else:
            delete_some(db, Scope.DOCUMENT, document.id)


def delete_some(db: sqlite3.Connection, scope: Scope, name: str) -> int:
    """Take out some documents of a scope; return how many, 0 when none is left."""
    found = db.execute(_SOME[scope], (name, DELETED_AT_ONCE)).fetchall()
    for known in (_Known(*row) for row in found):
        for row in db.execute(SQL["chunks_of"], (known.number,)).fetchall():
            _forget(db, known, _Row(*row))
        db.execute(SQL["forget_document"], (known.number,))
    return len(found)


def delete_all(db: sqlite3.Connection) -> int:
    """Take out everything; return how many documents there were."""
    (documents, *_) = db.execute(SQL["counts"]).fetchone()
    for name in ("words", "vectors", "chunks", "documents"):
        db.execute(SQL[f"forget_all_{name}"])
    bump(db, VECTORS_GONE)
    return int(documents)


def renew_words(db: sqlite3.Connection) -> None:
    """Index every chunk anew if the rules of tokens have changed since.

    Where a text was not kept there is nothing to make its words of: those of its body stay until
    the page is put again.
    """
    found = db.execute(SQL["get_fact"], (TOKENS_VERSION,)).fetchone()
    if found == (VERSION,):
        return
    if found is not None:
        db.execute(SQL["forget_all_words"])
        for number, title, headings, text, bag, kept in db.execute(SQL["all_chunks"]):
            body = _unpacked(bag) if kept == KeptText.PREVIEW else body_words(text, KeptText.FULL)
            db.execute(SQL["add_words"], (number, head_words(title, headings, kept), body))
    db.execute(SQL["put_fact"], (TOKENS_VERSION, VERSION))


def bump(db: sqlite3.Connection, fact: str) -> None:
    """Add one to a fact that readers watch."""
    found = db.execute(SQL["get_fact"], (fact,)).fetchone()
    db.execute(SQL["put_fact"], (fact, found[0] + 1 if found else 1))


def _put(db: sqlite3.Connection, document: Document) -> None:
    """Write a document; chunks that are the same as before stay as they are."""
    found = db.execute(SQL["find_document"], (document.id,)).fetchone()
    columns = {
        "id": document.id, "url": document.url, "title": document.title,
        "collection": document.collection, "site": document.site, "job": document.job,
        "page_type": document.page_type, "language": document.language,
        "date_s": document.date_s, "kept": document.kept.value,
    }  # fmt: skip
    if found is None:
        number = db.execute(SQL["add_document"], columns).lastrowid
        _add_chunks(db, int(number or 0), document, document.chunks)
    else:
        known = _Known(*found)
        new = _keep_same(db, known, document)
        db.execute(SQL["change_document"], {**columns, "number": known.number})
        _add_chunks(db, known.number, document, new)


def _keep_same(db: sqlite3.Connection, known: _Known, document: Document) -> list[Chunk]:
    """Take out what has changed, and return the chunks that have to be added."""
    is_same = (known.title, known.kept) == (document.title, document.kept)
    wanted = {(chunk.id, headings_text(chunk)): chunk for chunk in document.chunks}
    for row in (_Row(*row) for row in db.execute(SQL["chunks_of"], (known.number,)).fetchall()):
        chunk = wanted.get((row.id, row.headings)) if is_same else None
        if chunk is None:
            _forget(db, known, row)
        else:
            db.execute(SQL["move_chunk"], {"position": chunk.position, "number": row.number})
            del wanted[row.id, row.headings]
    return list(wanted.values())


def _add_chunks(
    db: sqlite3.Connection, number: int, document: Document, chunks: Sequence[Chunk]
) -> None:
    for chunk in chunks:
        body, headings = body_words(chunk.text, document.kept), headings_text(chunk)
        columns = {
            "document": number, "id": chunk.id, "position": chunk.position, "headings": headings,
            "text": kept_text(chunk.text, document.kept),
            "tokens": chunk.tokens, "tokenizer": chunk.tokenizer,
            "bag": zlib.compress(body.encode()) if document.kept is KeptText.PREVIEW else None,
        }  # fmt: skip
        row = db.execute(SQL["add_chunk"], columns).lastrowid
        head = head_words(document.title, headings, document.kept)
        db.execute(SQL["add_words"], (row, head, body))


def _forget(db: sqlite3.Connection, known: _Known, row: _Row) -> None:
    body = body_words(row.text, KeptText.FULL) if row.bag is None else _unpacked(row.bag)
    head = head_words(known.title, row.headings, known.kept)
    db.execute(SQL["forget_words"], (row.number, head, body))
    if db.execute(SQL["forget_vectors"], (row.number,)).rowcount:
        bump(db, VECTORS_GONE)
    db.execute(SQL["forget_chunk"], (row.number,))


def _unpacked(bag: bytes) -> str:
    return zlib.decompress(bag).decode()
