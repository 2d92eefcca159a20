"""`geomi worker`: fetch pages for the jobs of a store until a signal stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from geomi.adapters.machine.processes import relax_garbage_collector
from geomi.app import open_directory
from geomi.cli import flags
from geomi.cli.console import note
from geomi.cli.event_output import event_listener, stop_on_signals
from geomi.cli.options import configure, process_flags
from geomi.ports.runtime import Clock, EventSink
from geomi.processes.crawl import CONCURRENCY, WorkerTask, serve_jobs
from geomi.settings.options import Settings


def worker(  # noqa: PLR0913  # one parameter a flag is what the command line is
    output: flags.Directory = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    job: Annotated[
        str, typer.Option("--job", metavar="ID", help="Crawl this job alone.", show_default="all")
    ] = "",
    once: Annotated[bool, typer.Option("--once", help="End when no job has work left.")] = False,
    concurrency: Annotated[
        int,
        typer.Option(
            min=1, max=1000, help="Requests at once, over all jobs; each job has its own limit too."
        ),
    ] = CONCURRENCY,
    region: flags.Region = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
    quiet: flags.Quiet = False,
    verbose: flags.Verbose = False,
) -> None:
    """Join a store and crawl its jobs until SIGTERM or Ctrl-C drains the worker."""
    configured = configure(
        {"output": output},
        process=process_flags(allow_private, resolve, ca_file, db, blobs, region),
        config=config,
    )
    root, settings = Path(configured.resolved.run.output), configured.settings
    if settings.db and not settings.blobs and not quiet:
        note(
            f"warning: the archive is in `{root}`; other machines can read it only if they share "
            "that directory (--blobs keeps the archive in a bucket)"
        )
    relax_garbage_collector()
    listen = event_listener(json=json, quiet=quiet, verbose=verbose)
    asyncio.run(_run(root, settings, listen, WorkerTask(job, once, concurrency)))


async def _run(
    root: Path, settings: Settings, listen: Callable[[Clock], EventSink], task: WorkerTask
) -> None:
    # A file that nobody has crawled into has no jobs; a database may get its first at any time.
    async with open_directory(root, settings, listen, create=bool(settings.db)) as home:
        await serve_jobs(home, task, on_start=stop_on_signals)
