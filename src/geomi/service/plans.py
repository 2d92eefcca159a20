"""What a crawl would find and take, before it is started: a look at its sites, in their turns."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from geomi.app import gate_for, registry
from geomi.engine.survey.forecast import Forecast, forecast
from geomi.engine.survey.survey import Survey, survey
from geomi.errors import NothingFetched
from geomi.service.open import Desk
from geomi.service.orders import CrawlOrder, plan_for

SAMPLES = 1  # a page of each site, to learn what its pages cost
LONGEST_S = 30.0  # somebody waits for the answer


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a look found, and what a crawl of it would take."""

    found: Survey
    expected: Forecast


async def foresee(desk: Desk, order: CrawlOrder) -> Outlook:
    """Look at the sites of an order; nothing is stored but that they were asked."""
    plan = plan_for(desk, order)
    config = plan.resolved.config
    # What a site names itself is worth one request each, when the question is what there is.
    probing = replace(config, scope=replace(config.scope, probe=True))
    seeds = [seed.href for seed in plan.seeds]
    gate = gate_for(desk.world, probing, seeds, await registry.read_site_decisions(desk.world))
    try:
        async with asyncio.timeout(LONGEST_S):
            found = await survey(desk.world, probing, plan.seeds, gate, samples=SAMPLES)
    except TimeoutError as error:
        raise NothingFetched(
            f"looking at the sites took longer than {LONGEST_S:g} s",
            hint="they ask for long delays; the crawl can be started without a look",
        ) from error
    return Outlook(found, forecast(found, config))
