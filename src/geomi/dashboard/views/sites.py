"""Sites: the politeness of each host that crawls have visited, and its answers."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from geomi.api.guard import needs
from geomi.dashboard.guard import DashboardRequestDep, PageRoute
from geomi.service.access.keys import KeyScope
from geomi.service.crawling import sites
from geomi.service.crawling.sites import MAX_HOST_CHARS

SHOWN = 50
MAX_ROBOTS_CHARS = 100_000  # of a file, shown as it is

router = APIRouter(route_class=PageRoute, include_in_schema=False)
READ = needs(KeyScope.READ)


@router.get("/sites", openapi_extra=READ)
async def list_sites(visit: DashboardRequestDep) -> Response:
    """List hosts by their names."""
    after = visit.asked("after")[:MAX_HOST_CHARS]
    found = await sites.page(visit.desk, after=after, limit=SHOWN + 1)
    return visit.page(
        "sites.html",
        rows=found[:SHOWN],
        after=found[SHOWN - 1].host if len(found) > SHOWN else "",
        now_s=visit.desk.world.clock.now_s(),
    )


@router.get("/sites/{host}", openapi_extra=READ)
async def look(host: str, visit: DashboardRequestDep) -> Response:
    """Show a host, its robots.txt, and what it failed with last."""
    site = await sites.find(visit.desk, host)
    clock = visit.desk.world.clock
    return visit.page(
        "site.html",
        site=site,
        robots=[
            (scheme, one, one.copy.body.decode("utf-8", "replace")[:MAX_ROBOTS_CHARS])
            for scheme, one in site.readings
        ],
        now_s=clock.now_s(),
        ahead_s=clock.wall_s() - clock.now_s(),
    )
