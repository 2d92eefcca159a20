"""How flags, environment and files become the settings of a command.

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

from geomi.cli.console import note
from geomi.cli.flags import CONFIG_FILE
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
    flags = flags_layer(
        {name: str(one) if isinstance(one, Path) else one for name, one in options.items()},
        assignments or (),
    )
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
    region: str | None = None,
) -> dict[str, object]:
    """Name the flags that say how this process reaches the network and what it keeps."""
    return {
        "region": region,
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
    configured = configure({"output": output}, process={"db": db, "blobs": blobs})
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
        note("warning: sites cannot see who crawls them; set GEOMI_CONTACT to a URL or an address")
    if settings.min_delay_s < Settings().min_delay_s:
        note(
            f"warning: GEOMI_MIN_DELAY_S={settings.min_delay_s:g} is only for sites that you own; "
            f"other sites need {Settings().min_delay_s:g} s between requests"
        )
    for variable in configured.strange_variables if is_verbose else ():
        note(f"note: geomi does not know the variable {variable}")
