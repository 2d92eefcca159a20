"""Enrich collected pages: make documents, cut them into chunks, and put these into the index.

A batch goes into the index, then into the documents. Vectors come after, in a loop of their own: a
page can be found by its words before a model has seen it (C-80).

Rules kept:
- A capture of a page replaces an earlier capture, never a later one.
- A cursor belongs to a version of the job's rules, the engines and the chunking. Under another
  version all pages of the job are analysed again.
- A failing page affects no other page; its document says what went wrong. Nor does a page that
  kills its process: after two deaths it is rehearsed in the process that can be killed.
- Where a page keeps a preview, its whole text is erased once it was read for the last time. Its
  document stays until there is another text.
- Pages that a job found gone leave the index when the job ends and no process has a page of it in
  hand. The job's entries tell which; a page that another job has captured since stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace

from geomi.engine import jobs
from geomi.engine.enrich.document import DocumentMaker, MadeDocument
from geomi.engine.enrich.follower import PAGES_PER_SHARE, CaptureFollower, ReadCapture
from geomi.engine.enrich.language_model import LanguageModels, ModelAdvisor
from geomi.engine.enrich.vectors import LOCAL, EmbedderPrice, JobEmbedder
from geomi.engine.in_hand import in_hand
from geomi.engine.inspect.alarms import count_chunks, judge_chunks
from geomi.engine.visit.preview_text import SpooledTexts, erase_expired_texts, was_read_whole
from geomi.engine.visit.record import read_line
from geomi.engine.world import World, wait_for_event
from geomi.errors import StoreError
from geomi.model.config import CrawlConfig
from geomi.model.event import Enriched, Warned
from geomi.model.index.document import DocumentFilter, DocumentRow, DocumentState, document_id
from geomi.model.index.search import IndexScope
from geomi.model.job import CrawlJob, JobState
from geomi.model.page import CaptureRow
from geomi.model.verdict import Outcome, State
from geomi.model.worker import ALONE_AFTER, POISONED_AFTER, WorkInHand, WorkKind
from geomi.ports.index import Index
from geomi.ports.models import Embedder
from geomi.ports.runtime import Rehearsal, RehearsedBody

MAX_JOBS = 10_000
# How often it is looked whether a crawl has brought more.
LOOK_S = 1.0
SWEEP_S = 600.0
ENTRIES_PER_READ = 1000
MOST_SUSPECTS = 10_000
REHEARSAL_S = 20.0
# Where models are paid, a process that is killed loses less of their work.
PAID_PAGES_PER_SHARE = 8
# Cursors whose lengths say that a job was looked through, and that its chunks were judged.
GONE_CURSOR = "gone"
JUDGED_CURSOR = "chunks judged"
_GONE = frozenset({Outcome.GONE, Outcome.SOFT_404, Outcome.NOINDEX})


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """Where pages are put so that they are found, and which models have a say."""

    index: Index
    panel: LanguageModels | None = None
    embedder: Embedder | None = None
    embedder_price: EmbedderPrice = LOCAL


async def enrich_all(
    world: World, search_index: SearchIndex, *, only: str = "", leave: asyncio.Event | None = None
) -> int:
    """Enrich all that the jobs of a store have collected so far; return how many pages.

    Args:
        only: the one job that is meant.
        leave: set by whoever does not want to wait for the end; the batch under way is kept.
    """
    leave = leave or asyncio.Event()
    wanted = await _wanted(world, only)
    done = 0
    for job in wanted:
        done += await enrich_words(world, search_index, job, leave)
    for job in wanted:
        await enrich_vectors(world, search_index, job, leave)
    return done


async def enrich_words(
    world: World, search_index: SearchIndex, job: CrawlJob, leave: asyncio.Event
) -> int:
    """Let what a job has collected so far be found by its words; return how many pages."""
    follower = enrich_follower(world, search_index, job)
    done = await follower.catch_up(leave)
    if _is_ending(job) and not await follower.is_behind():
        await remove_gone_pages(world, search_index.index, job)
        # A service raises alarms for its own jobs.
        if job.state.is_final and not job.collection:
            await _warn_about_chunks(world, job)
    return done


async def _warn_about_chunks(world: World, job: CrawlJob) -> None:
    """Warn about measures outside their bands; of several processes one does."""
    pages = world.store.pages
    after, length = await pages.cursor(job.id, JUDGED_CURSOR)
    if length or not await pages.advance(job.id, JUDGED_CURSOR, after=after, seq=1, length=1):
        return
    for alarm in judge_chunks(await count_chunks(world, job)):
        world.sink.emit(Warned(job.id, f"alarm {alarm.rule}: {alarm.message}"))


async def enrich_vectors(
    world: World, search_index: SearchIndex, job: CrawlJob, leave: asyncio.Event
) -> None:
    """Let it be found by its meaning, where an embedder is asked."""
    if search_index.embedder is not None:
        await embed_follower(world, search_index, search_index.embedder, job).catch_up(leave)


async def is_job_behind(world: World, search_index: SearchIndex, job: CrawlJob) -> bool:
    """Return whether a page of a job cannot be found yet, by its words or by its meaning."""
    followers = [enrich_follower(world, search_index, job)]
    if search_index.embedder is not None:
        followers.append(embed_follower(world, search_index, search_index.embedder, job))
    return any([await follower.is_behind() for follower in followers])


async def is_behind(world: World, search_index: SearchIndex) -> bool:
    """Return whether anything that was collected cannot be found yet."""
    for job in await _wanted(world, ""):
        if await enrich_follower(world, search_index, job).is_behind():
            return True
    return False


async def enrich_continuously(
    world: World, search_index: SearchIndex, leave: asyncio.Event, *, only: str = ""
) -> None:
    """Enrich new pages until a signal ends it; also delete expired texts."""
    swept_s = world.clock.now_s()
    while not leave.is_set():
        if not await enrich_all(world, search_index, only=only, leave=leave):
            await wait_for_event(leave, LOOK_S)
        if world.clock.now_s() - swept_s > SWEEP_S:
            await erase_expired_texts(world)
            swept_s = world.clock.now_s()


async def enrich_again(
    world: World, search_index: SearchIndex, *, only: str = "", is_lost: bool = False
) -> None:
    """Enrich all pages once more.

    Args:
        is_lost: the index is gone, so that a preview is better than nothing; else jobs that keep
            previews stay as they are, because nothing as good could be made of them.
    """
    for job in await _wanted(world, only):
        if job.config.store.is_preview and not is_lost:
            continue
        await world.store.documents.delete(DocumentFilter(job=job.id))
        await enrich_follower(world, search_index, job).rewind()
        for name in (GONE_CURSOR, JUDGED_CURSOR):
            after, _ = await world.store.pages.cursor(job.id, name)
            await world.store.pages.advance(job.id, name, after=after, seq=0, length=0)
        if search_index.embedder is not None:
            await embed_follower(world, search_index, search_index.embedder, job).rewind()


async def change_rules(
    world: World, changed: Callable[[CrawlConfig], CrawlConfig], *, only: str = ""
) -> None:
    """Change the analysis rules of jobs; their pages are then analysed again."""
    for job in await _wanted(world, only):
        await world.store.jobs.update(replace(job, config=changed(job.config)))


async def is_index_lost(world: World, search_index: SearchIndex) -> bool:
    """Return whether the index is gone that documents were put into."""
    if (await search_index.index.count()).documents:
        return False
    return any(counts.indexed for counts in await world.store.documents.collections())


def enrich_follower(world: World, search_index: SearchIndex, job: CrawlJob) -> CaptureFollower:
    """Return what enriches the pages of a job."""
    panel = search_index.panel
    maker = _maker(search_index, job)
    advisor = ModelAdvisor(world, job, panel) if panel else None
    texts = SpooledTexts(world, job)
    is_last = search_index.embedder is None
    work = JobEnricher(world, search_index.index, maker, texts, advisor, is_last=is_last)
    pages = PAID_PAGES_PER_SHARE if panel else PAGES_PER_SHARE
    return CaptureFollower(world, job.id, _enrich_name(maker), work.on, pages=pages)


def embed_follower(
    world: World, search_index: SearchIndex, embedder: Embedder, job: CrawlJob
) -> CaptureFollower:
    """Return what gives the pages of a job their vectors, once their words are indexed."""
    work = JobEmbedder(
        world,
        search_index.index,
        embedder,
        DocumentMaker(job),
        SpooledTexts(world, job),
        search_index.embedder_price,
    )
    behind = _enrich_name(_maker(search_index, job))
    return CaptureFollower(world, job.id, work.name, work.on, behind=behind)


def _maker(search_index: SearchIndex, job: CrawlJob) -> DocumentMaker:
    panel = search_index.panel
    return DocumentMaker(job, advisers=panel.name_for(job.config) if panel else "")


def _enrich_name(maker: DocumentMaker) -> str:
    return f"enrich {maker.version}"


async def _wanted(world: World, only: str) -> list[CrawlJob]:
    """List the jobs whose pages are to be found, the oldest first."""
    if only:
        return [await jobs.find(world, only)]
    newest = await world.store.jobs.list(limit=MAX_JOBS)
    return [job for job in reversed(newest) if job.config.analysis.index]


class JobEnricher:
    """The enrichment of the captures of one job.

    Args:
        is_last: nothing reads their whole texts after this.
    """

    def __init__(
        self,
        world: World,
        index: Index,
        maker: DocumentMaker,
        texts: SpooledTexts,
        advisor: ModelAdvisor | None,
        *,
        is_last: bool,
    ) -> None:
        self._world = world
        self._index = index
        self._maker = maker
        self._texts = texts
        self._advisor = advisor
        self._is_last = is_last

    async def on(self, read: Sequence[ReadCapture]) -> None:
        """Understand a batch and put it where it is found."""
        newest = {one.row.id: one async for one in self._understand(read)}.values()
        await self._index.put([one.document for one in newest if one.document])
        await self._index.adopt(self._maker.job, [one.row.id for one in newest if one.is_same])
        for one in newest:
            if one.document is None and not one.is_same:  # it may have been found until now
                await self._index.delete(IndexScope.DOCUMENT, one.row.id)
        await self._world.store.documents.put([one.row for one in newest])
        if self._is_last:
            await self._texts.clear(read)
        states = [one.row.state for one in newest]
        self._world.sink.emit(
            Enriched(
                self._maker.job,
                indexed=states.count(DocumentState.INDEXED),
                skipped=states.count(DocumentState.SKIPPED),
                failed=states.count(DocumentState.FAILED),
            )
        )

    async def _understand(self, read: Sequence[ReadCapture]) -> AsyncIterator[MadeDocument]:
        known = await self._world.store.documents.known([self._maker.name(row) for row, _ in read])
        found = await self._world.store.suspects.list(WorkKind.DOCUMENT, limit=MOST_SUSPECTS)
        suspects = {suspect.name: suspect for suspect in found}
        for row, record in read:
            capture, version = known.get(self._maker.name(row), (-1, ""))
            if capture > row.seq or (capture == row.seq and self._maker.covers(version)):
                continue
            name = self._maker.url_hash(row)
            work = WorkInHand(self._world.store.tenant, WorkKind.DOCUMENT, name, row.url)
            deaths = suspects[name].deaths if name in suspects else 0
            doing = self._understand_with_care(row, record, deaths)
            yield await in_hand(self._world.mark, work, doing)
            await asyncio.sleep(0)  # others in this process have work, too

    async def _understand_with_care(
        self, row: CaptureRow, record: bytes, deaths: int
    ) -> MadeDocument:
        """Understand a page, with more care where processes have died of it, or give it up."""
        maker, now_s = self._maker, self._world.clock.wall_s()
        died = f"{deaths} processes died while they had it in hand"
        if deaths >= POISONED_AFTER:
            return maker.poisoned(row, died, now_s=now_s)
        if deaths >= ALONE_AFTER:
            what = Rehearsal(RehearsedBody.DOCUMENT, analysis=maker.rules)
            body = await self._texts.whole(record) or record
            unread = await self._world.compute.rehearse(what, body, deadline_s=REHEARSAL_S)
            if unread is not None:
                return maker.poisoned(row, f"{died}, and then {unread.reason}", now_s=now_s)
        made = await self._understand_one(row, record)
        if deaths:
            await self._world.store.suspects.clear(WorkKind.DOCUMENT, maker.url_hash(row))
        return made

    async def _understand_one(self, row: CaptureRow, record: bytes) -> MadeDocument:
        now_s, maker = self._world.clock.wall_s(), self._maker
        try:
            whole = await self._texts.whole(record)
            if whole is None and (same := await self._made_of_same(row, record)) is not None:
                return maker.unchanged(row, same, now_s=now_s)
            page = maker.read(record, whole, now_s=now_s)
            analysis = page.analysis
            if self._advisor is not None and page.is_whole:
                analysis = await self._advisor.advise(page.subject, analysis, maker.rules)
            return maker.kept(row, page, analysis)
        except StoreError:
            raise
        except Exception as error:  # a fault of ours must cost this page alone
            return maker.failed(row, error, now_s=now_s)

    async def _made_of_same(self, row: CaptureRow, record: bytes) -> DocumentRow | None:
        """Return the document of a page if it was made of the whole of the same text."""
        known = await self._world.store.documents.get(self._maker.name(row))
        return known if was_read_whole(known, read_line(record)["content_hash"]) else None


async def remove_gone_pages(world: World, index: Index, job: CrawlJob) -> int:
    """Take out what a job that ends found gone; return how many documents that were."""
    if not _is_ending(job) or (await world.store.pages.cursor(job.id, GONE_CURSOR))[1]:
        return 0
    taken = 0
    async for url_hash in _gone(world, job):
        document = document_id(job.config.analysis.collection, url_hash)
        known = await world.store.documents.get(document)
        if known is not None and not await _is_younger(world, known.job, job):
            await index.delete(IndexScope.DOCUMENT, document)
            taken += await world.store.documents.drop([document])
    if job.state.is_final:  # one that ends may yet have to go on
        await world.store.pages.advance(job.id, GONE_CURSOR, after=0, seq=0, length=1)
    return taken


def _is_ending(job: CrawlJob) -> bool:
    return job.state.is_final or job.state is JobState.FINALIZING


async def _gone(world: World, job: CrawlJob) -> AsyncIterator[bytes]:
    for state in (State.FAILED, State.SKIPPED):
        after = b""
        while entries := await world.store.census.entries(
            job.id, state=state, after=after, limit=ENTRIES_PER_READ
        ):
            after = entries[-1].url_hash
            for entry in entries:
                if entry.outcome in _GONE:
                    yield entry.url_hash


async def _is_younger(world: World, name: str, job: CrawlJob) -> bool:
    """Return whether a document's job began after this one."""
    found = await world.store.jobs.get(name)
    return found is not None and found.created_at_s > job.created_at_s
