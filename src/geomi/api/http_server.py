"""Run the HTTP/1.1 server of the app: it listens on one address until a signal stops it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI

from geomi.errors import ConfigError

# Whoever still reads an answer has this long when the server ends; streams end by themselves.
GRACE_S = 10


class HttpServer:
    """The HTTP server of a service.

    Args:
        on_ready: is called with the address when the server listens.
    """

    def __init__(
        self, app: FastAPI, host: str, port: int, *, on_ready: Callable[[str], None]
    ) -> None:
        self._place = f"{host}:{port}"
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
        self._server = _Server(config, on_ready)

    async def run(self) -> None:
        """Answer until a signal ends it."""
        try:
            await self._server.serve()
        except SystemExit as end:  # it has said why
            raise ConfigError(
                f"cannot listen on {self._place}", hint="choose another --port or --host"
            ) from end

    def leave(self) -> None:
        """Let answers under way end; called again, end now."""
        self._server.force_exit = self._server.should_exit
        self._server.should_exit = True


class _Server(uvicorn.Server):
    """A server that says where it listens, port 0 is known only then, and takes no signal."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[str], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        for server in self.servers:
            for opened in server.sockets:
                address, port = opened.getsockname()[:2]
                shown = f"[{address}]" if ":" in address else address
                self._on_ready(f"http://{shown}:{port}/")

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the caller, which also ends other parts on them."""
        yield
