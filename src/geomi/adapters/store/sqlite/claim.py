"""Lending hosts: to a job with its best entries, or one named host to whoever has to ask it.

A queue is looked at when its `ready_s` has come. It is lent if its host is free, no other job has
waited longer for that host, its address has a place and nobody came before to it, and an entry is
due; otherwise `ready_s` moves to the time at which that may be so, and the next look costs nothing
until then.

Of a job that names regions each queue has a label: the regions that serve its host. A claim labels
the queues that are new, and looks only at those whose label its worker serves. Queues of other jobs
have no label and are in no index of labels, so that regions cost those jobs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from geomi.adapters.store.accounting.hosts import (
    CROWDED_S,
    LINE_S,
    YIELD_S,
    HostRow,
    as_lease,
    free_s,
    has_to_yield,
    lend,
)
from geomi.adapters.store.hot import ClaimRequest
from geomi.adapters.store.rows import Row, entry_of, host_row, read_regions
from geomi.adapters.store.sqlite.cash import SQL as CASH
from geomi.adapters.store.sqlite.connection import SqliteSession
from geomi.adapters.store.sqlite.hosts import (
    demands_on,
    get_host,
    is_crowded,
    lent_entries,
    lent_hosts,
    put_host,
)
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.quotas import quota_left
from geomi.frontier.importance import LIFT, LONG_LEASE, lease_length
from geomi.model.entry import Lease, UrlEntry

SQL = statements("store.sqlite", "claim")

# Queues looked at in one claim. A look that lends nothing takes 13 µs, so that a claim stays near
# 13 ms while other processes wait for the lock; what is left over is first in the next claim.
MOST_LOOKS = 1000


def claim(
    db: SqliteSession, ask: ClaimRequest, *, hosts: int, urls: int, wall_s: float
) -> list[Lease]:
    """Lend up to `hosts` due hosts with up to `urls` due entries each."""
    terms = db.execute(SQL["terms"], (ask.job, ask.tenant)).fetchone()
    if terms is None:
        return []
    number, max_pages, max_hosts, per_ip, settled, importance = terms[:6]
    batch_left, batch_s, has_quota, regions = terms[6:]
    if batch_left is not None and ask.now_s < batch_s:
        return []
    keeps_cash = importance is not None
    if keeps_cash:
        urls = lease_length(urls, settled)
    if max_hosts:  # reserved ones count too; who waits for one does not ask its own host meanwhile
        hosts = min(hosts, max_hosts - lent_hosts(db, ask.job, ask.now_s))
    left = hosts * urls
    if max_pages or batch_left is not None:
        lent = lent_entries(db, ask.job, ask.now_s)
        left = min(left, _room(max_pages - settled if max_pages else None, batch_left) - lent)
    if has_quota:
        left = int(min(left, quota_left(db, ask.tenant, now_s=ask.now_s, wall_s=wall_s)))
    labels = _labels_served(db, number, ask.owner, regions) if regions else None
    leases: list[Lease] = []
    looks = 0
    while left > 0 and len(leases) < hosts and looks < MOST_LOOKS:
        due = {"job": number, "now_s": ask.now_s, "many": hosts - len(leases)}
        if labels is None:
            rows = db.execute(SQL["due_queues"], due).fetchall()
        else:
            rows = _due_of_labels(db, labels, due)
        if not rows:
            break
        looks += len(rows)
        for queue, served_s, *columns in rows:
            turn = _Turn(number, queue, served_s, host_row(tuple(columns)), per_ip, keeps_cash)
            lease = _look(db, ask, turn, most=min(urls, left))
            if lease is not None:
                leases.append(lease)
                left -= len(lease.entries)
            if left <= 0:
                break
    return leases


def reserve(db: SqliteSession, ask: ClaimRequest, *, host: str, delay_s: float) -> Lease | float:
    """Lend one named host without entries, or say when it is free."""
    row = get_host(db, host)
    demands = demands_on(db, host)
    demands = replace(demands, floor_s=max(demands.floor_s, delay_s))
    earliest_s = free_s(row, demands)
    if earliest_s > ask.now_s:
        return earliest_s
    terms = db.execute(SQL["terms"], (ask.job, ask.tenant)).fetchone()
    if terms and is_crowded(db, host, row.state.ip, per_ip=terms[3], now_s=ask.now_s):
        return ask.now_s + CROWDED_S
    lent = lend(row, owner=ask.owner, job=ask.job, entries=0, until_s=ask.until_s)
    put_host(db, lent)
    return as_lease(lent, ask.job, demands)


def _labels_served(db: SqliteSession, job: int, owner: str, regions: str) -> tuple[str, ...]:
    """Label the job's new queues; return the labels whose queues a worker may be lent."""
    rules = read_regions(regions)
    new: list[Row] = db.execute(SQL["unlabelled"], (job, MOST_LOOKS)).fetchall()
    if new:
        db.executemany(SQL["label"], [(rules.label(host), number) for number, host in new])
    row = db.execute(SQL["region"], (owner,)).fetchone()
    return rules.served_by(row[0] if row else "")


