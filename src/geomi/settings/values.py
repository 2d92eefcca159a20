"""What people wrote, as values: names that are known, lists and headers out of text, and problems.

Used for crawl settings, the process's own and provider files alike, so that all of them refuse the
same nonsense in the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import get_args, get_origin

from pydantic import ValidationError

from geomi.errors import ConfigError

NOT_GIVEN: tuple[object, ...] = (None, (), [])  # how an option that nobody named arrives


def refuse_unknown(given: Mapping[str, object], known: Sequence[str], what: str) -> None:
    """Raise for the first name that is not known, suggesting the nearest one."""
    for name in given:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = (
                f"did you mean `{near[0]}`?" if near else f"known: {', '.join(sorted(known)[:12])}"
            )
            raise ConfigError(f"unknown {what}: `{name}`", hint=hint)


def first_problem(error: ValidationError) -> tuple[str, object, str]:
    """Return where the first problem lies, the value there, and what is wrong with it."""
    problem = error.errors()[0]
    place = ".".join(str(part) for part in problem["loc"] if isinstance(part, str))
    return place, problem["input"], problem["msg"][:1].lower() + problem["msg"][1:]


def split_text(hint: object, raw: object) -> object:
    """Split a comma-separated text, as the environment gives it, where several are wanted."""
    if isinstance(raw, str) and any(get_origin(one) is tuple for one in (hint, *get_args(hint))):
        return [part.strip() for part in _parts(raw) if part.strip()]
    return raw


def header_pairs(raw: object) -> object:
    """Read `Name: value` lines, as curl's -H takes them, or a table."""
    if isinstance(raw, Mapping):
        return [(str(name), str(value)) for name, value in raw.items()]
    lines = [raw] if isinstance(raw, str) else raw
    if not isinstance(lines, Sequence) or not all(isinstance(line, str) for line in lines):
        return raw
    return [_header_pair(line) for line in lines]


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


def _header_pair(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        raise ConfigError(f"`{line}` is not a header", hint="write 'Name: value'")
    return name.strip(), value.strip()
