"""Decide what a glob means where a crawl asks for minimatch's own reading (C-23, SCP-01).

As minimatch has it by default: `X/**` does not mean `X`, though it means `X/`; no wildcard means a
name with a leading dot, and `**` does not step over one; `*` is at least one character where it
stands alone; a `**` that shares its segment is a `*`; a pattern without wildcards is that place
alone. A trailing slash of the URL does not count where the pattern is used up. Extended globs such
as `@(a|b)` are refused instead of being read as something else.
"""

from __future__ import annotations

from collections.abc import Callable

from geomi.admit.alternatives import expand
from geomi.admit.segment import Row, Segment, fits, fits_row, literal_start, read_row
from geomi.errors import ConfigError


def tests(glob: str) -> list[Callable[[str], bool]]:
    """Return one test for each alternative of a glob; one that holds is enough."""
    if any(f"{sign}(" in glob for sign in "?*+@!"):
        raise ConfigError("is an extended glob", hint="write the alternatives as {a,b}")
    return [_test(_simple(each)) for each in expand(glob, stars=False)]


def _simple(glob: str) -> str:
    """Make a `**` that shares its segment a `*`."""
    parts = glob.split("/")
    return "/".join(part if part == "**" else _single(part) for part in parts)


def _single(part: str) -> str:
    while "**" in part:
        part = part.replace("**", "*")
    return part


def _test(glob: str) -> Callable[[str], bool]:
    row = read_row(glob)
    start = literal_start(row)

    def test(place: str) -> bool:
        if not place.startswith(start):
            return False
        names = place.split("/")
        return _fits(row, names) or (names[-1] == "" and _fits(row, names[:-1]))

    return test


def _fits(row: Row, names: list[str]) -> bool:
    if row[-1] is None:  # at the end `**` is at least one name, which may be empty
        last = names[-1]
        return _is_plain(last) and fits_row(row, names[:-1], _fits_name, _is_plain)
    return fits_row(row, names, _fits_name, _is_plain)


def _fits_name(segment: Segment, name: str) -> bool:
    if name == "":
        return segment == ("",)
    first = segment[0]
    is_meant = isinstance(first, str) and first.startswith(".")
    return (is_meant or _is_plain(name)) and fits(segment, name)


def _is_plain(name: str) -> bool:
    return not name.startswith(".")
