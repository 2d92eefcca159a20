"""Open a data directory for a command that reads it or changes its jobs, and does not crawl."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import DataDirectory, open_directory
from geomi.cli.options import find_data_directory

T = TypeVar("T")


def in_data_directory(
    output: Path | None,
    work: Callable[[DataDirectory], Awaitable[T]],
    *,
    db: str | None = None,
    blobs: str | None = None,
    create: bool = False,
) -> T:
    """Open a data directory, do some work in it, and close it; `create` a missing one."""
    root, settings = find_data_directory(output, db, blobs)

    async def run() -> T:
        async with open_directory(root, settings, lambda _: EventFanOut(), create=create) as home:
            return await work(home)

    return asyncio.run(run())
