"""The `geomi` program: its commands, its version, and its exit codes.

An expected error is one line on stderr, with a hint on the next line where there is one. Its exit
code is listed in `docs/reference/exit-codes.md`. Only an unexpected error shows its traceback. The
program loads only the file of the command that runs, because loading all takes most of a second.
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
from geomi.cli.console import note, print_error
from geomi.errors import ConfigError, GeomiError

UNEXPECTED = 1
STDOUT = 1  # its descriptor

# Typer may carry its own copy of Click, so its class is found through one that Typer shows.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]

# The folders of the commands, and the headings under which the help shows them.
HEADINGS = {
    "collect": "Collect pages",
    "read": "Search and read pages",
    "look": "Inspect results and decisions",
    "keep": "Manage stored data",
    "serve": "Run workers and the service",
    "prepare": "Set up and prepare",
}
# Which file has which command, in the order in which the help shows them.
COMMANDS = {
    "crawl": "collect.crawl",
    "recrawl": "collect.recrawl",
    "watch": "collect.watch",
    "scrape": "collect.scrape",
    "map": "collect.map",
    "plan": "collect.plan",
    "search": "read.search",
    "enrich": "read.enrich",
    "analyse": "read.analyse",
    "preview": "read.analyse",
    "export": "read.export",
    "status": "look.status",
    "why": "look.why",
    "robots": "look.robots",
    "report": "look.report",
    "audit": "look.audit",
    "cost": "look.cost",
    "clean": "keep.clean",
    "erase": "keep.erase",
    "backup": "keep.backup",
    "restore": "keep.backup",
    "serve": "serve.serve",
    "worker": "serve.worker",
    "workers": "serve.workers",
    "demo": "prepare.demo",
    "doctor": "prepare.doctor",
}
GROUPS = {
    "traps": "look.traps",
    "blocked": "look.blocked",
    "jobs": "keep.jobs",
    "fleet": "serve.fleet",
    "keys": "serve.keys",
    "config": "prepare.config",
    "profiles": "prepare.profiles",
    "providers": "prepare.providers",
    "sign-in": "prepare.sign_in",
    "ranks": "prepare.ranks",
    "seeds": "prepare.seeds",
}
_OWN_NAMES = {"map": "map_"}  # Python has one of that name


def make_program(only: str = "") -> typer.Typer:
    """Make the program, or as much of it as one of its commands needs."""
    program = typer.Typer(
        name="geomi",
        help="Turn websites into clean, searchable markdown, politely and durably, and explain "
        "each decision.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    program.callback()(_program)
    for name, file in COMMANDS.items():
        if only in ("", name):
            command = getattr(_load(file), _OWN_NAMES.get(name, name))
            program.command(name, rich_help_panel=_heading(file))(command)
    for name, file in GROUPS.items():
        if only in ("", name):
            program.add_typer(_load(file).commands, name=name, rich_help_panel=_heading(file))
    return program


def _heading(file: str) -> str:
    return HEADINGS[file.partition(".")[0]]


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
    """Return the first argument if it is a command; otherwise all are loaded, for the help."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    if first == "--version":
        return "profiles"  # any of them will do, and this one is light
    return first if first in COMMANDS or first in GROUPS else ""


def _run(command: Callable[[], object]) -> int:
    try:
        code = command()
    except GeomiError as error:
        print_error(error)
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
        note("hint: this is a bug in geomi; please report it with the lines below")
        for line in traceback.format_exc().splitlines():
            note(line)
        return UNEXPECTED
    return code if isinstance(code, int) else 0


def _complain_of_usage(error: Exception) -> int:
    """Print Click's error about the command line; without a command Click has shown the help."""
    words = str(getattr(error, "format_message", error.__str__)()).replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "geomi"
    if words:
        print_error(ConfigError(" ".join(words.split()), hint=f"{path} --help"))
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
