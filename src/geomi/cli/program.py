"""The `geomi` program: its commands, its version, and what becomes of an error.

Whatever goes wrong is told on stderr in one line, with a hint on the next where there is one, and
ends in the exit code that `docs/reference/exit-codes.md` names. Only an error that nobody expected
shows its traceback.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from io import TextIOWrapper
from types import ModuleType
from typing import Annotated, TextIO

import typer

from geomi import __version__
from geomi.cli import INTERRUPTED
from geomi.cli.talk import complain, note
from geomi.errors import ConfigError, GeomiError

UNEXPECTED = 1
STDOUT = 1  # its descriptor

# Typer may carry its own copy of Click, so its class is found through one that Typer shows.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]

# Which file has which commands, in the order in which they are shown. To load all of them takes
# most of a second, so that only the file of the one that was asked for is (see `main`).
COMMANDS = {
    "crawl": "crawl",
    "recrawl": "recrawl",
    "worker": "worker",
    "workers": "workers",
    "scrape": "scrape",
    "map": "map",
    "search": "search",
    "enrich": "enrich",
    "analyse": "analyse",
    "preview": "analyse",
    "cost": "cost",
    "plan": "plan",
    "why": "why",
    "robots": "robots",
    "status": "status",
    "report": "report",
    "audit": "audit",
    "export": "export",
    "clean": "clean",
    "erase": "erase",
    "backup": "backup",
    "restore": "backup",
    "doctor": "doctor",
    "demo": "demo",
    "serve": "serve",
}
GROUPS = (
    "seeds",
    "keys",
    "jobs",
    "fleet",
    "config",
    "profiles",
    "providers",
    "ranks",
    "blocked",
    "traps",
)
_OWN_NAMES = {"map": "map_"}  # Python has one of that name


def make_program(only: str = "") -> typer.Typer:
    """Make the program, or as much of it as one of its commands needs."""
    program = typer.Typer(
        name="geomi",
        help="Turn websites into clean, searchable knowledge: politely, durably, and able to say "
        "why.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    program.callback()(_program)
    for name, file in COMMANDS.items():
        if only in ("", name):
            program.command(name)(getattr(_load(file), _OWN_NAMES.get(name, name)))
    for name in GROUPS:
        if only in ("", name):
            program.add_typer(_load(name).commands, name=name)
    return program


def _load(file: str) -> ModuleType:
    return import_module(f"geomi.cli.{file}")


def _print_version(asked: bool) -> None:
    if asked:
        print(f"geomi {__version__}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version and exit.",
            is_eager=True,
            callback=_print_version,
        ),
    ] = False,
) -> None:
    """Take what belongs to no command."""


def main() -> int:
    """Run one command and return its exit code."""
    _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        _never_fail_on_a_letter(stream)
    try:
        code = _run(lambda: make_program(_asked())(prog_name="geomi", standalone_mode=False))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough: `geomi export -f jsonl | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
        return 0
    return code


def _asked() -> str:
    """Return the command that comes first, if it is one: else all are needed, to tell of them."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    if first == "--version":
        return "profiles"  # any of them will do, and this one is light
    return first if first in COMMANDS or first in GROUPS else ""


def _run(command: Callable[[], object]) -> int:
    try:
        code = command()
    except GeomiError as error:
        complain(error)
        return error.exit_code
    except _UsageError as error:
        return _complain_of_usage(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as end:  # Click leaves like this when nobody reads its output any more
        raise BrokenPipeError from end
    except BrokenPipeError:
        raise
    except Exception as error:
        note(f"error: unexpected {type(error).__name__}: {error}")
        note("hint: this is a fault of geomi; please report it with the lines below")
        for line in traceback.format_exc().splitlines():
            note(line)
        return UNEXPECTED
    return code if isinstance(code, int) else 0


def _complain_of_usage(error: Exception) -> int:
    """Say what Click found wrong with the command line; without a command it has shown the help."""
    words = str(getattr(error, "format_message", error.__str__)()).replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "geomi"
    if words:
        complain(ConfigError(" ".join(words.split()), hint=f"{path} --help"))
    return ConfigError.exit_code


def _open_missing_streams() -> None:
    """Let a stream that was closed before we began (`>&-`) lead nowhere.

    In this order each opens under its own number, which otherwise the next file would get, and
    with it what a library prints.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8", closefd=False))


def _never_fail_on_a_letter(stream: TextIO) -> None:
    """Let a terminal that cannot show a letter show its number instead."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
