"""The cash of URLs that wait, where a job's order keeps any, and the terms that a job settles by.

Cash is read, spent and given by the batch. The terms say how much room a job's limits leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from geomi.adapters.store.accounting.budget import JobTerms, QueueRoom, beside, terms_of
from geomi.adapters.store.accounting.opic import CashPayment, UrlCash, inherit, once, pay, pays
from geomi.adapters.store.rows import Row
from geomi.adapters.store.sqlite.connection import SqliteSession
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.jobs import number_of
from geomi.frontier.importance import points
from geomi.model.entry import Settlement, Target

SQL = statements("store.sqlite", "cash")
_MOST_AT_ONCE = 256
# With room for 1, 2, 4, … URLs: each size is prepared once.
_PURSES = {
    size: SQL["purses"].replace("/* hashes */", ",".join("?" * size))
    for size in (1 << power for power in range(_MOST_AT_ONCE.bit_length()))
}
FindQueue = Callable[[str], int | None]  # a host's queue in one job


def cash_of(db: SqliteSession, queue: int | None, url_hash: bytes) -> float:
    """Return what a URL holds."""
    row = db.execute(SQL["cash"], (queue, url_hash)).fetchone()
    return row[0] if row and row[0] is not None else 0.0


def settle_cash(
    db: SqliteSession,
    terms: JobTerms,
    visits: Sequence[tuple[Settlement, float]],
    queue_of: FindQueue,
) -> None:
    """Give what settled pages hold to their links; new ones are there by now."""
    share = terms.share or 0.0
    held = once(visits)
    spent = (
        (points(share, cash), queue_of(visit.entry.host), visit.entry.url_hash)
        for visit, cash in held
        if pays(visit)
    )
    db.executemany(SQL["spend"], spent)
    _write(db, terms, pay(terms, held), queue_of)


def inherit_cash(
    db: SqliteSession, terms: JobTerms, added: Sequence[Target], queue_of: FindQueue
) -> None:
    """Let what was added from outside share what the virtual root holds."""
    _write(db, terms, inherit(terms, added), queue_of)


def find_terms(db: SqliteSession, job: str, tenant: str, *, max_queued: int = 0) -> JobTerms | None:
    """Read the terms of a job of this tenant, if it is there.

    Args:
        max_queued: how many URLs of all jobs may wait; 0 is no limit.
    """
    row = db.execute(SQL["terms"], (job, tenant)).fetchone()
    terms = terms_of(row) if row else None
    if terms is None or not max_queued:
        return terms
    (others,) = db.execute(SQL["others"], (terms.number,)).fetchone()
    return beside(terms, others, overall=max_queued)


def terms_here(db: SqliteSession, job: str, tenant: str) -> JobTerms:
    """Read the terms of a job that has to be there."""
    number_of(db, job, tenant)
    terms = find_terms(db, job, tenant)
    assert terms is not None
    return terms


def room_of(db: SqliteSession, terms: JobTerms, waiting: int) -> QueueRoom:
    """Return how much room a job has left."""

    def in_host(host: str) -> int:
        return int(db.execute(SQL["in_host"], (host, terms.number)).fetchone()[0])

    def in_pattern(host: str, pattern: str) -> int:
        values = {
            "host": host,
            "job": terms.number,
            "pattern": pattern,
            "most": terms.budget.per_pattern,
        }
        return int(db.execute(SQL["in_pattern"], values).fetchone()[0])

    return QueueRoom(terms.budget, waiting, in_host, in_pattern)


def _write(db: SqliteSession, terms: JobTerms, payment: CashPayment, queue_of: FindQueue) -> None:
    by_host: dict[str, dict[bytes, float]] = {}
    for (host, url_hash), gift in payment.gifts.items():
        by_host.setdefault(host, {})[url_hash] = gift
    for host, gifts in by_host.items():
        queue = queue_of(host)
        if queue is not None:
            db.executemany(SQL["give"], _given(db, queue, gifts, terms.share or 0.0))
    if payment.to_root:
        db.execute(SQL["to_root"], {"job": terms.number, "more": payment.to_root})


def _purses(db: SqliteSession, queue: int, hashes: list[bytes]) -> list[Row]:
    """Return what URLs of one queue hold; up to the next size the last of them is repeated."""
    rows: list[Row] = []
    for start in range(0, len(hashes), _MOST_AT_ONCE):
        part = hashes[start : start + _MOST_AT_ONCE]
        size = 1 << (len(part) - 1).bit_length()
        padding = part[-1:] * (size - len(part))
        rows += db.execute(_PURSES[size], (queue, *part, *padding)).fetchall()
    return rows


def _given(
    db: SqliteSession, queue: int, gifts: Mapping[bytes, float], share: float
) -> Iterable[tuple[float, int, int]]:
    for seq, url_hash, cash, priority in _purses(db, queue, list(gifts)):
        purse = UrlCash(cash or 0.0, priority).plus(gifts[url_hash], share)
        yield purse.cash, purse.priority, seq
