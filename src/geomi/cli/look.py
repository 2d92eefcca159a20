"""How `geomi map` and `geomi plan` look at a site: the crawl's own flags, and one survey."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import DataDirectory, Plan, gate_for, make_plan, open_directory
from geomi.app.use import providers
from geomi.cli.options import Configured
from geomi.engine.survey.survey import Survey, survey
from geomi.errors import NothingFetched

# What a site names itself is worth one request each, when the question is what there is.
PROBE = "scope.probe=true"

Sites = Annotated[list[str], typer.Argument(help="Where to look.", metavar="URL")]


def look(
    urls: Sequence[str], configured: Configured, output: Path | None, *, samples: int = 0
) -> Survey:
    """Survey some sites, in the turns of a data directory or of a temporary one."""
    plan = make_plan(urls, configured.resolved, configured.flags)
    found = asyncio.run(_look(plan, configured, output, samples))
    if not found.listed:
        raise NothingFetched("; ".join(found.problems) or "nothing was found")
    return found


async def _look(plan: Plan, configured: Configured, output: Path | None, samples: int) -> Survey:
    async with AsyncExitStack() as stack:
        root = output or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="geomi-")))
        # What is looked at in passing leaves nothing behind, in a database neither.
        settings = configured.settings if output else replace(configured.settings, db="")
        home: DataDirectory = await stack.enter_async_context(
            open_directory(root, settings, lambda _: EventFanOut())
        )
        config, seeds = plan.resolved.config, [seed.href for seed in plan.seeds]
        gate = gate_for(home.world, config, seeds, await providers.read_site_decisions(home.world))
        return await survey(home.world, config, plan.seeds, gate, samples=samples)
