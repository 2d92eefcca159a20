"""`geomi recrawl`: visit pages of a finished crawl again, and report what changed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from geomi.adapters.machine.processes import StartedProcess, fork_workers, relax_garbage_collector
from geomi.app import RecrawlResult, open_directory, preview_recrawl
from geomi.app.use.crawl import refuse_unserved_region
from geomi.app.use.recrawl import recrawl as run_recrawl
from geomi.cli import INTERRUPTED, flags
from geomi.cli.console import note, print_json, say
from geomi.cli.data_directory import in_data_directory
from geomi.cli.event_output import CrawlPrinter, stop_on_signals
from geomi.cli.options import Configured, configure, process_flags
from geomi.engine.recrawl import MAX_CHOSEN, RecrawlRequest
from geomi.model.job import StopReason
from geomi.processes.crawl import live
from geomi.recrawl.due import RevisitCandidate
from geomi.recrawl.rate import DAY_S, describe_rate, stage
from geomi.recrawl.report import Changes, PageChange

MOST_LISTED = 10  # URLs of each change on a terminal; --json has more


def recrawl(  # noqa: PLR0913  # one parameter a flag is what the command line is
    job: Annotated[
        str, typer.Argument(metavar="JOB", help="A job of the crawl: an id, or `latest`.")
    ] = "latest",
    output: flags.Directory = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_CHOSEN,
            metavar="N",
            help="Request at most this many pages: those that gain the most freshness.",
            show_default="all that are due",
        ),
    ] = None,
    due: Annotated[
        bool, typer.Option("--due", help="Spend the budget only on pages that are due.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print the pages that it would request, and why.")
    ] = False,
    workers: flags.Workers = None,
    format_: flags.Format = None,
    region: flags.Region = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    json: flags.AsJson = False,
    quiet: flags.Quiet = False,
) -> None:
    """Visit pages of a finished crawl again; print new, changed, deleted and unchanged ones."""
    wish = RecrawlRequest(budget, due_only=due)
    if dry_run:
        crawl, chosen = in_data_directory(
            output, lambda home: preview_recrawl(home, job, wish), db=db
        )
        _tell_plan(crawl.id, chosen, as_json=json)
        return
    configured = configure(
        {"output": output, "workers": workers, "format": format_},
        process=process_flags(allow_private, resolve, ca_file, db, blobs, region),
    )
    show = CrawlPrinter(json=json, quiet=quiet, verbose=False)
    relax_garbage_collector()
    many = configured.resolved.run.workers
    standby = fork_workers(many, live) if many > 1 else []
    done = asyncio.run(_run(job, wish, configured, show, standby))
    if done is None:
        _tell_nothing(as_json=json, has_budget=budget is not None)
        return
    show.conclude(done.report, Path(configured.resolved.run.output))
    tell_changes(done.changes, as_json=json)
    if done.report.stop is StopReason.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
    refuse_unserved_region(done.report)


def plan_data(candidate: RevisitCandidate) -> dict[str, object]:
    """Return a page that would be asked for as `--json` shows it."""
    page, history = candidate.page, candidate.page.history
    return {
        "url": page.url,
        "gain_s": round(candidate.gain_s, 1),
        "changes_per_day": round(candidate.belief.rate * DAY_S, 6),
        "stage": stage(history),
        "visits": max(history.visits, 1),
        "changes": history.changes,
        "last_visit_s": max(page.fetched_at_s, history.visited_at_s),
        "due_s": page.due_s,
        "gone": history.gone_at_s is not None,
    }


async def _run(
    job: str,
    wish: RecrawlRequest,
    configured: Configured,
    show: CrawlPrinter,
    standby: Sequence[StartedProcess],
) -> RecrawlResult | None:
    run = configured.resolved.run
    async with open_directory(
        Path(run.output), configured.settings, show.listen, create=False
    ) as home:
        with show.live():
            return await run_recrawl(
                home,
                job,
                wish,
                run,
                standby=standby,
                on_start=stop_on_signals,
            )


def _tell_plan(crawl: str, chosen: Sequence[RevisitCandidate], *, as_json: bool) -> None:
    if as_json:
        print_json({"crawl": crawl, "pages": [plan_data(one) for one in chosen]})
        return
    say(f"{len(chosen):,} pages of crawl {crawl} would be requested", style="bold")
    for one in chosen:
        rate = describe_rate(one.page.history, one.belief)
        say(f"{one.gain_s / 3600:8.1f} h  {one.page.url}  {rate}")


def _tell_nothing(*, as_json: bool, has_budget: bool) -> None:
    if as_json:
        print_json(_changes_data(Changes()))
    else:
        note(
            "no page is due, and none may be requested yet (recrawl.min_interval_s)"
            if has_budget
            else "no page is due; --budget N requests the pages that gain the most"
        )


def tell_changes(changes: Changes, *, as_json: bool) -> None:
    """Print what a recrawl has found."""
    if as_json:
        print_json(_changes_data(changes))
        return
    counts = ", ".join(f"{changes.counts[change]:,} {change}" for change in PageChange)
    say(f"{changes.total:,} pages: {counts}; change rate {changes.rate_percent:.1f} %")
    for change, urls in changes.urls.items():
        for url in urls[:MOST_LISTED]:
            say(f"  {change}: {url}")
        if changes.counts[change] > MOST_LISTED and urls:
            say(f"  {change}: … and {changes.counts[change] - MOST_LISTED:,} more")


def _changes_data(changes: Changes) -> dict[str, object]:
    return {
        "event": "changes",
        **{change.value: changes.counts[change] for change in PageChange},
        "total": changes.total,
        "change_rate_percent": round(changes.rate_percent, 3),
        "urls": {change.value: urls for change, urls in changes.urls.items() if urls},
    }
