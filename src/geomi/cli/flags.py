"""Flags that several commands share, so that they mean the same everywhere.

A flag that one command alone has stands with that command.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from geomi.settings.values import refuse_blank

CONFIG_FILE = "geomi.toml"
WHAT, PACE, MESSAGES = "What to crawl", "How gently", "Messages"  # panels of the help
Database = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        help="Keep the state in this database: postgresql://user@host/name.",
        show_default="a file in the data directory",
    ),
]
Blobs = Annotated[
    str | None,
    typer.Option(
        "--blobs",
        metavar="URL",
        help="Keep the archive in this bucket: s3://bucket/prefix.",
        show_default="the data directory",
    ),
]
Profile = Annotated[
    str | None, typer.Option("--profile", metavar="NAME", help="A named set of settings.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help=f"A TOML file, or a scanner's scan.yml; ./{CONFIG_FILE} is read without it.",
    ),
]
AllowPrivate = Annotated[
    bool | None,
    typer.Option(
        "--allow-private",
        help="Also connect to private and loopback addresses.",
        show_default=False,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Any setting, by its full name; you may repeat it."
    ),
]
Region = Annotated[
    str | None,
    typer.Option(
        "--region",
        metavar="NAME",
        help="Where this process is; hosts that name regions are lent to theirs alone.",
    ),
]
Resolve = Annotated[
    list[str] | None,
    typer.Option(
        "--resolve",
        metavar="HOST:PORT:ADDR[:PORT]",
        help="Connect to this address for a host, as in curl.",
    ),
]
CaFile = Annotated[
    Path | None,
    typer.Option("--ca-file", metavar="PEM", help="A certificate authority to trust as well."),
]
UserAgent = Annotated[
    str | None,
    typer.Option(
        "--user-agent",
        metavar="TEXT",
        help="The name in each request.",
        show_default="geomi/<version>",
    ),
]
Header = Annotated[
    list[str] | None,
    typer.Option(
        "-H",
        "--header",
        metavar="'NAME: VALUE'",
        help="One more request header; you may repeat it.",
    ),
]
JobId = Annotated[
    str, typer.Option("--job", metavar="ID", help="A job's id, or a unique beginning or end of it.")
]
MaxPages = Annotated[
    int | None,
    typer.Option(
        "-n",
        "--max-pages",
        help="Stop after this many pages; 0: no limit.",
        show_default="100",
        rich_help_panel=WHAT,
    ),
]
Depth = Annotated[
    int | None,
    typer.Option(
        "-d",
        "--depth",
        help="Follow links this far from the start URLs; 0: the start URLs alone.",
        show_default="3",
        rich_help_panel=WHAT,
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        "-i",
        "--include",
        metavar="GLOB",
        help="Take only URLs that match, such as '/docs/**'; you may repeat it.",
        rich_help_panel=WHAT,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "-x",
        "--exclude",
        metavar="GLOB",
        help="Leave out URLs that match; wins over --include; you may repeat it.",
        rich_help_panel=WHAT,
    ),
]
ScopeName = Annotated[
    str | None,
    typer.Option(
        metavar="host|domain|any",
        help="Stay on the start URLs' hosts, on their registrable domains, or go everywhere.",
        show_default="host",
        rich_help_panel=WHAT,
    ),
]
Delay = Annotated[
    float | None,
    typer.Option(
        help="The shortest delay between two requests to a host, in seconds; jitter adds to it.",
        show_default="about 1",
        rich_help_panel=PACE,
    ),
]


Workers = Annotated[
    int | None, typer.Option("--workers", help="Processes.", show_default="1", rich_help_panel=PACE)
]
Format = Annotated[
    str | None,
    typer.Option(
        "-f", "--format", metavar="LIST", help="The outputs.", show_default="md,jsonl,warc"
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("-q", "--quiet", help="Print only what went wrong.", rich_help_panel=MESSAGES),
]
Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="Print every event.", rich_help_panel=MESSAGES)
]


def _path(text: str) -> Path:
    """Read a path; an empty one would be the folder we are in."""
    refuse_blank(text, "--output")
    return Path(text)


Directory = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="PATH",
        parser=_path,
        help="The data directory.",
        show_default="./geomi-data",
    ),
]
