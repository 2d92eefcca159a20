"""Print to the terminal: data on stdout, notes and errors on stderr.

Text from a website is printed on one line and escaped, so that it cannot control the terminal. A
URL is printed as people read it (`/中` for `/%E4%B8%AD`); JSON has it as it is.
Rich prints colour only on a terminal, and never when `NO_COLOR` is set.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime

import orjson
from rich.console import Console
from rich.text import Text

from geomi.errors import GeomiError
from geomi.url.parse import displayed


def print_error(error: GeomiError) -> None:
    """Print an error and, on a line of its own, what to do about it."""
    note(f"error: {error.message}")
    if error.hint:
        note(f"hint: {error.hint}")


def note(text: str) -> None:
    """Say something on stderr."""
    print(one_line(displayed(text)), file=sys.stderr)


def say(text: str = "", *, style: str = "") -> None:
    """Print one line of a readable answer on stdout."""
    console = Console(file=sys.stdout, soft_wrap=True, highlight=False)
    console.print(Text(one_line(displayed(text)), style=style))


def say_check(text: str, *, is_good: bool, style: str = "") -> None:
    """Print one line of a list of checks."""
    say(f"{'✓' if is_good else '✗'} {text}", style=style or ("green" if is_good else "red"))


def say_pairs(pairs: dict[str, str]) -> None:
    """Print names and values in two columns."""
    width = max(map(len, pairs), default=0)
    for name, value in pairs.items():
        say(f"{name:<{width}}  {value}")


def print_json(value: object) -> None:
    """Print a value as one line of JSON on stdout."""
    try:
        print(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode())
    except TypeError:  # the name of a file need not be UTF-8; escaped, it can still be told
        print(json.dumps(value, default=_fields, separators=(",", ":")))


def conclude(data: object, text: str, *, json: bool) -> None:
    """Print the result of a command: as JSON on stdout, or in a note."""
    if json:
        print_json(data)
    else:
        note(text)


def moment(at_s: float) -> str:
    """Write a time of the wall clock as people read it."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def one_line(text: str) -> str:
    """Keep what a site wrote from moving the cursor or starting a line of its own."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def _fields(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")
