"""Read the settings of the process: flag > `GEOMI_*` > the file's `[geomi]` table > default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import get_type_hints

from pydantic import TypeAdapter, ValidationError

from geomi.errors import ConfigError
from geomi.settings.layers import CRAWL_PREFIX
from geomi.settings.options import OPTIONS, Settings
from geomi.settings.values import NOT_GIVEN, first_problem, refuse_unknown, split_text

PREFIX = "GEOMI_"
# What every program that goes through a proxy honours; lower case wins, as in curl.
PROXY_VARIABLES = ("http_proxy", "https_proxy", "no_proxy")
# Read elsewhere: where the file is, and where tests find material that others wrote.
OTHER_VARIABLES = ("GEOMI_CONFIG", "GEOMI_CORPUS")
# `CONTATC` and `MIN_DELAY` are this near to what was meant, `HOME` and `LOG_LEVEL` to nothing.
MISSPELLED = 0.75


def read_settings(
    env: Mapping[str, str], table: Mapping[str, object], flags: Mapping[str, object]
) -> Settings:
    """Put the process's settings together and check them."""
    hints = get_type_hints(Settings, include_extras=True)
    refuse_unknown(table, list(hints), "setting in [geomi]")
    _refuse_misspelled(env)
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


def unknown_variables(env: Mapping[str, str]) -> list[str]:
    """Name the variables that begin like ours and say nothing to us."""
    known = {f"{PREFIX}{one.name.upper()}" for one in fields(Settings)} | set(OTHER_VARIABLES)
    return sorted(
        variable
        for variable in env
        if variable.startswith(PREFIX)
        and not variable.startswith(CRAWL_PREFIX)
        and variable not in known
    )


def _refuse_misspelled(env: Mapping[str, str]) -> None:
    """Refuse a variable that was meant for us; others may have theirs, so not every one."""
    settings = [one.name.upper() for one in fields(Settings)]
    meant = dict.fromkeys(settings, PREFIX) | {
        name.upper(): CRAWL_PREFIX for name in OPTIONS if name.upper() not in settings
    }
    for variable in unknown_variables(env):
        name = variable.removeprefix(PREFIX)
        near = get_close_matches(name, meant, n=1, cutoff=MISSPELLED)
        if near:
            hint = f"did you mean `{meant[near[0]]}{near[0]}`?"
            raise ConfigError(f"unknown variable `{variable}`", hint=hint)


def _places(
    name: str, env: Mapping[str, str], table: Mapping[str, object], flags: Mapping[str, object]
) -> list[tuple[str, object]]:
    """List where a setting may stand, strongest first, with what stands there."""
    variable = f"{PREFIX}{name.upper()}"
    places: list[tuple[str, object]] = [
        (f"--{name.replace('_', '-')}", flags.get(name)),
        (variable, env.get(variable)),
        (f"[geomi] {name}", table.get(name)),
    ]
    if name in PROXY_VARIABLES:
        places += [(name, env.get(name) or None), (name.upper(), env.get(name.upper()) or None)]
    return places
