"""Put a crawl's configuration together from its layers: flag, environment, file, provider, profile.

The first layer that has a value wins; the default comes last. Every value keeps its origin, so that
errors and `geomi config show --origin` can name it. geomi refuses an unknown key in any layer, and
hints at the nearest known one. A profile is named behaviour with its ranges;
`resolve_under_profile` refuses what these forbid.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig
from geomi.settings import files
from geomi.settings.files import checked_schema, schema_in
from geomi.settings.options import OPTIONS, RunOptions, Settings
from geomi.settings.values import (
    NOT_GIVEN,
    first_problem,
    header_pairs,
    refuse_blank,
    refuse_unknown,
    split_text,
)

CRAWL_PREFIX = "GEOMI_CRAWL_"
LARGEST_NUMBER = 2**63 - 1  # what a store can write down

T = TypeVar("T")
AGENT = "http.user_agent"


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one place, by dotted key; `names` has the place's own name of each."""

    origin: str
    values: Mapping[str, object]
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A complete configuration and the origin of every value that is not a default."""

    config: CrawlConfig
    run: RunOptions
    origins: tuple[tuple[str, str], ...]


def resolve(layers: Sequence[Layer], *, onto: CrawlConfig | None = None) -> Resolved:
    """Put layers together, strongest first; `onto` is what they change (a resumed job's config)."""
    values: dict[str, object] = dict(all_values(onto)) if onto else {}
    origins: dict[str, str] = {}
    for layer in reversed(layers):
        for key, raw in layer.values.items():
            values[key] = _prepared(key, raw)
            name = layer.names.get(key, key)
            origins[key] = f"{layer.origin} {name}" if name != key else layer.origin
    run = {key.removeprefix("run."): it for key, it in values.items() if key.startswith("run.")}
    job = {key: it for key, it in values.items() if not key.startswith("run.")}
    config = _build(_adapter(CrawlConfig), _nested(job), "", origins)
    _refuse_unstorable(config, origins)
    return Resolved(
        config=config,
        run=_build(_adapter(RunOptions), run, "run.", origins),
        origins=tuple(sorted(origins.items())),
    )


def flags_layer(given: Mapping[str, object], assignments: Sequence[str] = ()) -> Layer:
    """Make the layer of the command line from option names and values; None means not given.

    Args:
        assignments: `KEY=VALUE` texts of --set, for any setting; they beat the named options.
    """
    values = {OPTIONS[name]: value for name, value in given.items() if value not in NOT_GIVEN}
    names = {OPTIONS[name]: f"--{name.replace('_', '-')}" for name in given}
    for key, value in values.items():
        refuse_blank(value, names[key])
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals:
            raise ConfigError(f"--set `{text}` has no value", hint="write --set KEY=VALUE")
        key = _key(name.strip(), "--set")
        given_text = value.strip()
        values[key] = schema_in(given_text) if key == files.SCHEMA_KEY else given_text
        names[key] = "--set"
    return Layer("flag", values, names)


def env_layer(env: Mapping[str, str]) -> Layer:
    """Read `GEOMI_CRAWL_DEPTH` (an option) and `GEOMI_CRAWL_LIMITS__MAX_DEPTH` (any setting)."""
    values: dict[str, object] = {}
    names: dict[str, str] = {}
    for variable, value in env.items():
        if variable.startswith(CRAWL_PREFIX):
            name = variable.removeprefix(CRAWL_PREFIX).lower().replace("__", ".")
            key = _key(name, variable)
            values[key], names[key] = value, variable
    return Layer("environment", values, names)


def file_layer(path: Path) -> tuple[Layer, Mapping[str, object]]:
    """Read a TOML file, its `[crawl]` table as a layer and its `[geomi]` table as it is.

    A file of the scanner (`scan.yml`) is a layer alone.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix in files.SCAN_SUFFIXES:
            return Layer(f"file {path}", *files.read_scan(text, str(path))), {}
        content = tomllib.loads(text)
    except OSError as error:
        told = f"cannot read configuration `{path}`: {error.strerror}"
        raise ConfigError(told, hint="give a TOML file, or a scanner's scan.yml") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"cannot read configuration `{path}`: {error}") from error
    refuse_unknown(content, ("crawl", "geomi"), f"table in `{path}`")
    crawl, process = content.get("crawl", {}), content.get("geomi", {})
    if not isinstance(crawl, Mapping) or not isinstance(process, Mapping):
        raise ConfigError(f"`crawl` and `geomi` in `{path}` must be tables", hint="write [crawl]")
    return Layer(f"file {path}", by_key(crawl, f"`{path}`")), process


def settings_layer(settings: Settings) -> Layer:
    """Carry what the process knows into a crawl: its contact and its floor for public hosts."""
    values: dict[str, object] = {"politeness.min_delay_s": settings.min_delay_s}
    if settings.contact:
        values["http.contact"] = settings.contact
    return Layer("process settings", values)


def all_values(config: CrawlConfig) -> dict[str, object]:
    """Return every setting of a configuration by its dotted key."""
    values: dict[str, object] = {}
    for section in fields(config):
        inner = getattr(config, section.name)
        if is_dataclass(inner):
            values |= {
                f"{section.name}.{one.name}": getattr(inner, one.name) for one in fields(inner)
            }
        else:
            values[section.name] = inner
    return values


def by_key(table: Mapping[str, object], origin: str) -> dict[str, object]:
    """Flatten a table of sections and short names to dotted keys; refuse unknown ones."""
    flat: dict[str, object] = {}
    sections = {key.partition(".")[0] for key in setting_types()}
    for name, value in table.items():
        option = name.replace("-", "_")
        # `scope` is a section and an option, `header` an option that may be a table.
        if isinstance(value, Mapping) and (option in sections or option not in OPTIONS):
            flat |= {_key(f"{option}.{inner}", origin): it for inner, it in value.items()}
        else:
            flat[_key(option, origin)] = value
    return flat


@cache
def setting_types() -> dict[str, object]:
    """Return the type of every setting by its dotted key, with its bounds."""
    types = {f"run.{name}": hint for name, hint in _types(RunOptions).items()}
    for name, section in _types(CrawlConfig).items():
        if isinstance(section, type) and is_dataclass(section):
            types |= {f"{name}.{inner}": hint for inner, hint in _types(section).items()}
        else:
            types[name] = section
    return types


def _types(kind: type) -> dict[str, object]:
    return get_type_hints(kind, include_extras=True)


@cache
def _adapter(kind: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(kind)  # making one takes longer than all else here


def _build(adapter: TypeAdapter[T], raw: object, prefix: str, origins: Mapping[str, str]) -> T:
    try:
        return adapter.validate_python(raw)
    except ValidationError as error:
        place, value, wrong = first_problem(error)
        key = next((one for one in origins if f"{prefix}{place}".startswith(one)), place)
        origin = origins.get(key, "default")
        raise ConfigError(f"{key} = `{value}` ({origin}): {wrong}") from error


def _refuse_unstorable(config: CrawlConfig, origins: Mapping[str, str]) -> None:
    for key, value in all_values(config).items():
        if isinstance(value, int) and value > LARGEST_NUMBER:
            origin = origins.get(key, "default")
            raise ConfigError(
                f"{key} = `{value}` ({origin}): input should be at most {LARGEST_NUMBER}"
            )


def _nested(values: Mapping[str, object]) -> dict[str, object]:
    nested: dict[str, dict[str, object]] = {}
    plain: dict[str, object] = {}
    for key, value in values.items():
        section, dot, name = key.partition(".")
        if dot:
            nested.setdefault(section, {})[name] = value
        else:
            plain[section] = value
    return plain | nested


def _key(name: str, origin: str) -> str:
    """Return the dotted key of an option or setting; refuse unknown ones with the nearest known."""
    key = OPTIONS.get(name, name)
    if key not in setting_types():
        refuse_unknown({name: None}, [*OPTIONS, *setting_types()], f"crawl setting in {origin}")
    return key


def _prepared(key: str, raw: object) -> object:
    match key:
        case "http.headers":
            return header_pairs(raw)
        case files.SCHEMA_KEY:
            return checked_schema(raw)
    return split_text(setting_types()[key], raw)


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
                hint="choose a value in the range, or another profile with --profile",
            )


def _signed(layer: Layer, contact: str) -> Layer:
    """Replace the contact in a profile's user agent by the operator's contact."""
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
