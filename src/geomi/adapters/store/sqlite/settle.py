"""Closing visits: fate, children, page, counters and the host's politeness in one transaction.

A visit is written if its host still has the token it was lent with, its job is there, and it was
not written before: an entry that has ended, or was tried since, stays as it is. What comes under a
lost token writes nothing but the log of its requests, which did happen; its host is named in the
answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple
from functools import partial

from geomi.adapters.store.accounting.budget import JobTerms, QueueRoom
from geomi.adapters.store.accounting.counters import (
    COUNTERS,
    FoundUrls,
    all_asked,
    count,
    finds_of_own_pattern,
    progress_of,
    tally_with_visit,
    total,
    with_examples,
)
from geomi.adapters.store.accounting.hosts import HostRow, close, update
from geomi.adapters.store.accounting.opic import pays
from geomi.adapters.store.keys import band_keys
from geomi.adapters.store.rows import Row, examples_of
from geomi.adapters.store.sqlite.cash import cash_of, find_terms, room_of, settle_cash
from geomi.adapters.store.sqlite.connection import SqliteSession
from geomi.adapters.store.sqlite.hosts import close_entries, get_host, put_host, token_of
from geomi.adapters.store.sqlite.links import LeftOut, find_queue, insert_finds, new_among
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.histories import write_learned
from geomi.adapters.store.tables.pages import ROWS as PAGES
from geomi.adapters.store.tables.pages import capture_row
from geomi.adapters.store.tables.quotas import count_usage
from geomi.adapters.store.tables.requests import request_rows
from geomi.adapters.store.tables.sites import write_refusals
from geomi.frontier.state import StateChange, change_state
from geomi.model.entry import Batch, HostUpdate, Novelty, Settled, Settlement, Tally
from geomi.model.page import PageRecord
from geomi.model.verdict import Exclusion, State

SQL = statements("store.sqlite", "settle", PAGES)


def settle(db: SqliteSession, batch: Batch, *, tenant: str, max_queued: int) -> Settled:
    """Write a batch; return which hosts were lost and how many URLs were new.

    Args:
        max_queued: how many URLs of all jobs may wait; 0 is no limit.
    """
    books = _Books(db, tenant, max_queued)
    for visit in batch.settlements:
        books.close_visit(visit)
    books.write_bands()
    books.write_counters(batch.wall_s)
    new_urls, left_out = insert_finds(db, books.finds, books.rooms())
    books.write_cash()
    books.leave_out(left_out)
    books.write_exclusions()
    books.write_hosts(batch.hosts)
    if asked := all_asked(batch):
        db.executemany(SQL["log"], request_rows(db, asked))
    hashes = frozenset(url.url_hash for _, _, url in left_out)
    return Settled(lost=tuple(books.lost), new_urls=new_urls, left_out=hashes)


class _Books:
    """What one transaction gathers before it writes each row once."""

    def __init__(self, db: SqliteSession, tenant: str, max_queued: int) -> None:
        self.db = db
        self.tenant = tenant
        self._max_queued = max_queued
        self.finds = FoundUrls()
        self.lost: dict[str, None] = {}
        self._tokens: dict[str, int] = {}
        self._jobs: dict[str, int | None] = {}
        self._terms: dict[int, JobTerms] = {}
        self._cash: dict[int, list[tuple[Settlement, float]]] = {}  # of jobs that keep any
        self._queues: dict[tuple[int, str], int | None] = {}
        self._closed: dict[str, list[Settlement]] = {}
        self._visits: dict[int, list[tuple[Settlement, State]]] = {}
        self._excluded: dict[tuple[int, str], list[str]] = {}
        self._bands: dict[tuple[int, int], bool] = {}  # (key, page): whether it is to be there

    def close_visit(self, visit: Settlement) -> None:
        """Write one entry's fate and its page; gather the rest."""
        host = visit.entry.host
        job = self._job(visit.entry.job)
        if job is None or self._token(host) != visit.token:
            self.lost[host] = None
            return
        cash = self._cash_of(job, visit)
        state = self._close_entry(job, visit)
        if state is None:
            return
        if cash is not None:
            self._cash.setdefault(job, []).append((visit, cash))
        self._closed.setdefault(host, []).append(visit)
        self._visits.setdefault(job, []).append((visit, state))
        self.finds.take(job, visit.discovered, visit.settled_s)
        self._exclude(job, visit.excluded)
        if visit.page is not None:
            self._keep(job, visit.page, is_new=not visit.entry.is_known)
        if visit.novelty is not None and visit.state is not State.PENDING:
            self._tally(job, visit, visit.novelty)
        if visit.refusal is not None:
            write_refusals(self.db, self.tenant, [visit.refusal])

    def write_bands(self) -> None:
        """Let similar pages find those that are new, or say something new."""
        for name, wanted in (("lose", False), ("find_by", True)):
            rows = [row for row, is_in in self._bands.items() if is_in is wanted]
            self.db.executemany(SQL[name], sorted(rows))  # in the order in which they are kept

    def write_counters(self, wall_s: float) -> None:
        """Write what the visits add to queues, jobs and the tenant's quota."""
        closed = [visit for visits in self._visits.values() for visit, _ in visits]
        write_learned(self.db, self.tenant, closed)
        count_usage(self.db, self.tenant, closed, wall_s=wall_s)
        for job, visits in self._visits.items():
            progress = progress_of((v.entry.host, v, state) for v, state in visits)
            for host, one in progress.items():
                values = {
                    "queue": self._queue(job, host),
                    "ended": one.ended,
                    "answers": one.answers.answers,
                    "answer_s": one.answers.seconds,
                }
                self.db.execute(SQL["shrink"], values)
            sums = total(count(visit) for visit, _ in visits)
            self.db.execute(
                SQL["count"],
                {name: getattr(sums, name) for name in COUNTERS}
                | {
                    "job": job,
                    "ended": sum(one.ended for one in progress.values()),
                    "completed": sum(state == State.COMPLETED for _, state in visits),
                },
            )

    def rooms(self) -> dict[int, QueueRoom]:
        """Return how much may wait, of jobs for which it has to be counted."""
        rooms = {}
        for job, visits in self._visits.items():
            terms = self._terms[job]
            waiting = terms.waiting - sum(pays(visit) for visit, _ in visits)
            if not terms.budget.suffices(waiting, self.finds.many(job)):
                rooms[job] = room_of(self.db, terms, waiting)
        return rooms

    def write_cash(self) -> None:
        """Let the links of settled pages have what these held."""
        for job, visits in self._cash.items():
            settle_cash(self.db, self._terms[job], visits, partial(self._queue, job))

    def leave_out(self, left_out: LeftOut) -> None:
        """Count what had no room."""
        for job, limit, url in left_out:
            self._excluded.setdefault((job, limit), []).append(url.url)

    def write_exclusions(self) -> None:
        """Add what rules have kept out, with the first few examples of each."""
        for (job, rule), urls in self._excluded.items():
            row = self.db.execute(SQL["exclusion"], (job, rule)).fetchone()
            before, kept = (row[0], examples_of(rule, row[1])) if row else (0, ())
            examples = json.dumps(with_examples(kept, urls), ensure_ascii=False)
            self.db.execute(SQL["put_exclusion"], (job, rule, before + len(urls), examples))

    def write_hosts(self, changes: Sequence[HostUpdate]) -> None:
        """Write the hosts' politeness, and end the leases that are given back."""
        closed, changed = self._closed, dict[str, HostRow]()
        for change in changes:
            host = change.lease.host
            if self._token(host) != change.lease.token:
                self.lost[host] = None
                continue
            row = changed.get(host) or close(get_host(self.db, host), closed.pop(host, ()))
            changed[host] = update(row, change)
        for row in changed.values():
            put_host(self.db, row)
        # Most hosts stay lent: of these only what is left of the lease and the last answer change.
        close_entries(self.db, closed)

    def _close_entry(self, job: int, visit: Settlement) -> State | None:
        """Write a visit's end; return the entry's state, or None if it was written before."""
        entry = visit.entry
        values = (
            visit.state.value, entry.depth, visit.outcome.value, visit.status, visit.detail,
            visit.settled_s, visit.due_s, self._queue(job, entry.host), entry.url_hash,
            entry.attempts, visit.media_type, visit.body_bytes,
        )  # fmt: skip
        if self.db.execute(SQL["close"], values).rowcount:
            return visit.state
        if self.db.execute(SQL["open_again"], values).rowcount:
            return change_state(StateChange.REOPEN, visit.state)
        return None

    def _exclude(self, job: int, excluded: Sequence[Exclusion]) -> None:
        for exclusion in excluded:
            self._excluded.setdefault((job, exclusion.rule), []).append(exclusion.url)

    def _keep(self, job: int, page: PageRecord, *, is_new: bool) -> None:
        capture = self.db.execute(SQL["capture"], (job, *capture_row(page))).lastrowid
        columns = (self.tenant, capture, *PAGES.row(page))
        number, old = (self._insert(columns) if is_new else None), frozenset[int]()
        if number is None:
            number, old = self._replace(page, columns)
        new = band_keys(self.tenant, page.fingerprint.sketch, page.duplicate_of)
        for band in old ^ new:
            self._bands[band, number] = band in new

    def _insert(self, columns: Row) -> int | None:
        """Write a page that is new; None where another job has brought it meanwhile."""
        written = self.db.execute(SQL["new_page"], columns)
        return written.lastrowid if written.rowcount else None

    def _replace(self, page: PageRecord, columns: Row) -> tuple[int, frozenset[int]]:
        """Write a page in place of its last visit, if any; return its number and its old bands."""
        before = self.db.execute(SQL["before"], (self.tenant, page.url_hash)).fetchone()
        number = self.db.execute(SQL["page"], columns).lastrowid
        if before is not None:
            return before[0], band_keys(self.tenant, *before[1:])
        assert number is not None, "an INSERT has a row"
        return number, frozenset()

    def _tally(self, job: int, visit: Settlement, novelty: Novelty) -> None:
        pattern = visit.entry.pattern
        queue = self._queue(job, visit.entry.host)
        if not pattern or queue is None:
            return
        found = finds_of_own_pattern(visit)
        larger = {found[url_hash] for url_hash in new_among(self.db, queue, list(found))}
        self.db.executemany(SQL["grow_tally"], ((queue, other) for other in larger))
        row = self.db.execute(SQL["tally"], (queue, pattern)).fetchone()
        tally = tally_with_visit(Tally(*row) if row else Tally(), novelty, grew=pattern in larger)
        self.db.execute(SQL["put_tally"], (queue, pattern, *astuple(tally)))

    def _token(self, host: str) -> int:
        if host not in self._tokens:
            self._tokens[host] = token_of(self.db, host)
        return self._tokens[host]

    def _job(self, job: str) -> int | None:
        if job not in self._jobs:
            terms = find_terms(self.db, job, self.tenant, max_queued=self._max_queued)
            self._jobs[job] = terms.number if terms else None
            if terms:
                self._terms[terms.number] = terms
        return self._jobs[job]

    def _cash_of(self, job: int, visit: Settlement) -> float | None:
        if self._terms[job].share is None:
            return None
        return cash_of(self.db, self._queue(job, visit.entry.host), visit.entry.url_hash)

    def _queue(self, job: int, host: str) -> int | None:
        key = (job, host)
        if key not in self._queues:
            self._queues[key] = find_queue(self.db, job, host)
        return self._queues[key]
