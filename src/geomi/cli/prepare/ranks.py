"""`geomi ranks`: how much sites are visited, for crawls in the order `weighted`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from geomi.app import DataDirectory
from geomi.app.use.own_traffic import (
    put_own_traffic,
    read_table,
    remove_own_traffic,
    stored_table,
)
from geomi.app.use.ranks import import_ranks, refresh_ranks, stored_list
from geomi.cli import flags
from geomi.cli.console import conclude, moment, print_json, say
from geomi.cli.data_directory import in_data_directory
from geomi.engine.jobs import read_seeds
from geomi.engine.visit.traffic import SiteTraffic, TrafficFinding
from geomi.errors import ConfigError
from geomi.model.site import RankKind, RankList, TrafficTable

commands = typer.Typer(help="Import and show how much sites are visited.", no_args_is_help=True)
Kind = Annotated[
    RankKind | None,
    typer.Option("--kind", help="Whose list it must be.", show_default="recognised"),
]
Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant",
        metavar="NAME",
        help="The tenant of a service whose table it is.",
        show_default="the one of commands",
    ),
]


@commands.command("import")
def import_(
    source: Annotated[
        str,
        typer.Argument(metavar="FILE|URL", help="A list of the busiest sites: plain, .gz or .zip."),
    ],
    kind: Kind = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Read a rank list of Tranco, Umbrella, Majestic or CrUX; it replaces the list before."""
    held = in_data_directory(
        output, lambda home: import_ranks(home, source, kind=kind), db=db, create=True
    )
    conclude(asdict(held), _imported(held), json=json)


@commands.command("refresh")
def refresh(
    output: flags.Directory = None, db: flags.Database = None, json: flags.AsJson = False
) -> None:
    """Ask the list's URL whether there is a newer list, and read that."""
    held = in_data_directory(output, refresh_ranks, db=db)
    is_new = held.imported_at_s == held.checked_at_s
    told = _imported(held) if is_new else f"the list of {moment(held.imported_at_s)} is the newest"
    conclude(asdict(held) | {"is_new": is_new}, told, json=json)


@commands.command("own")
def own(  # one parameter a flag is what the command line is
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="CSV or JSON: a host or URL prefix, and its views."),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the table.")] = False,
    tenant: Tenant = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Read a table of your own with views or shares; it counts in place of ranks."""
    if remove == (file is not None):
        raise ConfigError("give a FILE, or --remove", hint="geomi ranks own views.csv")

    async def work(home: DataDirectory) -> TrafficTable | None:
        home = home.open_for(tenant) if tenant else home
        if file is not None:
            table = read_table(file.read_bytes(), str(file.resolve()))
            return await put_own_traffic(home, table, str(file.resolve()))
        await remove_own_traffic(home)
        return None

    table = in_data_directory(output, work, db=db, create=not remove)
    told = "there is no table of your own; ranks count again"
    if table is not None:
        told = f"{table.places:,} places have traffic of your own, in place of ranks"
    conclude(asdict(table) if table else {"places": 0}, told, json=json)


@commands.command("show")
def show(
    place: Annotated[
        str | None, typer.Argument(metavar="DOMAIN|URL", help="Show this place's traffic value.")
    ] = None,
    tenant: Tenant = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Show where ranks come from, or the traffic value of a domain or a page."""
    url = read_seeds([place])[0] if place else None

    async def work(
        home: DataDirectory,
    ) -> tuple[TrafficFinding | None, RankList | None, TrafficTable | None, int]:
        home = home.open_for(tenant) if tenant else home
        found = await SiteTraffic(home.world).find(url) if url else None
        many = await home.store.ranks.count()
        return found, await stored_list(home), await stored_table(home), many

    found, held, table, many = in_data_directory(output, work, db=db)
    if url is None or found is None:
        _show_lists(held, table, json=json)
    elif json:
        told = {"domain": url.host, "listed_as": found.listed_as, "rank": found.rank}
        shown = {"traffic": round(found.traffic, 3), "domains": many, "own": found.is_own}
        print_json(told | shown)
    elif found.is_own:
        listed = found.listed_as or f"{url.host}  not in the table of your own"
        say(f"{listed}  traffic {found.traffic:.3f}")
    elif found.rank is None:
        say(f"{url.host}  no rank among {many:,} domains  traffic 0")
    else:
        rank = f"rank {found.rank:,} among {many:,} domains"
        say(f"{found.listed_as}  {rank}  traffic {found.traffic:.3f}")


def _show_lists(held: RankList | None, table: TrafficTable | None, *, json: bool) -> None:
    if json:
        told = {"list": held and asdict(held), "own": table and asdict(table)}
        print_json(told)
        return
    if held is None:
        say("no rank list")
    else:
        say(f"{held.kind}  {held.domains:,} domains  of {moment(held.imported_at_s)}")
        say(f"from {held.origin}, asked {moment(held.checked_at_s)}")
    if table is not None:
        say(f"own table  {table.places:,} places  of {moment(table.imported_at_s)}")
        say(f"from {table.origin}; it counts in place of ranks")


def _imported(held: RankList) -> str:
    return (
        f"{held.domains:,} domains have a rank by {held.kind}; "
        "crawls with order=weighted use the ranks from now on"
    )
