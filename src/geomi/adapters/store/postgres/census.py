"""Questions about the frontier, and the burial of dead owners' leases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from geomi.adapters.store.accounting.hosts import end_dead_lease, free_s
from geomi.adapters.store.postgres.claim import MOST_LOOKS, first_due_s
from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.hosts import SQL as HOSTS
from geomi.adapters.store.postgres.hosts import (
    demands_on,
    lent,
    lock_queues,
    rest_hosts,
    write_hosts,
)
from geomi.adapters.store.postgres.queues import end_dead
from geomi.adapters.store.postgres.session import PostgresSession
from geomi.adapters.store.rows import ending_of, entry_of, examples_of, host_row
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.census import (
    END,
    check_prefix,
    entries_shown,
    entry_page,
    view_values,
)
from geomi.model.entry import MAX_LOOKED_AT, EntryFilter, EntryPage, RemainingWork, Tally, UrlEntry
from geomi.model.history import FIRST_CURSOR, PageCursor
from geomi.model.site import HostView, OutcomeCount
from geomi.model.verdict import Outcome, State
from geomi.ports.frontier import EntryEnding

SQL = statements("store.postgres", "census")

_STATES = (State.PENDING, State.COMPLETED, State.FAILED, State.SKIPPED, State.BLOCKED)
_FIRST_LOOKS = 16  # nearly always one of the first queues in line is the next


class PostgresCensus:
    """`ports.census.Census` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def outlook(self, job: str, *, now_s: float) -> RemainingWork:
        """Say what is left of a job and when the next of it is due."""
        return await self._database.read(
            partial(_outlook, job=job, tenant=self._tenant, now_s=now_s)
        )

    async def entry(self, job: str, url_hash: bytes, *, host: str | None = None) -> UrlEntry | None:
        """Find one URL of a job: at once with its host, else by asking each of the job's queues."""
        values = self._of(job) | {"url_hash": url_hash, "host": host}
        query = SQL["entry" if host is None else "entry_on_host"]
        row = await self._database.read(lambda db: db.row(query, values))
        return entry_of(row[1:], job, row[0]) if row else None

    async def entries(
        self, job: str, *, state: State | None, after: bytes, limit: int
    ) -> list[UrlEntry]:
        """List a job's entries in the order of their hashes."""
        values = self._of(job) | {"state": state and state.value, "after": after, "many": limit}
        rows = await self._database.read(lambda db: db.rows(SQL["entries"], values))
        return [entry_of(row, job, host) for host, *row in rows]

    async def exclusions(self, job: str) -> Mapping[str, tuple[int, tuple[str, ...]]]:
        """Return how often each rule kept a link out, with some examples."""
        values = self._of(job)
        rows = await self._database.read(lambda db: db.rows(SQL["exclusions"], values))
        return {rule: (count, examples_of(rule, examples)) for rule, count, examples in rows}

    async def patterns(self, job: str) -> list[tuple[str, str, Tally]]:
        """List (host, pattern, tally) of a job's counted patterns, the most visited first."""
        values = self._of(job)
        rows = await self._database.read(lambda db: db.rows(SQL["patterns"], values))
        return [(host, pattern, Tally(*tally)) for host, pattern, *tally in rows]

    async def qualities(self, job: str, *, thin_words: int) -> list[OutcomeCount]:
        """Count a job's pages by host, outcome and the way their content was found."""
        values = self._of(job) | {"thin_words": thin_words}
        rows = await self._database.read(lambda db: db.rows(SQL["qualities"], values))
        return [OutcomeCount(host, Outcome(outcome), *counts) for host, outcome, *counts in rows]

    async def outcomes(self, job: str) -> Mapping[EntryEnding, int]:
        """Count a job's entries by state, outcome and status."""
        values = self._of(job)
        rows = await self._database.read(lambda db: db.rows(SQL["outcomes"], values))
        return {ending_of(row): row[3] for row in rows}

    async def rows(
        self, job: str, which: EntryFilter, *, after: PageCursor = FIRST_CURSOR, limit: int
    ) -> EntryPage:
        """List some entries of a job in an order that stays."""
        check_prefix(which)
        values = self._of(job)
        return await self._database.read(
            lambda db: _rows(db, values, which, after, entries_shown(limit))
        )

    async def hosts(self, *, after: str = "", limit: int) -> list[HostView]:
        """List the hosts that the tenant's own jobs have met, by name."""
        values = {"tenant": self._tenant, "after": after, "many": entries_shown(limit)}
        rows = await self._database.read(lambda db: db.rows(SQL["hosts"], values))
        return [HostView(*row) for row in rows]

    async def release_dead(self, owners: Sequence[str], *, now_s: float) -> int:
        """End the leases of owners known to be dead."""
        return await self._database.write(partial(_release_dead, owners=owners, now_s=now_s))

    def _of(self, job: str) -> dict[str, object]:
        return {"job": job, "tenant": self._tenant}


