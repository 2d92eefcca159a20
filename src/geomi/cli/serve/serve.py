"""`geomi serve`: run the HTTP service, with its dashboard, for all tenants."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geomi.adapters.telemetry.metrics import Metrics
from geomi.cli import flags
from geomi.cli.console import note, say
from geomi.cli.event_output import event_listener
from geomi.cli.options import configure, process_flags
from geomi.ports.runtime import Clock, EventSink
from geomi.processes.crawl import CONCURRENCY
from geomi.service.access.tenants import first_key
from geomi.service.seeds import unknown_tenants
from geomi.service.service import open_service
from geomi.settings.options import Settings

if TYPE_CHECKING:
    from geomi.processes.server import ServerOptions

HOST, PORT = "127.0.0.1", 8420


def serve(  # noqa: PLR0913  # one parameter a flag is what the command line is
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on.")
    ] = HOST,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, help="The port; 0: any free one.")
    ] = PORT,
    workers: Annotated[
        int,
        typer.Option(min=0, max=64, help="Crawl workers; 0: geomi worker crawls elsewhere."),
    ] = 1,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1000,
            help="Requests at once of each crawl worker; all together keep GEOMI_MAX_FETCHES.",
            show_default=str(CONCURRENCY),
        ),
    ] = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    region: flags.Region = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
    quiet: flags.Quiet = False,
    verbose: flags.Verbose = False,
) -> None:
    """Serve the API and the dashboard; the first start creates a tenant and prints its key."""
    configured = configure(
        {"output": output},
        process=process_flags(allow_private, resolve, ca_file, db, blobs, region),
        config=config,
    )
    root, settings = Path(configured.resolved.run.output), configured.settings
    metrics = Metrics()
    listen = event_listener(metrics, json=json, quiet=quiet, verbose=verbose)
    if not settings.contact and not quiet:
        note("warning: no contact address is set, so public hosts are refused (GEOMI_CONTACT)")
    # Whoever gives another command waits for no web framework.
    from geomi.processes.server import ServerOptions, requests_per_process, server_settings

    share = requests_per_process(settings, workers=workers, concurrency=concurrency)
    serving = ServerOptions(host, port, workers, share)
    asyncio.run(_serve(root, server_settings(settings), listen, metrics, serving))


async def _serve(
    root: Path,
    settings: Settings,
    listen: Callable[[Clock], EventSink],
    metrics: Metrics,
    serving: ServerOptions,
) -> None:
    from geomi.api.app import app_state_of, make_app
    from geomi.dashboard.app import add_dashboard
    from geomi.processes.server import run_server

    async with open_service(root, settings, listen) as service:
        minted = await first_key(service)
        if minted is not None:
            say(minted.text)
            note("this is the key of the first administrator; geomi shows it only now")
        for name in await unknown_tenants(service):
            note(f"warning: GEOMI_DATASETS names tenant `{name}`, which does not exist")
            note(f"hint: geomi keys create --tenant {name} creates it, and a key")
        app = add_dashboard(make_app())
        app_state_of(app).open(service, metrics)
        await run_server(app, service, serving, service.home.world.sink, on_ready=_announce)


def _announce(url: str) -> None:
    note(f"geomi serves {url} (the API is described at {url}docs)")
