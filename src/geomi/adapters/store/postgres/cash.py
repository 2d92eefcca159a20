"""The cash of URLs that wait, where a job's order keeps any, and the terms that a job settles by.

Cash is read, spent and given by the batch. Targets of payments are locked with the entries of the
visits, in the order of all. The virtual root is in the job's row, which is written last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from geomi.adapters.store.accounting.budget import JobTerms, QueueRoom, terms_of
from geomi.adapters.store.accounting.counters import FoundUrls
from geomi.adapters.store.accounting.opic import (
    CashPayment,
    UrlCash,
    inherit,
    links_of,
    once,
    pay,
    pays,
)
from geomi.adapters.store.postgres.links import Key, LinkBatch, find_queues
from geomi.adapters.store.postgres.session import PostgresSession, columns
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.jobs import number_of
from geomi.frontier.importance import points
from geomi.model.entry import Settlement, Target

SQL = statements("store.postgres", "cash")


class CashTransfer:
    """What changes hands in one transaction; `keys` have to be locked before it does.

    Args:
        visits: those of jobs that keep cash, by job.
    """

    def __init__(
        self,
        db: PostgresSession,
        terms: Mapping[int, JobTerms],
        visits: Mapping[int, Sequence[Settlement]],
    ) -> None:
        self._db = db
        self._terms = terms
        self._visits = visits
        self.to_root: dict[int, float] = {}
        targets = [
            (job, target)
            for job, own in visits.items()
            for visit in own
            for target in (_own(visit), *links_of(visit))
        ]
        self._queues = find_queues(db, {(job, host) for job, (host, _) in targets})
        self.keys = list(dict.fromkeys(self._keys(targets)))

    def settle(self) -> None:
        """Give what settled pages hold to their links; new ones are there, all are locked."""
        if not self._visits:
            return
        purses, waiting = _purses(self._db, self.keys)
        changed: dict[Key, UrlCash] = {}
        for job, visits in self._visits.items():
            share = self._terms[job].share or 0.0
            held = once([(visit, purses[self._key(job, _own(visit))].cash) for visit in visits])
            for visit, cash in held:
                if pays(visit):
                    key = self._key(job, _own(visit))
                    priority = purses[key].priority - points(share, cash)
                    purses[key] = changed[key] = UrlCash(0.0, priority)
            payment = pay(self._terms[job], held)
            self.to_root[job] = payment.to_root
            changed |= self._given(job, payment, purses, waiting)
        _write(self._db, changed)

    def _given(
        self, job: int, payment: CashPayment, purses: dict[Key, UrlCash], waiting: set[Key]
    ) -> dict[Key, UrlCash]:
        share = self._terms[job].share or 0.0
        return {
            key: purses[key].plus(gift, share)
            for target, gift in payment.gifts.items()
            for key in self._keys([(job, target)])
            if key in waiting
        }

    def _key(self, job: int, target: Target) -> Key:
        host, url_hash = target
        return self._queues[job, host], url_hash

    def _keys(self, targets: Iterable[tuple[int, Target]]) -> list[Key]:
        """Return the keys of URLs whose host has a queue."""
        return [
            self._key(job, target) for job, target in targets if (job, target[0]) in self._queues
        ]


def inherit_cash(db: PostgresSession, terms: JobTerms, links: LinkBatch) -> None:
    """Let what was added from outside share what the virtual root holds; nobody sees it yet."""
    added = links.added()
    payment = inherit(terms, list(added))
    purses, _ = _purses(db, list(added.values()))
    share, gifts = terms.share or 0.0, payment.gifts
    given = {key: purses[key].plus(gifts[target], share) for target, key in added.items()}
    _write(db, given)
    write_root(db, terms.number, payment.to_root)


def write_root(db: PostgresSession, job: int, more: float) -> None:
    """Let the virtual root of a job have more, or less."""
    if more:
        db.run(SQL["to_root"], {"job": job, "more": more})


def terms_here(db: PostgresSession, job: str, tenant: str) -> JobTerms:
    """Read the terms of a job that has to be there."""
    number_of(db, job, tenant)
    row = db.row(SQL["terms"], {"job": job, "tenant": tenant})
    assert row is not None
    return terms_of(row)


def room_of(
    db: PostgresSession,
    terms: JobTerms,
    visits: Sequence[Settlement],
    finds: FoundUrls,
    queues: Mapping[tuple[int, str], int],
) -> QueueRoom | None:
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
    return QueueRoom(
        terms.budget, waiting, lambda host: hosts[host], lambda *place: patterns[place]
    )


def _own(visit: Settlement) -> Target:
    return visit.entry.host, visit.entry.url_hash


def _purses(db: PostgresSession, keys: Sequence[Key]) -> tuple[dict[Key, UrlCash], set[Key]]:
    """Return what URLs hold that are there, and which of them wait."""
    if not keys:
        return {}, set()
    rows = db.rows(SQL["purses"], columns(keys, ("queues", "hashes")))
    purses = {(row[0], row[1]): UrlCash(row[2] or 0.0, row[3]) for row in rows}
    return purses, {(row[0], row[1]) for row in rows if row[4]}


def _write(db: PostgresSession, purses: Mapping[Key, UrlCash]) -> None:
    rows = [(*key, float(purse.cash), purse.priority) for key, purse in purses.items()]
    if rows:
        db.run(SQL["give"], columns(rows, ("queues", "hashes", "cash", "priorities")))


def _in_hosts(
    db: PostgresSession, terms: JobTerms, queues: Mapping[tuple[int, str], int]
) -> Counter[str]:
    own = {number: host for (job, host), number in queues.items() if job == terms.number}
    if not terms.budget.per_host:
        return Counter()
    rows = db.rows(SQL["in_queues"], {"queues": list(own)})
    return Counter({own[number]: pending for number, pending in rows})


def _in_patterns(
    db: PostgresSession,
    terms: JobTerms,
    finds: FoundUrls,
    queues: Mapping[tuple[int, str], int],
    ended: int,
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
