"""`geomi enrich`: analyse collected pages and put them into the search index, beside crawls."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.adapters.telemetry.log_lines import EventLines
from geomi.app import open_directory
from geomi.app.index import open_search_index
from geomi.cli import INTERRUPTED, flags
from geomi.cli.console import note
from geomi.cli.options import find_data_directory
from geomi.engine.enrich.loop import change_rules
from geomi.engine.jobs import find
from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig
from geomi.model.event import Enriched, Event
from geomi.processes.index import enrich_together
from geomi.settings.layers import Layer, flags_layer, resolve
from geomi.settings.options import Settings


def enrich(  # noqa: PLR0913  # one parameter a flag is what the command line is
    job: Annotated[
        str, typer.Option("--job", metavar="ID", help="Enrich this job alone.", show_default="all")
    ] = "",
    once: Annotated[bool, typer.Option("--once", help="End when no page waits.")] = False,
    again: Annotated[bool, typer.Option("--again", help="First enrich all pages again.")] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            help="Processes that share the pages.",
            show_default="GEOMI_INDEX_WORKERS, or 1",
        ),
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a job's `analysis` settings for good; you may repeat it.",
        ),
    ] = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    json: flags.AsJson = False,
) -> None:
    """Analyse and index pages while crawls collect them; SIGTERM or Ctrl-C ends it.

    Any number may run, on several machines too; no page is analysed twice.
    """
    root, settings = find_data_directory(output, db, blobs)
    if workers is not None:
        settings = replace(settings, index_workers=workers)
    task = EnrichTask(job, once, again, _rules(assignments or []))
    if not asyncio.run(_run(root, settings, task, json=json)):
        raise typer.Exit(INTERRUPTED)


@dataclass(frozen=True, slots=True)
class EnrichTask:
    """What is to be enriched, how long, and under which other rules."""

    job: str
    once: bool
    again: bool
    rules: Layer


class EnrichedPages:
    """Counts the pages that this process and those it started have enriched."""

    count = 0

    def emit(self, event: Event) -> None:
        """Count those of one event."""
        if isinstance(event, Enriched):
            self.count += event.indexed + event.skipped + event.failed


def _rules(assignments: Sequence[str]) -> Layer:
    layer = flags_layer({}, assignments)
    for key in layer.values:
        if not key.startswith("analysis."):
            raise ConfigError(
                f"`{key}` cannot be changed after the pages were fetched",
                hint="only settings under `analysis` can change here",
            )
    return layer


async def _run(root: Path, settings: Settings, task: EnrichTask, *, json: bool) -> bool:
    """Enrich; False when somebody ended it before it was done."""
    leave = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, leave.set)
    enriched = EnrichedPages()
    stream = sys.stdout if json else sys.stderr
    async with open_directory(
        root,
        settings,
        lambda clock: EventFanOut(EventLines(stream, clock), enriched),
        create=bool(settings.db),
    ) as home:
        only = (await find(home.world, task.job)).id if task.job else ""
        if task.rules.values:
            await change_rules(home.world, lambda config: _changed(config, task.rules), only=only)
        async with open_search_index(home) as search_index:
            await enrich_together(
                home, search_index, leave, only=only, once=task.once, again=task.again
            )
        if not task.once:
            return True
        if not json:
            ending = "; interrupted before the end" if leave.is_set() else ""
            note(f"{enriched.count:,} pages enriched{ending}")
        return not leave.is_set()


def _changed(config: CrawlConfig, layer: Layer) -> CrawlConfig:
    return resolve([layer], onto=config).config
