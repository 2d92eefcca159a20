"""`geomi scrape`: fetch one page politely and print it as markdown."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from geomi.cli import flags
from geomi.cli.options import configure, process_flags
from geomi.library import Crawler, Options, Page


def scrape(  # noqa: PLR0913  # one parameter a flag is what the command line is
    url: Annotated[str, typer.Argument(help="The page.", metavar="URL")],
    user_agent: flags.UserAgent = None,
    header: flags.Header = None,
    profile: flags.Profile = None,
    assignments: flags.Assignments = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Fetch one page and print its markdown; obey robots.txt, store nothing."""
    configured = configure(
        {"profile": profile, "user_agent": user_agent, "header": header},
        assignments=assignments,
        process=process_flags(allow_private, resolve, ca_file),
        config=config,
    )
    options = Options(configured.settings, configured.resolved, configured.flags)
    page = asyncio.run(_scrape(url, options))
    print(page.to_json() if json else page.markdown)


async def _scrape(url: str, options: Options) -> Page:
    async with Crawler(configured=options) as crawler:
        return await crawler.scrape(url)