def _due_of_labels(
    db: SqliteSession, labels: Sequence[str], due: Mapping[str, object]
) -> list[Row]:
    """Return the queues of some labels that may be looked at, the longest waiting first."""
    found: list[Row] = []
    for label in labels:
        found += db.execute(SQL["due_queues_of_label"], {**due, "label": label}).fetchall()
    found.sort(key=lambda row: (row[0], row[3]))
    return [row[1:] for row in found[: int(str(due["many"]))]]


def _room(*limits: int | None) -> int:
    """Return the smallest of several limits; one at least is there."""
    return min(limit for limit in limits if limit is not None)


def first_due_s(db: SqliteSession, queue: int) -> float:
    """Return when the first entry of a queue is due; 0 for at once."""
    return float(db.execute(SQL["first_due"], {"queue": queue}).fetchone()[0])


@dataclass(frozen=True, slots=True)
class _Turn:
    """One queue that is looked at, with its host."""

    job: int
    queue: int
    served_s: float
    row: HostRow
    per_ip: int
    keeps_cash: bool


def _look(db: SqliteSession, ask: ClaimRequest, turn: _Turn, *, most: int) -> Lease | None:
    """Lend a queue's host, or put off the next look at it."""
    demands = demands_on(db, turn.row.state.host)
    later_s = _hindered_until_s(db, ask, turn, free_s(turn.row, demands))
    entries = () if later_s else _due_entries(db, ask, turn, most)
    if not entries:
        later_s = later_s or first_due_s(db, turn.queue)
        db.execute(SQL["postpone"], {"queue": turn.queue, "ready_s": later_s})
        return None
    lent = lend(turn.row, owner=ask.owner, job=ask.job, entries=len(entries), until_s=ask.until_s)
    put_host(db, lent)
    values = {"queue": turn.queue, "ready_s": ask.until_s, "now_s": ask.now_s}
    db.execute(SQL["serve"], values)
    return as_lease(lent, ask.job, demands, entries)


def _hindered_until_s(
    db: SqliteSession, ask: ClaimRequest, turn: _Turn, host_free_s: float
) -> float | None:
    """Return when to look again at a host that may not be lent now."""
    now_s, state = ask.now_s, turn.row.state
    if host_free_s > now_s:
        return host_free_s
    if host_free_s + YIELD_S > now_s and _has_rivals(db, turn, now_s):
        return host_free_s + YIELD_S
    if state.ip is not None and not _has_place(db, turn, state.ip, now_s):
        return now_s + CROWDED_S
    return None


def _has_place(db: SqliteSession, turn: _Turn, ip: str, now_s: float) -> bool:
    """Whether an address has a place for a job, and nobody came before it; else it stands in line.

    Most addresses have no line, and a look at none takes 4 µs.
    """
    values = {"ip": ip, "job": turn.job, "now_s": now_s, "late_s": now_s - LINE_S}
    line: dict[int, float] = dict(db.execute(SQL["line"], values).fetchall())
    host = turn.row.state.host
    if has_to_yield(line, turn.job) or is_crowded(db, host, ip, per_ip=turn.per_ip, now_s=now_s):
        db.execute(SQL["stand"], values)
        return False
    if turn.job in line:
        db.execute(SQL["leave"], values)
    return True


def _has_rivals(db: SqliteSession, turn: _Turn, now_s: float) -> bool:
    values = {
        "host": turn.row.state.host,
        "queue": turn.queue,
        "served_s": turn.served_s,
        "now_s": now_s,
    }
    return bool(db.execute(SQL["rivals"], values).fetchone()[0])


def _due_entries(
    db: SqliteSession, ask: ClaimRequest, turn: _Turn, most: int
) -> tuple[UrlEntry, ...]:
    if turn.keeps_cash and most >= LONG_LEASE:
        db.execute(CASH["lift"], {"queue": turn.queue, "now_s": ask.now_s, "lift": LIFT})
    values = {"queue": turn.queue, "tenant": ask.tenant, "now_s": ask.now_s, "many": most}
    rows: list[Row] = db.execute(SQL["due_entries"], values).fetchall()
    host = turn.row.state.host
    return tuple(
        entry_of(row, ask.job, host, is_known=bool(is_known), deaths=deaths)
        for is_known, deaths, *row in rows
    )
