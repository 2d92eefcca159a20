"""Questions about the frontier, and the burial of dead owners' leases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from geomi.adapters.store.accounting.hosts import HostRow, end_dead_lease, free_s
from geomi.adapters.store.tables.census import check_prefix, entries_shown
from geomi.frontier.region import RegionMap, regions_of
from geomi.model.entry import (
    MAX_LOOKED_AT,
    EntryFilter,
    EntryKind,
    EntryPage,
    RemainingWork,
    ResponseTimes,
    Tally,
    UrlEntry,
    WaitingRegion,
)
from geomi.model.history import FIRST_CURSOR, PageCursor
from geomi.model.index.document import DocumentState, StatusCount, document_id
from geomi.model.page import PageRecord
from geomi.model.site import HostView, OutcomeCount, RequestWindow
from geomi.model.verdict import Outcome, State
from geomi.ports.frontier import EntryEnding
from tests.contracts.reference.claim import batch_left, hosts_left, pages_left
from tests.contracts.reference.windows import windows
from tests.contracts.reference.world import Book, World


class MemoryCensus:
    """`ports.frontier.Census` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def outlook(self, job: str, *, now_s: float) -> RemainingWork:
        """Say what is left of a job and when the next of it is due."""
        book = self._world.find_book(job, self._tenant)
        if book is None:
            return RemainingWork(pending=0, leased=0, next_s=None)
        by_state = Counter(entry.state for entry in _entries(book))
        return RemainingWork(
            pending=by_state[State.PENDING],
            leased=sum(row.leased for row in self._world.lent(job, now_s)),
            next_s=self._next_s(book, now_s) if book.is_active else None,
            by_state={state: many for state, many in by_state.items() if many},
        )

    async def entry(self, job: str, url_hash: bytes, *, host: str | None = None) -> UrlEntry | None:
        """Find one URL of a job."""
        book = self._world.find_book(job, self._tenant)
        found = (entry for entry in _entries(book) if entry.url_hash == url_hash)
        return next((entry for entry in found if host in (None, entry.host)), None)

    async def entries(
        self, job: str, *, state: State | None, after: bytes, limit: int
    ) -> list[UrlEntry]:
        """List a job's entries in the order of their hashes."""
        every = _entries(self._world.find_book(job, self._tenant))
        asked = (
            entry for entry in every if entry.url_hash > after and state in (None, entry.state)
        )
        return sorted(asked, key=lambda entry: entry.url_hash)[:limit]

    async def exclusions(self, job: str) -> Mapping[str, tuple[int, tuple[str, ...]]]:
        """Return how often each rule kept a link out, with some examples."""
        book = self._world.find_book(job, self._tenant)
        return dict(sorted(book.excluded.items())) if book else {}

    async def patterns(self, job: str) -> list[tuple[str, str, Tally]]:
        """List (host, pattern, tally) of a job's counted patterns, the most visited first."""
        book = self._world.find_book(job, self._tenant)
        queues = book.queues.values() if book else ()
        found = [(q.host, name, tally) for q in queues for name, tally in q.patterns.items()]
        return sorted(found, key=lambda one: (-one[2].visited, one[0], one[1]))

    async def qualities(self, job: str, *, thin_words: int) -> list[OutcomeCount]:
        """Count a job's pages by host, outcome and the way their content was found."""
        found: dict[tuple[str, Outcome, str], list[PageRecord | None]] = {}
        for entry in _entries(self._world.find_book(job, self._tenant)):
            if entry.kind is EntryKind.PAGE and entry.outcome is not None:
                is_kept = entry.state is State.COMPLETED
                page = self._world.pages.get((self._tenant, entry.url_hash)) if is_kept else None
                key = entry.host, entry.outcome, page.strategy if page else ""
                found.setdefault(key, []).append(page)
        return [_quality(*key, pages, thin_words) for key, pages in sorted(found.items())]

    async def outcomes(self, job: str) -> Mapping[EntryEnding, int]:
        """Count a job's entries by state, outcome and status."""
        entries = _entries(self._world.find_book(job, self._tenant))
        return Counter((entry.state, entry.outcome, entry.status) for entry in entries)

    async def statuses(self, job: str, *, collection: str) -> list[StatusCount]:
        """Count a job's entries by state and by what became of their documents."""
        found: dict[tuple[State, bool, DocumentState | None], list[int]] = {}
        for entry in _entries(self._world.find_book(job, self._tenant)):
            is_page = entry.kind is EntryKind.PAGE
            name = document_id(collection, entry.url_hash)
            is_kept = is_page and entry.state is State.COMPLETED
            row = self._world.documents.get((self._tenant, name)) if is_kept else None
            key = entry.state, is_page, row.state if row else None
            found.setdefault(key, []).append(row.chunks if row else 0)
        return [StatusCount(*key, len(chunks), sum(chunks)) for key, chunks in found.items()]

    async def rows(
        self, job: str, which: EntryFilter, *, after: PageCursor = FIRST_CURSOR, limit: int
    ) -> EntryPage:
        """List some entries of a job in an order that stays."""
        check_prefix(which)
        book = self._world.find_book(job, self._tenant)
        places = {
            (queue.number, url_hash): queue.tallied(entry)
            for queue in (book.queues.values() if book else ())
            for url_hash, entry in queue.entries.items()
        }
        walk = sorted(place for place in places if place > after)
        edge = walk[MAX_LOOKED_AT - 1] if len(walk) >= MAX_LOOKED_AT else None
        found = [place for place in walk[:MAX_LOOKED_AT] if _is_meant(places[place], which)]
        found = found[: entries_shown(limit)]
        is_full = bool(found) and len(found) == entries_shown(limit)
        return EntryPage(tuple(places[place] for place in found), found[-1] if is_full else edge)

    async def leases(self, host: str) -> int:
        """Return how often a host was lent."""
        return self._world.host(host).token

    async def response_times(self, job: str, *, limit: int) -> ResponseTimes:
        """Return how long the pages of a job took to answer, and which of its hosts are slowest."""
        book = self._world.find_book(job, self._tenant)
        told = {queue.host: queue.answers for queue in (book.queues.values() if book else ())}
        means = {host: one.seconds / one.answers for host, one in told.items() if one.answers}
        answers = sum(one.answers for one in told.values())
        seconds = sum(one.seconds for one in told.values())
        slowest = sorted(means.items(), key=lambda one: (-one[1], one[0]))
        return ResponseTimes(
            mean_s=seconds / answers if answers else None,
            slowest=tuple(slowest[: entries_shown(limit)]),
        )

    async def regions(self, job: str) -> list[WaitingRegion]:
        """Count what waits of a job by the regions that serve it; nothing where it names none."""
        book = self._world.find_book(job, self._tenant)
        if book is None or not book.job.config.regions.are_named:
            return []
        rules = RegionMap(book.job.config.regions)
        hosts, urls = Counter[str](), Counter[str]()
        for queue in book.queues.values():
            if queue.pending:
                hosts[rules.label(queue.host)] += 1
                urls[rules.label(queue.host)] += len(queue.pending)
        return [
            WaitingRegion(regions_of(label), hosts[label], urls[label]) for label in sorted(hosts)
        ]

    async def hosts(self, *, after: str = "", limit: int) -> list[HostView]:
        """List the hosts that the tenant's own jobs have met, by name."""
        own = (book for book in self._world.books.values() if book.job.tenant == self._tenant)
        names = sorted({host for book in own for host in book.queues if host > after})
        return [_view(self._world.host(host)) for host in names[: entries_shown(limit)]]

    async def windows(self, domain: str, *, now_s: float) -> list[RequestWindow]:
        """List the counts of requests to a domain that have not expired, the newest first."""
        return windows(self._world.minutes, domain, now_s=now_s)

    async def floor_s(self, host: str) -> float:
        """Return the longest delay among the active jobs of a host."""
        return self._world.demands_on(host).floor_s

    async def release_dead(self, owners: Sequence[str], *, now_s: float) -> int:
        """End the leases of owners known to be dead."""
        world = self._world
        held = [row for row in world.hosts.values() if row.owner in owners]
        for row in held:
            world.put_host(end_dead_lease(row, world.demands_on(row.state.host), now_s=now_s))
        for task in world.seed_tasks.values():
            if task.owner in owners and task.ready_s is not None:
                task.ready_s = min(task.ready_s, now_s)
        return len(held)

    def _next_s(self, book: Book, now_s: float) -> float | None:
        """Return the earliest time at which a queue can be lent."""
        world = self._world
        ready_s = book.job.batch.ready_s
        rooms = (pages_left, hosts_left, batch_left)
        if any(room(world, book, now_s) <= 0 for room in rooms):
            ends_s = [max(ready_s, row.lease_until_s) for row in world.lent(book.job.id, now_s)]
            return min(ends_s, default=None)
        times_s = (
            max(
                ready_s,
                q.ready_s,
                free_s(world.host(q.host), world.demands_on(q.host)),
                q.first_due_s(),
            )
            for q in book.queues.values()
            if q.pending
        )
        return min(times_s, default=None)


def _entries(book: Book | None) -> list[UrlEntry]:
    queues = book.queues.values() if book else ()
    return [queue.tallied(entry) for queue in queues for entry in queue.entries.values()]


def _is_meant(entry: UrlEntry, which: EntryFilter) -> bool:
    return (
        which.state in (None, entry.state)
        and which.outcome in (None, entry.outcome)
        and entry.url.startswith(which.prefix)
    )


def _view(row: HostRow) -> HostView:
    state = row.state
    return HostView(
        state.host,
        row.next_s,
        state.crawl_delay_s,
        state.backoff_s,
        state.errors,
        state.latency_s,
        state.ip,
    )


def _quality(
    host: str, outcome: Outcome, strategy: str, pages: Sequence[PageRecord | None], thin_words: int
) -> OutcomeCount:
    kept = [page for page in pages if page is not None]
    return OutcomeCount(
        host,
        outcome,
        strategy,
        pages=len(pages),
        confidence=sum(page.confidence for page in kept) / (len(kept) or 1),
        thin=sum(page.fingerprint.words < thin_words for page in kept),
        duplicates=sum(page.duplicate_reason is not None for page in kept),
    )
