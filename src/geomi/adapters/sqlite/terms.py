"""A job's terms, and how much room its limits leave."""

from __future__ import annotations

import sqlite3

from geomi.adapters.ledger.budget import Rooms
from geomi.adapters.ledger.terms import Terms, beside, terms_of
from geomi.adapters.sqlite.cash import SQL
from geomi.adapters.sqlite.jobs import number_of


def find_terms(
    db: sqlite3.Connection, job: str, tenant: str, *, max_queued: int = 0
) -> Terms | None:
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


def terms_here(db: sqlite3.Connection, job: str, tenant: str) -> Terms:
    """Read the terms of a job that has to be there."""
    number_of(db, job, tenant)
    terms = find_terms(db, job, tenant)
    assert terms is not None
    return terms


def rooms_of(db: sqlite3.Connection, terms: Terms, waiting: int) -> Rooms:
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

    return Rooms(terms.budget, waiting, in_host, in_pattern)
