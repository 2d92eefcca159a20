"""Stream a running crawl to its open page (server-sent events).

Each event is the changing part of the page, rendered by the server, so the page and its stream
cannot disagree. Reading costs the store something, so it happens at most once a second, and less
often the longer it takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from geomi.api.guard import needs
from geomi.dashboard import cookies
from geomi.dashboard.guard import DashboardRequestDep, PageRoute
from geomi.dashboard.pages import DashboardRequest
from geomi.dashboard.views.crawls import live_part
from geomi.errors import GeomiError, StoreBusy
from geomi.service.access import sessions
from geomi.service.access.keys import KeyScope
from geomi.service.crawling import crawls
from geomi.service.crawling.progress import progress

LOOK_S = 1.0
REST_FOR_COST = 10  # a look that took so long is followed by so much more rest
MAX_STREAMS = 100  # of this process; whoever comes later sees the page without its pulse
LONGEST_S = 3600.0  # then a browser comes back, and shows its session again

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/crawls/{job_id}/live", openapi_extra=needs(KeyScope.READ))
async def live(job_id: str, visit: DashboardRequestDep) -> Response:
    """Tell what changes until the crawl is over."""
    await crawls.find(visit.desk, job_id)
    state = visit.request.app.state
    if state.streams >= MAX_STREAMS:
        raise StoreBusy(f"{MAX_STREAMS} pages are followed already", hint="reload the page")
    return StreamingResponse(
        _counted(visit, job_id),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _counted(visit: DashboardRequest, job_id: str) -> AsyncIterator[bytes]:
    state = visit.request.app.state
    state.streams += 1
    try:
        async for told in _tell(visit, job_id):
            yield told
    except GeomiError:  # it was deleted, or the session is over: the page says so when reloaded
        yield _event("over", "")
    finally:
        state.streams -= 1


async def _tell(visit: DashboardRequest, job_id: str) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    began_s, last = loop.time(), ""
    while loop.time() - began_s < LONGEST_S:
        looked_s = loop.time()
        # Whoever signed out, or whose key was revoked, is told nothing more.
        await sessions.resume(visit.service, cookies.session_of(visit.request))
        job = await crawls.find(visit.desk, job_id)
        part = live_part(visit, await progress(visit.desk, job))
        if part != last:
            last = part
            yield _event("figures", part)
        else:
            yield b": still here\n\n"
        if job.state.is_final:
            yield _event("over", "")
            return
        cost_s = loop.time() - looked_s
        if await visit.service.leaves_within(max(LOOK_S, REST_FOR_COST * cost_s)):
            return  # the browser comes back by itself


def _event(kind: str, data: str) -> bytes:
    lines = "".join(f"data: {line}\n" for line in data.splitlines() or [""])
    return f"event: {kind}\n{lines}\n".encode()
