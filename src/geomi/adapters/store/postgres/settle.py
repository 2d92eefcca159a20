"""Closing visits: fate, children, page, counters and the host's politeness in one transaction.

A visit is written if its host still has the token it was lent with, its job is there, and it was
not written before: an entry that has ended, or was tried since, stays as it is. What comes under a
lost token writes nothing but the log of its requests, which did happen; its host is named in the
answer.

Everything is read and written many rows at a time, in the order in which all transactions lock.
The job's counters and the tenant's quota come last, because every other settlement of the job, or
of the tenant, waits for these rows.

Pages are written in place of their last visits, with the bands by which similar pages find them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple

from geomi.adapters.store.accounting.budget import JobTerms, QueueRoom, beside, terms_of
from geomi.adapters.store.accounting.counters import (
    COUNTERS,
    FoundUrls,
    all_asked,
    count,
    finds_of_own_pattern,
    progress_of,
    tally_with_growth,
    tally_with_visit,
    total,
    with_examples,
)
from geomi.adapters.store.accounting.hosts import HostRow, close, update
from geomi.adapters.store.keys import band_keys
from geomi.adapters.store.postgres.cash import SQL as CASH
from geomi.adapters.store.postgres.cash import CashTransfer, room_of, write_root
from geomi.adapters.store.postgres.hosts import (
    ask_hosts,
    close_entries,
    lock_queues,
    read_hosts,
    rest_hosts,
    write_hosts,
)
from geomi.adapters.store.postgres.links import PLACES, Key, LinkBatch, lock_entries
from geomi.adapters.store.postgres.session import PostgresSession, columns
from geomi.adapters.store.rows import Row, examples_of
from geomi.adapters.store.session import TransactionClash
from geomi.adapters.store.statements import statements
from geomi.adapters.store.tables.histories import write_learned
from geomi.adapters.store.tables.pages import ROWS as PAGES
from geomi.adapters.store.tables.pages import capture_row
from geomi.adapters.store.tables.quotas import count_usage
from geomi.adapters.store.tables.requests import ROWS as REQUESTS
from geomi.adapters.store.tables.requests import request_rows
from geomi.adapters.store.tables.sites import write_refusals
from geomi.model.entry import Batch, HostUpdate, Settled, Settlement, Tally
from geomi.model.page import PageRecord
from geomi.model.verdict import Exclusion, State

SQL = statements("store.postgres", "settle", PAGES)

Closed = tuple[Settlement, int, str]  # a visit, its queue, and the state that its entry has now
Band = tuple[int, int]  # key and page

_CLOSE = (
    "queue", "url_hash", "state", "depth", "outcome", "status", "detail", "settled_s", "due_s",
    "media_type", "body_bytes",
)  # fmt: skip
_PAGE = (*PAGES.names, "number")
_CAPTURE = (
    "url_hash", "url", "record_segment", "record_offset", "record_length",
    "response_segment", "response_offset", "response_length", "exact_key", "seq",
)  # fmt: skip
_PROGRESS = ("queues", "ended", "answers", "answer_s")
_TALLY = (
    "queue", "pattern", "visited", "stale_links", "stale_text", "text_mark", "stale_growth",
)  # fmt: skip


def settle(db: PostgresSession, batch: Batch, *, tenant: str, max_queued: int) -> Settled:
    """Write a batch; return which hosts were lost and how many URLs were new.

    Args:
        max_queued: how many URLs of all jobs may wait; 0 is no limit.
    """
    books = _Books(db, tenant, batch)
    if max_queued:
        books.look_at_others(max_queued)
    visits = books.valid(batch.settlements)
    finds = FoundUrls()
    for visit in visits:
        finds.take(books.jobs[visit.entry.job], visit.discovered, visit.settled_s)
    links = LinkBatch(db, finds)
    nearer = links.insert(books.turn, books.rooms(visits, finds, links))
    cash = CashTransfer(db, books.terms, books.keeping_cash(visits))
    lock_entries(db, [*map(books.key, visits), *nearer, *cash.keys])
    closed = books.close(visits)
    links.approach()
    cash.settle()
    write_tallies(db, closed, links.novel)
    if pages := [visit.page for visit in visits if visit.page is not None]:
        keep_pages(db, tenant, pages, books.turn)
    write_learned(db, tenant, visits)
    write_refusals(db, tenant, [visit.refusal for visit in visits if visit.refusal is not None])
    if asked := all_asked(batch):
        db.send(SQL["log"], columns(request_rows(db, asked), REQUESTS.names))
    books.write_queues(closed, books.write_hosts(visits, batch.hosts), links)
    excluded = [(books.jobs[one.entry.job], one.excluded) for one in visits]
    write_exclusions(db, [*excluded, *links.left_out()])
    books.write_jobs(closed, links, cash.to_root)
    count_usage(db, tenant, visits, wall_s=batch.wall_s)
    left_out = frozenset(url.url_hash for _, _, url in links.refused)
    return Settled(lost=tuple(books.lost), new_urls=links.new.total(), left_out=left_out)


class _Books:
    """What one transaction knows: the hosts, which are locked, the jobs and the queues."""

    def __init__(self, db: PostgresSession, tenant: str, batch: Batch) -> None:
        self.db = db
        self.lost: dict[str, None] = {}
        visits = batch.settlements
        held = [visit.entry.host for visit in visits] + [one.lease.host for one in batch.hosts]
        # Asked together, answered on one way; the second is answered once the hosts are ours.
        answer, visited = ask_hosts(db, held), self._visited(visits, tenant)
        self._hosts = read_hosts(answer, held)
        self.jobs: dict[str, int] = {}
        self.terms: dict[int, JobTerms] = {}
        self._queues: dict[tuple[int, str], int] = {}
        self._stands: dict[Key, tuple[str, int]] = {}  # while the hosts are ours, nobody changes it
        self.turn = 0
        for row in visited:
            self.turn, job, host, queue, url_hash, state, attempts, number, *terms = row
            self.jobs[job] = number
            self.terms[number] = terms_of((number, *terms))
            if queue is not None:
                self._queues[number, host] = queue
                self._stands[queue, url_hash] = (state, attempts)

    def look_at_others(self, max_queued: int) -> None:
        """Leave each job what the limit over all of them leaves it."""
        for number, terms in self.terms.items():
            others = self.db.value(CASH["others"], {"number": number})
            self.terms[number] = beside(terms, others, overall=max_queued)

    def key(self, visit: Settlement) -> Key:
        """Return the key of a visit's entry; no queue has the number 0."""
        queue = self._queues.get((self.jobs[visit.entry.job], visit.entry.host), 0)
        return queue, visit.entry.url_hash

    def valid(self, visits: Sequence[Settlement]) -> list[Settlement]:
        """Choose the visits that are written."""
        valid = []
        for visit in visits:
            host, attempts = visit.entry.host, visit.entry.attempts
            if visit.entry.job not in self.jobs or self._hosts[host].token != visit.token:
                self.lost[host] = None
            elif self._stands.get(self.key(visit)) == (State.PENDING, attempts):
                self._stands[self.key(visit)] = (visit.state, attempts + 1)
                valid.append(visit)
        return valid

    def close(self, visits: Sequence[Settlement]) -> list[Closed]:
        """Write the entries' fates; one that was visited twice is written twice."""
        closed: list[Closed] = []
        left = list(visits)
        while left:
            now: dict[Key, Settlement] = {}
            later = []
            for visit in left:
                if now.setdefault(self.key(visit), visit) is not visit:
                    later.append(visit)
            rows = [_close_columns(key, visit) for key, visit in now.items()]
            states = {
                (queue, url_hash): state
                for queue, url_hash, state in self.db.rows(SQL["close"], columns(rows, _CLOSE))
            }
            if len(states) < len(now):
                raise TransactionClash("a job was deleted meanwhile")
            closed += [(visit, key[0], states[key]) for key, visit in now.items()]
            left = later
        return closed

    def rooms(
        self, visits: Sequence[Settlement], finds: FoundUrls, links: LinkBatch
    ) -> dict[int, QueueRoom]:
        """Return how much may wait, of jobs for which it has to be counted."""
        rooms = {}
        for job, own in self._by_job(visits).items():
            room = room_of(self.db, self.terms[job], own, finds, links.queues)
            if room is not None:
                rooms[job] = room
        return rooms

    def keeping_cash(self, visits: Sequence[Settlement]) -> dict[int, list[Settlement]]:
        """Return the visits of jobs whose order keeps cash."""
        by_job = self._by_job(visits)
        return {job: own for job, own in by_job.items() if self.terms[job].share is not None}

    def write_hosts(
        self, visits: Sequence[Settlement], changes: Sequence[HostUpdate]
    ) -> list[HostRow]:
        """Write the hosts' politeness, and end the leases that are given back."""
        closed: dict[str, list[Settlement]] = {}
        for visit in visits:
            closed.setdefault(visit.entry.host, []).append(visit)
        changed: dict[str, HostRow] = {}
        for change in changes:
            host = change.lease.host
            if self._hosts[host].token != change.lease.token:
                self.lost[host] = None
                continue
            row = changed.get(host) or close(self._hosts[host], closed.pop(host, ()))
            changed[host] = update(row, change)
        write_hosts(self.db, list(changed.values()))
        close_entries(self.db, closed)
        return list(changed.values())

    def write_queues(
        self, closed: Sequence[Closed], hosts: Sequence[HostRow], links: LinkBatch
    ) -> None:
        """Let queues know what has ended and what was found, and when their hosts are free."""
        progress = progress_of((queue, visit, state) for visit, queue, state in closed)
        lock_queues(self.db, progress.keys() | links.new.keys() | links.reopened.keys(), hosts)
        if progress:
            rows = [
                (queue, one.ended, one.answers.answers, float(one.answers.seconds))
                for queue, one in progress.items()
            ]
            self.db.send(SQL["shrink"], columns(rows, _PROGRESS))
        links.grow()
        rest_hosts(self.db, hosts)

    def write_jobs(
        self, closed: Sequence[Closed], links: LinkBatch, to_root: Mapping[int, float]
    ) -> None:
        """Write what the visits add to their jobs, and the captures in the order of commits."""
        for job in sorted({self.jobs[visit.entry.job] for visit, *_ in closed}):
            own = [one for one in closed if self.jobs[one[0].entry.job] == job]
            queues = [queue for queue, owner in links.jobs.items() if owner == job]
            pages = [visit.page for visit, *_ in own if visit.page is not None]
            sums = total(count(visit) for visit, *_ in own)
            write_root(self.db, job, to_root.get(job, 0.0))
            row = self.db.row(
                SQL["count"],
                {name: getattr(sums, name) for name in COUNTERS}
                | {
                    "job": job,
                    "ended": sum(state != State.PENDING for *_, state in own),
                    "completed": sum(state == State.COMPLETED for *_, state in own),
                    "new": sum(links.new[queue] for queue in queues),
                    "reopened": sum(links.reopened[queue] for queue in queues),
                    "captured": len(pages),
                },
            )
            if row is None:
                raise TransactionClash(f"job {job} was deleted meanwhile")
            if pages:
                self.db.send(SQL["captures"], captures(pages, row[0]) | {"job": job})

    def _by_job(self, visits: Sequence[Settlement]) -> dict[int, list[Settlement]]:
        by_job: dict[int, list[Settlement]] = {}
        for visit in visits:
            by_job.setdefault(self.jobs[visit.entry.job], []).append(visit)
        return by_job

    def _visited(self, visits: Sequence[Settlement], tenant: str) -> Iterable[Row]:
        """Ask how the visited entries stand; the answer is waited for when it is read."""
        if not visits:
            return ()
        keys = [(visit.entry.job, visit.entry.host, visit.entry.url_hash) for visit in visits]
        values = columns(keys, ("jobs", "hosts", "hashes"))
        return self.db.ask(SQL["visited"], values | {"tenant": tenant})


