"""What became of the URLs of a crawl, as a tenant sees it (C-43, C-75).

The frontier knows whether a URL was fetched, the documents whether its page can be found. A tenant
is shown one status over both: a page that was fetched and not understood yet is being processed,
one that was decided against is skipped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from geomi.engine.naming import Naming
from geomi.model.document import DocumentRow, DocumentState, document_id
from geomi.model.entry import EntryFilter, EntryKind, UrlEntry
from geomi.model.history import Place
from geomi.model.job import CrawlJob
from geomi.model.verdict import Outcome, State
from geomi.service.open import Desk
from geomi.text.digest import sha256_hex
from geomi.url.parse import split

# Entries looked at for one page of a list: a status that is rare makes short pages, not slow ones.
MAX_SCANNED = 2000
AT_ONCE = 200
PLACE = re.compile(r"[0-9a-f]{32}")


class UrlStatus(StrEnum):
    """The statuses of FRN-13; `queued` is part of `pending` here, which a lease alone tells."""

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
    after: bytes | None


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


@dataclass(frozen=True, slots=True)
class UrlRun:
    """Some URLs by how they ended, and where the next begin; None at the end."""

    rows: tuple[UrlRow, ...]
    after: Place | None


async def browse(
    desk: Desk, job: CrawlJob, which: EntryFilter, *, after: Place, limit: int
) -> UrlRun:
    """List URLs of a crawl by state, outcome and beginning; a part may be short."""
    found = await desk.world.census.rows(job.id, which, after=after, limit=limit)
    return UrlRun(tuple([await _row(desk, job, entry) for entry in found.entries]), found.after)


async def page(
    desk: Desk, job: CrawlJob, status: UrlStatus | None, *, after: bytes, limit: int
) -> UrlPage:
    """List URLs of a crawl in the order of their hashes; a page may be shorter than asked for."""
    rows: list[UrlRow] = []
    scanned = 0
    state = _STATES.get(status) if status else None
    while scanned < MAX_SCANNED:
        entries = await desk.world.census.entries(job.id, state=state, after=after, limit=AT_ONCE)
        for entry in entries:
            row = await _row(desk, job, entry)
            after, scanned = entry.url_hash, scanned + 1
            if status in (None, row.status):
                rows.append(row)
            if len(rows) == limit:
                return UrlPage(tuple(rows), after)
        if len(entries) < AT_ONCE:
            return UrlPage(tuple(rows), None)
    return UrlPage(tuple(rows), after)


def status_of(entry: UrlEntry, document: DocumentRow | None, job: CrawlJob) -> UrlStatus:
    """Return the one status over what the frontier and the documents say."""
    if entry.state is not State.COMPLETED or entry.kind is not EntryKind.PAGE:
        return UrlStatus(entry.state.value)
    if document is not None:
        return _BY_DOCUMENT[document.state]
    is_awaited = job.config.analysis.index and not job.state.is_final
    return UrlStatus.PROCESSING if is_awaited else UrlStatus.COMPLETED


async def _row(desk: Desk, job: CrawlJob, entry: UrlEntry) -> UrlRow:
    name = document_id(job.config.analysis.collection, entry.url_hash)
    is_page = entry.state is State.COMPLETED and entry.kind is EntryKind.PAGE
    document = await desk.world.documents.get(name) if is_page else None
    key = Naming(job.config).key(split(entry.url))
    return UrlRow(entry, sha256_hex(key), status_of(entry, document, job), document)
