"""A server that is told to end: who follows a crawl is let go at once, and misses nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

from geomi.service.crawling import crawls
from geomi.service.crawling.crawls import CrawlOrder
from geomi.service.crawling.stream import EventKind, StreamPosition, follow
from tests.api.asking import serving
from tests.support.waiting import waits

LONGEST_S = 10.0
ORDER = CrawlOrder("handbook", ("http://localhost:8080/",))


@waits
async def test_a_stream_ends_when_the_service_does_and_is_resumed_where_it_was(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as ground, asyncio.timeout(LONGEST_S):
        desk = ground.desk
        job = await crawls.start(desk, ORDER)
        stream = follow(desk, job.id, StreamPosition())
        assert (await anext(stream)).kind is EventKind.PROGRESS
        told = await anext(stream)
        assert told.data["status"] == "pending" and told.place is not None
        ground.service.leaving.set()
        assert [event async for event in stream] == []
        ground.service.leaving.clear()
        again = follow(desk, job.id, told.place, waits=False)
        assert [event.kind async for event in again] == [EventKind.PROGRESS]
