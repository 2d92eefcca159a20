"""A job's terms, and how much room its limits leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from geomi.adapters.ledger.budget import Rooms
from geomi.adapters.ledger.cash import pays
from geomi.adapters.ledger.finds import Finds
from geomi.adapters.ledger.terms import Terms, terms_of
from geomi.adapters.postgres.jobs import number_of
from geomi.adapters.postgres.session import Session, columns
from geomi.adapters.statements import statements
from geomi.model.entry import Settlement

SQL = statements("postgres", "cash")


def terms_here(db: Session, job: str, tenant: str) -> Terms:
    """Read the terms of a job that has to be there."""
    number_of(db, job, tenant)
    row = db.row(SQL["terms"], {"job": job, "tenant": tenant})
    assert row is not None
    return terms_of(row)


def rooms_of(
    db: Session,
    terms: Terms,
    visits: Sequence[Settlement],
    finds: Finds,
    queues: Mapping[tuple[int, str], int],
) -> Rooms | None:
    """Return how much room a job has left once visits have ended; None where there is enough.

    Args:
        visits: those of the job; their entries are still open.
        queues: the numbers of the queues that may grow.
    """
    ended = [visit.entry for visit in visits if pays(visit)]
    waiting = terms.waiting - len(ended)
    if terms.budget.suffices(waiting, finds.many(terms.number)):
        return None
    hosts = _in_hosts(db, terms, queues)
    hosts.subtract(entry.host for entry in ended)
    patterns = _in_patterns(db, terms, finds, queues, len(ended))
    patterns.subtract((entry.host, entry.pattern) for entry in ended)
    return Rooms(terms.budget, waiting, lambda host: hosts[host], lambda *place: patterns[place])


def _in_hosts(db: Session, terms: Terms, queues: Mapping[tuple[int, str], int]) -> Counter[str]:
    own = {number: host for (job, host), number in queues.items() if job == terms.number}
    if not terms.budget.per_host:
        return Counter()
    rows = db.rows(SQL["in_queues"], {"queues": list(own)})
    return Counter({own[number]: pending for number, pending in rows})


def _in_patterns(
    db: Session, terms: Terms, finds: Finds, queues: Mapping[tuple[int, str], int], ended: int
) -> Counter[tuple[str, str]]:
    places = {
        (queues[place], url.pattern): (url.host, url.pattern)
        for place, found in finds.by_queue.items()
        if place[0] == terms.number
        for url, _ in found.values()
        if url.pattern
    }
    if not terms.budget.per_pattern or not places:
        return Counter()
    values: dict[str, object] = {"most": terms.budget.per_pattern + ended}
    values |= columns(list(places), ("queues", "patterns"))
    rows = db.rows(SQL["in_patterns"], values)
    return Counter({places[queue, pattern]: many for queue, pattern, many in rows})
