"""geomi: a polite, durable web crawler that can say why.

What is named here is the public interface; everything else may change. The names are loaded when
they are first used, so that importing `geomi` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geomi.errors import (
        ConfigError,
        GeomiError,
        NothingFetched,
        StoreBusy,
        StoreError,
        StoreFull,
        StoreMissing,
        StoreTooNew,
        UnknownName,
    )
    from geomi.library import Crawler, Link, Page, Tag, crawl, scrape

__version__ = "0.2.0.dev0"

__all__ = [
    "ConfigError",
    "Crawler",
    "GeomiError",
    "Link",
    "NothingFetched",
    "Page",
    "StoreBusy",
    "StoreError",
    "StoreFull",
    "StoreMissing",
    "StoreTooNew",
    "Tag",
    "UnknownName",
    "__version__",
    "crawl",
    "scrape",
]

_LIBRARY = frozenset({"Crawler", "Link", "Page", "Tag", "crawl", "scrape"})


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module `geomi` has no attribute `{name}`")
    # By name, so that nothing below the library is seen to import it through this module.
    return getattr(import_module("geomi.library" if name in _LIBRARY else "geomi.errors"), name)
