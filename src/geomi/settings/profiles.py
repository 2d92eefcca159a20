"""Profiles: named behaviour with its ranges, and a configuration put together under one of them."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources

from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig
from geomi.settings.layers import Layer, Resolved, all_values, by_key, resolve

AGENT = "http.user_agent"


@dataclass(frozen=True, slots=True)
class Range:
    """The values that a setting may have; with `low` and `high` alike it is locked."""

    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"locked to {_shown(self.low)}"
        if math.isinf(self.high):
            return f"at least {_shown(self.low)}"
        return f"{_shown(self.low)} to {_shown(self.high)}"


@dataclass(frozen=True, slots=True)
class Profile:
    """A named behaviour.

    Args:
        ranges: what may be asked for under it, by dotted key.
        service_ranges: what a service lets its users ask for; the operator is not bound (adr 8).
    """

    name: str
    about: str
    layer: Layer
    ranges: Mapping[str, Range]
    service_ranges: Mapping[str, Range]


def profile_names() -> list[str]:
    """List the profiles that come with geomi."""
    files = resources.files("geomi.profiles").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def profile_origin(name: str) -> str:
    """Say that a value comes from a profile."""
    return f"profile {name}"


def read_profile(name: str) -> Profile:
    """Read a profile that comes with geomi."""
    names = profile_names()
    if name not in names:
        raise ConfigError(f"no profile `{name}`", hint=f"profiles: {', '.join(names)}")
    text = resources.files("geomi.profiles").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    origin = profile_origin(name)
    about, ranges, service = table.pop("about"), table.pop("ranges", {}), table.pop("service", {})
    return Profile(
        name,
        about,
        Layer(origin, by_key(table, origin)),
        _ranges(ranges, origin),
        _ranges(service.get("ranges", {}), origin),
    )


def resolve_under_profile(layers: Sequence[Layer]) -> Resolved:
    """Put layers together over the profile that they name; refuse what its ranges forbid."""
    given = resolve(layers)
    profile = read_profile(given.run.profile)
    resolved = resolve([*layers, _signed(profile.layer, given.config.http.contact)])
    refuse_outside(profile, resolved)
    return resolved


def resolve_resumed(flags: Layer, config: CrawlConfig, profile: str) -> Resolved:
    """Change a stored job's configuration by flags, inside the ranges of the job's own profile."""
    resolved = resolve([flags], onto=config)
    refuse_outside(read_profile(profile), resolved)
    return resolved


def refuse_outside(
    profile: Profile, resolved: Resolved, *, ranges: Mapping[str, Range] | None = None
) -> None:
    """Raise for the first value that the profile does not let anybody ask for.

    Args:
        ranges: others than the profile's own.
    """
    values, origins = all_values(resolved.config), dict(resolved.origins)
    for key, allowed in (profile.ranges if ranges is None else ranges).items():
        value = values[key]
        if isinstance(value, int | float) and not allowed.low <= value <= allowed.high:
            raise ConfigError(
                f"{key} = `{value}` ({origins.get(key, 'stored with the job')}): "
                f"under profile {profile.name} it is {allowed}",
                hint="stay inside, or choose another profile with --profile",
            )


def _signed(layer: Layer, contact: str) -> Layer:
    """Put the operator's contact in the place of the one that a profile's user agent carries."""
    product, opens, _ = str(layer.values.get(AGENT, "")).partition(" (")
    if not (contact and opens):
        return layer
    return replace(layer, values={**layer.values, AGENT: f"{product} (+{contact})"})


def _shown(number: float) -> str:
    return str(number).lower() if isinstance(number, int) else f"{number:g}"


def _ranges(table: Mapping[str, object], origin: str) -> dict[str, Range]:
    """Read `[low, high]`, or the one value that a setting is locked to."""
    return {
        key: Range(*given) if isinstance(given, list) else Range(_number(given), _number(given))
        for key, given in by_key(table, origin).items()
    }


def _number(given: object) -> float:
    assert isinstance(given, int | float)  # our own data
    return given