def keep_pages(db: PostgresSession, tenant: str, pages: Sequence[PageRecord], turn: int) -> None:
    """Write pages in place of their last visits, and let similar ones find them."""
    # Of a page that was visited twice in one batch the last visit is kept.
    newest = {page.url_hash: (place, page) for place, page in enumerate(pages)}
    rows = [
        (*PAGES.row(page), turn * PLACES + place)
        for _, (place, page) in sorted(newest.items())  # in the order in which all lock them
    ]
    known = db.ask(SQL["pages_before"], {"tenant": tenant, "hashes": list(newest)})
    put = db.ask(SQL["put_pages"], columns(rows, _PAGE) | {"tenant": tenant})
    before = {url_hash: (number, band_keys(tenant, *said)) for url_hash, number, *said in known}
    numbers: dict[bytes, int] = dict(put.fetchall())
    found: list[Band] = []
    lost: list[Band] = []
    for url_hash, (_, page) in newest.items():
        number = numbers[url_hash]
        _, old = before.get(url_hash, (number, frozenset[int]()))
        new = band_keys(tenant, page.fingerprint.sketch, page.duplicate_of)
        found += [(band, number) for band in new - old]
        lost += [(band, number) for band in old - new]
    lose_bands(db, lost)
    if found:
        db.send(SQL["find_by"], columns(found, ("bands", "pages")))


