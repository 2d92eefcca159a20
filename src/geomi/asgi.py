"""`uvicorn geomi.asgi:app`: the service for whoever brings a server of their own.

The app can be looked at without anything: a data directory is opened when a server starts it, the
one that the environment and `geomi.toml` name. What works behind it (crawls, schedules, hooks) is
`geomi serve` or `geomi worker`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.api.app import make_app, premises_of
from geomi.cli.options import data_place
from geomi.dashboard.app import add_dashboard
from geomi.service.service import open_service


@asynccontextmanager
async def _open(started: FastAPI) -> AsyncIterator[None]:
    root, settings = data_place(None)
    async with open_service(Path(root), settings, lambda _: EventFanOut()) as service:
        premises_of(started).open(service)
        try:
            yield
        finally:
            premises_of(started).close()


app = add_dashboard(make_app(lifespan=_open))
