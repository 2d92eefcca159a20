"""Read keyword options: the names of flags, and every other setting as `section__name`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from geomi.settings.layers import (
    Layer,
    Resolved,
    resolve,
    resolve_under_profile,
    setting_types,
    settings_layer,
)
from geomi.settings.options import OPTIONS, Settings
from geomi.settings.process import read_settings
from geomi.settings.values import refuse_unknown

# One page, wherever its redirects lead and whatever its path looks like, because a person typed its
# URL; and no second try. robots.txt holds all the same.
ONE_PAGE: dict[str, object] = {
    "limits.max_pages": 1,
    "limits.max_depth": 0,
    "scope.within": "any",
    "scope.include": (),
    "scope.exclude": (),
    "scope.sitemaps": False,
    "scope.block_defaults": False,
    "scope.avoid_traps": False,
    "http.max_retries": 0,
}


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for; `flags` alone change a crawl that is resumed."""

    settings: Settings
    resolved: Resolved
    flags: Layer


def read_options(given: Mapping[str, object]) -> Options:
    """Check names and values; `ConfigError` suggests the nearest known name."""
    process = [one.name for one in fields(Settings) if one.name not in OPTIONS]
    keys = _crawl_keys()
    refuse_unknown(given, [*keys, *process], "option")
    settings = read_settings({}, {}, {name: given.get(name) for name in process})
    asked = {name: value for name, value in given.items() if name in keys and value is not None}
    flags = Layer(
        "option",
        {keys[name]: value for name, value in asked.items()},
        {keys[name]: name for name in asked},
    )
    return Options(settings, resolve_under_profile([flags, settings_layer(settings)]), flags)


def _crawl_keys() -> dict[str, str]:
    """Return the names of crawl options, with the setting of each."""
    every = {key.replace(".", "__"): key for key in setting_types()}
    names = every | OPTIONS
    return {name: key for name, key in names.items() if key != "run.output"}


def for_one_page(resolved: Resolved, *, is_kept: bool) -> Resolved:
    """Return the settings for a single page; a page that is not stored keeps all its text."""
    asked = ONE_PAGE if is_kept else {**ONE_PAGE, "store.text": "full"}
    config = resolve([Layer("scrape", asked)], onto=resolved.config).config
    return replace(resolved, config=config, run=replace(resolved.run, workers=1))


def without_files(resolved: Resolved) -> Resolved:
    """Return the settings of a crawl without files for people."""
    return replace(resolved, run=replace(resolved.run, format=()))
