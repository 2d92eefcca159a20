"""`geomi map`: list the URLs of a site without keeping its pages."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from geomi.cli import flags
from geomi.cli.collect.plan import PROBE_SETTING, SiteUrls, survey_sites
from geomi.cli.console import note, print_json, say
from geomi.cli.options import configure, process_flags
from geomi.engine.survey.survey import ListedUrl


def map_(  # noqa: PLR0913  # one parameter a flag is what the command line is
    urls: SiteUrls,
    limit: Annotated[
        int, typer.Option("-n", "--limit", min=0, help="List at most this many; 0: all.")
    ] = 0,
    include: flags.Include = None,
    exclude: flags.Exclude = None,
    scope: flags.ScopeName = None,
    delay: flags.Delay = None,
    output: flags.Directory = None,
    profile: flags.Profile = None,
    assignments: flags.Assignments = None,
    allow_private: flags.AllowPrivate = None,
    resolve: flags.Resolve = None,
    ca_file: flags.CaFile = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """List the URLs that sitemaps, /llms.txt and the start pages name; keep no page."""
    configured = configure(
        {
            "profile": profile,
            "include": include,
            "exclude": exclude,
            "scope": scope,
            "delay": delay,
        },
        assignments=[PROBE_SETTING, *(assignments or ())],
        process=process_flags(allow_private, resolve, ca_file),
        config=config,
    )
    found = survey_sites(urls, configured, output)
    listed = found.allowed[: limit or None]
    show = say if sys.stdout.isatty() else print  # a program that reads a pipe asks for them
    for one in listed:
        if json:
            print_json(_as_json(one))
        else:
            show(one.url)
    for read in found.lists:
        if read.problem and not read.is_missing:
            note(f"warning: {read.url}: {read.problem}")
    for problem in found.problems:
        note(f"warning: {problem}")
    if found.is_cut:
        note(f"warning: there is more; only the first {len(found.listed):,} URLs were examined")


def _as_json(one: ListedUrl) -> dict[str, str]:
    told = {"url": one.url, "source": str(one.source)}
    if one.lastmod_s is not None:
        told["lastmod"] = datetime.fromtimestamp(one.lastmod_s, UTC).isoformat(timespec="seconds")
    return told
