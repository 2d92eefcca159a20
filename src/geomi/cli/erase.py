"""`geomi erase`: let go all that was collected of one site, whichever job it came with."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from geomi.app import Home, recover
from geomi.app.erase import erase_site, of_site
from geomi.cli.home import in_home
from geomi.cli.options import AsJson, Blobs, Database, Directory
from geomi.cli.search import site_name
from geomi.cli.talk import give, moment, note
from geomi.errors import ConfigError
from geomi.model.site import Takedown


def erase(
    site: Annotated[str, typer.Option("--site", metavar="HOST", help="Whose pages go.")],
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Who asked for it, and why.")],
    yes: Annotated[bool, typer.Option("--yes", help="Really erase it.")] = False,
    output: Directory = None,
    db: Database = None,
    blobs: Blobs = None,
    json: AsJson = False,
) -> None:
    """Erase the pages of one site, with their bytes, outputs and index entries."""
    host = site_name(site)

    async def work(home: Home) -> Takedown:
        await recover(home)
        found = await of_site(home, host)
        if not yes:
            jobs = len(found.whole)
            raise ConfigError(
                f"this erases {found.pages:,} pages of `{host}`, and with them {jobs} jobs that "
                f"have no others; {len(found.parts)} jobs keep what they have of other sites",
                hint="add --yes",
            )
        return await erase_site(home, found, reason)

    line = in_home(output, work, db=db, blobs=blobs)
    if json:
        give(asdict(line))
    else:
        note(f"erased at {moment(line.at_s)}: {line.jobs} jobs, {line.pages:,} pages of {host}")
