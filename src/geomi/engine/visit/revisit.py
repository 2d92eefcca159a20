"""Visit a page that the tenant has already, and learn how often it changes.

Rules kept for the request:
- A page is asked for conditionally only if its record can be read back and was made under the rules
  of this job. Otherwise a 304 would leave the job without a page.
- A page of which a preview is kept is asked for conditionally only if it was indexed whole.
- An unchanged page is a page of this job. It gets its own record, with the place and time of this
  visit and the content of the last. Its links are followed (HTTP-08, CHG-09).
- Its fingerprint, status and size stay those of the visit that brought it.

Rules kept for its history:
- A page has changed when the hash of its main text differs from the stored one (CHG-01, C-95).
  Equal bytes are the same page, whatever is read of them now.
- A page that its site no longer shows is gone: it is kept with a date, and visited again (C-38).
- A visit that brought no answer about the page teaches nothing about its changes.
- A recrawl follows a link only to a page that is new to the crawl, or that a sitemap says has
  changed. Everything else waits until it is due.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from geomi.dedup.decide import Duplicate
from geomi.engine.visit.preview_text import UNTIL, was_read_whole
from geomi.engine.visit.record import (
    UNPLACED,
    Fields,
    Metadata,
    duplicate_fields,
    links_of,
    read_line,
    reading_rules,
    signal_fields,
    write_line,
)
from geomi.engine.world import World
from geomi.errors import BytesMissing, StoreError
from geomi.fetch.conditional import conditions
from geomi.model.config import CrawlConfig
from geomi.model.document import document_id
from geomi.model.entry import EntryKind, UrlEntry
from geomi.model.page import Capture, Fetched, Headers, Link, PageRecord
from geomi.model.signals import Signal, Signals
from geomi.model.verdict import Outcome

# An entry that ended so and waits again was found on a shorter way: its links lie less deep now.
KEPT = frozenset({Outcome.OK, Outcome.DUPLICATE, Outcome.NOT_MODIFIED})

_OF_ONE_VISIT = frozenset(
    {"duplicate_of", "duplicate_reason", "similarity", "not_modified", "signals", UNTIL}
)


@dataclass(frozen=True, slots=True)
class Known:
    """A page of an earlier visit.

    Args:
        fields: its record, read back; None where it cannot be used again.
    """

    page: PageRecord
    fields: Fields | None

    @property
    def links(self) -> tuple[Link, ...]:
        """The links the page had."""
        return links_of(self.fields) if self.fields else ()

    @property
    def text(self) -> str:
        """The text the page had, in the form that is stored."""
        return self.fields["markdown"] if self.fields else ""

    @property
    def canonical(self) -> str:
        """What the page named as canonical."""
        return str(self.fields["metadata"].get("canonical", "")) if self.fields else ""

    @property
    def nofollow(self) -> bool:
        """Whether the page asked that they are left alone."""
        return bool(self.fields and self.fields["metadata"].get("robots") == "nofollow")

    @property
    def signals(self) -> dict[str, Signal]:
        """What was said about its use when it was read."""
        told = self.fields["metadata"].get("signals") if self.fields else None
        if not isinstance(told, dict):
            return {}
        return {name: value for name, value in told.items() if isinstance(value, str | int)}


@dataclass(frozen=True, slots=True)
class Renewal:
    """A visit that found a page as it was; `signals` are those that hold from now on."""

    entry: UrlEntry
    fetched: Fetched
    duplicate: Duplicate | None
    signals: Signals
    fetched_at_s: float
    due_s: float


class Revisits:
    """What one job does with pages that its tenant has."""

    def __init__(self, world: World, config: CrawlConfig) -> None:
        self._world = world
        self._http = config.http
        self._collection = config.analysis.collection
        self._needs_whole = config.store.is_preview and config.analysis.index
        self.rules = reading_rules(config, world.markdown_rules, version=world.version)

    async def known(self, entry: UrlEntry) -> Known | None:
        """Find what is stored of an entry; only a record that this job would write is read."""
        if entry.kind is not EntryKind.PAGE or not entry.is_known:
            return None
        page = await self._world.pages.get(entry.url_hash)
        if page is None:
            return None
        if not (conditions(page, page.final_url, self._http) and _has_sketch(page)):
            return Known(page, None)
        fields = await self._read_back(page)
        is_ours = fields is not None and fields["metadata"].get("extracted_with") == self.rules
        return Known(page, fields if is_ours and await self._is_read(page) else None)

    async def again(self, entry: UrlEntry) -> Known | None:
        """Read a page of this job back, whatever the rules it was made under."""
        page = await self._world.pages.get(entry.url_hash)
        return Known(page, await self._read_line(page)) if page else None

    def conditions(self, known: Known | None, url: str) -> Headers:
        """Return what a request for a URL says of the page that is stored."""
        if known is None or known.fields is None:
            return ()
        return conditions(known.page, url, self._http)

    async def _is_read(self, page: PageRecord) -> bool:
        """Say whether nothing is left to be made of a page's whole text."""
        if not self._needs_whole:
            return True
        name = document_id(self._collection, page.url_hash)
        return was_read_whole(await self._world.documents.get(name), page.fingerprint.content_hash)

    async def _read_back(self, page: PageRecord) -> Fields | None:
        try:
            return await self._read_line(page)
        except StoreError:  # its job was deleted, or its segment is lost: the page is fetched anew
            return None

    async def _read_line(self, page: PageRecord) -> Fields | None:
        """Read a record; `BytesMissing` where its segment is not here, or not yet."""
        try:
            return read_line(await self._world.archive.read(page.record))
        except BytesMissing:
            raise
        except StoreError:
            return None


