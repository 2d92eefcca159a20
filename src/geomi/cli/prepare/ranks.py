"""`geomi ranks`: import and show the popularity of domains, for crawls in the order `weighted`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from geomi.app import DataDirectory
from geomi.app.use.ranks import import_ranks
from geomi.cli import flags
from geomi.cli.console import conclude, print_json, say
from geomi.cli.data_directory import in_data_directory
from geomi.engine.jobs import read_seeds
from geomi.frontier.priority import names_of, traffic

commands = typer.Typer(
    help="Import and show the list of most visited domains.", no_args_is_help=True
)


@commands.command("import")
def import_(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A file with lines of `rank,domain`, plain or .gz."),
    ],
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Read a list of domains, the busiest first; it replaces the list before."""

    async def work(home: DataDirectory) -> int:
        return await import_ranks(home.world, file)

    many = in_data_directory(output, work, db=db, create=True)
    conclude(
        {"domains": many},
        f"{many:,} domains have a rank; crawls with order=weighted use the ranks from now on",
        json=json,
    )


@commands.command("show")
def show(
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="A domain, or a URL on it.")],
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Show a domain's rank and its traffic value."""
    (url,) = read_seeds([domain])
    names = names_of(url.authority)

    async def work(home: DataDirectory) -> tuple[str, int | None, int]:
        ranks = await home.world.store.ranks.find(names)
        listed = next((name for name in names if name in ranks), "")
        return listed, ranks.get(listed), await home.world.store.ranks.count()

    listed, rank, many = in_data_directory(output, work, db=db)
    if json:
        told = {"domain": url.host, "listed_as": listed, "rank": rank}
        print_json(told | {"traffic": round(traffic(rank), 3), "domains": many})
    elif rank is None:
        say(f"{url.host}  no rank among {many:,} domains  traffic 0")
    else:
        say(f"{listed}  rank {rank:,} among {many:,} domains  traffic {traffic(rank):.3f}")
