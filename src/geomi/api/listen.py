"""Serving an app over HTTP/1.1, on the address that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import uvicorn
from fastapi import FastAPI

from geomi.errors import ConfigError

# Whoever still reads an answer, or follows a crawl, has this long when the server ends.
GRACE_S = 10


class _Server(uvicorn.Server):
    """A server that says where it listens; port 0 is known only then."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        for server in self.servers:
            for opened in server.sockets:
                address, port = opened.getsockname()[:2]
                shown = f"[{address}]" if ":" in address else address
                self._on_ready(f"http://{shown}:{port}/")


async def listen(app: FastAPI, host: str, port: int, *, on_ready: Callable[[str], None]) -> None:
    """Serve an app until a signal ends it; `on_ready` is told its URL."""
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
    try:
        await _Server(config, on_ready).serve()
    except SystemExit as end:  # it has said why
        raise ConfigError(
            f"cannot listen on {host}:{port}", hint="take another --port, or --host"
        ) from end
