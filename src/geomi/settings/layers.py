"""A crawl's configuration from its layers: flag > `GEOMI_CRAWL_*` > file > profile > default.

Every value remembers where it came from, so that an error and `geomi config show --origin` can name
the place. An unknown key is refused with the nearest known one, wherever it stands.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypeVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from geomi.errors import ConfigError
from geomi.model.config import CrawlConfig
from geomi.settings.options import OPTIONS, RunOptions, Settings

CRAWL_PREFIX = "GEOMI_CRAWL_"
NOT_GIVEN: tuple[object, ...] = (None, (), [])  # how an option that nobody named arrives

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one place, by dotted key; `names` tells how that place calls each of them."""

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
    return Resolved(
        config=_build(TypeAdapter(CrawlConfig), _nested(job), "", origins),
        run=_build(TypeAdapter(RunOptions), run, "run.", origins),
        origins=tuple(sorted(origins.items())),
    )


def flags_layer(given: Mapping[str, object], assignments: Sequence[str] = ()) -> Layer:
    """Make the layer of the command line from option names and values; None means not given.

    Args:
        assignments: `KEY=VALUE` texts of --set, for any setting; they beat the named options.
    """
    values = {OPTIONS[name]: value for name, value in given.items() if value not in NOT_GIVEN}
    names = {OPTIONS[name]: f"--{name.replace('_', '-')}" for name in given}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals:
            raise ConfigError(f"--set `{text}` names no value", hint="write --set KEY=VALUE")
        key = _key(name.strip(), "--set")
        values[key], names[key] = value.strip(), "--set"
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
    """Read a TOML file: its `[crawl]` table as a layer, its `[geomi]` table as it is."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"cannot read configuration `{path}`: {error}") from error
    refuse_unknown(content, ("crawl", "geomi"), f"table in `{path}`")
    crawl, process = content.get("crawl", {}), content.get("geomi", {})
    if not isinstance(crawl, Mapping) or not isinstance(process, Mapping):
        raise ConfigError(f"`crawl` and `geomi` in `{path}` must be tables", hint="write [crawl]")
    return Layer(f"file {path}", _flat(crawl, f"`{path}`")), process


def profile_layer(name: str) -> Layer:
    """Read a profile that comes with geomi."""
    names = profile_names()
    if name not in names:
        raise ConfigError(f"no profile `{name}`", hint=f"profiles: {', '.join(names)}")
    text = resources.files("geomi.profiles").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return Layer(f"profile {name}", _flat(tomllib.loads(text), f"profile {name}"))


def profile_names() -> list[str]:
    """List the profiles that come with geomi."""
    files = resources.files("geomi.profiles").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


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


def refuse_unknown(given: Mapping[str, object], known: Sequence[str], what: str) -> None:
    """Raise for the first name that is not known, suggesting the nearest one."""
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = (
                f"did you mean `{near[0]}`?" if near else f"known: {', '.join(sorted(known)[:12])}"
            )
            raise ConfigError(f"unknown {what}: `{name}`", hint=hint)


def split_text(hint: object, raw: object) -> object:
    """Split a comma-separated text, as the environment gives it, where several are wanted."""
    if isinstance(raw, str) and any(get_origin(one) is tuple for one in (hint, *get_args(hint))):
        return [part.strip() for part in _parts(raw) if part.strip()]
    return raw


def first_problem(error: ValidationError) -> tuple[str, object, str]:
    """Return where the first problem lies, the value there, and what is wrong with it."""
    problem = error.errors()[0]
    place = ".".join(str(part) for part in problem["loc"] if isinstance(part, str))
    return place, problem["input"], problem["msg"][:1].lower() + problem["msg"][1:]


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


def _parts(text: str) -> list[str]:
    """Split at commas, but not inside the braces of a glob (`/{a,b}/**`)."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _types(kind: type) -> dict[str, object]:
    return get_type_hints(kind, include_extras=True)


def _build(adapter: TypeAdapter[T], raw: object, prefix: str, origins: Mapping[str, str]) -> T:
    try:
        return adapter.validate_python(raw)
    except ValidationError as error:
        place, value, wrong = first_problem(error)
        key = next((one for one in origins if f"{prefix}{place}".startswith(one)), place)
        origin = origins.get(key, "default")
        raise ConfigError(f"{key} = `{value}` ({origin}): {wrong}") from error


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


def _flat(table: Mapping[str, object], origin: str) -> dict[str, object]:
    flat: dict[str, object] = {}
    for name, value in table.items():
        option = name.replace("-", "_")
        if isinstance(value, Mapping) and option not in OPTIONS:
            flat |= {_key(f"{option}.{inner}", origin): it for inner, it in value.items()}
        else:
            flat[_key(option, origin)] = value
    return flat


def _key(name: str, origin: str) -> str:
    """Return the dotted key of an option or setting; refuse unknown ones with the nearest known."""
    key = OPTIONS.get(name, name)
    if key not in setting_types():
        refuse_unknown({name: None}, [*OPTIONS, *setting_types()], f"crawl setting in {origin}")
    return key


def _prepared(key: str, raw: object) -> object:
    if key == "http.headers":
        return _header_pairs(raw)
    return split_text(setting_types()[key], raw)


def _header_pairs(raw: object) -> object:
    """Read `Name: value` lines, as curl's -H takes them, or a table."""
    if isinstance(raw, Mapping):
        return [(str(name), str(value)) for name, value in raw.items()]
    lines = [raw] if isinstance(raw, str) else raw
    if not isinstance(lines, Sequence) or not all(isinstance(line, str) for line in lines):
        return raw
    return [_header_pair(line) for line in lines]


def _header_pair(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        raise ConfigError(f"`{line}` is not a header", hint="write 'Name: value'")
    return name.strip(), value.strip()
