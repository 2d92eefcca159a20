"""The cash of URLs that wait, where a job's order keeps any: read, spent and given by the batch.

Whoever is paid is locked with the entries of the visits, in the order of all; the virtual root is
in the job's row, which is written last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from geomi.adapters.ledger.cash import Payment, Purse, inherit, links_of, once, pay, pays
from geomi.adapters.ledger.terms import Terms
from geomi.adapters.postgres.links import Key, Links, find_queues
from geomi.adapters.postgres.session import Session, columns
from geomi.adapters.statements import statements
from geomi.frontier.importance import points
from geomi.model.entry import Settlement, Target

SQL = statements("postgres", "cash")


class Cash:
    """What changes hands in one transaction; `keys` have to be locked before it does.

    Args:
        visits: those of jobs that keep cash, by job.
    """

    def __init__(
        self, db: Session, terms: Mapping[int, Terms], visits: Mapping[int, Sequence[Settlement]]
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
        changed: dict[Key, Purse] = {}
        for job, visits in self._visits.items():
            share = self._terms[job].share or 0.0
            held = once([(visit, purses[self._key(job, _own(visit))].cash) for visit in visits])
            for visit, cash in held:
                if pays(visit):
                    key = self._key(job, _own(visit))
                    priority = purses[key].priority - points(share, cash)
                    purses[key] = changed[key] = Purse(0.0, priority)
            payment = pay(self._terms[job], held)
            self.to_root[job] = payment.to_root
            changed |= self._given(job, payment, purses, waiting)
        _write(self._db, changed)

    def _given(
        self, job: int, payment: Payment, purses: dict[Key, Purse], waiting: set[Key]
    ) -> dict[Key, Purse]:
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


def inherit_cash(db: Session, terms: Terms, links: Links) -> None:
    """Let what was added from outside share what the virtual root holds; nobody sees it yet."""
    added = links.added()
    payment = inherit(terms, list(added))
    purses, _ = _purses(db, list(added.values()))
    share, gifts = terms.share or 0.0, payment.gifts
    given = {key: purses[key].plus(gifts[target], share) for target, key in added.items()}
    _write(db, given)
    write_root(db, terms.number, payment.to_root)


def write_root(db: Session, job: int, more: float) -> None:
    """Let the virtual root of a job have more, or less."""
    if more:
        db.run(SQL["to_root"], {"job": job, "more": more})


def _own(visit: Settlement) -> Target:
    return visit.entry.host, visit.entry.url_hash


def _purses(db: Session, keys: Sequence[Key]) -> tuple[dict[Key, Purse], set[Key]]:
    """Return what URLs hold that are there, and which of them wait."""
    if not keys:
        return {}, set()
    rows = db.rows(SQL["purses"], columns(keys, ("queues", "hashes")))
    purses = {(row[0], row[1]): Purse(row[2] or 0.0, row[3]) for row in rows}
    return purses, {(row[0], row[1]) for row in rows if row[4]}


def _write(db: Session, purses: Mapping[Key, Purse]) -> None:
    rows = [(*key, float(purse.cash), purse.priority) for key, purse in purses.items()]
    if rows:
        db.run(SQL["give"], columns(rows, ("queues", "hashes", "cash", "priorities")))
