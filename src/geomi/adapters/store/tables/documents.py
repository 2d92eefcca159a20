"""Documents as rows: what is read and written of them, and which ones a filter means."""

from __future__ import annotations

from collections.abc import Iterable

from geomi.adapters.store.keys import refuse_long
from geomi.adapters.store.rows import Row, legible
from geomi.model.index.document import MAX_LISTED, DocumentFilter, DocumentRow, DocumentState

COLUMNS = tuple(DocumentRow.__dataclass_fields__)
_STATE = COLUMNS.index("state")


def newest(rows: Iterable[DocumentRow]) -> list[DocumentRow]:
    """Return what is to be kept of some documents: of each the last, in the order of their ids.

    In that order everybody locks them. A name that is too long for a key is refused.
    """
    last = {row.id: row for row in rows}
    for row in last.values():
        for what in ("id", "collection", "site", "job"):
            refuse_long(what, getattr(row, what))
    return [last[document] for document in sorted(last)]


def conditions(which: DocumentFilter) -> dict[str, str]:
    """Return the columns that a filter looks at, and what they have to be."""
    state = which.state.value if which.state else ""
    asked = {"collection": which.collection, "site": which.site, "job": which.job, "state": state}
    return {column: value for column, value in asked.items() if value}


def documents_listed(limit: int) -> int:
    """Return how many documents are listed at once; to some stores less than none is all."""
    return min(max(limit, 0), MAX_LISTED)


def document_of(row: Row) -> DocumentRow:
    """Read a document."""
    values = list(row)
    with legible("documents", row[0]):
        values[_STATE] = DocumentState(row[_STATE])
    return DocumentRow(*values)


def document_columns(row: DocumentRow) -> Row:
    """Write a document."""
    return (
        row.id, row.url_hash, row.url, row.title, row.collection, row.site, row.job, row.capture,
        row.version, row.state.value, row.reason, row.detail, row.page_type, row.language,
        None if row.quality is None else float(row.quality), row.chunks, row.analysis,
        float(row.updated_at_s),
    )  # fmt: skip