def lose_bands(db: PostgresSession, lost: Iterable[Band]) -> None:
    """Let similar pages find some no more."""
    if rows := list(lost):
        db.send(SQL["lose"], columns(rows, ("bands", "pages")))


def captures(pages: Sequence[PageRecord], last: int) -> dict[str, list[object]]:
    """Return the columns of a job's captures, the newest of which has the number `last`."""
    first = last - len(pages) + 1
    rows = [(*capture_row(page), first + place) for place, page in enumerate(pages)]
    return columns(rows, _CAPTURE)


def write_tallies(
    db: PostgresSession, closed: Sequence[tuple[Settlement, int, str]], new: Collection[Key]
) -> None:
    """Add visits to the tallies of their patterns; of what a visit found, `new` was not known.

    Patterns belong to one host, which is locked.
    """
    counted = [
        (visit, queue)
        for visit, queue, _ in closed
        if visit.novelty is not None and visit.state is not State.PENDING and visit.entry.pattern
    ]
    if not counted:
        return
    places = {(queue, visit.entry.pattern) for visit, queue in counted}
    places |= {
        (queue, pattern)
        for visit, queue in counted
        for pattern in finds_of_own_pattern(visit).values()
    }
    rows = db.rows(SQL["tallies"], columns(list(places), ("queues", "patterns")))
    tallies = {(queue, pattern): Tally(*tally) for queue, pattern, *tally in rows}
    for visit, queue in counted:
        assert visit.novelty is not None
        own = visit.entry.pattern
        found = finds_of_own_pattern(visit)
        larger = {found[url_hash] for url_hash in found if (queue, url_hash) in new}
        for pattern in larger:
            if (queue, pattern) in tallies:
                tallies[queue, pattern] = tally_with_growth(tallies[queue, pattern])
        tally = tallies.get((queue, own), Tally())
        tallies[queue, own] = tally_with_visit(tally, visit.novelty, grew=own in larger)
    written = [(*place, *astuple(tally)) for place, tally in sorted(tallies.items(), key=_place)]
    db.send(SQL["put_tallies"], columns(written, _TALLY))


