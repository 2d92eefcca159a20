"""Lending hosts: to a job with its best entries, or one named host to whoever has to ask it.

A queue is looked at when its `ready_s` has come. It is lent if its host is free, no other job has
waited longer for that host, its address has a place and nobody came before to it, and an entry is
due; otherwise `ready_s` moves to the time at which that may be so, and the next look costs nothing
until then.

Of a job that names regions each queue has a label: the regions that serve its host. A claim labels
the queues that are new, and looks only at those whose label its worker serves. Queues of other jobs
have no label and are in no index of labels, so that regions cost those jobs nothing.

Claims run side by side: each takes hosts that no other holds (SKIP LOCKED), and an address that
another claim counts just now is crowded for the moment. Only claims of a job with a limit on pages
or hosts, or of a tenant with a quota, stand in line, because each has to know what the others
took.

`AddressLines` counts how many hosts of an address are lent, and which jobs stand in line for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from geomi.adapters.store.accounting.hosts import (
    CROWDED_S,
    LINE_S,
    YIELD_S,
    HostDemands,
    HostRow,
    as_lease,
    free_s,
    has_to_yield,
    lend,
)
from geomi.adapters.store.hot import ClaimRequest
from geomi.adapters.store.postgres.cash import SQL as CASH
from geomi.adapters.store.postgres.hosts import SQL as HOSTS
from geomi.adapters.store.postgres.hosts import (
    crowds,
    demands_on,
    is_crowded,
    lock_host,
    lock_queues,
    write_hosts,
)
from geomi.adapters.store.postgres.session import PostgresSession, columns
from geomi.adapters.store.rows import Row, entry_of, host_row, read_regions
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.quotas import quota_left
from geomi.frontier.importance import LIFT, LONG_LEASE, lease_length
from geomi.model.entry import Lease, UrlEntry

SQL = statements("store.postgres", "claim")
# Queues looked at in one claim, so that it keeps their hosts from others for some milliseconds
# only; what is left over is first in the next claim.
MOST_LOOKS = 1000


def claim(
    db: PostgresSession, ask: ClaimRequest, *, hosts: int, urls: int, wall_s: float
) -> list[Lease]:
    """Lend up to `hosts` due hosts with up to `urls` due entries each."""
    terms = db.row(SQL["terms"], {"job": ask.job, "tenant": ask.tenant})
    if terms is None:
        return []
    number, max_pages, max_hosts, per_ip, settled, importance, batch_s, has_quota, regions = terms
    if batch_s is not None and ask.now_s < batch_s:
        return []
    keeps_cash = importance is not None
    if keeps_cash:
        urls = lease_length(urls, settled)
    left = hosts * urls
    if max_pages or max_hosts or batch_s is not None:
        db.row(SQL["line_up"], {"job": number})
        room = db.row(SQL["room"], {"job": number, "id": ask.job, "now_s": ask.now_s})
        settled, batch_left, lent_entries, lent_hosts = room or (settled, 0, 0, 0)
        if max_hosts:  # reserved ones count too; who waits for one does not ask its host meanwhile
            hosts = min(hosts, max_hosts - lent_hosts)
        if max_pages:
            left = min(left, max_pages - settled - lent_entries)
        if batch_s is not None:
            left = min(left, batch_left - lent_entries)
    if has_quota:
        left = int(min(left, quota_left(db, ask.tenant, now_s=ask.now_s, wall_s=wall_s)))
    looks = _Looks(db, ask, AddressLines(db, ask.now_s, number, per_ip), keeps_cash=keeps_cash)
    if regions:
        looks.labels = _labels_served(db, number, ask.owner, regions)
    many = hosts
    while left > 0 and len(looks.leases) < hosts and len(looks.turned) < MOST_LOOKS:
        turns = looks.due_turns(number, max(many, hosts - len(looks.leases)))
        if not turns:
            break
        left = looks.look(turns, hosts=hosts, urls=urls, left=left)
        many *= 2  # most of what is due may not be lent: a thousand looks are seven rounds
    looks.write_turns()
    return looks.leases


def reserve(db: PostgresSession, ask: ClaimRequest, *, host: str, delay_s: float) -> Lease | float:
    """Lend one named host without entries, or say when it is free."""
    row = lock_host(db, host)
    demands = demands_on(db, [host])[host]
    demands = replace(demands, floor_s=max(demands.floor_s, delay_s))
    earliest_s = free_s(row, demands)
    if earliest_s > ask.now_s:
        return earliest_s
    terms = db.row(SQL["terms"], {"job": ask.job, "tenant": ask.tenant})
    if terms and is_crowded(db, host, row.state.ip, per_ip=terms[3], now_s=ask.now_s):
        return ask.now_s + CROWDED_S
    lent = lend(row, owner=ask.owner, job=ask.job, entries=0, until_s=ask.until_s)
    write_hosts(db, [lent])
    return as_lease(lent, ask.job, demands)


def _labels_served(db: PostgresSession, job: int, owner: str, regions: str) -> tuple[str, ...]:
    """Label the job's new queues; return the labels whose queues a worker may be lent."""
    rules = read_regions(regions)
    new = db.rows(SQL["unlabelled"], {"job": job, "many": MOST_LOOKS})
    if new:
        rows = [(number, rules.label(host)) for number, host in new]
        db.send(SQL["label"], columns(rows, ("queues", "labels")))
    row = db.row(SQL["region"], {"owner": owner})
    return rules.served_by(row[0] if row else "")


