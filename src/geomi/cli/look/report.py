"""`geomi report`: show the quality of a job's extracted pages, site by site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer

from geomi.app import DataDirectory
from geomi.cli import flags
from geomi.cli.console import print_json, say, say_pairs
from geomi.cli.data_directory import in_data_directory
from geomi.engine.inspect.quality import SiteReport, quality
from geomi.engine.jobs import find
from geomi.errors import UnknownName

MOST_SITES = 20  # told to a person; --json has all of them


def report(
    job: flags.JobId = "latest",
    site: Annotated[
        str | None, typer.Option("--site", metavar="HOST", help="Show only this site.")
    ] = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Show how well each site was extracted, and what to check."""
    found = in_data_directory(output, lambda home: _look(home, job), db=db)
    if site is not None:
        found = _only(found, site)
    if json:
        print_json([asdict(one) | {"empty": one.empty} for one in found])
        return
    for one in found[:MOST_SITES]:
        _tell(one)
    if len(found) > MOST_SITES:
        say(f"… and {len(found) - MOST_SITES:,} more; --site HOST shows one of them")
    if not found:
        say("there are no requests yet")


def _only(found: list[SiteReport], site: str) -> list[SiteReport]:
    named = [one for one in found if site in (one.host, one.host.rpartition(":")[0])]
    if not named:
        known = ", ".join(one.host for one in found[:MOST_SITES]) or "none"
        raise UnknownName(f"the job has no site `{site}`", hint=f"its sites: {known}")
    return named


async def _look(home: DataDirectory, job: str) -> list[SiteReport]:
    return await quality(home.world, await find(home.world, job))


def _tell(site: SiteReport) -> None:
    say(site.host, style="bold")
    say_pairs(
        {
            "  pages": f"{site.pages:,}, confidence {site.confidence:.2f}, {site.thin:,} thin, "
            f"{site.duplicates:,} repeat another",
            "  content by": _counts(site.strategies),
            "  not kept": _counts(site.lost),
        }
    )
    for remark in site.remarks:
        say(f"  ! {remark}", style="yellow")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {many:,}" for name, many in counts.items()) or "-"
