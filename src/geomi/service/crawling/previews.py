"""Preview one page (API-12), or estimate an order, before a crawl starts.

`preview` fetches one page and returns its analysis. `forecast_crawl` surveys the sites of an order
and estimates what a crawl would find and take. Both wait for the turns of hosts, and store nothing
but their rows of the request log.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from geomi.engine.survey.forecast import Forecast, forecast
from geomi.engine.survey.preview import Preview
from geomi.engine.survey.preview import preview as look
from geomi.engine.survey.survey import Survey, survey
from geomi.engine.visit.rules import read_job_rules
from geomi.errors import NothingFetched
from geomi.fetch.response import reason_for_tenants
from geomi.service import collections
from geomi.service.crawling.crawls import PROFILE, CrawlOrder, in_field, plan_for
from geomi.service.service import TenantService

MAX_PREVIEW_CHARS = 500
MAX_LINKS = 500
# Who asks for one page by its name means that page.
_ONE_PAGE = {"scope.block_defaults": False, "http.max_retries": 0, "http.total_timeout_s": 20.0}
SAMPLES = 1  # a page of each site, to learn what its pages cost
LONGEST_S = 30.0  # somebody waits for the answer


@dataclass(frozen=True, slots=True)
class PreviewedPage:
    """A page, and the collection that it belongs into by its type, if there is one."""

    seen: Preview
    suggested: str | None


async def preview(
    desk: TenantService, url: str, *, renders: bool, profile: str = PROFILE
) -> PreviewedPage:
    """Fetch a page and say what would be made of it; nothing is stored."""
    return await desk.cpu.spend(_preview, desk, url, renders=renders, profile=profile)


async def _preview(desk: TenantService, url: str, *, renders: bool, profile: str) -> PreviewedPage:
    settings = _ONE_PAGE | {"render": "auto" if renders else "never"}
    with in_field("url"):
        plan = await plan_for(
            desk, CrawlOrder("preview", (url,), profile=profile, settings=settings)
        )
        config, (seed,) = plan.resolved.config, plan.seeds
        rules = await read_job_rules(desk.world, config, [seed.href])
        with desk.looks.taken():
            seen = await look(desk.world, seed, rules)
    kind = seen.analysis.classification
    return PreviewedPage(seen, await collections.suggest(desk, kind.page_type if kind else ""))


@dataclass(frozen=True, slots=True)
class CrawlForecast:
    """What a look found, and what a crawl of it would take."""

    found: Survey
    expected: Forecast


async def forecast_crawl(desk: TenantService, order: CrawlOrder) -> CrawlForecast:
    """Survey the sites of an order; only the request log is written."""
    return await desk.cpu.spend(_forecast, desk, order)


async def _forecast(desk: TenantService, order: CrawlOrder) -> CrawlForecast:
    plan = await plan_for(desk, order)
    config = plan.resolved.config
    # What a site names itself is worth one request each, when the question is what there is.
    probing = replace(config, scope=replace(config.scope, probe=True))
    seeds = [seed.href for seed in plan.seeds]
    rules = await read_job_rules(desk.world, probing, seeds)
    try:
        async with asyncio.timeout(LONGEST_S):
            found = await survey(
                desk.world, plan.seeds, rules, samples=SAMPLES, reason=reason_for_tenants
            )
    except TimeoutError as error:
        raise NothingFetched(
            f"the preview of the sites took longer than {LONGEST_S:g} s",
            hint="the sites ask for long delays; you can start the crawl without a preview",
        ) from error
    return CrawlForecast(found, forecast(found, config))
