"""Crawls: start, show, list, cancel, pause, resume, repeat, delete.

A crawl is started by `starting` under `/api/v1`, and by `contract` under `/crawler`, where other
defaults hold. All else, `router`, is the same for both; only the operations have other names,
because a name stands once in the document.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from fastapi.routing import APIRoute
from starlette.responses import StreamingResponse

from geomi.api.guard import GuardedRoute, TenantServiceDep, needs
from geomi.api.paging import cut_to_limit, decode_cursor, encode_cursor
from geomi.api.schema.alarms import CrawlQualityResponse
from geomi.api.schema.crawl import (
    ContractCrawlRequest,
    CrawlChange,
    CrawlListQuery,
    CrawlListResponse,
    CrawlRequest,
    CrawlResponse,
    UrlListQuery,
    UrlListResponse,
    UrlResponse,
)
from geomi.api.schema.wire import ULID
from geomi.engine.inspect.alarms import judge_job
from geomi.model.job import CrawlJob, JobFilter
from geomi.service.access.keys import KeyScope
from geomi.service.crawling import crawls, exports, urls
from geomi.service.service import TenantService

router = APIRouter(route_class=GuardedRoute, tags=["crawls"])
starting = APIRouter(route_class=GuardedRoute, tags=["crawls"])
contract = APIRouter(route_class=GuardedRoute, tags=["crawls"])

JobId = Annotated[str, Path(alias="jobId", pattern=ULID, examples=["01KA5Q2V7Z3M9X4C8B6N1D0E5F"])]
READ, WRITE = needs(KeyScope.READ), needs(KeyScope.WRITE)


@starting.post(
    "/crawls",
    operation_id="startCrawl",
    status_code=HTTPStatus.ACCEPTED,
    openapi_extra=WRITE,
    summary="Start a crawl",
)
async def start(asked: CrawlRequest, desk: TenantServiceDep, response: Response) -> CrawlResponse:
    """Create a crawl; it is `pending` until the tenant may run another crawl.

    The service creates a missing collection.
    """
    return await started_crawl_response(desk, await crawls.start(desk, asked.order()), response)


@contract.post(
    "/crawls",
    operation_id="crawlerStartCrawl",
    status_code=HTTPStatus.ACCEPTED,
    openapi_extra=WRITE,
    summary="Start a crawl of your own website",
)
async def start_by_contract(
    asked: ContractCrawlRequest, desk: TenantServiceDep, response: Response
) -> CrawlResponse:
    """Create a crawl with the profile `knowledge-base`, unless the request names another.

    It is `pending` until the tenant may run another crawl. The service creates a missing
    collection.
    """
    return await started_crawl_response(desk, await crawls.start(desk, asked.order()), response)


@router.get(
    "/crawls", operation_id="listCrawls", openapi_extra=READ, summary="List crawls, newest first"
)
async def list_crawls(
    wanted: Annotated[CrawlListQuery, Query()], desk: TenantServiceDep
) -> CrawlListResponse:
    """List the tenant's crawls; the list may be limited to a collection or a state."""
    which = JobFilter(wanted.collection_id or "", wanted.status)
    before = decode_cursor(wanted.cursor, crawls.JOB_ID)
    found = await crawls.page(desk, which, before=before, limit=wanted.limit + 1)
    shown, cursor = cut_to_limit(found, wanted.limit, lambda job: job.id)
    return CrawlListResponse(
        crawls=tuple([await crawl_response(desk, job) for job in shown]), next_cursor=cursor
    )


@router.get("/crawls/{jobId}", operation_id="getCrawl", openapi_extra=READ, summary="Show a crawl")
async def get(job_id: JobId, desk: TenantServiceDep) -> CrawlResponse:
    """Return a crawl with its counters."""
    return await crawl_response(desk, await crawls.find(desk, job_id))


@router.patch(
    "/crawls/{jobId}", operation_id="changeCrawl", openapi_extra=WRITE, summary="Change a crawl"
)
async def change(job_id: JobId, asked: CrawlChange, desk: TenantServiceDep) -> CrawlResponse:
    """Let the service keep a crawl's pages fresh or not, or give that another budget."""
    changed = await crawls.change_watch(
        desk, job_id, watch=asked.watch, requests_per_day=asked.requests_per_day
    )
    return await crawl_response(desk, changed)


@router.get(
    "/crawls/{jobId}/quality",
    operation_id="getCrawlQuality",
    openapi_extra=READ,
    summary="Judge a crawl",
)
async def quality(job_id: JobId, desk: TenantServiceDep) -> CrawlQualityResponse:
    """Return what is out of bounds of a crawl, and its chunks with their bands."""
    job = await crawls.find(desk, job_id)
    return CrawlQualityResponse.of(job.id, await judge_job(desk.world, job))


