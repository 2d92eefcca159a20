"""Visit a page that the tenant has already, and learn how often it changes.

Rules kept for the request:
- A page is asked for conditionally only if its record can be read back and was made under the rules
  of this job. Otherwise a 304 would leave the job without a page.
- Where previews are kept, the whole text that still waits to be indexed waits for this job, too,
  and no longer than before. A page is asked for whole only if its text was lost to the index.
- An unchanged page is a page of this job. It gets its own record, with the place and time of this
  visit and the content of the last. Its links are followed (HTTP-08, CHG-09).
- Its fingerprint, status and size stay those of the visit that brought it.

Rules kept for its history:
- A page has changed when the hash of its main text differs from the stored one (CHG-01, C-95).
  Equal bytes are the same page, whatever is read of them now. Where a job removes personal data
  there is no hash of the bytes: its text is compared only with text of the same rules.
- A page that its site no longer shows is gone: it is kept with a date, and visited again (C-38).
- A visit that brought no answer about the page teaches nothing about its changes.
- A recrawl follows a link only to a page that is new to the crawl, or that a sitemap says has
  changed. Everything else waits until it is due.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from geomi.engine.visit.endings import ClosedVisit
from geomi.engine.visit.preview_text import UNTIL, waiting_s, waiting_text, was_read_whole
from geomi.engine.visit.record import (
    UNPLACED,
    Metadata,
    RecordFields,
    duplicate_fields,
    links_of,
    read_line,
    reading_rules,
    signal_fields,
    write_line,
)
from geomi.engine.world import World
from geomi.errors import BytesMissing, StoreError
from geomi.fetch.request import conditions
from geomi.model.entry import Discovered, EntryKind, Settlement, UrlEntry
from geomi.model.history import ChangePool, HistoryUpdate, PageHistory, Version
from geomi.model.index.document import document_id
from geomi.model.job import CrawlJob
from geomi.model.page import Capture, Duplicate, Fetched, Fingerprint, Headers, PageLink, PageRecord
from geomi.model.robots import Signal, Signals
from geomi.model.verdict import Outcome, State
from geomi.recrawl.due import due_s
from geomi.recrawl.rate import Belief, Gap, believe, change_pattern, learn
from geomi.url.parse import display

# An entry that ended so and waits again was found on a shorter way: its links lie less deep now.
KEPT_OUTCOMES = frozenset({Outcome.OK, Outcome.DUPLICATE, Outcome.NOT_MODIFIED})
_OF_ONE_VISIT = frozenset(
    {"duplicate_of", "duplicate_reason", "similarity", "not_modified", "signals", UNTIL}
)
# The site has answered, and the page that we have is not there any more.
NO_LONGER = frozenset(
    {
        Outcome.GONE,
        Outcome.SOFT_404,
        Outcome.EMPTY,
        Outcome.NOINDEX,
        Outcome.WRONG_TYPE,
        Outcome.REDIRECTED,
        Outcome.REDIRECT_EXCLUDED,
    }
)
# A rule said no before anything was asked for.
NOT_ASKED = frozenset({Outcome.EXCLUDED, Outcome.TRAPPED, Outcome.LEFT_ALONE})
MAX_DATE_CHARS = 64


@dataclass(frozen=True, slots=True)
class EarlierPage:
    """A page of an earlier visit.

    Args:
        fields: its record, read back; None where it cannot be used again.
        whole: the record with all of its text, where it has a preview and the text still waits.
    """

    page: PageRecord
    fields: RecordFields | None
    whole: RecordFields | None = None

    @property
    def links(self) -> tuple[PageLink, ...]:
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
class UnchangedVisit:
    """A visit that found a page as it was; `signals` are those that hold from now on."""

    entry: UrlEntry
    fetched: Fetched
    duplicate: Duplicate | None
    signals: Signals
    fetched_at_s: float
    due_s: float


class Revisits:
    """What one job does with pages that its tenant has."""

    def __init__(self, world: World, job: CrawlJob) -> None:
        config = job.config
        self._world = world
        self._http = config.http
        self._collection = config.analysis.collection
        self._needs_whole = waiting_s(config) > 0
        self._is_indexed = bool(job.collection)  # a service indexes all that it collects
        self.rules = reading_rules(config, world.markdown_rules, version=world.version)

    async def known(self, entry: UrlEntry) -> EarlierPage | None:
        """Find what is stored of an entry; only a record that this job would write is read."""
        if entry.kind is not EntryKind.PAGE or not entry.is_known:
            return None
        page = await self._world.store.pages.get(entry.url_hash)
        if page is None:
            return None
        if not (conditions(page, page.final_url, self._http) and _has_sketch(page)):
            return EarlierPage(page, None)
        record = await self._read_back(page)
        fields = read_line(record) if record else None
        if record is None or fields is None or _rules_of(fields) != self.rules:
            return EarlierPage(page, None)
        return await self._with_text(page, record, fields)

    async def again(self, entry: UrlEntry) -> EarlierPage | None:
        """Read a page of this job back, whatever the rules it was made under."""
        page = await self._world.store.pages.get(entry.url_hash)
        record = await self._read(page) if page else None
        return EarlierPage(page, read_line(record) if record else None) if page else None

    def conditions(self, earlier: EarlierPage | None, url: str) -> Headers:
        """Return what a request for a URL says of the page that is stored."""
        if earlier is None or earlier.fields is None:
            return ()
        return conditions(earlier.page, url, self._http)

    async def _with_text(
        self, page: PageRecord, record: bytes, fields: RecordFields
    ) -> EarlierPage:
        """Return a page with its whole text, if it waits; one whose text is lost is fetched anew.

        It is lost if its document was made of the preview. Where nobody indexes, nobody misses it.
        """
        if not self._needs_whole:
            return EarlierPage(page, fields)
        name = document_id(self._collection, page.url_hash)
        document = await self._world.store.documents.get(name)
        if was_read_whole(document, page.fingerprint.content_hash):
            return EarlierPage(page, fields)
        wall_s, whole = self._world.clock.wall_s(), None
        with suppress(StoreError):  # a bucket that is away costs no page
            whole = await waiting_text(self._world, page.record.job, record, wall_s=wall_s)
        if whole:
            return EarlierPage(page, fields, read_line(whole))
        is_lost = document is not None or self._is_indexed
        return EarlierPage(page, None if is_lost else fields)

    async def _read_back(self, page: PageRecord) -> bytes | None:
        try:
            return await self._read(page)
        except StoreError:  # its job was deleted, or its segment is lost: the page is fetched anew
            return None

    async def _read(self, page: PageRecord) -> bytes | None:
        """Read a record; `BytesMissing` where its segment is not here, or not yet."""
        try:
            return await self._world.archive.read(page.record)
        except BytesMissing:
            raise
        except StoreError:
            return None


class ChangeTracker:
    """What one job learns of pages that its tenant has."""

    def __init__(self, world: World, job: CrawlJob) -> None:
        self._world = world
        self._rules = job.config.recrawl
        self._removes = job.config.safety.removes
        self._reading = reading_rules(job.config, world.markdown_rules, version=world.version)
        self._crawl = job.crawl

    @property
    def is_again(self) -> bool:
        """Whether the job visits a crawl again."""
        return bool(self._crawl)

    async def learn(self, visit: ClosedVisit, before: PageRecord) -> ClosedVisit:
        """Add to a visit of a known page what it has taught."""
        settled = visit.settlement
        if settled.state is State.PENDING:  # the next try tells
            return visit
        learned = await self._learned(settled, before)
        page = replace(settled.page, due_s=learned.due_s) if settled.page else None
        return replace(visit, settlement=replace(settled, page=page, learned=learned))

    async def put_off(self, visit: ClosedVisit) -> ClosedVisit:
        """Let a page that was put back, and not asked for after all, be due later."""
        settled = visit.settlement
        before = await self._world.store.pages.get(settled.entry.url_hash)
        if before is None or settled.outcome not in NOT_ASKED:
            return visit
        return await self.learn(visit, before)

    async def only_news(self, visit: ClosedVisit) -> ClosedVisit:
        """Leave out what a visit found that the crawl has met, unless it is known to differ."""
        settled = visit.settlement
        pages = [found for found in settled.discovered if found.kind is EntryKind.PAGE]
        if not pages:
            return visit
        met = await self._world.store.histories.met(self._crawl, pages)
        news = tuple(
            found
            for found in settled.discovered
            if found.kind is not EntryKind.PAGE or _is_news(found, met.get(found.url_hash))
        )
        return replace(visit, settlement=replace(settled, discovered=news))

    async def _learned(self, settled: Settlement, before: PageRecord) -> HistoryUpdate:
        entry, now_s = settled.entry, self._world.clock.wall_s()
        histories = await self._world.store.histories.of([entry.url_hash])
        history = histories.get(entry.url_hash) or PageHistory(before.fetched_at_s, visits=1)
        pattern = change_pattern(entry.url)
        pools = await self._world.store.histories.pools(entry.host, ("", pattern))

        def belief(of: PageHistory) -> Belief:
            kin, host = pools.get(pattern, ChangePool()), pools.get("", ChangePool())
            return believe(of, kin, host, now_s=now_s, rules=self._rules)

        is_other = await self._is_other(settled, before)
        gap = Gap(
            from_s=max(history.visited_at_s, before.fetched_at_s),
            to_s=now_s,
            changed=_changed(settled, history, is_other=is_other),
            modified_at_s=_modified_s(settled),
            is_gone=settled.page is None,
        )
        known, evidence = learn(history, gap, belief(history))
        again_s = due_s(
            now_s, known, belief(known), self._rules, gap_s=gap.length_s, depth=entry.depth
        )
        old = Version(before.fingerprint.content_hash, gap.from_s) if is_other else None
        return HistoryUpdate(known, again_s, pattern, evidence, old)

    async def _is_other(self, settled: Settlement, before: PageRecord) -> bool | None:
        """Say whether a page says something else than before; None where that cannot be told."""
        if settled.page is None or not _differ(settled.page.fingerprint, before.fingerprint):
            return False
        return True if await self._is_comparable(before) else None

    async def _is_comparable(self, before: PageRecord) -> bool:
        """Whether a page was hashed as this job does it: by its bytes, or under the same rules."""
        earlier = await self._world.store.jobs.get(before.record.job)
        if earlier is not None and not (self._removes or earlier.config.safety.removes):
            return True
        try:
            record = await self._world.archive.read(before.record)
        except StoreError:  # also where its bytes are not here yet
            return False
        return _rules_of(read_line(record)) == self._reading


def last_seen(earlier: EarlierPage | None) -> str:
    """Say of a page that is gone when it was last there."""
    return f"collected on {_time(earlier.page.fetched_at_s):%Y-%m-%d}, gone now" if earlier else ""


def unchanged_row(earlier: EarlierPage, visit: UnchangedVisit) -> PageRecord:
    """Make the store's row of a page that has not changed, not yet placed in the archive."""
    fetched = visit.fetched
    return replace(
        earlier.page,
        url=visit.entry.url,
        fetched_at_s=visit.fetched_at_s,
        due_s=visit.due_s,
        record=UNPLACED,
        response=None,  # the answer that has it lies in the archive of an earlier job
        etag=fetched.header("etag") or earlier.page.etag,
        last_modified=fetched.header("last-modified") or earlier.page.last_modified,
        duplicate_of=visit.duplicate.of if visit.duplicate else "",
        duplicate_reason=visit.duplicate.reason if visit.duplicate else None,
    )


