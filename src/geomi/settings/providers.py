"""Read and check registrations of providers (CFG-03…CFG-11), and make settings of a crawl of them.

A registration with any fault is refused as a whole: unknown or missing fields, values out of range,
seeds that are not URLs, patterns that do not compile, or terms that forbid crawling (G-21). The
error lists all faults at once. Faults that need other fields to be right first are listed later.
A key that is missing, and an ID that is no UUID, get derived values, as the registration of seed
000 §3.1 has them so. Terms that a registration does not mention have not been reviewed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime
from functools import cache, partial
from importlib import resources
from typing import get_args, get_type_hints
from uuid import NAMESPACE_DNS, UUID, uuid5

import orjson
from annotated_types import Ge, Le, Len
from pydantic import TypeAdapter, ValidationError

from geomi.admit import glob
from geomi.errors import ConfigError, WrongState
from geomi.model.site import Channel, Provider, Selectors
from geomi.seed.repository_docs import read_api_place
from geomi.settings.layers import Layer
from geomi.settings.values import problem_at, refuse_all, refuse_unknown
from geomi.text.identifiers import sha256_hex
from geomi.url.parse import parse as parse_url

MAX_PROVIDER_BYTES = 65_536  # of a registration; the longest lists allowed take half of it
MAX_PATTERNS = 100
MAX_TEXT_CHARS = 2000
EVERY_PROVIDER = "all"  # stands for all of them where a key is asked for
DAY_S = 86_400.0
NO_KEY = "provider"  # names a registration in errors while it can have no key
MAX_ID_CHARS = 200  # of an ID that is no UUID
MAX_KEY_CHARS = 64
DIGEST_CHARS = 8  # at the end of a derived key that would be too long, or is taken
FIRST_SEED = "its first seed"  # what a key is derived from
TERMS = ("tos_reviewed_at", "tos_allows_crawling")
PROFILE = "docs"  # what a provider's documents are crawled under unless somebody says otherwise

Check = Callable[[], object]  # raises where something is wrong

# Any fixed one would do: a preset has the same UUID in every installation.
_PRESETS = uuid5(NAMESPACE_DNS, "providers.geomi")
_REGISTERED = uuid5(_PRESETS, "registered")
_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_NO_KEY = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Registration:
    """A registration that was read.

    Args:
        derived: the fields that it lacked, or had in another form, and where their values are from.
    """

    provider: Provider
    derived: Mapping[str, str]


@cache
def presets() -> Mapping[str, Provider]:
    """Return the providers that come with geomi, by key."""
    file = resources.files("geomi.profiles").joinpath("presets/providers.toml")
    tables = tomllib.loads(file.read_text(encoding="utf-8"))
    return {
        key: read_provider(table, key=key, provider_id=str(uuid5(_PRESETS, key)))
        for key, table in tables.items()
    }


def read_provider(payload: Mapping[str, object], *, key: str, provider_id: str) -> Provider:
    """Check a registration and return the provider it describes; its own key and ID win."""
    given = {"key": key, "provider_id": provider_id, **payload}
    given.setdefault("name", given["key"])
    values = _with_seed_urls(given)
    provider, wrong = _validated(values)
    refuse_all([*_unknown_fields(given), *wrong])
    assert provider is not None, "what has no fault is a provider"
    refuse_all([partial(_check_names, provider), *_places(provider)])
    return provider


def read_registration(
    payload: Mapping[str, object], *, key: str = "", new_id: str, now_s: float
) -> Registration:
    """Read a registration, and derive what it lacks; its own key and ID win.

    Args:
        key: the provider's key if the registration has none; derived from its first seed without.
        new_id: the provider's ID if the registration has none.
    """
    given, derived = dict(payload), dict[str, str]()
    if given.get("key") is None:
        given["key"], origin = (key, "the name of the file") if key else _derived_key(given)
        derived["key"] = origin
    told = given.get("provider_id")
    if told is None:
        given["provider_id"] = new_id
        derived["provider_id"] = "nothing: geomi chose it"
    elif isinstance(told, str) and _is_uuid(told):
        given["provider_id"] = str(UUID(told))
    elif isinstance(told, str) and 0 < len(told) <= MAX_ID_CHARS:
        given["provider_id"] = str(uuid5(_REGISTERED, f"{given['key']} {told}"))
        derived["provider_id"] = f"`{told}`, which is no UUID"
    if given.get("name") is None:
        given["name"] = given["key"]
        derived["name"] = "its key"
    provider = read_provider(given, key=str(given["key"]), provider_id=new_id)
    refuse_terms(provider, now_s=now_s)
    return Registration(provider, derived)


def _derived_key(given: Mapping[str, object]) -> tuple[str, str]:
    """Make a key of the first seed, and say so; each seed has another."""
    seeds = given.get("seed_urls")
    first = given.get("seed_url") or (seeds[0] if isinstance(seeds, list | tuple) and seeds else "")
    url = parse_url(first) if isinstance(first, str) else None
    if url is None:
        return NO_KEY, "nothing"  # its seeds are refused
    text = f"{url.host.removeprefix('www.')}{url.path}".lower()
    key = _NO_KEY.sub("-", text).strip("-")
    if len(key) > MAX_KEY_CHARS:
        key = _with_digest(key, text)
    return key, FIRST_SEED


def apart(provider: Provider) -> Provider:
    """Return a provider whose derived key another has already, under a key that its ID decides."""
    key = _with_digest(provider.key, provider.provider_id)
    return replace(provider, key=key, name=key if provider.name == provider.key else provider.name)


def _with_digest(key: str, text: str) -> str:
    """Let the digest of a text end a key."""
    start = key[: MAX_KEY_CHARS - DIGEST_CHARS - 1].rstrip("-")
    return f"{start}-{sha256_hex(text)[:DIGEST_CHARS]}"


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def refuse_terms(provider: Provider, *, now_s: float) -> None:
    """Raise if the provider's terms forbid crawling, or only half of a review is told (G-21).

    A registration that tells nothing of them is one that nobody has reviewed.
    """
    if (provider.tos_reviewed_at is None) != (provider.tos_allows_crawling is None):
        lacks = TERMS[0] if provider.tos_reviewed_at is None else TERMS[1]
        raise ConfigError(
            f"the review of the terms of provider `{provider.key}` lacks `{lacks}`",
            hint="give both `tos_reviewed_at` (a date) and `tos_allows_crawling`, or neither",
        )
    if provider.tos_reviewed_at is not None:
        check_date(provider.tos_reviewed_at, now_s=now_s)
    if provider.tos_allows_crawling is False:
        hosts = dict.fromkeys(url.host for url in map(parse_url, provider.seed_urls) if url)
        raise ConfigError(
            f"provider `{provider.key}` does not allow crawling, so it is not registered",
            hint=f"to forbid all crawls of its hosts: geomi traps exclude {next(iter(hosts))}",
        )


def refuse_forbidden(provider: Provider) -> None:
    """Raise where the provider does not want to be crawled (LEG-04)."""
    if provider.tos_allows_crawling is False:
        raise WrongState(
            f"provider `{provider.key}` does not allow crawling (reviewed "
            f"{provider.tos_reviewed_at or 'at an unknown date'})",
            hint=f"if that has changed: geomi providers review {provider.key} --allows",
        )


def provider_layer(provider: Provider) -> Layer:
    """Return what a provider says about a crawl of it."""
    values: dict[str, object] = {
        "run.profile": PROFILE,
        "scope.include": provider.allowed_path_patterns,
        "scope.exclude": provider.blocked_path_patterns,
        "limits.max_depth": provider.max_depth,
        "limits.max_pages": provider.max_pages,
        "politeness.base_delay_s": provider.request_delay_ms / 1000,  # C-31
    }
    if provider.custom_selectors.content:
        values["extract.content"] = provider.custom_selectors.content
    if provider.custom_selectors.remove:
        values["extract.remove"] = provider.custom_selectors.remove
    if provider.sitemap_url is not None:
        values["scope.sitemap_urls"] = (provider.sitemap_url,)
    if provider.spa_rendering:
        values["render"] = "always"
    return Layer(f"provider {provider.key}", values)


def check_date(text: str, *, now_s: float | None = None) -> str:
    """Return an ISO date; raise for anything else, and for a day after `now_s` that is nowhere yet.

    It may be tomorrow already where the terms were read.
    """
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise ConfigError(f"`{text}` is not a date", hint="write it as 2026-01-31") from error
    if now_s is not None and day > datetime.fromtimestamp(now_s + DAY_S, UTC).date():
        raise ConfigError(f"`{text}` is in the future", hint="give the day when you read them")
    return day.isoformat()


def _unknown_fields(given: Mapping[str, object]) -> Iterator[Check]:
    known = [*_names(Provider), "seed_url"]
    for name in given:
        yield partial(refuse_unknown, {name: None}, known, "field of a provider")
    selectors = given.get("custom_selectors")
    for name in selectors if isinstance(selectors, Mapping) else ():
        yield partial(refuse_unknown, {name: None}, _names(Selectors), "field of custom_selectors")


def _names(kind: type[Provider | Selectors]) -> list[str]:
    return [one.name for one in fields(kind)]


def _with_seed_urls(given: Mapping[str, object]) -> dict[str, object]:
    """Read the form with one `seed_url`, too (C-60)."""
    values = dict(given)
    if "seed_url" not in values:
        return values
    if "seed_urls" in values:
        raise ConfigError("`seed_url` and `seed_urls` are both given", hint="keep `seed_urls`")
    values["seed_urls"] = [values.pop("seed_url")]
    return values


def _validated(values: Mapping[str, object]) -> tuple[Provider | None, list[Check]]:
    """Build a provider from what JSON can say, or refuse it: `"3"` and `true` are no numbers."""
    try:
        return _adapter().validate_json(orjson.dumps(values), strict=True), []
    except ValidationError as error:
        return None, [partial(_refuse, values, error, at) for at in range(error.error_count())]
    except TypeError as error:
        raise ConfigError(f"provider `{values['key']}` cannot be read: {error}") from error


def _refuse(values: Mapping[str, object], error: ValidationError, at: int) -> None:
    place, value, wrong = problem_at(error, at)
    if error.errors()[at]["type"] == "missing":
        raise ConfigError(f"provider `{values['key']}` lacks `{place}`")
    told = f"`{place}` of provider `{values['key']}` is `{value}`: {wrong}"
    raise ConfigError(told, hint=_range(place))


@cache
def _adapter() -> TypeAdapter[Provider]:
    return TypeAdapter(Provider)


def _range(field: str) -> str:
    """Say which values a field may have, where that is a matter of numbers."""
    bounds: dict[str, object] = {}
    for one in get_args(get_type_hints(Provider, include_extras=True).get(field)):
        match one:
            case Ge(ge=low):
                bounds["low"] = low
            case Le(le=high):
                bounds["high"] = high
            case Len(min_length=low, max_length=high):
                return f"{field}: {low} to {high} of them"
    return f"{field}: {bounds['low']} to {bounds['high']}" if len(bounds) == 2 else ""


def _check_names(provider: Provider) -> None:
    if not _KEY.fullmatch(provider.key):
        hint = "use lower-case letters, digits and hyphens, at most 64"
        raise ConfigError(f"`{provider.key}` cannot be a provider's key", hint=hint)
    if provider.key == EVERY_PROVIDER:
        told = f"`{EVERY_PROVIDER}` stands for all providers, and cannot be the key of one"
        raise ConfigError(told, hint="give it another `key`")
    try:
        UUID(provider.provider_id)
    except ValueError as error:
        raise ConfigError(f"provider_id `{provider.provider_id}` is not a UUID") from error
    if provider.api:
        read_api_place(provider.api)
    elif provider.channel is Channel.API:
        raise ConfigError(
            f"provider `{provider.key}` has the channel `api`, and names none",
            hint='add api = "github:owner/name"',
        )
    for name in ("name", "category", "rationale"):
        if len(getattr(provider, name)) > MAX_TEXT_CHARS:
            raise ConfigError(f"`{name}` has more than {MAX_TEXT_CHARS} characters")
    if provider.tos_reviewed_at is not None:
        check_date(provider.tos_reviewed_at)


def _places(provider: Provider) -> Iterator[Check]:
    """Check every URL and pattern: there may be one that no crawl could use."""
    if len(provider.blocked_path_patterns) > MAX_PATTERNS:
        raise ConfigError(f"`blocked_path_patterns` has more than {MAX_PATTERNS} patterns")
    for text in (*provider.allowed_path_patterns, *provider.blocked_path_patterns):
        yield partial(glob.check, text)
    for patterns in (provider.allowed_path_patterns, provider.blocked_path_patterns):
        yield partial(glob.compile, patterns)
    for text in (*provider.seed_urls, *filter(None, [provider.sitemap_url])):
        yield partial(_check_url, text)
    yield partial(_check_seeds, provider)


def _check_url(text: str) -> None:
    if parse_url(text) is None:
        raise ConfigError(f"`{text[:200]}` is not an http(s) URL", hint="https://example.org/")


def _check_seeds(provider: Provider) -> None:
    try:
        blocked = glob.compile(provider.blocked_path_patterns)
    except ConfigError:
        return  # told of already
    for text in provider.seed_urls:
        url = parse_url(text)
        if url is not None and blocked.first(url) is not None:
            raise ConfigError(
                f"seed `{text[:200]}` is excluded by the provider's own `blocked_path_patterns`"
            )
