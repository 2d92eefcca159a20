"""A look at one page: fetched and understood, in nobody's collection (API-12)."""

from __future__ import annotations

from geomi.app import gate_for, registry
from geomi.engine.survey.preview import Preview
from geomi.engine.survey.preview import preview as look
from geomi.service.open import Desk
from geomi.service.orders import CrawlOrder, naming, plan_for

MAX_PREVIEW_CHARS = 500
MAX_LINKS = 500
# Who asks for one page by its name means that page.
_ONE_PAGE = {"scope.block_defaults": False, "http.max_retries": 0, "http.total_timeout_s": 20.0}


async def preview(desk: Desk, url: str, *, renders: bool) -> Preview:
    """Fetch a page and say what would be made of it; nothing is stored."""
    settings = _ONE_PAGE | {"render": "auto" if renders else "never"}
    with naming("url"):
        plan = plan_for(desk, CrawlOrder("preview", (url,), settings=settings))
        config, (seed,) = plan.resolved.config, plan.seeds
        gate = gate_for(
            desk.world, config, [seed.href], await registry.read_site_decisions(desk.world)
        )
        with desk.looks.taken():
            return await look(desk.world, config, seed, gate)