def unchanged_capture(earlier: EarlierPage, visit: UnchangedVisit) -> Capture:
    """Make this job's record of a page that has not changed."""
    fields = earlier.fields
    assert fields is not None, "a condition is sent only where the record was read back"
    record = _of_this_visit(fields, visit)
    if earlier.whole is None:
        return Capture(visit.fetched.url, visit.fetched_at_s, write_line(record), fetched=None)
    record["metadata"][UNTIL] = fields["metadata"][UNTIL]  # it waits no longer than before
    whole = write_line(_of_this_visit(earlier.whole, visit))
    return Capture(visit.fetched.url, visit.fetched_at_s, write_line(record), None, whole)


def _of_this_visit(fields: RecordFields, visit: UnchangedVisit) -> RecordFields:
    """Return the record of an earlier visit as that of one that found the same."""
    entry = visit.entry
    lasting = {key: value for key, value in fields["metadata"].items() if key not in _OF_ONE_VISIT}
    return {
        **fields,
        "url": entry.origin or entry.url,
        "url_display": display(entry.origin or entry.url),
        "fetched_at": _time(visit.fetched_at_s),
        "depth": entry.depth,
        "parent": entry.parent,
        "source": entry.source,
        "fetch_ms": visit.fetched.fetch_ms,
        "metadata": lasting | _told(visit) | {"not_modified": True},
    }


