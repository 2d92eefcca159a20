"""Flags that several commands share, and how flags, environment and files become settings.

`configure` reads every layer in the order flag, environment, file, provider, profile, default.
`warn_about_settings` warns before requests are sent: of a missing contact (C-04) and of a delay
below the default. With `-v` it also names unknown `GEOMI_*` variables. This module opens no data
directory, so that light commands start fast.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from geomi.cli.console import note
from geomi.settings.compliance import has_contact
from geomi.settings.layers import (
    AGENT,
    Layer,
    Resolved,
    env_layer,
    file_layer,
    flags_layer,
    profile_origin,
    resolve_under_profile,
    settings_layer,
)
from geomi.settings.options import Settings
from geomi.settings.process import read_settings, unknown_variables
from geomi.settings.values import refuse_blank

CONFIG_FILE = "geomi.toml"
WHAT, PACE = "What to crawl", "How gently"  # panels of the help
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
    str | None, typer.Option("--profile", metavar="NAME", help="A named behaviour.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config", help=f"A TOML file, or a scanner's scan.yml; ./{CONFIG_FILE} is read by itself."
    ),
]
AllowPrivate = Annotated[
    bool | None,
    typer.Option(
        "--allow-private", help="Let private and loopback addresses through.", show_default=False
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any setting, by its full name; repeat."),
]
Resolve = Annotated[
    list[str] | None,
    typer.Option("--resolve", metavar="HOST:PORT:ADDR[:PORT]", help="Where one host is, as curl."),
]
CaFile = Annotated[
    Path | None, typer.Option("--ca-file", metavar="PEM", help="Certificates to trust as well.")
]
UserAgent = Annotated[
    str | None,
    typer.Option("--user-agent", metavar="TEXT", help="Who asks.", show_default="geomi/<version>"),
]
Header = Annotated[
    list[str] | None,
    typer.Option("-H", "--header", metavar="'NAME: VALUE'", help="Sent with each request; repeat."),
]
JobId = Annotated[
    str, typer.Option("--job", metavar="ID", help="A job's id, or its beginning or end.")
]
MaxPages = Annotated[
    int | None,
    typer.Option(
        "-n",
        "--max-pages",
        help="Stop after so many pages; 0: no limit.",
        show_default="100",
        rich_help_panel=WHAT,
    ),
]
Depth = Annotated[
    int | None,
    typer.Option(
        "-d",
        "--depth",
        help="How many links away from the start; 0: the start URLs alone.",
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
        help="Take only what matches, such as '/docs/**'; repeat.",
        rich_help_panel=WHAT,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "-x",
        "--exclude",
        metavar="GLOB",
        help="Leave out what matches; wins over --include; repeat.",
        rich_help_panel=WHAT,
    ),
]
ScopeName = Annotated[
    str | None,
    typer.Option(
        metavar="host|domain|any",
        help="The start URLs' hosts, their registrable domains, or everywhere.",
        show_default="host",
        rich_help_panel=WHAT,
    ),
]
Delay = Annotated[
    float | None,
    typer.Option(
        help="Least seconds between two requests to a host; jitter only adds to it.",
        show_default="about 1",
        rich_help_panel=PACE,
    ),
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


@dataclass(frozen=True, slots=True)
class Configured:
    """Everything the flags, the environment and the files say together."""

    settings: Settings
    resolved: Resolved
    flags: Layer
    strange_variables: tuple[str, ...] = ()


def configure(
    options: Mapping[str, object],
    *,
    assignments: Sequence[str] | None = None,
    process: Mapping[str, object] | None = None,
    config: Path | None = None,
    source: Callable[[Sequence[Layer], Settings], Layer] | None = None,
) -> Configured:
    """Read every layer; `options` are crawl flags and `process` flags of the process, by name.

    Args:
        assignments: what --set was given.
        source: finds what the provider or the contracts that were named say, given the layers
            above them.
    """
    env = dict(os.environ)
    file, table = _file(config, env)
    settings = read_settings(env, table, process or {})
    flags = flags_layer(options, assignments or ())
    layers = [flags, env_layer(env), file, settings_layer(settings)]
    if source is not None:
        layers.append(source(layers, settings))
    strange = tuple(unknown_variables(env))
    return Configured(settings, resolve_under_profile(layers), flags, strange)


def process_flags(
    allow_private: bool | None,
    resolve: list[str] | None,
    ca_file: Path | None,
    db: str | None = None,
    blobs: str | None = None,
) -> dict[str, object]:
    """Name the flags that say how this process reaches the network and what it keeps."""
    return {
        "db": db,
        "blobs": blobs,
        "allow_private": allow_private,
        "resolve": tuple(resolve or ()),
        "ca_file": str(ca_file) if ca_file else None,
    }


def data_directory_path(output: Path | None) -> Path:
    """Return the data directory of a command that only reads one."""
    return find_data_directory(output)[0]


def find_data_directory(
    output: Path | None, db: str | None = None, blobs: str | None = None
) -> tuple[Path, Settings]:
    """Return the data directory of a command, and the settings that name its store and archive."""
    configured = configure(
        {"output": str(output) if output else None}, process={"db": db, "blobs": blobs}
    )
    return Path(configured.resolved.run.output), configured.settings


def _file(config: Path | None, env: Mapping[str, str]) -> tuple[Layer, Mapping[str, object]]:
    named = config or (Path(env["GEOMI_CONFIG"]) if env.get("GEOMI_CONFIG") else None)
    if named is None and not Path(CONFIG_FILE).is_file():
        return Layer("file", {}), {}
    return file_layer(named or Path(CONFIG_FILE))


def warn_about_settings(configured: Configured, *, is_verbose: bool) -> None:
    """Warn of a crawler that nobody can ask about (C-04); a private site is our own."""
    settings, resolved = configured.settings, configured.resolved
    http = resolved.config.http
    comes_with_profile = (AGENT, profile_origin(resolved.run.profile)) in resolved.origins
    is_borrowed = comes_with_profile and not http.contact
    if (is_borrowed or not has_contact(http)) and not settings.allow_private:
        note("warning: sites cannot tell who crawls them; set GEOMI_CONTACT to a URL or an address")
    if settings.min_delay_s < Settings().min_delay_s:
        note(
            f"warning: GEOMI_MIN_DELAY_S={settings.min_delay_s:g} is only for sites that you own; "
            f"others are owed {Settings().min_delay_s:g} s between requests"
        )
    for variable in configured.strange_variables if is_verbose else ():
        note(f"note: the variable {variable} says nothing to geomi")
