"""`geomi enrich`: understand what crawls collect and put it into the index, beside them."""

from __future__ import annotations

import asyncio
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from geomi.adapters.telemetry.fan import Fan
from geomi.adapters.telemetry.lines import EventLines
from geomi.app import open_home
from geomi.app.shelf import bring_up, open_shelf
from geomi.cli.options import AsJson, Blobs, Database, Directory, data_place
from geomi.cli.talk import note
from geomi.engine.enrich import follow
from geomi.engine.jobs import find
from geomi.settings.options import Settings


def enrich(
    job: Annotated[
        str, typer.Option("--job", metavar="ID", help="Enrich this job alone.", show_default="all")
    ] = "",
    once: Annotated[bool, typer.Option("--once", help="End when nothing waits.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Begin with what has been enriched before.")
    ] = False,
    output: Directory = None,
    db: Database = None,
    blobs: Blobs = None,
    json: AsJson = False,
) -> None:
    """Understand pages as they are collected, and let them be found; SIGTERM or Ctrl-C ends it.

    Any number of these may run; each job is enriched by one of them at a time.
    """
    root, settings = data_place(output, db, blobs)
    asyncio.run(_run(root, settings, Task(job, once, again), json=json))


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be enriched, and how long."""

    job: str
    once: bool
    again: bool


async def _run(root: Path, settings: Settings, task: Task, *, json: bool) -> None:
    leave = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, leave.set)
    stream = sys.stdout if json else sys.stderr
    async with open_home(
        root, settings, lambda clock: Fan(EventLines(stream, clock)), create=bool(settings.db)
    ) as home:
        only = (await find(home.world, task.job)).id if task.job else ""
        async with open_shelf(home) as shelf:
            done = await bring_up(home, shelf, only=only, again=task.again, leave=leave)
            if not task.once:
                await follow(home.world, shelf, leave, only=only)
            elif not json:
                note(f"{done:,} pages looked at")