def _rules_of(fields: RecordFields) -> object:
    return fields["metadata"].get("extracted_with")


def _has_sketch(page: PageRecord) -> bool:
    """Whether a page can be compared with others; those of an older geomi are fetched once more."""
    return bool(page.fingerprint.sketch) or not page.fingerprint.exact_key


def _told(visit: UnchangedVisit) -> Metadata:
    told = duplicate_fields(visit.duplicate) | signal_fields(visit.signals)
    return told | ({"signed_in": True} if visit.fetched.signed_in else {})


def _time(at_s: float) -> datetime:
    return datetime.fromtimestamp(at_s, UTC)


def _changed(settled: Settlement, history: PageHistory, *, is_other: bool | None) -> bool | None:
    """Say whether a page is another than at its last visit; None where that cannot be told."""
    if settled.page is not None:
        return True if history.gone_at_s is not None else is_other
    if settled.outcome in NO_LONGER:
        return history.gone_at_s is None
    return None


def _differ(now: Fingerprint, then: Fingerprint) -> bool:
    """Whether two texts differ, and not only in how they were read of the same bytes."""
    return now.content_hash != then.content_hash and now.html_hash != then.html_hash


def _modified_s(settled: Settlement) -> float | None:
    """Return when a page changed by its own word or its sitemap's."""
    text = settled.page.last_modified if settled.page else ""
    if not text or len(text) > MAX_DATE_CHARS:
        return settled.entry.lastmod_s
    try:
        at = parsedate_to_datetime(text)
        return at.replace(tzinfo=at.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError):
        return settled.entry.lastmod_s


def _is_news(found: Discovered, collected_s: float | None) -> bool:
    if collected_s is None:
        return True
    return bool(collected_s and found.lastmod_s and found.lastmod_s > collected_s)
