"""The process's own settings: flag > `GEOMI_*` > the file's `[geomi]` table > default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import get_type_hints

from pydantic import TypeAdapter, ValidationError

from geomi.errors import ConfigError
from geomi.settings.layers import NOT_GIVEN, first_problem, refuse_unknown, split_text
from geomi.settings.options import Settings

# What every program that goes through a proxy honours; lower case wins, as in curl.
PROXY_VARIABLES = ("http_proxy", "https_proxy", "no_proxy")


def read_settings(
    env: Mapping[str, str], table: Mapping[str, object], flags: Mapping[str, object]
) -> Settings:
    """Put the process's settings together and check them."""
    hints = get_type_hints(Settings, include_extras=True)
    refuse_unknown(table, list(hints), "setting in [geomi]")
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for name in (one.name for one in fields(Settings)):
        for origin, value in _places(name, env, table, flags):
            if value not in NOT_GIVEN:
                values[name], origins[name] = split_text(hints[name], value), origin
                break
    try:
        return TypeAdapter(Settings).validate_python(values)
    except ValidationError as error:
        place, value, wrong = first_problem(error)
        raise ConfigError(f"{origins.get(place, place)} = `{value}`: {wrong}") from error


def _places(
    name: str, env: Mapping[str, str], table: Mapping[str, object], flags: Mapping[str, object]
) -> list[tuple[str, object]]:
    """List where a setting may stand, strongest first, with what stands there."""
    variable = f"GEOMI_{name.upper()}"
    places: list[tuple[str, object]] = [
        (f"--{name.replace('_', '-')}", flags.get(name)),
        (variable, env.get(variable)),
        (f"[geomi] {name}", table.get(name)),
    ]
    if name in PROXY_VARIABLES:
        places += [(name, env.get(name) or None), (name.upper(), env.get(name.upper()) or None)]
    return places
