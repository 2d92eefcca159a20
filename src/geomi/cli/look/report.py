"""`geomi report`: show the quality of a job's pages, site by site, and of its chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer

from geomi.app import DataDirectory
from geomi.chunk.check import check, describe_band, describe_value
from geomi.cli import flags
from geomi.cli.console import print_json, say, say_pairs
from geomi.cli.data_directory import in_data_directory
from geomi.engine.inspect.alarms import CHUNK_WORDS, CrawlJudgement, judge_job
from geomi.engine.inspect.quality import SiteReport, quality
from geomi.engine.jobs import find
from geomi.errors import UnknownName
from geomi.model.index.chunk import ChunkCounts

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
    """Show how well each site was extracted, the chunks of the job, and what to check."""
    found, judgement = in_data_directory(output, lambda home: _look(home, job), db=db)
    if site is not None:
        found = _only(found, site)
    if json:
        sites = [asdict(one) | {"empty": one.empty} for one in found]
        print_json({"sites": sites} | judgement_data(judgement))
        return
    for one in found[:MOST_SITES]:
        _tell(one)
    if len(found) > MOST_SITES:
        say(f"… and {len(found) - MOST_SITES:,} more; --site HOST shows one of them")
    if not found:
        say("there are no requests yet")
    _tell_chunks(judgement.chunks)
    for alarm in judgement.alarms:
        say(f"! {alarm.rule}: {alarm.message}", style="yellow")
    for remark in judgement.remarks:
        say(remark)


def judgement_data(judgement: CrawlJudgement) -> dict[str, object]:
    """Return how a job is judged as `--json` shows it."""
    chunks = judgement.chunks
    indicators = {
        one.measure.value: {
            "value": one.value,
            "least": one.least,
            "most": one.most,
            "healthy": one.is_healthy,
        }
        for one in check(chunks)
    }
    return {
        "requests": judgement.requests,
        "judged": judgement.has_enough_requests,
        "remarks": judgement.remarks,
        "alarms": [asdict(alarm) for alarm in judgement.alarms],
        "chunks": {"pages": chunks.pages, "chunks": chunks.chunks, "indicators": indicators},
    }


def _tell_chunks(counts: ChunkCounts) -> None:
    if not counts.pages:
        say("no chunks yet: `geomi enrich --once` cuts the pages")
        return
    say("chunks", style="bold")
    say_pairs(
        {
            f"  {CHUNK_WORDS[one.measure]}": f"{describe_value(one)} (normal: {describe_band(one)})"
            for one in check(counts)
        }
    )


def _only(found: list[SiteReport], site: str) -> list[SiteReport]:
    named = [one for one in found if site in (one.host, one.host.rpartition(":")[0])]
    if not named:
        known = ", ".join(one.host for one in found[:MOST_SITES]) or "none"
        raise UnknownName(f"the job has no site `{site}`", hint=f"its sites: {known}")
    return named


async def _look(home: DataDirectory, job: str) -> tuple[list[SiteReport], CrawlJudgement]:
    found = await find(home.world, job)
    return await quality(home.world, found), await judge_job(home.world, found)


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