def _outlook(db: PostgresSession, *, job: str, tenant: str, now_s: float) -> RemainingWork:
    row = db.row(SQL["counts"], {"job": job, "tenant": tenant})
    if row is None:
        return RemainingWork(pending=0, leased=0, next_s=None)
    number, is_active, max_pages, max_hosts, settled, *counts = row
    leased, held, first_end_s = lent(db, job, now_s)
    has_all = (max_pages and settled + leased >= max_pages) or (max_hosts and held >= max_hosts)
    next_s = None
    if is_active:
        next_s = first_end_s if has_all else _next_s(db, number)
    by_state = {state: many for state, many in zip(_STATES, counts, strict=True) if many}
    return RemainingWork(pending=counts[0], leased=leased, next_s=next_s, by_state=by_state)


def _rows(
    db: PostgresSession, own: dict[str, object], which: EntryFilter, after: PageCursor, many: int
) -> EntryPage:
    values = own | view_values(which, after, END) | {"looked": MAX_LOOKED_AT - 1, "many": many}
    found = db.row(SQL["edge"], values)
    edge: PageCursor | None = (found[0], found[1]) if found else None
    last_queue, last = edge or END
    rows = db.rows(SQL["rows"], values | {"last_queue": last_queue, "last": last})
    return entry_page(str(own["job"]), rows, edge, many)


def _next_s(db: PostgresSession, job: int) -> float | None:
    """Return the earliest time at which a queue can be lent.

    `ready_s` is never later than that time, so the walk ends at the first queue that is looked at
    after the best one found.
    """
    best_s: float | None = None
    for skip, many in ((0, _FIRST_LOOKS), (_FIRST_LOOKS, MOST_LOOKS - _FIRST_LOOKS)):
        lines = db.rows(SQL["queues_in_line"], {"job": job, "many": many, "skip": skip})
        hosts = {queue: host_row(tuple(columns)) for queue, _, *columns in lines}
        demands = demands_on(db, [row.state.host for row in hosts.values()])
        due_s = first_due_s(db, list(hosts))
        for queue, ready_s, *_ in lines:
            if best_s is not None and ready_s >= best_s:
                return best_s
            free = free_s(hosts[queue], demands[hosts[queue].state.host])
            when_s = max(ready_s, free, due_s[queue])
            best_s = when_s if best_s is None else min(best_s, when_s)
        if len(lines) < many:
            break
    return best_s


def _release_dead(db: PostgresSession, *, owners: Sequence[str], now_s: float) -> int:
    end_dead(db, owners, now_s)
    rows = [host_row(row) for row in db.rows(HOSTS["held_by"], {"owners": list(owners)})]
    if not rows:
        return 0
    demands = demands_on(db, [row.state.host for row in rows])
    buried = [end_dead_lease(row, demands[row.state.host], now_s=now_s) for row in rows]
    write_hosts(db, buried)
    lock_queues(db, (), buried)
    rest_hosts(db, buried)
    return len(buried)
