"""`geomi plan`: estimate a crawl before it starts; and the survey that `geomi map` uses too.

A survey reads robots.txt, sitemaps, /llms.txt and the start pages. It waits for each host's turn
in the data directory that `-o` names, or in a temporary one. It keeps no page.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import DataDirectory, Plan, make_plan, open_directory
from geomi.cli import flags
from geomi.cli.console import print_json, say
from geomi.cli.options import Configured, configure, process_flags
from geomi.engine.survey.forecast import Forecast, forecast
from geomi.engine.survey.survey import Survey, survey
from geomi.engine.visit.rules import read_job_rules
from geomi.errors import NothingFetched

SAMPLES = 3
SHOWN = 12  # folders, rules, lines: a plan is read by people
EXAMPLES = 3
# What a site names itself is worth one request each, when the question is what there is.
PROBE_SETTING = "scope.probe=true"
SiteUrls = Annotated[list[str], typer.Argument(help="The start URLs.", metavar="URL")]


def plan(  # noqa: PLR0913  # one parameter a flag is what the command line is
    urls: SiteUrls,
    max_pages: flags.MaxPages = None,
    depth: flags.Depth = None,
    include: flags.Include = None,
    exclude: flags.Exclude = None,
    scope: flags.ScopeName = None,
    delay: flags.Delay = None,
    samples: Annotated[
        int,
        typer.Option("--samples", min=0, max=50, help="Pages to fetch to measure size and speed."),
    ] = SAMPLES,
    output: flags.Directory = None,
    profile: flags.Profile = None,
    assignments: flags.Assignments = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Estimate a crawl: what it would find, how long it would take, what it would leave out."""
    configured = configure(
        {
            "profile": profile,
            "max_pages": max_pages,
            "depth": depth,
            "include": include,
            "exclude": exclude,
            "scope": scope,
            "delay": delay,
        },
        assignments=[PROBE_SETTING, *(assignments or ())],
        process=process_flags(allow_private, resolve, ca_file),
        config=config,
    )
    found = survey_sites(urls, configured, output, samples=samples)
    expected = forecast(found, configured.resolved.config)
    if json:
        print_json(_as_json(found, expected))
    else:
        _tell(found, expected)


def _as_json(found: Survey, expected: Forecast) -> dict[str, object]:
    return {
        "pages": expected.pages,
        "found": expected.found,
        "requests": expected.requests,
        "bytes": expected.wire_bytes,
        "seconds": round(expected.seconds),
        "limited_by": expected.limited_by,
        "folders": dict(expected.folders),
        "hosts": found.hosts,
        "sitemaps": found.lists,
        "robots": {
            line: {"count": len(urls), "examples": [one.url for one in urls[:EXAMPLES]]}
            for line, urls in found.disallowed.items()
        },
        "excluded": {
            rule: {"count": count, "examples": examples[:EXAMPLES]}
            for rule, (count, examples) in found.excluded.items()
        },
        "suspected_traps": dict(expected.suspects),
        "samples": found.samples,
        "problems": found.problems,
    }


def _tell(found: Survey, expected: Forecast) -> None:
    took = timedelta(seconds=round(expected.seconds))
    say(
        f"{expected.pages:,} pages, about {expected.wire_bytes / 1e6:,.1f} MB, "
        f"{expected.requests:,} requests, about {took} (limited by {expected.limited_by})",
        style="bold",
    )
    for host in found.hosts:
        say(f"{host.host}: {host.delay_s:.1f} s between requests; {host.robots}")
    for one in found.lists:
        say(f"read {one.url}: {one.urls:,} URLs" + (f"; {one.problem}" if one.problem else ""))
    _tell_counts("pages by folder", dict(expected.folders))
    lines = {line: len(urls) for line, urls in found.disallowed.items()}
    _tell_counts("excluded by robots.txt", lines)
    rules = {_with_example(rule, told): told[0] for rule, told in found.excluded.items()}
    _tell_counts("excluded by rules", rules)
    _tell_counts("suspected traps", dict(expected.suspects))
    for problem in found.problems:
        say(f"problem: {problem}")
    say("This counts what sitemaps and start pages name; links on those pages may lead to more.")


def _with_example(rule: str, told: tuple[int, tuple[str, ...]]) -> str:
    return f"{rule} (such as {told[1][0]})" if told[1] else rule


def _tell_counts(title: str, counts: dict[str, int]) -> None:
    if not counts:
        return
    say(f"{title}:", style="bold")
    largest = sorted(counts.items(), key=lambda pair: -pair[1])
    for name, many in largest[:SHOWN]:
        say(f"  {many:>7,}  {name}")
    if len(largest) > SHOWN:
        rest = sum(many for _, many in largest[SHOWN:])
        say(f"  {rest:>7,}  in {len(largest) - SHOWN} more")


def survey_sites(
    urls: Sequence[str], configured: Configured, output: Path | None, *, samples: int = 0
) -> Survey:
    """Survey some sites, in the turns of a data directory or of a temporary one."""
    plan = make_plan(urls, configured.resolved, configured.flags)
    found = asyncio.run(_survey(plan, configured, output, samples))
    if not found.listed:
        raise NothingFetched("; ".join(found.problems) or "nothing was found")
    return found


async def _survey(plan: Plan, configured: Configured, output: Path | None, samples: int) -> Survey:
    async with AsyncExitStack() as stack:
        root = output or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="geomi-")))
        # What is looked at in passing leaves nothing behind, in a database neither.
        settings = configured.settings if output else replace(configured.settings, db="")
        home: DataDirectory = await stack.enter_async_context(
            open_directory(root, settings, lambda _: EventFanOut())
        )
        config, seeds = plan.resolved.config, [seed.href for seed in plan.seeds]
        rules = await read_job_rules(home.world, config, seeds)
        return await survey(home.world, plan.seeds, rules, samples=samples)
