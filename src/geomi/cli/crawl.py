"""`geomi crawl`: start a crawl, or go on with one, and show how it goes."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from geomi.adapters.crew import Started, ease_collector, fork_workers
from geomi.app import Plan, make_plan, open_home
from geomi.app import crawl as run_crawl
from geomi.cli import INTERRUPTED
from geomi.cli.options import (
    AllowPrivate,
    AsJson,
    Assignments,
    CaFile,
    ConfigFile,
    Configured,
    Directory,
    Header,
    Profile,
    Resolve,
    UserAgent,
    configure,
    process_flags,
)
from geomi.cli.show import Show
from geomi.cli.talk import note
from geomi.engine.supervise import Report, Supervisor
from geomi.library import refuse_failure
from geomi.model.job import StopReason
from geomi.settings.options import Settings
from geomi.worker import live

_WHAT, _PACE, _TALK = "What to crawl", "How gently", "How to talk"


def crawl(  # noqa: PLR0913  # one parameter a flag is what the command line is
    urls: Annotated[
        list[str], typer.Argument(help="Where to start; https:// may be left out.", metavar="URL")
    ],
    output: Directory = None,
    profile: Profile = None,
    max_pages: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--max-pages",
            help="Stop after so many pages; 0: no limit.",
            show_default="100",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            "-d",
            "--depth",
            help="How many links away from the start; 0: the start URLs alone.",
            show_default="3",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(
            "-i",
            "--include",
            metavar="GLOB",
            help="Take only what matches, such as '/docs/**'; repeat.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "-x",
            "--exclude",
            metavar="GLOB",
            help="Leave out what matches; wins over --include; repeat.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="host|domain|any",
            help="The start URLs' hosts, their registrable domains, or everywhere.",
            show_default="host",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    max_time: Annotated[
        float | None,
        typer.Option(
            help="Stop after so many seconds of work; 0: no limit.",
            show_default="0",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    max_bytes: Annotated[
        int | None,
        typer.Option(
            help="Stop after so many bytes received; 0: no limit.",
            show_default="0",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    delay: Annotated[
        float | None,
        typer.Option(
            help="Least seconds between two requests to a host; jitter only adds to it.",
            show_default="about 1",
            rich_help_panel=_PACE,
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            help="Requests at once over all hosts; a host gets one at a time.",
            show_default="10",
            rich_help_panel=_PACE,
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes.", show_default="1", rich_help_panel=_PACE)
    ] = None,
    user_agent: UserAgent = None,
    header: Header = None,
    format_: Annotated[
        str | None,
        typer.Option(
            "-f", "--format", metavar="LIST", help="What to write.", show_default="md,jsonl,warc"
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest job of the same start URLs.")
    ] = False,
    assignments: Assignments = None,
    allow_private: AllowPrivate = None,
    resolve: Resolve = None,
    ca_file: CaFile = None,
    config: ConfigFile = None,
    json: AsJson = False,
    quiet: Annotated[
        bool, typer.Option("-q", "--quiet", help="Only what went wrong.", rich_help_panel=_TALK)
    ] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Every event.", rich_help_panel=_TALK)
    ] = False,
) -> None:
    """Crawl websites into a data directory; an interrupted crawl goes on with --resume."""
    configured = configure(
        {
            "output": str(output) if output else None,
            "profile": profile,
            "max_pages": max_pages,
            "depth": depth,
            "include": tuple(include or ()),
            "exclude": tuple(exclude or ()),
            "scope": scope,
            "delay": delay,
            "concurrency": concurrency,
            "workers": workers,
            "max_time": max_time,
            "max_bytes": max_bytes,
            "user_agent": user_agent,
            "header": tuple(header or ()),
            "format": format_,
        },
        assignments=assignments,
        process=process_flags(allow_private, resolve, ca_file),
        config=config,
    )
    plan = make_plan(urls, configured.resolved, configured.flags, resume=resume)
    if not quiet:
        _warn(configured)
    show = Show(json=json, quiet=quiet, verbose=verbose)
    ease_collector()
    workers = plan.resolved.run.workers
    standby = fork_workers(workers, live) if workers > 1 else []
    report = asyncio.run(_run(plan, configured.settings, show, standby))
    show.conclude(report, Path(plan.resolved.run.output))
    if report.stop is StopReason.INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
    refuse_failure(report, configured.settings)


def _warn(configured: Configured) -> None:
    """C-04: without a contact the command line crawls and warns; a private site is our own."""
    settings, http = configured.settings, configured.resolved.config.http
    if not (http.contact or http.user_agent or settings.allow_private):
        note("warning: sites cannot tell who crawls them; set GEOMI_CONTACT to a URL or an address")
    if settings.min_delay_s < Settings().min_delay_s:
        note(
            f"warning: GEOMI_MIN_DELAY_S={settings.min_delay_s:g} is only for sites that you own; "
            f"others are owed {Settings().min_delay_s:g} s between requests"
        )


async def _run(plan: Plan, settings: Settings, show: Show, standby: Sequence[Started]) -> Report:
    output = Path(plan.resolved.run.output)
    async with open_home(output, settings, show.listen) as home:
        with show.live(home.world):
            return await run_crawl(home, plan, standby=standby, on_start=_obey_ctrl_c)


def _obey_ctrl_c(supervisor: Supervisor) -> None:
    """First Ctrl-C (or SIGTERM): finish what is in flight. Second: stop now. Both resume."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, _interrupt, supervisor)


def _interrupt(supervisor: Supervisor) -> None:
    note(
        "stopping now"
        if supervisor.interrupt()
        else "finishing what is in flight; again to stop now"
    )