def first_due_s(db: PostgresSession, queues: Sequence[int]) -> dict[int, float]:
    """Return when the first entry of each queue is due; 0 for at once."""
    if not queues:
        return {}
    return {queue: float(due_s) for queue, due_s in db.rows(SQL["first_due"], {"queues": queues})}


@dataclass(frozen=True, slots=True)
class _Turn:
    """One queue that is looked at, with its host."""

    queue: int
    pending: int
    served_s: float
    row: HostRow

    @property
    def host(self) -> str:
        return self.row.state.host


@dataclass(slots=True)
class _Turned:
    """What becomes of a queue that was looked at; `served_s` is None where it was put off."""

    queue: int
    ready_s: float
    served_s: float | None
    pending: int


class _Looks:
    """The looks of one claim: what was lent, and what has to be written of the rest."""

    def __init__(
        self, db: PostgresSession, ask: ClaimRequest, crowd: AddressLines, *, keeps_cash: bool
    ) -> None:
        self.db = db
        self.ask = ask
        self.crowd = crowd
        self.keeps_cash = keeps_cash
        self.labels: tuple[str, ...] | None = None  # those served, where the job names regions
        self.leases: list[Lease] = []
        self.turned: list[_Turned] = []

    def due_turns(self, job: int, many: int) -> list[_Turn]:
        """Take queues that may be looked at, with their hosts."""
        values = {
            "job": job,
            "now_s": self.ask.now_s,
            "looked": [one.queue for one in self.turned],
            "many": many,
        }
        if self.labels is None:
            rows = self.db.rows(SQL["due_queues"], values)
        else:
            rows = self._due_of_labels(values, many)
        return [
            _Turn(queue, pending, served_s, host_row(tuple(host)))
            for queue, pending, served_s, *host in rows
        ]

    def _due_of_labels(self, values: Mapping[str, object], many: int) -> list[Row]:
        """Take the longest waiting of each label that is served."""
        found: list[Row] = []
        for label in self.labels or ():
            found += self.db.rows(SQL["due_queues_of_label"], {**values, "label": label})
        found.sort(key=lambda row: (row[-1], row[3]))
        return [row[:-1] for row in found[:many]]

    def look(self, turns: list[_Turn], *, hosts: int, urls: int, left: int) -> int:
        """Lend what may be lent, put the rest off; return how many entries are left to lend."""
        demands = demands_on(self.db, [turn.host for turn in turns])
        hindered = self._hindered_until_s(turns, demands)
        free = [turn for turn in turns if turn.queue not in hindered]
        entries = self._due_entries(free, min(urls, left))
        first_s = first_due_s(self.db, [turn.queue for turn in free if turn.queue not in entries])
        crowd = self.crowd
        crowd.look_at([turn.row for turn in free])
        lent: list[HostRow] = []
        for turn in turns:
            if left <= 0 or len(self.leases) >= hosts:
                break
            later_s = hindered.get(turn.queue)
            if later_s is None and crowd.is_full(turn.row):
                later_s = self.ask.now_s + CROWDED_S
            if later_s is None:
                later_s = first_s.get(turn.queue)
            if later_s is not None:
                self.turned.append(_Turned(turn.queue, later_s, None, turn.pending))
                continue
            some = entries[turn.queue][:left]
            lent.append(self._lend(turn, demands[turn.host], some))
            crowd.join(turn.row)
            left -= len(some)
        write_hosts(self.db, lent)
        return left

    def write_turns(self) -> None:
        """Write when each queue is looked at next."""
        if not self.turned:
            return
        self.crowd.write_lines()
        lock_queues(self.db, [one.queue for one in self.turned])
        rows = [(one.queue, one.ready_s, one.served_s, one.pending) for one in self.turned]
        self.db.send(SQL["turn"], columns(rows, ("queues", "ready_s", "served_s", "pending")))

    def _hindered_until_s(
        self, turns: list[_Turn], demands: Mapping[str, HostDemands]
    ) -> dict[int, float]:
        """Return when to look again at hosts that are not free, or are somebody else's first."""
        now_s = self.ask.now_s
        free = {turn.queue: free_s(turn.row, demands[turn.host]) for turn in turns}
        hindered = {queue: when_s for queue, when_s in free.items() if when_s > now_s}
        fresh = [turn for turn in turns if free[turn.queue] <= now_s < free[turn.queue] + YIELD_S]
        for queue in self._with_rivals(fresh):
            hindered[queue] = free[queue] + YIELD_S
        return hindered

    def _with_rivals(self, turns: list[_Turn]) -> list[int]:
        if not turns:
            return []
        rows = [(turn.queue, turn.host, float(turn.served_s)) for turn in turns]
        values = columns(rows, ("queues", "hosts", "served_s")) | {"now_s": self.ask.now_s}
        return [queue for (queue,) in self.db.rows(SQL["rivals"], values)]

    def _due_entries(self, turns: list[_Turn], most: int) -> dict[int, list[UrlEntry]]:
        if not turns:
            return {}
        values = {
            "queues": [turn.queue for turn in turns],
            "tenant": self.ask.tenant,
            "now_s": self.ask.now_s,
            "many": most,
        }
        if self.keeps_cash and most >= LONG_LEASE:
            self.db.run(CASH["lift"], values | {"lift": LIFT})
        hosts = {turn.queue: turn.host for turn in turns}
        rows = self.db.rows(SQL["due_entries"], values)
        return {
            queue: [
                entry_of(row, self.ask.job, hosts[queue], is_known=is_known, deaths=deaths)
                for _, is_known, deaths, *row in of_queue
            ]
            for queue, of_queue in groupby(rows, key=lambda row: row[0])
        }

    def _lend(self, turn: _Turn, demands: HostDemands, entries: list[UrlEntry]) -> HostRow:
        ask = self.ask
        lent = lend(
            turn.row, owner=ask.owner, job=ask.job, entries=len(entries), until_s=ask.until_s
        )
        self.leases.append(as_lease(lent, ask.job, demands, tuple(entries)))
        self.turned.append(_Turned(turn.queue, ask.until_s, ask.now_s, turn.pending))
        return lent


