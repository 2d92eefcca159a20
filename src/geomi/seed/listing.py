"""What a list of URLs holds, its limits, and what counts as a location in it (sitemaps.org)."""

from __future__ import annotations

from dataclasses import dataclass

MAX_URLS = 50_000
MAX_BYTES = 52_428_800
MAX_LOC_CHARS = 2048


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What was read.

    Args:
        pages: (location, last modification as written or empty), in the order of the file.
        sitemaps: locations of an index.
        problem: why something is missing; empty when nothing is.
        alternates: the same pages in other languages, where they are not listed themselves.
    """

    pages: tuple[tuple[str, str], ...] = ()
    sitemaps: tuple[str, ...] = ()
    problem: str = ""
    alternates: tuple[str, ...] = ()


def is_location(text: str) -> bool:
    """Locations are absolute; anything else in their place is a mistake."""
    return len(text) <= MAX_LOC_CHARS and text[:8].lower().startswith(("http://", "https://"))


def too_many(limit: int) -> str:
    """Say that a list is longer than what is read of it."""
    return f"it lists more than {limit} URLs; the rest was not read"
