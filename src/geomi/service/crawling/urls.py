"""List the URLs of a crawl with one status each, as a tenant sees them (C-43, C-75).

The frontier knows whether a URL was fetched, the documents whether search finds its page. A tenant
sees one status over both: a page that is fetched and not yet enriched is `processing`, a page that
geomi does not index is `skipped`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from geomi.engine.visit.identity import UrlIdentity
from geomi.model.entry import EntryFilter, EntryKind, UrlEntry
from geomi.model.history import FIRST_CURSOR, PageCursor
from geomi.model.index.document import DocumentRow, DocumentState, document_id
from geomi.model.job import CrawlJob
from geomi.model.verdict import Outcome, State
from geomi.service.service import TenantService
from geomi.text.identifiers import sha256_hex
from geomi.url.parse import split

# How often more is looked for: a status that is rare makes short pages, not slow ones.
LOOKS = 10
DAY_S = 86_400.0
PLACE = re.compile(r"(\d{1,18})-([0-9a-f]{32})?")


class UrlStatus(StrEnum):
    """The statuses of FRN-13; `queued` is part of `pending` here."""

    PENDING = "pending"
    QUEUED = "queued"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class UrlRow:
    """One URL of a crawl.

    Args:
        url_hash: SHA-256 of what makes it that URL, in full.
        document: what was understood of its page, if it was.
    """

    entry: UrlEntry
    url_hash: str
    status: UrlStatus
    document: DocumentRow | None = None

    @property
    def is_unchanged(self) -> bool:
        """Whether its site said that nothing had changed."""
        return self.entry.outcome is Outcome.NOT_MODIFIED


@dataclass(frozen=True, slots=True)
class UrlPage:
    """Some URLs, and where the next begin; None at the end."""

    rows: tuple[UrlRow, ...]
    after: PageCursor | None


@dataclass(frozen=True, slots=True)
class UrlFilter:
    """Which URLs are meant; an empty value is no condition."""

    status: UrlStatus | None = None
    outcome: Outcome | None = None
    prefix: str = ""


# Where entries of a status are to be looked for; the others may be anywhere.
_STATES: dict[UrlStatus, State] = {
    UrlStatus.PENDING: State.PENDING,
    UrlStatus.QUEUED: State.PENDING,
    UrlStatus.PROCESSING: State.COMPLETED,
    UrlStatus.COMPLETED: State.COMPLETED,
    UrlStatus.BLOCKED: State.BLOCKED,
}

_BY_DOCUMENT = {
    DocumentState.INDEXED: UrlStatus.COMPLETED,
    DocumentState.SKIPPED: UrlStatus.SKIPPED,
    DocumentState.FAILED: UrlStatus.FAILED,
}


async def page(
    desk: TenantService,
    job: CrawlJob,
    which: UrlFilter,
    *,
    after: PageCursor = FIRST_CURSOR,
    limit: int,
) -> UrlPage:
    """List URLs of a crawl, by host; a page may be shorter than asked for."""
    rows: list[UrlRow] = []
    state = _STATES.get(which.status) if which.status else None
    wanted = EntryFilter(state, which.outcome, which.prefix)
    for _ in range(LOOKS):
        found = await desk.world.store.census.rows(
            job.id, wanted, after=after, limit=limit - len(rows)
        )
        for entry in found.entries:
            row = await _row(desk, job, entry)
            if which.status in (None, row.status):
                rows.append(row)
        if found.after is None or len(rows) == limit:
            return UrlPage(tuple(rows), found.after)
        after = found.after
    return UrlPage(tuple(rows), after)


def status_of(
    state: State, document: DocumentState | None, job: CrawlJob, *, is_page: bool
) -> UrlStatus:
    """Return the one status over what the frontier and the documents say."""
    if state is not State.COMPLETED or not is_page:
        return UrlStatus(state.value)
    if document is not None:
        return _BY_DOCUMENT[document]
    is_awaited = job.config.analysis.index and not job.state.is_final
    return UrlStatus.PROCESSING if is_awaited else UrlStatus.COMPLETED


async def end_s(desk: TenantService, job: CrawlJob) -> int | None:
    """Return when the URLs of a job are deleted at the earliest (wall clock); None: not known.

    All jobs of a crawl are kept until its last run is old enough.
    """
    rules, store = job.config.retention, desk.world.store
    terms = [days * DAY_S for days in (rules.urls_days, rules.jobs_days) if days]
    runs = await store.histories.runs(job.crawl or job.id) if terms else []
    last = await store.jobs.get(runs[-1]) if runs else None
    if last is None or not last.state.is_final:
        return None
    return round((last.ended_at_s or last.created_at_s) + min(terms))


def place_text(place: PageCursor) -> str:
    """Write a place in a list of URLs."""
    return f"{place[0]}-{place[1].hex()}"


def read_place(text: str) -> PageCursor:
    """Read a place that `PLACE` matches; empty is the beginning."""
    match = PLACE.fullmatch(text)
    return (int(match[1]), bytes.fromhex(match[2] or "")) if match else FIRST_CURSOR


async def _row(desk: TenantService, job: CrawlJob, entry: UrlEntry) -> UrlRow:
    name = document_id(job.config.analysis.collection, entry.url_hash)
    is_page = entry.state is State.COMPLETED and entry.kind is EntryKind.PAGE
    document = await desk.world.store.documents.get(name) if is_page else None
    key = UrlIdentity(job.config).key(split(entry.url))
    status = status_of(
        entry.state,
        document.state if document else None,
        job,
        is_page=entry.kind is EntryKind.PAGE,
    )
    return UrlRow(entry, sha256_hex(key), status, document)
