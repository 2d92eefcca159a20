"""Questions about the frontier, and the burial of dead owners' leases."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from operator import attrgetter

from geomi.adapters.store.accounting.hosts import end_dead_lease, free_s
from geomi.adapters.store.rows import ending_of, entry_of, examples_of, host_row
from geomi.adapters.store.sqlite.claim import MOST_LOOKS, first_due_s
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.sqlite.hosts import SQL as HOSTS
from geomi.adapters.store.sqlite.hosts import demands_on, lent_entries, lent_hosts, put_host
from geomi.adapters.store.sqlite.queues import end_dead
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

SQL = statements("store.sqlite", "census")

_STATES = (State.PENDING, State.COMPLETED, State.FAILED, State.SKIPPED, State.BLOCKED)


class SqliteCensus:
    """`ports.census.Census` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    async def outlook(self, job: str, *, now_s: float) -> RemainingWork:
        """Say what is left of a job and when the next of it is due."""
        with self._database.reading() as db:
            row = db.execute(SQL["counts"], (job, self._tenant)).fetchone()
            if row is None:
                return RemainingWork(pending=0, leased=0, next_s=None)
            number, is_active, max_pages, max_hosts, settled, *counts = row
            leased = lent_entries(db, job, now_s)
            has_all = (max_pages and settled + leased >= max_pages) or (
                max_hosts and lent_hosts(db, job, now_s) >= max_hosts
            )
            next_s = None
            if is_active and has_all:
                next_s = db.execute(HOSTS["first_end"], {"job": job, "now_s": now_s}).fetchone()[0]
            elif is_active:
                next_s = _next_s(db, number)
        by_state = {state: many for state, many in zip(_STATES, counts, strict=True) if many}
        return RemainingWork(pending=counts[0], leased=leased, next_s=next_s, by_state=by_state)

    async def entry(self, job: str, url_hash: bytes, *, host: str | None = None) -> UrlEntry | None:
        """Find one URL of a job: at once with its host, else by asking each of the job's queues."""
        with self._database.reading() as db:
            for queue, name in self._queues(db, job, host):
                row = db.execute(SQL["entry"], (queue, url_hash)).fetchone()
                if row is not None:
                    return entry_of(row, job, name)
        return None

    async def entries(
        self, job: str, *, state: State | None, after: bytes, limit: int
    ) -> list[UrlEntry]:
        """List a job's entries in the order of their hashes."""
        values = {"state": state and state.value, "after": after, "many": limit}
        with self._database.reading() as db:
            runs = [
                [
                    entry_of(row, job, name)
                    for row in db.execute(SQL["entries"], values | {"queue": queue})
                ]
                for queue, name in self._queues(db, job, None)
            ]
        return list(islice(heapq.merge(*runs, key=attrgetter("url_hash")), limit))

    async def exclusions(self, job: str) -> Mapping[str, tuple[int, tuple[str, ...]]]:
        """Return how often each rule kept a link out, with some examples."""
        with self._database.reading() as db:
            rows = db.execute(SQL["exclusions"], (job, self._tenant)).fetchall()
        return {rule: (count, examples_of(rule, examples)) for rule, count, examples in rows}

    async def patterns(self, job: str) -> list[tuple[str, str, Tally]]:
        """List (host, pattern, tally) of a job's counted patterns, the most visited first."""
        with self._database.reading() as db:
            rows = db.execute(SQL["patterns"], (job, self._tenant)).fetchall()
        return [(host, pattern, Tally(*tally)) for host, pattern, *tally in rows]

    async def qualities(self, job: str, *, thin_words: int) -> list[OutcomeCount]:
        """Count a job's pages by host, outcome and the way their content was found."""
        values = {"job": job, "tenant": self._tenant, "thin_words": thin_words}
        with self._database.reading() as db:
            rows = db.execute(SQL["qualities"], values).fetchall()
        return [OutcomeCount(host, Outcome(outcome), *counts) for host, outcome, *counts in rows]

    async def outcomes(self, job: str) -> Mapping[EntryEnding, int]:
        """Count a job's entries by state, outcome and status."""
        with self._database.reading() as db:
            rows = db.execute(SQL["outcomes"], (job, self._tenant)).fetchall()
        return {ending_of(row): row[3] for row in rows}

    async def rows(
        self, job: str, which: EntryFilter, *, after: PageCursor = FIRST_CURSOR, limit: int
    ) -> EntryPage:
        """List some entries of a job in an order that stays."""
        check_prefix(which)
        values: dict[str, object] = {"job": job, "tenant": self._tenant}
        with self._database.reading() as db:
            return _rows(db, values, which, after, entries_shown(limit))

    async def hosts(self, *, after: str = "", limit: int) -> list[HostView]:
        """List the hosts that the tenant's own jobs have met, by name."""
        values = {"tenant": self._tenant, "after": after, "many": entries_shown(limit)}
        with self._database.reading() as db:
            return [HostView(*row) for row in db.execute(SQL["hosts"], values)]

    async def release_dead(self, owners: Sequence[str], *, now_s: float) -> int:
        """End the leases of owners known to be dead."""
        return await self._database.write(partial(_release_dead, owners=owners, now_s=now_s))

    def _queues(self, db: SqliteSession, job: str, host: str | None) -> list[tuple[int, str]]:
        values = {"job": job, "tenant": self._tenant, "host": host}
        return db.execute(SQL["queues"], values).fetchall()


def _rows(
    db: SqliteSession, own: dict[str, object], which: EntryFilter, after: PageCursor, many: int
) -> EntryPage:
    values = own | view_values(which, after, END) | {"looked": MAX_LOOKED_AT - 1, "many": many}
    edge: PageCursor | None = db.execute(SQL["edge"], values).fetchone()
    last_queue, last = edge or END
    rows = db.execute(SQL["rows"], values | {"last_queue": last_queue, "last": last}).fetchall()
    return entry_page(str(own["job"]), rows, edge, many)


def _next_s(db: SqliteSession, job: int) -> float | None:
    """Return the earliest time at which a queue can be lent.

    `ready_s` is never later than that time, so the walk ends at the first queue that is looked at
    after the best one found.
    """
    best_s = None
    for queue, ready_s, *columns in islice(db.execute(SQL["queues_in_line"], (job,)), MOST_LOOKS):
        if best_s is not None and ready_s >= best_s:
            break
        row = host_row(tuple(columns))
        free = free_s(row, demands_on(db, row.state.host))
        when_s = max(ready_s, free, first_due_s(db, queue))
        best_s = when_s if best_s is None else min(best_s, when_s)
    return best_s


def _release_dead(db: SqliteSession, *, owners: Sequence[str], now_s: float) -> int:
    released = 0
    for owner in owners:
        for columns in db.execute(HOSTS["held_by"], (owner,)).fetchall():
            row = host_row(columns)
            put_host(db, end_dead_lease(row, demands_on(db, row.state.host), now_s=now_s))
            released += 1
    end_dead(db, owners, now_s)
    return released