def _has_sketch(page: PageRecord) -> bool:
    """Whether a page can be compared with others; those of an older geomi are fetched once more."""
    return bool(page.fingerprint.sketch) or not page.fingerprint.exact_key


def past(known: Known | None) -> str:
    """Say of a page that is gone when it was last there."""
    return f"collected on {_time(known.page.fetched_at_s):%Y-%m-%d}, gone now" if known else ""


def renewed_row(known: Known, renewal: Renewal) -> PageRecord:
    """Make the store's row of a page that has not changed, not yet placed in the archive."""
    fetched = renewal.fetched
    return replace(
        known.page,
        url=renewal.entry.url,
        fetched_at_s=renewal.fetched_at_s,
        due_s=renewal.due_s,
        record=UNPLACED,
        response=None,  # the answer that has it lies in the archive of an earlier job
        etag=fetched.header("etag") or known.page.etag,
        last_modified=fetched.header("last-modified") or known.page.last_modified,
        duplicate_of=renewal.duplicate.of if renewal.duplicate else "",
        duplicate_reason=renewal.duplicate.reason if renewal.duplicate else None,
    )


def renewed_capture(known: Known, renewal: Renewal) -> Capture:
    """Make this job's record of a page that has not changed."""
    fields, entry, at_s = known.fields, renewal.entry, renewal.fetched_at_s
    assert fields is not None, "a condition is sent only where the record was read back"
    lasting = {key: value for key, value in fields["metadata"].items() if key not in _OF_ONE_VISIT}
    line = write_line(
        {
            **fields,
            "url": entry.origin or entry.url,
            "fetched_at": _time(at_s),
            "depth": entry.depth,
            "parent": entry.parent,
            "source": entry.source,
            "fetch_ms": renewal.fetched.fetch_ms,
            "metadata": lasting | _told(renewal) | {"not_modified": True},
        }
    )
    return Capture(renewal.fetched.url, at_s, line, fetched=None)


def _told(renewal: Renewal) -> Metadata:
    return duplicate_fields(renewal.duplicate) | signal_fields(renewal.signals)


def _time(at_s: float) -> datetime:
    return datetime.fromtimestamp(at_s, UTC)
