"""Serving an app over HTTP/1.1, on the address that was asked for, until somebody says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI

from geomi.errors import ConfigError

# Whoever still reads an answer, or follows a crawl, has this long when the server ends.
GRACE_S = 10


class _Server(uvicorn.Server):
    """A server that says where it listens, and leaves signals to the process it is part of."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        for server in self.servers:
            for opened in server.sockets:
                address, port = opened.getsockname()[:2]
                shown = f"[{address}]" if ":" in address else address
                self._on_ready(f"http://{shown}:{port}/")


async def listen(
    app: FastAPI,
    host: str,
    port: int,
    *,
    leave: asyncio.Event,
    on_ready: Callable[[str], None],
) -> None:
    """Serve an app until told to leave; `on_ready` is told its URL, also where port is 0."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
    server = _Server(config, on_ready)
    is_served = True
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(_end(server, leave), name="end of http")
        try:
            await server.serve()
        except SystemExit:  # it has said why
            is_served = False
        finally:
            waiting.cancel()
    if not is_served:
        raise ConfigError(f"cannot listen on {host}:{port}", hint="take another --port, or --host")


async def _end(server: uvicorn.Server, leave: asyncio.Event) -> None:
    await leave.wait()
    server.should_exit = True