def write_exclusions(db: PostgresSession, found: Sequence[tuple[int, Sequence[Exclusion]]]) -> None:
    """Add what rules have kept out of jobs, with the first few examples of each."""
    excluded: dict[tuple[int, str], list[str]] = {}
    for job, exclusions in found:
        for exclusion in exclusions:
            excluded.setdefault((job, exclusion.rule), []).append(exclusion.url)
    if not excluded:
        return
    rows = [(*place, len(urls)) for place, urls in sorted(excluded.items())]
    so_far = db.rows(SQL["exclude"], columns(rows, ("jobs", "rules", "counts")))
    changed = []
    for job, rule, examples in so_far:
        before = examples_of(rule, examples)
        kept = with_examples(before, excluded[job, rule])
        if kept != before:
            changed.append((job, rule, json.dumps(kept, ensure_ascii=False)))
    if changed:
        db.send(SQL["exemplify"], columns(changed, ("jobs", "rules", "examples")))


def _close_columns(key: Key, visit: Settlement) -> tuple[object, ...]:
    return (
        *key, visit.state.value, visit.entry.depth, visit.outcome.value, visit.status,
        visit.detail, float(visit.settled_s), float(visit.due_s), visit.media_type,
        visit.body_bytes,
    )  # fmt: skip


def _place(item: tuple[tuple[int, str], Tally]) -> tuple[int, str]:
    return item[0]
