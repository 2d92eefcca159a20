"""The reference names everything that a user can set or meet."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from typer.main import get_command

from geomi import errors
from geomi.adapters.telemetry.log_lines import WRITTEN_AS
from geomi.cli.look.robots import RobotsAnswer
from geomi.cli.program import make_program
from geomi.engine.audit.audit import Audit
from geomi.engine.inspect.why import Explanation
from geomi.errors import GeomiError
from geomi.model.config import CrawlConfig
from geomi.model.event import Event
from geomi.model.job import CrawlStats
from geomi.model.verdict import Outcome
from geomi.settings.layers import all_values, profile_names
from geomi.settings.options import RunOptions, Settings

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", all_values(CrawlConfig()))
def test_every_crawl_setting_has_a_line(name: str) -> None:
    """Whoever adds a setting says what it does, in a row of its own."""
    cells = [line.split("|")[1] for line in _read("configuration.md").splitlines() if "|" in line]
    assert any(f"`{name}`" in cell for cell in cells)


@pytest.mark.parametrize(
    "name",
    [each.name for each in fields(Settings)] + [f"run.{each.name}" for each in fields(RunOptions)],
)
def test_every_process_setting_has_a_line(name: str) -> None:
    """The process's own settings are named too."""
    assert f"`{name}`" in _read("configuration.md")


@pytest.mark.parametrize("name", profile_names())
def test_every_profile_has_a_line(name: str) -> None:
    """A profile nobody can find is no profile."""
    assert f"| `{name}` |" in _read("configuration.md")


def test_every_exit_code_has_a_line() -> None:
    """A script can act on each code that an error carries."""
    raised = {
        each.exit_code
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, GeomiError)
    }
    assert [code for code in raised if f"| {code} |" not in _read("exit-codes.md")] == []


def test_every_command_and_flag_has_a_line() -> None:
    """The page of commands keeps up with the commands."""
    text = _read("cli.md")
    commands = getattr(get_command(make_program()), "commands", {})
    assert commands
    assert [name for name in commands if f"geomi {name}" not in text] == []
    assert [
        flag for command in commands.values() for flag in _flags(command) if f"`{flag}" not in text
    ] == []


@pytest.mark.parametrize("event", get_args(Event), ids=lambda event: event.__name__)
def test_every_field_of_an_event_is_named(event: type[Event]) -> None:
    """A program that follows a crawl meets nothing unknown."""
    text = _read("events.md")
    names = [WRITTEN_AS.get(each.name, each.name) for each in fields(event)]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_every_outcome_is_named() -> None:
    """Nor does it meet an ending that nobody explained."""
    assert [one for one in Outcome if f"`{one}`" not in _read("events.md")] == []


@pytest.mark.parametrize(
    "kind", [Audit, Explanation, RobotsAnswer, CrawlStats], ids=lambda kind: kind.__name__
)
def test_every_field_of_an_answer_is_named(kind: type) -> None:
    """What --json writes is what the page says."""
    text = _read("events.md")
    assert [name for name in sorted(_names(kind)) if f"`{name}`" not in text] == []


def _names(kind: object) -> set[str]:
    """Return the names of a dataclass's fields, and of those inside it."""
    if not (isinstance(kind, type) and is_dataclass(kind)):
        return set[str]().union(*map(_names, get_args(kind)))
    hints = get_type_hints(kind)
    return set(hints).union(*map(_names, hints.values()))


def _flags(command: object) -> list[str]:
    inner = getattr(command, "commands", {}).values()
    own = [
        flag
        for each in getattr(command, "params", [])
        for flag in each.opts
        if flag.startswith("-")
    ]
    return own + [flag for each in inner for flag in _flags(each)]


def _read(name: str) -> str:
    return (REFERENCE / name).read_text("utf-8")
