"""Look whether a tenant's site still is its own, as a crawl of the service would ask it."""

from __future__ import annotations

from geomi.app.use import sign_in
from geomi.model.site import SignIn
from geomi.service.crawling.crawls import CrawlOrder, in_field, plan_for
from geomi.service.service import TenantService

_ONE_PAGE = {"http.max_retries": 0, "http.total_timeout_s": 20.0}


async def verify(desk: TenantService, origin: str) -> SignIn:
    """Ask an origin for its token now; somebody waits for the answer."""
    with in_field("origin"):
        plan = await plan_for(desk, CrawlOrder("sign-in", (origin,), settings=_ONE_PAGE))
        with desk.looks.taken():
            return await sign_in.verify(desk.home, origin, plan.resolved.config)
