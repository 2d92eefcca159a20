"""The dataset that a `geomi seeds` command names, its flags, and the queues that belong to it.

The queues are in the data directory, or in the database, of the tenant that owns the dataset.
Whatever could not work is refused before anything is opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import DataDirectory, open_directory
from geomi.app.use.datasets import (
    SEED_PROFILE,
    SeedOrder,
    check_queues,
    dataset_tenant,
    open_dataset,
    seeding_for,
)
from geomi.cli.options import Configured, configure
from geomi.dataset.partition import checked_filter
from geomi.engine.seeds.context import SeedContext
from geomi.model.dataset.seed import PartitionFilter
from geomi.ports.dataset import Dataset
from geomi.ports.runtime import Clock, EventSink
from geomi.settings.layers import Layer

T = TypeVar("T")

_WHICH = "Which partitions"

DatasetUrl = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="The root of the dataset: a folder, file:///folder or s3://bucket/prefix.",
    ),
]
Country = Annotated[
    str | None, typer.Option("--country", metavar="CC", help="Two letters.", rich_help_panel=_WHICH)
]
Category = Annotated[
    str | None,
    typer.Option("--category", metavar="NAME", help="Such as `news`.", rich_help_panel=_WHICH),
]
Date = Annotated[
    str | None,
    typer.Option("--date", metavar="YYYY-MM-DD", help="The day.", rich_help_panel=_WHICH),
]


@dataclass(frozen=True, slots=True)
class DatasetChoice:
    """A dataset, how it is worked on, and where its queues are.

    Args:
        text: what names it.
    """

    text: str
    dataset: Dataset
    configured: Configured
    which: PartitionFilter

    @property
    def root(self) -> Path:
        """The data directory."""
        return Path(self.configured.resolved.run.output)

    @property
    def workers(self) -> int:
        """How many processes work on it."""
        return self.configured.resolved.run.workers

    def order(self, *, is_done_when_empty: bool) -> SeedOrder:
        """Return the order for the other processes."""
        return SeedOrder(
            self.root.resolve(),
            self.configured.settings,
            self.configured.resolved.config,
            self.text,
            is_done_when_empty,
        )


def choose_dataset(
    dataset: str,
    options: Mapping[str, object],
    *,
    process: Mapping[str, object],
    assignments: list[str] | None = None,
    config: Path | None = None,
    which: tuple[str | None, str | None, str | None] = (None, None, None),
) -> DatasetChoice:
    """Read what was asked for; whatever could not work is refused before anything is opened.

    Args:
        options: flags that crawls have, too, by name.
        process: flags of the process, by name.
        which: country, category and date.
    """
    configured = configure(
        options,
        assignments=assignments,
        process=process,
        config=config,
        source=lambda _above, _settings: Layer("seeds", {"run.profile": SEED_PROFILE}),
    )
    check_queues(configured.resolved.config.seeds)
    opened = open_dataset(dataset)
    return DatasetChoice(dataset, opened, configured, checked_filter(*which))


@asynccontextmanager
async def open_seeding(
    chosen: DatasetChoice, listen: Callable[[Clock], EventSink], *, create: bool
) -> AsyncIterator[tuple[DataDirectory, SeedContext]]:
    """Open the data directory for the tenant whose dataset it is."""
    settings = chosen.configured.settings
    tenant = dataset_tenant(chosen.dataset, settings)
    async with open_directory(chosen.root, settings, listen, create=create) as home:
        own = home.open_for(tenant)
        yield own, seeding_for(own, chosen.configured.resolved.config, chosen.dataset)


def with_seeding(chosen: DatasetChoice, work: Callable[[SeedContext], Awaitable[T]]) -> T:
    """Do something with a dataset's queues that are there, and close them."""

    async def run() -> T:
        async with open_seeding(chosen, lambda _: EventFanOut(), create=False) as (_, seeding):
            return await work(seeding)

    return asyncio.run(run())
