"""Read a job back: its records in the order of commits, and the committed end of each segment.

Everything that is derived from a crawl can be made again from here. Bytes behind a segment's
committed end come from a worker that died, or from one that is still writing. They are never read.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from geomi.engine.visit.record import read_line
from geomi.engine.world import World
from geomi.fetch.request import product_token, user_agent
from geomi.model.index.document import document_id
from geomi.model.job import CrawlJob
from geomi.model.page import CaptureRow
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.ports.store import Pages
from geomi.url.parse import Url

ROWS_PER_READ = 500


async def records(world: World, job: str, *, is_public: bool = False) -> AsyncIterator[bytes]:
    """Return the committed records of a job, the oldest first.

    Args:
        is_public: leave out pages that geomi signed in for.
    """
    async for rows in captures(world.store.pages, job):
        for row in rows:
            record = await world.archive.read(row.record)
            if not (is_public and was_signed_in(record)):
                yield record


def was_signed_in(record: bytes) -> bool:
    """Return whether geomi signed in for a page."""
    return read_line(record)["metadata"].get("signed_in") is True


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """A page in the archive.

    Args:
        response: head and body as the server sent them; empty where a job has none of its own.
    """

    url: str
    record: bytes
    response: bytes


async def archived_pages(
    world: World, job: str, *, is_public: bool = False
) -> AsyncIterator[ArchivedPage]:
    """Return the committed pages of a job with their responses, as `records` does."""
    async for rows in captures(world.store.pages, job):
        for row in rows:
            record = await world.archive.read(row.record)
            if is_public and was_signed_in(record):
                continue
            response = await world.archive.read(row.response) if row.response else b""
            yield ArchivedPage(row.url, record, response)


async def analysis_of(world: World, job: CrawlJob, url_hash: bytes) -> bytes:
    """Return the analysis of a page of a job as JSON; empty where nobody has analysed it.

    The document of a page is that of its newest capture; another job's is not this one's.
    """
    name = document_id(job.config.analysis.collection, url_hash)
    document = await world.store.documents.get(name)
    is_ours = document is not None and document.job == job.id
    return document.analysis if document is not None and is_ours else b""


async def robots_of(world: World, job: CrawlJob, url: Url) -> RobotsCopy | None:
    """Return the newest robots.txt that was fetched for a URL under a job's name."""
    token = product_token(user_agent(job.config, version=world.version))
    return await world.store.robots.get(RobotsKey(url.scheme, url.authority, token))


async def segment_ends(pages: Pages, job: str) -> dict[str, int]:
    """Return each segment of a job with its committed length; a page's record is its last byte."""
    ends: dict[str, int] = {}
    async for rows in captures(pages, job):
        for place in (row.record for row in rows):
            end = place.offset + place.length
            ends[place.segment] = max(end, ends.get(place.segment, 0))
    return ends


async def captures(pages: Pages, job: str) -> AsyncIterator[Sequence[CaptureRow]]:
    """Return the committed captures of a job, some at a time, the oldest first."""
    after = 0
    while rows := await pages.feed(job, after=after, limit=ROWS_PER_READ):
        yield rows
        after = rows[-1].seq
