"""Closing visits: fate, children, page, counters and the host's politeness, or nothing of them.

A visit is written if its host still has the token it was lent with, its job is there, and it was
not written before: an entry that has ended, or was tried since, stays as it is. What comes under a
lost token writes nothing but the log of its requests, which did happen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from geomi.adapters.store.accounting.budget import JobTerms, QueueRoom, beside
from geomi.adapters.store.accounting.counters import (
    all_asked,
    count,
    finds_of_own_pattern,
    tally_with_growth,
    tally_with_visit,
    total,
    with_examples,
)
from geomi.adapters.store.accounting.hosts import HostRow, close, update
from geomi.adapters.store.accounting.opic import pays
from geomi.frontier.state import check_visit
from geomi.model.entry import (
    Batch,
    Discovered,
    EntryKind,
    HostUpdate,
    Novelty,
    Settled,
    Settlement,
    Tally,
    UrlEntry,
)
from geomi.model.job import CrawlStats
from geomi.model.page import PageRecord
from geomi.model.verdict import Exclusion, State
from tests.contracts.reference.cash import inherit_cash, settle_cash
from tests.contracts.reference.log import write_log
from tests.contracts.reference.quotas import count_usage
from tests.contracts.reference.recrawl import write_learned
from tests.contracts.reference.world import Book, Queue, World


def settle(world: World, batch: Batch, *, tenant: str, max_queued: int) -> Settled:
    """Write a batch; return which hosts were lost and how many URLs were new.

    Args:
        max_queued: how many URLs of all jobs may wait; 0 is no limit.
    """
    lost: dict[str, None] = {}
    visits: dict[str, list[Settlement]] = {}
    terms: dict[str, JobTerms] = {}
    for visit in batch.settlements:
        check_visit(visit.entry.state, visit.outcome, visit.state)
        book = world.find_book(visit.entry.job, tenant)
        if book is None or world.host(visit.entry.host).token != visit.token:
            lost[visit.entry.host] = None
            continue
        if book.job.id not in terms:
            terms[book.job.id] = _terms(world, book, max_queued)
        if _close(world, book, visit):
            visits.setdefault(book.job.id, []).append(visit)
    new_urls, left_out = 0, set[bytes]()
    for job, closed in visits.items():
        new, refused = _add_finds(world, world.books[job], terms[job], closed)
        new_urls, left_out = new_urls + new, left_out | refused
        settle_cash(world.books[job], terms[job], closed)
    all_closed = [visit for closed in visits.values() for visit in closed]
    count_usage(world, tenant, all_closed, wall_s=batch.wall_s)
    lost |= _write_hosts(world, all_closed, batch.hosts)
    write_log(world, all_asked(batch))
    return Settled(lost=tuple(lost), new_urls=new_urls, left_out=frozenset(left_out))


def add(world: World, book: Book, urls: Sequence[Discovered], *, now_s: float) -> int:
    """Put URLs into a job's queues; return how many were new."""
    terms = book.terms()
    new = [url for url in urls if _add(world, book, url, now_s)]
    inherit_cash(book, terms, [(url.host, url.url_hash) for url in new])
    return len(new)


def _terms(world: World, book: Book, max_queued: int) -> JobTerms:
    terms = book.terms()
    if not max_queued:
        return terms
    others = (one for one in world.books.values() if one is not book)
    waiting = sum(one.terms().waiting for one in others if not one.job.state.is_final)
    return beside(terms, waiting, overall=max_queued)


def _add_finds(
    world: World, book: Book, terms: JobTerms, visits: Sequence[Settlement]
) -> tuple[int, set[bytes]]:
    """Put what visits found into a job's queues, as far as there is room."""
    by_host: dict[str, list[tuple[Discovered, float]]] = {}
    for visit in visits:
        for url in visit.discovered:
            by_host.setdefault(url.host, []).append((url, visit.settled_s))
    waiting = terms.waiting - sum(map(pays, visits))
    rooms = QueueRoom(terms.budget, waiting, book.waiting_on, book.waiting_of)
    new, left_out = 0, set[bytes]()
    for host, found in by_host.items():
        queue = world.open_queue(book, host)
        for url, found_s in found:
            if url.url_hash in left_out:
                continue
            limit = "" if url.url_hash in queue.entries else rooms.take(url)
            if limit:
                left_out.add(url.url_hash)
                _exclude(book, [Exclusion(limit, url.url)])
            else:
                new += _add(world, book, url, found_s)
    return new, left_out


def _close(world: World, book: Book, visit: Settlement) -> bool:
    """Write one visit, unless it was written before."""
    queue = book.queues.get(visit.entry.host)
    entry = queue.pending.get(visit.entry.url_hash) if queue else None
    if queue is None or entry is None or entry.attempts != visit.entry.attempts:
        return False
    _end(queue, entry, visit)
    queue.answers = queue.answers.plus(visit.answers)
    book.job = replace(book.job, stats=total((book.job.stats, count(visit))))
    _exclude(book, visit.excluded)
    if visit.page is not None:
        _keep(world, book, visit.page)
    if visit.novelty is not None and visit.state is not State.PENDING and entry.pattern:
        _count(queue, entry.pattern, visit, visit.novelty)
    if visit.refusal is not None:
        world.refusals[book.job.tenant, visit.refusal.url_hash] = visit.refusal
    if visit.learned is not None:
        write_learned(world, book.job.tenant, visit, visit.learned)
    return True


