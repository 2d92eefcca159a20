"""`uvicorn geomi.asgi:app`: the service for people who run their own ASGI server.

Importing the app opens nothing. When a server starts it, it opens the data directory that the
environment and `geomi.toml` name. Crawls, schedules and webhooks run in `geomi serve` or
`geomi worker`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.api.app import app_state_of, make_app
from geomi.cli.options import find_data_directory
from geomi.dashboard.app import add_dashboard
from geomi.service.service import open_service


@asynccontextmanager
async def _open(started: FastAPI) -> AsyncIterator[None]:
    root, settings = find_data_directory(None)
    async with open_service(Path(root), settings, lambda _: EventFanOut()) as service:
        app_state_of(started).open(service)
        try:
            yield
        finally:
            app_state_of(started).close()


app = add_dashboard(make_app(lifespan=_open))
