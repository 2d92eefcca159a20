"""`geomi config show`: print the settings that a crawl would use, and where each comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import orjson
import typer

from geomi import __version__
from geomi.cli import flags
from geomi.cli.console import print_json, say
from geomi.cli.options import Configured, configure
from geomi.fetch.request import user_agent
from geomi.settings.layers import all_values
from geomi.settings.options import Settings
from geomi.settings.process import PROXY_VARIABLES

HIDDEN = "***"
SECRETS = frozenset({
    "geomi.model_key", "geomi.context7_key", "geomi.github_token", "geomi.sign_in_key",
})  # fmt: skip
SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})
WIDEST_COLUMN = 60

commands = typer.Typer(help="Show the configuration.", no_args_is_help=True)


@commands.callback()
def _config() -> None:
    """Show the configuration."""


@commands.command("show")
def show(
    origin: Annotated[
        bool, typer.Option("--origin", help="Show the source of each value.")
    ] = False,
    profile: flags.Profile = None,
    assignments: flags.Assignments = None,
    output: flags.Directory = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Print the settings of a crawl that starts here and now."""
    configured = configure(
        {"profile": profile, "output": output},
        assignments=assignments,
        config=config,
    )
    values = {key: _shown(key, value) for key, value in _values(configured).items()}
    origins = {key: _origin(configured, key) for key in values}
    if json and origin:
        print_json({key: {"value": value, "origin": origins[key]} for key, value in values.items()})
    elif json:
        print_json(values)
    else:
        print_settings(values, origins if origin else {})


def print_settings(values: Mapping[str, object], origins: Mapping[str, str]) -> None:
    """Print settings one a line, each with its origin where origins are given."""
    lines = {key: f"{key} = {orjson.dumps(value).decode()}" for key, value in values.items()}
    width = min(max(map(len, lines.values())), WIDEST_COLUMN)
    for key, line in lines.items():
        say(f"{line:<{width}}  # {origins[key]}" if origins else line)


def _values(configured: Configured) -> dict[str, object]:
    """Return every value by its key; the user agent is the one that geomi would send."""
    process = asdict(configured.settings)
    run = asdict(configured.resolved.run)
    return {
        **{f"geomi.{name}": value for name, value in process.items()},
        **{f"run.{name}": value for name, value in run.items()},
        **all_values(configured.resolved.config),
        "http.user_agent": user_agent(configured.resolved.config, version=__version__),
    }


def _origin(configured: Configured, key: str) -> str:
    room, _, name = key.partition(".")
    if room == "geomi":
        return _process_origin(configured.settings, name)
    return dict(configured.resolved.origins).get(key, "default")


def _process_origin(settings: Settings, name: str) -> str:
    """Find where a setting of the process stands; its strongest place is looked at first."""
    if getattr(settings, name) == getattr(Settings(), name):
        return "default"
    variables = [f"GEOMI_{name.upper()}"]
    if name in PROXY_VARIABLES:
        variables += [name, name.upper()]
    found = next((variable for variable in variables if os.environ.get(variable)), "")
    return f"environment {found}" if found else "file"


def _shown(key: str, value: object) -> object:
    """Hide what opens doors: it would end in scroll-back buffers and bug reports."""
    if key == "http.headers" and isinstance(value, tuple):
        return [f"{name}: {_masked(name, text)}" for name, text in value]
    if key in SECRETS and value:
        return HIDDEN
    if isinstance(value, str) and (key.endswith("_proxy") or key in ("geomi.db", "geomi.blobs")):
        return _without_password(value)
    return value


def _without_password(url: str) -> str:
    scheme, mark, rest = url.partition("://")
    if "password" in rest.partition("?")[2]:  # libpq takes one there too
        rest = f"{rest.partition('?')[0]}?{HIDDEN}"
    if "@" in rest:
        rest = f"{HIDDEN}@{rest.rpartition('@')[2]}"
    return f"{scheme}{mark}{rest}"


def _masked(name: str, text: str) -> str:
    return HIDDEN if name.lower() in SECRET_HEADERS else text