def _count(queue: Queue, pattern: str, visit: Settlement, novelty: Novelty) -> None:
    """Add a visit to its pattern; others of its kind may have grown by it."""
    larger = {
        of for url_hash, of in finds_of_own_pattern(visit).items() if url_hash not in queue.entries
    }
    for other in larger & queue.patterns.keys():
        queue.patterns[other] = tally_with_growth(queue.patterns[other])
    tally = queue.patterns.get(pattern, Tally())
    queue.patterns[pattern] = tally_with_visit(tally, novelty, grew=pattern in larger)


def _end(queue: Queue, entry: UrlEntry, visit: Settlement) -> None:
    # It came nearer while it was lent: its links were taken from farther away.
    is_reopened = _is_complete_page(visit.state, entry) and entry.depth < visit.entry.depth
    ended = replace(
        entry,
        state=State.PENDING if is_reopened else visit.state,
        outcome=visit.outcome,
        status=visit.status,
        detail=visit.detail,
        media_type=visit.media_type,
        body_bytes=visit.body_bytes,
        settled_s=visit.settled_s,
        due_s=visit.due_s,
        attempts=entry.attempts + 1,
    )
    queue.entries[entry.url_hash] = ended
    if ended.state is State.PENDING:
        queue.pending[entry.url_hash] = ended
    else:
        del queue.pending[entry.url_hash]


def _exclude(book: Book, excluded: Sequence[Exclusion]) -> None:
    for exclusion in excluded:
        before, kept = book.excluded.get(exclusion.rule, (0, ()))
        book.excluded[exclusion.rule] = (before + 1, with_examples(kept, (exclusion.url,)))


def reopen(world: World, book: Book) -> int:
    """Let the links of every page that a job has kept be followed anew; return how many pages."""
    total = 0
    for queue in book.queues.values():
        kept = [one for one in queue.entries.values() if _is_complete_page(one.state, one)]
        for entry in kept:
            _make_ready(queue, world.host(queue.host).next_s)
            queue.reopen(replace(entry, state=State.PENDING, due_s=0.0))
        total += len(kept)
    return total


def _keep(world: World, book: Book, page: PageRecord) -> None:
    world.last_capture += 1
    book.captures[world.last_capture] = page
    world.pages[book.job.tenant, page.url_hash] = page


def _write_hosts(
    world: World, visits: Sequence[Settlement], changes: Sequence[HostUpdate]
) -> dict[str, None]:
    """Write the hosts' politeness, and end the leases that are given back; return the lost ones."""
    lost: dict[str, None] = {}
    changed: dict[str, HostRow] = {}
    for visit in visits:
        host = visit.entry.host
        changed[host] = close(changed.get(host) or world.host(host), [visit])
    for change in changes:
        host = change.lease.host
        row = changed.get(host) or world.host(host)
        if row.token == change.lease.token:
            changed[host] = update(row, change)
        else:
            lost[host] = None
    for row in changed.values():
        world.put_host(row)
    return lost


def _add(world: World, book: Book, url: Discovered, now_s: float) -> bool:
    queue, next_s = world.open_queue(book, url.host), world.host(url.host).next_s
    known = queue.entries.get(url.url_hash)
    if known is None:
        entry = _entry_of(url, book.job.id, now_s)
        _make_ready(queue, max(now_s, next_s))
        book.job = replace(book.job, stats=total((book.job.stats, CrawlStats(discovered=1))))
    elif url.depth >= known.depth:
        return False
    elif known.state is State.PENDING:
        entry = _approach(known, url)
    elif _is_complete_page(known.state, known):
        _make_ready(queue, next_s)
        queue.reopen(replace(_approach(known, url), state=State.PENDING, due_s=0.0))
        return False
    else:
        return False
    queue.entries[url.url_hash] = queue.pending[url.url_hash] = entry
    return known is None


def _approach(known: UrlEntry, url: Discovered) -> UrlEntry:
    return replace(known, depth=url.depth, priority=max(known.priority, url.priority))


def _make_ready(queue: Queue, ready_s: float) -> None:
    """Let a queue with one more entry be looked at as soon as its host is free."""
    queue.ready_s = min(queue.ready_s, ready_s) if queue.pending else ready_s


def _is_complete_page(state: State, entry: UrlEntry) -> bool:
    """Whether an entry has links to follow anew when it comes nearer to the seeds."""
    return state is State.COMPLETED and entry.kind is EntryKind.PAGE


def _entry_of(url: Discovered, job: str, now_s: float) -> UrlEntry:
    return UrlEntry(
        job=job,
        url_hash=url.url_hash,
        url=url.url,
        host=url.host,
        depth=url.depth,
        priority=url.priority,
        source=url.source,
        kind=url.kind,
        parent=url.parent,
        origin=url.origin,
        hops=url.hops,
        state=State.PENDING,
        attempts=0,
        due_s=0.0,
        discovered_s=now_s,
        nesting=url.nesting,
        pattern=url.pattern,
        lastmod_s=url.lastmod_s,
    )
