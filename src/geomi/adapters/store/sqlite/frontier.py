"""`adapters.store.hot.HotPath`: this module has the functions that it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from geomi.adapters.store.accounting.counters import FoundUrls
from geomi.adapters.store.accounting.hosts import as_lease, end_dead_lease, free_s, prolong
from geomi.adapters.store.hot import remaining_work
from geomi.adapters.store.rows import host_row
from geomi.adapters.store.sqlite.cash import inherit_cash, terms_here
from geomi.adapters.store.sqlite.claim import MOST_LOOKS, claim, first_due_s, reserve
from geomi.adapters.store.sqlite.connection import SqliteSession
from geomi.adapters.store.sqlite.hosts import SQL as HOSTS
from geomi.adapters.store.sqlite.hosts import (
    demands_on,
    get_host,
    is_crowded,
    lent_entries,
    lent_hosts,
    permit,
    put_host,
)
from geomi.adapters.store.sqlite.links import find_queue, insert_finds, new_targets, reopen
from geomi.adapters.store.sqlite.settle import settle
from geomi.adapters.store.tables.queues import end_dead_loans
from geomi.model.entry import Discovered, Lease, RemainingWork

__all__ = [
    "add",
    "claim",
    "outlook",
    "permit",
    "place",
    "release_dead",
    "renew",
    "reopen",
    "reserve",
    "settle",
]


def add(db: SqliteSession, job: str, tenant: str, urls: Sequence[Discovered], now_s: float) -> int:
    """Put URLs into a job's frontier; return how many were new."""
    terms = terms_here(db, job, tenant)
    finds = FoundUrls()
    finds.take(terms.number, urls, now_s)
    if terms.share is None:
        return insert_finds(db, finds)[0]
    added = new_targets(db, finds)
    new, _ = insert_finds(db, finds)
    inherit_cash(db, terms, added, partial(find_queue, db, terms.number))
    return new


def renew(
    db: SqliteSession, leases: Sequence[Lease], *, until_s: float, now_s: float
) -> list[Lease]:
    """Prolong leases that are still live."""
    renewed = []
    for lease in leases:
        row = get_host(db, lease.host)
        if row.token == lease.token and row.is_lent(now_s):
            row = prolong(row, until_s=until_s)
            put_host(db, row)
            renewed.append(as_lease(row, lease.job, demands_on(db, lease.host), lease.entries))
    return renewed


def place(db: SqliteSession, lease: Lease, ip: str, *, per_ip: int, now_s: float) -> bool:
    """Record the address behind a host."""
    row = get_host(db, lease.host)
    if row.token != lease.token or not row.is_lent(now_s):
        return False
    put_host(db, replace(row, state=replace(row.state, ip=ip)))
    return not is_crowded(db, lease.host, ip, per_ip=per_ip, now_s=now_s)


def outlook(db: SqliteSession, job: str, tenant: str, now_s: float) -> RemainingWork:
    """Say what is left of a job and when the next of it is due."""
    row = db.execute(HOSTS["counts"], (job, tenant)).fetchone()
    if row is None:
        return RemainingWork(pending=0, leased=0, next_s=None)
    number, is_active, max_pages, max_hosts, settled, batch_left, batch_s, *counts = row
    leased = lent_entries(db, job, now_s)
    has_all = (
        (max_pages and settled + leased >= max_pages)
        or (max_hosts and lent_hosts(db, job, now_s) >= max_hosts)
        or (batch_left is not None and leased >= batch_left)
    )
    next_s = None
    if is_active and has_all:
        next_s = db.execute(HOSTS["first_end"], {"job": job, "now_s": now_s}).fetchone()[0]
    elif is_active:
        next_s = _next_s(db, number)
    next_s = None if next_s is None else max(next_s, batch_s)
    return remaining_work(counts, leased, next_s)


def release_dead(db: SqliteSession, owners: Sequence[str], now_s: float) -> int:
    """End the leases of owners known to be dead."""
    released = 0
    for owner in owners:
        for columns in db.execute(HOSTS["held_by"], (owner,)).fetchall():
            row = host_row(columns)
            put_host(db, end_dead_lease(row, demands_on(db, row.state.host), now_s=now_s))
            released += 1
    end_dead_loans(db, owners, now_s)
    return released


def _next_s(db: SqliteSession, job: int) -> float | None:
    """Return the earliest time at which a queue can be lent.

    `ready_s` is never later than that time, so the walk ends at the first queue that is looked at
    after the best one found.
    """
    best_s = None
    for queue, ready_s, *columns in islice(db.execute(HOSTS["queues_in_line"], (job,)), MOST_LOOKS):
        if best_s is not None and ready_s >= best_s:
            break
        row = host_row(tuple(columns))
        free = free_s(row, demands_on(db, row.state.host))
        when_s = max(ready_s, free, first_due_s(db, queue))
        best_s = when_s if best_s is None else min(best_s, when_s)
    return best_s
