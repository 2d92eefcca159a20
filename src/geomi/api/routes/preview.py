"""Preview a page, follow a crawl's events, and the `scraping` operations of a knowledge base."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from http import HTTPStatus
from math import inf
from typing import Annotated

import orjson
from fastapi import APIRouter, Header, Query, Response
from starlette.responses import StreamingResponse

from geomi.api.guard import CallerDep, GuardedRoute, TenantServiceDep, needs
from geomi.api.routes.crawls import JobId, crawl_response, started_crawl_response
from geomi.api.schema.crawl import CrawlResponse
from geomi.api.schema.preview import (
    AddSitemapRequest,
    AddUrlRequest,
    PreviewRequest,
    PreviewResponse,
    SyncRequest,
    SyncResponse,
)
from geomi.api.schema.wire import RequestModel
from geomi.service.access import keys
from geomi.service.access.keys import Caller, KeyScope
from geomi.service.crawling import crawls, previews
from geomi.service.crawling.stream import EventKind, StreamEvent, follow, read_position
from geomi.service.service import ConcurrencyLimit

CHECK_S = 1.0  # a stream looks this often whether its key is still valid
READ, WRITE = needs(KeyScope.READ), needs(KeyScope.WRITE)

previewing = APIRouter(route_class=GuardedRoute, tags=["preview"])
contract = APIRouter(route_class=GuardedRoute, tags=["preview"])
router = APIRouter(route_class=GuardedRoute)

LastEvent = Annotated[
    str,
    Header(
        alias="Last-Event-ID",
        max_length=40,
        pattern=r"^(\d{1,18}-\d{1,18})?$",
        description="The id of the last event that you received.",
    ),
]


class FollowQuery(RequestModel):
    """How to follow a crawl."""

    follow: bool = True


@previewing.post(
    "/preview",
    operation_id="previewUrl",
    openapi_extra=WRITE,
    summary="Preview one page",
)
async def preview(asked: PreviewRequest, desk: TenantServiceDep) -> PreviewResponse:
    """Fetch a page in its host's turn and return its analysis; nothing is stored."""
    return PreviewResponse.of(
        await previews.preview(desk, asked.url, renders=asked.render_java_script)
    )


@contract.post(
    "/preview",
    operation_id="crawlerPreviewUrl",
    openapi_extra=WRITE,
    summary="Preview one page of your own website",
)
async def preview_by_contract(asked: PreviewRequest, desk: TenantServiceDep) -> PreviewResponse:
    """Fetch a page as the profile `knowledge-base` does, and return its analysis."""
    return PreviewResponse.of(
        await previews.preview(
            desk, asked.url, renders=asked.render_java_script, profile=crawls.CONTRACT_PROFILE
        )
    )


@router.get(
    "/crawls/{jobId}/events",
    operation_id="followCrawl",
    openapi_extra=READ,
    summary="Follow a crawl",
    tags=["crawls"],
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Server-sent events: `state`, `page` and `progress`.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
)
async def events(
    job_id: JobId,
    wanted: Annotated[FollowQuery, Query()],
    caller: CallerDep,
    last_event_id: LastEvent = "",
) -> StreamingResponse:
    """Stream the events of a crawl until it is over.

    `state` and `page` have ids: with `Last-Event-ID` a client resumes without a gap or a
    repetition. `progress` comes about every second. The stream ends when its key is revoked or
    expires. With `follow=false` the stream ends after the
    present state.
    """
    place, desk = read_position(last_event_id), caller.desk
    await crawls.find(desk, job_id)  # before the answer begins
    desk.streams.refuse_crowd()
    happening = follow(desk, job_id, place, waits=wanted.follow)
    return StreamingResponse(
        _lines(_while_valid(caller, happening), desk.streams),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


@router.post(
    "/scraping/addUrl",
    operation_id="scrapingAddUrl",
    status_code=HTTPStatus.ACCEPTED,
    openapi_extra=WRITE,
    summary="Collect one page",
    tags=["scraping"],
)
async def add_url(
    asked: AddUrlRequest, desk: TenantServiceDep, response: Response
) -> CrawlResponse:
    """Start a crawl of one page into a collection."""
    return await started_crawl_response(
        desk, await crawls.add_url(desk, asked.collection_id, asked.url), response
    )


@router.post(
    "/scraping/addSitemap",
    operation_id="scrapingAddSitemap",
    status_code=HTTPStatus.ACCEPTED,
    openapi_extra=WRITE,
    summary="Collect the pages that a sitemap lists",
    tags=["scraping"],
)
async def add_sitemap(
    asked: AddSitemapRequest, desk: TenantServiceDep, response: Response
) -> CrawlResponse:
    """Start a crawl of the pages that a sitemap lists, and of its site's front page."""
    job = await crawls.add_sitemap(
        desk, asked.collection_id, asked.sitemap_url, max_pages=asked.max_pages
    )
    return await started_crawl_response(desk, job, response)


@router.post(
    "/scraping/sync",
    operation_id="scrapingSync",
    status_code=HTTPStatus.ACCEPTED,
    openapi_extra=WRITE,
    summary="Update a collection",
    tags=["scraping"],
)
async def sync(asked: SyncRequest, desk: TenantServiceDep) -> SyncResponse:
    """Start again the crawls that filled a collection; unchanged pages are not fetched again."""
    jobs = await crawls.sync_collection(desk, asked.collection_id)
    return SyncResponse(crawls=tuple([await crawl_response(desk, job) for job in jobs]))


async def _while_valid(
    caller: Caller, happening: AsyncGenerator[StreamEvent, None]
) -> AsyncGenerator[StreamEvent, None]:
    """Pass events on until the key that asked for them is revoked or expires."""
    clock, checked_s = caller.desk.world.clock, -inf
    async with aclosing(happening):
        async for event in happening:
            if clock.now_s() - checked_s >= CHECK_S:
                if not await keys.still_opens(caller.desk.service, caller.key.id):
                    return
                checked_s = clock.now_s()
            yield event


async def _lines(
    happening: AsyncIterator[StreamEvent], places: ConcurrencyLimit
) -> AsyncIterator[bytes]:
    """Write events as `text/event-stream` has them, while the client listens."""
    with places.taken():
        async for event in happening:
            yield _line(event)


def _line(event: StreamEvent) -> bytes:
    if event.kind is EventKind.QUIET:
        return b": still here\n\n"
    name = b"" if event.place is None else f"id: {event.place}\n".encode()
    data = orjson.dumps(event.data)
    return name + b"event: " + event.kind.value.encode() + b"\ndata: " + data + b"\n\n"
