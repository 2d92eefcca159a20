"""Keeping pages: the newest visit of each URL, and the bands by which similar pages find it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from geomi.adapters.ledger.band import band_keys
from geomi.adapters.ledger.rows import Row, capture_columns, page_columns
from geomi.adapters.postgres.links import PLACES
from geomi.adapters.postgres.session import Session, columns
from geomi.adapters.statements import statements
from geomi.model.page import PageRecord

SQL = statements("postgres", "pages")

_PAGE = (
    "url_hash", "url", "final_url", "status", "content_type", "fetched_at_s", "due_s",
    "content_hash", "html_hash", "exact_key", "simhash", "sketch", "words",
    "record_segment", "record_offset", "record_length",
    "response_segment", "response_offset", "response_length",
    "etag", "last_modified", "title", "duplicate_of", "duplicate_reason", "strategy", "confidence",
    "number",
)  # fmt: skip
_TIMES = tuple(_PAGE.index(name) for name in ("fetched_at_s", "due_s", "confidence"))
_CAPTURE = (
    "url_hash", "url", "record_segment", "record_offset", "record_length",
    "response_segment", "response_offset", "response_length", "exact_key", "seq",
)  # fmt: skip

Band = tuple[int, int]  # key and page


def keep_pages(db: Session, tenant: str, pages: Sequence[PageRecord], turn: int) -> None:
    """Write pages in place of their last visits, and let similar ones find them."""
    # Of a page that was visited twice in one batch the last visit is kept.
    newest = {page.url_hash: (place, page) for place, page in enumerate(pages)}
    rows = [
        (*_columns(page), turn * PLACES + place)
        for _, (place, page) in sorted(newest.items())  # in the order in which all lock them
    ]
    known = db.ask(SQL["before"], {"tenant": tenant, "hashes": list(newest)})
    put = db.ask(SQL["put"], columns(rows, _PAGE) | {"tenant": tenant})
    before = {url_hash: (number, band_keys(tenant, *said)) for url_hash, number, *said in known}
    numbers: dict[bytes, int] = dict(put.fetchall())
    found: list[Band] = []
    lost: list[Band] = []
    for url_hash, (_, page) in newest.items():
        number = numbers[url_hash]
        _, old = before.get(url_hash, (number, frozenset[int]()))
        new = band_keys(tenant, page.fingerprint.sketch, page.duplicate_of)
        found += [(band, number) for band in new - old]
        lost += [(band, number) for band in old - new]
    lose_bands(db, lost)
    if found:
        db.send(SQL["find_by"], columns(found, ("bands", "pages")))


def lose_bands(db: Session, lost: Iterable[Band]) -> None:
    """Let similar pages find some no more."""
    if rows := list(lost):
        db.send(SQL["lose"], columns(rows, ("bands", "pages")))


def captures(pages: Sequence[PageRecord], last: int) -> dict[str, list[object]]:
    """Return the columns of a job's captures, the newest of which has the number `last`."""
    first = last - len(pages) + 1
    rows = [(*capture_columns(page), first + place) for place, page in enumerate(pages)]
    return columns(rows, _CAPTURE)


def _columns(page: PageRecord) -> Row:
    """Write a page; arrays hold numbers of one kind."""
    row = list(page_columns(page))
    for place in _TIMES:
        row[place] = float(row[place])
    return tuple(row)