class AddressLines:
    """The addresses that one claim looks at, for one job.

    Lines change only under the lock of their address, which is kept until the commit.
    """

    def __init__(self, db: PostgresSession, now_s: float, job: int, per_ip: int) -> None:
        self._db = db
        self._now_s = now_s
        self._job = job
        self._per_ip = per_ip
        self._here: Counter[str] = Counter()
        self._ours: set[str] = set()
        self._others: dict[str, int] = {}
        self._lines: dict[str, dict[int, float]] = {}
        self._refused: set[str] = set()
        self._left: set[str] = set()

    def look_at(self, rows: Sequence[HostRow]) -> None:
        """Count the leases on the addresses of some hosts, and who waits for them."""
        ips = {row.state.host: row.state.ip for row in rows if row.state.ip}
        if not ips:
            return
        wanted = {"ips": sorted(set(ips.values()))}
        self._ours |= {ip for (ip,) in self._db.rows(HOSTS["try_lock_ips"], wanted)}
        lines = self._db.ask(SQL["lines"], wanted | {"late_s": self._now_s - LINE_S})
        # What this claim has lent in the rounds before is written by now, and counted there.
        self._here.clear()
        self._others |= crowds(self._db, ips, now_s=self._now_s)
        for ip, job, since_s in lines.fetchall():
            # What this claim has changed in a line is written at its end.
            if job != self._job or ip not in self._left | self._refused:
                self._lines.setdefault(ip, {})[job] = since_s

    def is_full(self, row: HostRow) -> bool:
        """Whether a host's address has no place for this job, or somebody else counts it now."""
        ip = row.state.ip
        if not ip:
            return False
        if ip not in self._ours:
            return True
        has_place = self._others[row.state.host] + self._here[ip] < self._per_ip
        line = self._lines.setdefault(ip, {})
        if has_place and not has_to_yield(line, self._job):
            self._refused.discard(ip)
            if line.pop(self._job, None) is not None:
                self._left.add(ip)
            return False
        line.setdefault(self._job, self._now_s)
        self._refused.add(ip)
        return True

    def join(self, row: HostRow) -> None:
        """Count a host that is lent."""
        if row.state.ip:
            self._here[row.state.ip] += 1

    def write_lines(self) -> None:
        """Let the job stand in line where it was turned away, and leave where it got its place."""
        values = {"job": self._job, "now_s": self._now_s, "late_s": self._now_s - LINE_S}
        if self._left:
            self._db.send(SQL["leave"], values | {"ips": sorted(self._left)})
        if self._refused:
            self._db.send(SQL["stand"], values | {"ips": sorted(self._refused)})
