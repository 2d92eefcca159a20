"""Which pages are expected to change alike: those of one directory, with one kind of file.

Rules kept:
- What counts for an instance of something (a number, a date, an id) is one place in the pattern.
- Only the upper directories tell pages apart: below them a pattern would have too few pages.
"""

from __future__ import annotations

MAX_DIRECTORIES = 2
MAX_CHARS = 120  # of a pattern; pages in longer ones are pooled by their host alone
_MAX_EXTENSION_CHARS = 5


def pattern_of(url: str) -> str:
    """Return the pattern of a page's URL; empty where its host alone is its kind."""
    # Stored URLs are canonical, and a walk asks for millions of them: no parser is needed.
    path = url.partition("://")[2].partition("/")[2].partition("?")[0].partition("#")[0]
    *directories, name = path.split("/")
    stem, dot, extension = name.rpartition(".")
    ending = f".{extension.lower()}" if stem and _is_extension(extension) and dot else ""
    places = [_generalised(part) for part in directories[:MAX_DIRECTORIES]]
    pattern = "/".join(["", *places, f"*{ending}"])
    return pattern if len(pattern) <= MAX_CHARS else ""


def _is_extension(text: str) -> bool:
    return 0 < len(text) <= _MAX_EXTENSION_CHARS and text.isalnum()


def _generalised(part: str) -> str:
    """Let one name stand for all that differ in their digits."""
    return "#" if any(letter.isdigit() for letter in part) else part