@router.get(
    "/crawls/{jobId}/export",
    operation_id="exportCrawl",
    openapi_extra=READ,
    response_class=StreamingResponse,
    responses={
        HTTPStatus.OK: {
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}
        }
    },
    summary="Download a crawl as a ZIP file",
)
async def export(job_id: JobId, desk: TenantServiceDep) -> StreamingResponse:
    """Return the pages of a crawl in the layout of a knowledge base.

    `crawls/{tenantId}/{jobId}/raw/{urlHash}.html` is a body as it came, where the crawl keeps it.
    `extracted/{urlHash}.json` is the record with its `analysis`. `robots/{domain}.txt` and
    `sitemaps/{domain}/{hash}.xml` are the files of its sites.
    """
    packed = await exports.export_crawl(desk, job_id)
    headers = {
        "Content-Disposition": f'attachment; filename="{job_id}.zip"',
        "Content-Length": str(packed.size),
    }
    return StreamingResponse(packed.chunks(), media_type="application/zip", headers=headers)


@router.delete(
    "/crawls/{jobId}",
    operation_id="deleteCrawl",
    status_code=HTTPStatus.NO_CONTENT,
    openapi_extra=WRITE,
    summary="Delete a crawl",
)
async def delete(job_id: JobId, desk: TenantServiceDep) -> None:
    """Delete a finished crawl with its pages and documents."""
    await crawls.delete(desk, job_id)


@router.post(
    "/crawls/{jobId}/cancel",
    operation_id="cancelCrawl",
    openapi_extra=WRITE,
    summary="Cancel a crawl",
)
async def cancel(job_id: JobId, desk: TenantServiceDep) -> CrawlResponse:
    """End a crawl for good, after its requests in flight. A finished crawl is a 409."""
    return await crawl_response(desk, await crawls.cancel(desk, job_id))


@router.post(
    "/crawls/{jobId}/pause", operation_id="pauseCrawl", openapi_extra=WRITE, summary="Pause a crawl"
)
async def pause(job_id: JobId, desk: TenantServiceDep) -> CrawlResponse:
    """Pause a crawl: it takes no more pages. Its status stays, and `paused` is true."""
    return await crawl_response(desk, await crawls.pause(desk, job_id))


@router.post(
    "/crawls/{jobId}/resume",
    operation_id="resumeCrawl",
    openapi_extra=WRITE,
    summary="Resume a crawl",
)
async def resume(job_id: JobId, desk: TenantServiceDep) -> CrawlResponse:
    """Resume a paused crawl, or one that a quota of the tenant ended."""
    return await crawl_response(desk, await crawls.resume(desk, job_id))


@router.post(
    "/crawls/{jobId}/retry",
    operation_id="retryCrawl",
    status_code=HTTPStatus.ACCEPTED,
    openapi_extra=WRITE,
    summary="Start the same crawl again",
)
async def retry(job_id: JobId, desk: TenantServiceDep, response: Response) -> CrawlResponse:
    """Start a new crawl with the seeds and the configuration of a finished crawl."""
    return await started_crawl_response(desk, await crawls.repeat(desk, job_id), response)


@router.get(
    "/crawls/{jobId}/urls",
    operation_id="getCrawlUrls",
    openapi_extra=READ,
    summary="List the URLs of a crawl",
)
async def list_urls(
    job_id: JobId, wanted: Annotated[UrlListQuery, Query()], desk: TenantServiceDep
) -> UrlListResponse:
    """List the URLs of a crawl with their results, by status, outcome or beginning."""
    job = await crawls.find(desk, job_id)
    which = urls.UrlFilter(wanted.status, wanted.outcome, wanted.url_prefix)
    after = urls.read_place(decode_cursor(wanted.cursor, urls.PLACE))
    part = await urls.page(desk, job, which, after=after, limit=wanted.limit)
    # To the second: two readings are never the same, and what has not changed has the same ETag.
    ahead_s = round(desk.wall_s - desk.world.clock.now_s())
    end_s = await urls.end_s(desk, job)
    return UrlListResponse(
        urls=tuple(UrlResponse.of(row, job, ahead_s=ahead_s, end_s=end_s) for row in part.rows),
        next_cursor=None if part.after is None else encode_cursor(urls.place_text(part.after)),
    )


for shared in router.routes:
    assert isinstance(shared, APIRoute)
    name = shared.operation_id or shared.name
    contract.add_api_route(
        shared.path,
        shared.endpoint,
        methods=list(shared.methods or ()),
        operation_id=f"crawler{name[0].upper()}{name[1:]}",
        status_code=shared.status_code,
        response_class=shared.response_class,
        responses=shared.responses,
        summary=shared.summary,
        openapi_extra=shared.openapi_extra,
    )


async def crawl_response(desk: TenantService, job: CrawlJob) -> CrawlResponse:
    """Return a crawl as a response."""
    return CrawlResponse.of(job, await crawls.crawl_counts(desk, job))


async def started_crawl_response(
    desk: TenantService, job: CrawlJob, response: Response
) -> CrawlResponse:
    """Return a new crawl, and its place."""
    response.headers["Location"] = f"/api/v1/crawls/{job.id}"
    return await crawl_response(desk, job)
