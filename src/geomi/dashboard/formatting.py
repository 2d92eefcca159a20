"""Format values for pages: counts, bytes, durations, times, short URLs and queries."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from urllib.parse import urlencode

from geomi.dashboard.translations import Translations
from geomi.url.parse import display

_UNITS = ("B", "kB", "MB", "GB", "TB")
_THOUSAND = 1000.0
_SPANS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
MAX_URL_CHARS = 120  # shown; the whole is in its title


def count(value: float) -> str:
    """Write a number with its thousands apart."""
    return f"{value:,.0f}"


def rate(value: float) -> str:
    """Write a speed: small ones with a digit after the point."""
    return f"{value:,.1f}" if value < 100 else count(value)


def size(value: float) -> str:
    """Write a number of bytes."""
    for unit in _UNITS:
        if value < _THOUSAND or unit == _UNITS[-1]:
            break
        value /= _THOUSAND
    return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"


def duration(seconds: float, words: Translations) -> str:
    """Write a time span in its two largest units."""
    if seconds < 10:
        return words("unit.s", n=f"{seconds:.1f}")
    whole = round(seconds)
    for (name, unit), (smaller, size_s) in pairwise(_SPANS):
        if whole >= unit:
            rest = whole % unit // size_s
            first = words(f"unit.{name}", n=whole // unit)
            return f"{first} {words(f'unit.{smaller}', n=rest)}" if rest else first
    return words("unit.s", n=whole)


def moment(at_s: float) -> str:
    """Write a time of the wall clock for people (UTC)."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M")


def stamp(at_s: float) -> str:
    """Write a time of the wall clock for machines."""
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")


def short_url(url: str) -> str:
    """Write a URL without what its reader knows, and with an end."""
    text = display(url).removeprefix("https://").removeprefix("http://")
    return text if len(text) <= MAX_URL_CHARS else text[: MAX_URL_CHARS - 1] + "…"


def query(**values: object) -> str:
    """Write a query of those values that there are."""
    told = {name: str(value) for name, value in values.items() if value not in (None, "")}
    return f"?{urlencode(told)}" if told else ""
