"""`geomi fleet`: run workers as actors of a Ray cluster."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from geomi.cli import flags
from geomi.cli.console import note, print_json, say
from geomi.cli.options import configure, process_flags
from geomi.processes import fleet
from geomi.processes.crawl import CONCURRENCY
from geomi.processes.fleet import NODE, URLS_PER_WORKER, FleetPlan, FleetStatus

commands = typer.Typer(
    help="Run workers as actors of a Ray cluster, as many as the work needs.",
    no_args_is_help=True,
)

Address = Annotated[
    str,
    typer.Option(
        "--ray", metavar="ADDRESS", help="The cluster: HOST:PORT, ray://HOST:PORT, or auto."
    ),
]


@commands.command("up")
def up(  # noqa: PLR0913  # one parameter a flag is what the command line is
    ray: Address = "auto",
    number: Annotated[int, typer.Option("-n", "--number", min=1, max=10_000, help="Workers.")] = 1,
    least: Annotated[
        int | None, typer.Option("--min", min=0, help="The fewest workers.", show_default="-n")
    ] = None,
    most: Annotated[
        int | None, typer.Option("--max", min=1, help="The most workers.", show_default="-n")
    ] = None,
    urls_per_worker: Annotated[
        int, typer.Option(min=1, help="Waiting URLs for each worker.")
    ] = URLS_PER_WORKER,
    concurrency: Annotated[
        int, typer.Option(min=1, max=1000, help="Requests at once of a worker.")
    ] = CONCURRENCY,
    cpus: Annotated[
        float, typer.Option(min=0, help="CPUs that a worker reserves on its node.")
    ] = 1.0,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="PATH",
            help=f"The data directory on each node; {NODE} becomes the node's name.",
            show_default="./geomi-data",
        ),
    ] = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    region: flags.Region = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Start workers on a cluster, or change the number of running ones."""
    configured = configure(
        {"output": output},
        process=process_flags(allow_private, resolve, ca_file, db, blobs, region),
        config=config,
    )
    plan = FleetPlan(
        root=configured.resolved.run.output,
        settings=configured.settings,
        least=number if least is None else least,
        most=max(number, least or 0) if most is None else most,
        urls_per_worker=urls_per_worker,
        concurrency=concurrency,
        cpus=cpus,
    )
    if configured.settings.db and not configured.settings.blobs:
        note("warning: without --blobs all nodes must share the data directory")
    with fleet.cluster(ray) as actors:
        found = fleet.up(actors, plan)
    _tell(found, json=json)


@commands.command("status")
def status(ray: Address = "auto", json: flags.AsJson = False) -> None:
    """Show how many workers run, how many should run, and the node of each."""
    with fleet.cluster(ray) as actors:
        found = fleet.status(actors)
    _tell(found, json=json)


@commands.command("down")
def down(
    ray: Address = "auto",
    within: Annotated[
        float, typer.Option(min=0, help="Seconds for finishing requests in flight.")
    ] = 300.0,
    json: flags.AsJson = False,
) -> None:
    """Drain all workers and end the fleet; jobs stay as they are."""
    with fleet.cluster(ray) as actors:
        cut_short = fleet.down(actors, within_s=within)
    if json:
        print_json({"cut_short": cut_short})
    elif cut_short:
        say(f"{cut_short} workers did not end in time; other workers will finish their URLs")
    else:
        say("all workers have ended")


def _tell(found: FleetStatus, *, json: bool) -> None:
    if json:
        print_json(asdict(found))
        return
    waiting = "" if found.waiting is None else f", {found.waiting:,} URLs wait"
    ending = ", ending" if found.is_ending else ""
    bounds = f"{found.least} to {found.most}"
    say(f"{len(found.members)} of {found.wanted} workers ({bounds}){waiting}{ending}")
    for one in found.members:
        say(f"{one.name}  {one.state}  {one.owner}  node {one.node[:12]} {one.error}")
