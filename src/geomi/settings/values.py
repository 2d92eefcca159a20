"""Turn what people wrote into values: known names, lists, headers, and problems in plain words.

Crawl settings, process settings and provider files all use it, so that they refuse the same errors
in the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import get_args, get_origin

from pydantic import ValidationError

from geomi.errors import ConfigError

MAX_FAULTS = 20  # told of one file
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


def refuse_blank(given: object, name: str) -> None:
    """Raise for an option that was given nothing, as a variable of a shell that is not set does."""
    texts = given if isinstance(given, tuple | list) else (given,)
    if any(isinstance(text, str) and not text.strip() for text in texts):
        raise ConfigError(f"{name} is empty", hint="give it a value, or leave it out")


def first_problem(error: ValidationError) -> tuple[str, object, str]:
    """Return where the first problem lies, the value there, and what is wrong with it."""
    return problem_at(error, 0)


def problem_at(error: ValidationError, index: int) -> tuple[str, object, str]:
    """Return where one of the problems lies, the value there, and what is wrong with it."""
    problem = error.errors()[index]
    place = ".".join(str(part) for part in problem["loc"] if isinstance(part, str))
    return place, problem["input"], problem["msg"][:1].lower() + problem["msg"][1:]


def refuse_all(checks: Iterable[Callable[[], object]]) -> None:
    """Run every check, and raise all their errors as one: a person corrects a file once."""
    faults: list[ConfigError] = []
    for check in checks:
        try:
            check()
        except ConfigError as fault:
            faults.append(fault)
    if faults:
        raise joined(faults) from faults[0]


def joined(faults: Sequence[ConfigError]) -> ConfigError:
    """Make one error of several, without repetitions."""
    told = list(dict.fromkeys(fault.message for fault in faults))
    hints = list(dict.fromkeys(fault.hint for fault in faults if fault.hint))
    more = [f"and {len(told) - MAX_FAULTS} more"] if len(told) > MAX_FAULTS else []
    return ConfigError("; ".join(told[:MAX_FAULTS] + more), hint="; ".join(hints[:MAX_FAULTS]))


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
