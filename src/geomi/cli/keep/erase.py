"""`geomi erase`: erase all pages of one site from every job."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from geomi.app import DataDirectory
from geomi.app.recovery import recover
from geomi.app.use.deletion import SiteHoldings, erase_site, site_holdings, sum_takedowns
from geomi.cli import flags
from geomi.cli.console import moment, note, print_json
from geomi.cli.data_directory import in_data_directory
from geomi.cli.read.search import site_name
from geomi.errors import ConfigError, UnknownName
from geomi.model.site import Takedown
from geomi.service.access import tenants
from geomi.service.service import Service


def erase(  # noqa: PLR0913  # one parameter a flag is what the command line is
    site: Annotated[
        str, typer.Option("--site", metavar="HOST", help="The host whose pages to erase.")
    ],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Who asked for it, and why.")],
    yes: Annotated[
        bool, typer.Option("--yes", help="Erase it; without this, only print what would be erased.")
    ] = False,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant",
            metavar="NAME",
            help="The tenant whose copy to erase.",
            show_default="everybody",
        ),
    ] = None,
    output: flags.Directory = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    json: flags.AsJson = False,
) -> None:
    """Erase the pages of one site, with their bytes, outputs and index entries."""
    host = site_name(site)

    async def work(home: DataDirectory) -> dict[str, Takedown]:
        await recover(home)
        found = {
            one: await site_holdings(home.open_for(one), host) for one in await _whose(home, tenant)
        }
        if not yes:
            raise ConfigError(_warning(host, found), hint="add --yes")
        # One that was cut short is finished, also where nothing is found any more.
        return {
            one: await erase_site(home.open_for(one), holds, reason)
            for one, holds in found.items()
            if holds.whole or holds.parts or holds.origins or one in (tenant, home.store.tenant)
        }

    lines = in_data_directory(output, work, db=db, blobs=blobs)
    line = sum_takedowns(list(lines.values()))
    if json:
        each = [{"tenant": one, "jobs": of.jobs, "pages": of.pages} for one, of in lines.items()]
        print_json(asdict(line) | {"tenants": each})
        return
    note(f"erased at {moment(line.at_s)}: {line.jobs} jobs, {line.pages:,} pages of {host}")
    for one, of in lines.items():
        note(f"  of tenant {one}: {of.jobs} jobs, {of.pages:,} pages")


async def _whose(home: DataDirectory, tenant: str | None) -> list[str]:
    """Return the tenants to erase: a person at the machine may reach all of them."""
    known = await tenants.all_names(Service(home))
    if tenant is None:
        return known
    if tenant not in known:
        raise UnknownName(
            f"there is no tenant `{tenant[:80]}`",
            hint="geomi keys list shows the tenants that have keys",
        )
    return [tenant]


def _warning(host: str, found: dict[str, SiteHoldings]) -> str:
    whole = sum(len(holds.whole) for holds in found.values())
    parts = sum(len(holds.parts) for holds in found.values())
    pages = sum(holds.pages for holds in found.values())
    whose = ", ".join(one for one, holds in found.items() if holds.whole or holds.parts)
    return (
        f"this erases {pages:,} pages of `{host}`, and with them {whole} jobs that "
        f"have no others; {parts} jobs keep what they have of other sites; "
        f"tenants: {whose or 'none'}"
    )
