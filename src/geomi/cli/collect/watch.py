"""`geomi watch`: keep the crawls of a data directory fresh, and say what is visited next."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from geomi.adapters.machine.processes import relax_garbage_collector
from geomi.app import DataDirectory, RecrawlResult, open_directory
from geomi.app.use.watching import DirectoryWatch, WatchedCrawl, preview_watch, why_idle
from geomi.cli import flags
from geomi.cli.collect.recrawl import tell_changes
from geomi.cli.console import moment, note, print_json, say
from geomi.cli.data_directory import in_data_directory
from geomi.cli.event_output import event_listener, stop_on_signals
from geomi.cli.options import Configured, configure, process_flags
from geomi.model.job import CrawlJob
from geomi.recrawl.rate import describe_rate

MOST_LISTED = 20  # pages of each crawl
MAX_BUDGET = 1_000_000


def watch(  # noqa: PLR0913  # one parameter a flag is what the command line is
    output: flags.Directory = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    budget: Annotated[
        int | None,
        typer.Option(
            min=2,
            max=MAX_BUDGET,
            metavar="N",
            help="At most this many requests for each crawl in any 24 hours.",
            show_default="recrawl.requests_per_day of the crawl",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print the next visits and their times.")
    ] = False,
    format_: flags.Format = None,
    region: flags.Region = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    json: flags.AsJson = False,
    quiet: flags.Quiet = False,
    verbose: flags.Verbose = False,
) -> None:
    """Visit the pages of all finished crawls again when they are due, until Ctrl-C or SIGTERM."""
    if dry_run:
        _tell_plans(
            *in_data_directory(output, lambda home: _preview(home, budget), db=db, blobs=blobs),
            as_json=json,
        )
        return
    configured = configure(
        {"output": output, "format": format_},
        process=process_flags(allow_private, resolve, ca_file, db, blobs, region),
    )
    relax_garbage_collector()
    asyncio.run(_run(configured, budget, json=json, quiet=quiet, verbose=verbose))


async def _run(
    configured: Configured, budget: int | None, *, json: bool, quiet: bool, verbose: bool
) -> None:
    run = configured.resolved.run
    listen = event_listener(json=json, quiet=quiet, verbose=verbose)
    async with open_directory(Path(run.output), configured.settings, listen, create=False) as home:
        if (idle := await why_idle(home)) and not quiet:
            note(idle)
        tell = partial(_tell_look, as_json=json, is_quiet=quiet)
        watching = DirectoryWatch(home, run, budget=budget, tell=tell)
        stop_on_signals(watching)
        await watching.run()


def _tell_look(
    result: RecrawlResult | None, crawl: CrawlJob, *, as_json: bool, is_quiet: bool
) -> None:
    """Print what a run has found, and when the next one begins."""
    if result is not None and not is_quiet:
        tell_changes(result.changes, as_json=as_json)
    if as_json:
        print_json({"event": "planned", **_crawl_data(crawl), "next_s": crawl.next_look_s})
    elif not is_quiet:
        note(f"crawl {crawl.id} of {crawl.seeds[0]}: {_next(crawl)}")


def _next(crawl: CrawlJob) -> str:
    if crawl.next_look_s is None:
        return crawl.watch_note or "it has no page to visit"
    return f"the next run begins at {moment(crawl.next_look_s)}"


def _crawl_data(crawl: CrawlJob) -> dict[str, object]:
    return {"crawl": crawl.id, "seeds": crawl.seeds[:MOST_LISTED]}


async def _preview(home: DataDirectory, budget: int | None) -> tuple[list[WatchedCrawl], str]:
    """Return what is planned, and why nothing is."""
    found = await preview_watch(home, budget=budget, limit=MOST_LISTED)
    return found, await why_idle(home)


def _tell_plans(found: Sequence[WatchedCrawl], idle: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"crawls": [_plan_data(one) for one in found], "why_idle": idle})
        return
    for one in found:
        say(f"crawl {one.crawl.id} of {one.crawl.seeds[0]}: {_describe(one)}", style="bold")
        for visit in one.visits:
            rate = describe_rate(visit.page.history, visit.belief)
            say(f"  {moment(visit.at_s)}  {visit.page.url}  {rate}")
    if idle:
        say(idle)


def _describe(one: WatchedCrawl) -> str:
    plan = one.plan
    if plan is None:
        return f"not watched: {one.why_not}"
    if plan.run is not None:
        return f"run {plan.run.id} is not over"
    if plan.at_s is None:
        return "it has no page to visit"
    pages = min(plan.due, plan.left)
    return f"the next run begins at {moment(plan.at_s)} with {pages:,} of {plan.due:,} due pages"


def _plan_data(one: WatchedCrawl) -> dict[str, object]:
    plan = one.plan
    return {
        **_crawl_data(one.crawl),
        "why_not": one.why_not,
        "next_s": plan.at_s if plan else None,
        "due": plan.due if plan else 0,
        "budget_left": plan.left if plan else 0,
        "run": plan.run.id if plan and plan.run else None,
        "visits": [{"url": visit.page.url, "at_s": visit.at_s} for visit in one.visits],
    }
