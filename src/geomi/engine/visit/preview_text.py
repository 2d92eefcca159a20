"""Keep a preview of a page's text, and spool the whole text until it is indexed (C-39).

Rules kept:
- The archive gets the first 500 characters of the text. It gets nothing that repeats the text
  elsewhere: no headings, no link texts, no structured data.
- The whole record waits in the spool until its page is indexed or its time is over. The preview's
  own content names its spool file; nothing else has to be stored.
- A document made from a whole text is never replaced by one made from its preview.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import orjson

from geomi.analyse.fields.structured_data import STRUCTURED
from geomi.analyse.page_text import cut
from geomi.engine.enrich.follower import ReadCapture
from geomi.engine.visit.privacy import keeps_raw
from geomi.engine.visit.record import KeptPage, RecordFields, capture, read_line, write_line
from geomi.engine.world import World
from geomi.errors import StoreError, StoreFull
from geomi.model.config import CrawlConfig
from geomi.model.event import Warned
from geomi.model.index.document import DocumentRow, DocumentState
from geomi.model.index.search import PREVIEW_CHARS
from geomi.model.job import CrawlJob
from geomi.model.page import Capture
from geomi.text.identifiers import sha256_hex

# What a page says of itself in a tag of its head is short; what is longer is text.
MAX_TAG_CHARS = 200
NAME_CHARS = 32
UNTIL = "whole_until"

_REPEATING = frozenset({"headings", "things"})


def kept_capture(page: KeptPage, config: CrawlConfig) -> Capture:
    """Make what is archived of a page, and what waits beside it."""
    full = capture(page, raw=keeps_raw(config))
    if not config.store.is_preview:
        return full
    waits_s = waiting_s(config)
    until_s = page.fetched_at_s + waits_s if waits_s else None
    record = write_line(shortened(read_line(full.record), until_s=until_s))
    return replace(full, record=record, whole=full.record if waits_s else None)


def waiting_s(config: CrawlConfig) -> float:
    """Return how long a whole text may wait; 0 where it does not."""
    is_wanted = config.store.is_preview and config.analysis.index
    return config.store.whole_text_s if is_wanted else 0.0


def shortened(fields: RecordFields, *, until_s: float | None) -> RecordFields:
    """Return a record with a preview in place of its text.

    Args:
        until_s: when the whole text has to be gone (wall clock); None where it does not wait.
    """
    text = fields["markdown"]
    told = {name: value for name, value in fields["metadata"].items() if _is_short(name, value)}
    told |= {"preview_of": len(text)}
    if until_s is not None:
        told |= {UNTIL: int(until_s)}
    return {
        **fields,
        "title": cut(fields["title"], PREVIEW_CHARS),
        "description": cut(fields["description"], PREVIEW_CHARS),
        "markdown": cut(text, PREVIEW_CHARS),
        "links": [{**link, "text": ""} for link in fields["links"]],
        "metadata": told,
    }


def spool_name(record: bytes) -> str:
    """Return what the whole of a record waits under; empty where it never did."""
    until = read_line(record)["metadata"].get(UNTIL)
    return f"{until}-{sha256_hex(record)[:NAME_CHARS]}" if isinstance(until, int) else ""


async def waiting_text(
    world: World, job: str, record: bytes, *, wall_s: float = 0.0
) -> bytes | None:
    """Return the whole of a job's record, if it waits; not where its time was over before."""
    name = spool_name(record)
    if not name or int(name.partition("-")[0]) <= wall_s:
        return None
    return await world.spool.get(job, name)


def was_read_whole(document: DocumentRow | None, content_hash: str) -> bool:
    """Say whether a document was made of the whole of a text."""
    if document is None or document.state is DocumentState.FAILED:
        return False
    told: dict[str, object] = orjson.loads(document.analysis)
    return told.get("read") == read_note(content_hash, is_whole=True)


def read_note(content_hash: str, *, is_whole: bool) -> dict[str, object]:
    """Return what a document says of the text that it was made of."""
    return {"content_hash": content_hash, "is_whole": is_whole}


async def erase_expired_texts(world: World) -> None:
    """Erase whole texts whose time is over; where that cannot be now, the next one does it."""
    try:
        await world.spool.sweep(wall_s=world.clock.wall_s())
    except StoreError as error:
        world.sink.emit(Warned("", error.message, error.hint))


async def spool_texts(world: World, job: str, captures: Sequence[Capture]) -> None:
    """Let the whole texts of some pages wait to be indexed.

    A bucket that is away costs no page: those are found by their previews, and their next visit
    brings the text again.
    """
    waiting = {spool_name(one.record): one.whole for one in captures if one.whole}
    try:
        if waiting:
            await world.spool.put(job, waiting)
    except StoreFull:
        raise
    except StoreError as error:
        message = f"{len(waiting)} texts cannot wait to be indexed: {error.message}"
        world.sink.emit(Warned(job, message, "their pages are found by their previews for now"))


class SpooledTexts:
    """The whole texts of one job's pages, for whoever reads them to index them."""

    def __init__(self, world: World, job: CrawlJob) -> None:
        self._world = world
        self._job = job.id
        self._is_preview = job.config.store.is_preview

    async def whole(self, record: bytes) -> bytes | None:
        """Return the whole of a record; None where only its preview is left."""
        return await waiting_text(self._world, self._job, record) if self._is_preview else record

    async def clear(self, read: Sequence[ReadCapture]) -> None:
        """Erase the whole texts of records that need not be read again."""
        if self._is_preview:
            names = [name for _, record in read if (name := spool_name(record))]
            await self._world.spool.drop(self._job, names)


def _is_short(name: str, value: object) -> bool:
    if name in _REPEATING or name.startswith(STRUCTURED):
        return False
    return not isinstance(value, str) or len(value) <= MAX_TAG_CHARS or "://" in value[:12]
