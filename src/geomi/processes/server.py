"""Run `geomi serve`: HTTP, the service workers, and the background tasks.

The first signal lets requests in flight end, those to sites and those to the service. A second one
stops them. After any end, the next start continues the work.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from fastapi import FastAPI

from geomi.adapters.machine.processes import raise_handle_limit
from geomi.adapters.telemetry.repeats import logs_as_warnings
from geomi.api.app import app_state_of
from geomi.api.connections import ConnectionLimits
from geomi.api.http_server import HttpServer
from geomi.app.recovery import recover
from geomi.app.use.datasets import seed_config
from geomi.engine.worker.heartbeat import with_heartbeat
from geomi.errors import ConfigError
from geomi.model.worker import WorkerRole
from geomi.ports.runtime import EventSink
from geomi.processes.crawl import CONCURRENCY
from geomi.processes.serve import ServeOrder, ServiceProcesses, ServiceProcessKind
from geomi.service.background_tasks import run_background_tasks
from geomi.service.service import Service
from geomi.settings.options import Settings

MAX_QUEUED = 1_000_000  # URLs of all tenants that wait at once, unless the operator says (G-03)

# What connections may not take: the store, an index for each tenant, its exports, webhooks, pipes.
RESERVED_HANDLES = 256
# Enough for 50 streams of each of 20 tenants, and 60 MB if all send their headers byte by byte.
MAX_CONNECTIONS = 1000


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Where a service listens, and how many processes crawl beside it.

    Args:
        concurrency: requests at once of each of them.
    """

    host: str
    port: int
    workers: int
    concurrency: int


def server_settings(settings: Settings) -> Settings:
    """Return the settings of a process that serves: what waits has a limit there."""
    return settings if settings.max_queued is not None else replace(settings, max_queued=MAX_QUEUED)


def requests_per_process(settings: Settings, *, workers: int, concurrency: int | None) -> int:
    """Return how many requests each process may have in flight, so that all keep the limit.

    Args:
        concurrency: what the operator asked for; None for as many as usual, or as fit.
    """
    most = settings.max_fetches
    taken = len(settings.datasets) * seed_config(settings).seeds.domain_batch if workers else 0
    share = (most - taken) // max(1, workers)
    if share < (concurrency or 1):
        asked = f"{workers} processes with {concurrency or 1} requests at once"
        seeds = f", and {taken} for datasets," if taken else ""
        raise ConfigError(
            f"{asked}{seeds} exceed the {most} that GEOMI_MAX_FETCHES allows",
            hint="fewer workers, a smaller --concurrency, or a higher limit",
        )
    return concurrency or min(CONCURRENCY, share)


def connection_limits(settings: Settings, *, handles: int) -> ConnectionLimits:
    """Return the limits of connections, so that file handles are left for everything else.

    Args:
        handles: how many files, sockets among them, this process may have open.
    """
    room, asked = handles - RESERVED_HANDLES, settings.max_connections
    if room < (asked or 1):
        wanted = f"{asked:,} connections (GEOMI_MAX_CONNECTIONS)" if asked else "a connection"
        raise ConfigError(
            f"{wanted} and {RESERVED_HANDLES} other files exceed the {handles:,} that this "
            "process may open",
            hint="raise the limit (LimitNOFILE, ulimit -n) or allow fewer connections",
        )
    return ConnectionLimits(
        asked or min(room, MAX_CONNECTIONS),
        settings.max_connections_per_address,
        header_s=settings.header_timeout_s,
        body_s=settings.body_timeout_s,
        reading_s=settings.answer_timeout_s,
        idle_s=settings.idle_timeout_s,
    )


async def run_server(
    app: FastAPI,
    service: Service,
    serving: ServerOptions,
    sink: EventSink,
    *,
    on_ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until a signal ends it.

    Args:
        sink: receives the events of the other processes.
        on_ready: is called with the address when the server listens.
    """
    limits = connection_limits(service.settings, handles=raise_handle_limit())
    await recover(service.home)
    await service.home.heart.enrol(WorkerRole.SUPERVISOR)
    front = HttpServer(app, serving.host, serving.port, limits, on_ready=on_ready)
    explain = partial(recover, service.home)
    processes = ServiceProcesses(_orders(service, serving), sink, explain)
    app_state_of(app).processes_trouble = processes.trouble
    server = _Server(service, front, processes)
    with logs_as_warnings(service.home.world.sink):
        await with_heartbeat(service.home.heart, server.run(), endures=True)


def _orders(service: Service, serving: ServerOptions) -> tuple[ServeOrder, ...]:
    root, settings = service.home.root, service.settings
    crawling = ServeOrder(root, settings, ServiceProcessKind.CRAWL, serving.concurrency)
    works = [crawling] * serving.workers
    if works and settings.datasets:
        works.append(ServeOrder(root, settings, ServiceProcessKind.PREPARE))
    understanding = ServeOrder(root, settings, ServiceProcessKind.UNDERSTAND)
    return (*[understanding] * settings.index_workers, *works)


class _Server:
    """Everything that runs for as long as the service does."""

    def __init__(self, service: Service, front: HttpServer, processes: ServiceProcesses) -> None:
        self._service = service
        self._front = front
        self._processes = processes

    async def run(self) -> None:
        """Run until a signal, and until all processes have ended."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._leave)
        async with asyncio.TaskGroup() as group:
            processes = group.create_task(self._processes.run(), name="processes")
            chores = group.create_task(run_background_tasks(self._service), name="chores")
            await self._front.run()
            self._processes.drain()
            await processes
            chores.cancel()

    def _leave(self) -> None:
        self._service.leaving.set()  # or whoever follows a crawl would hold the door open
        self._front.leave()
        self._processes.drain()
