"""`geomi seeds dlq`: list, show, retry or drop messages that failed for good (dead letters)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from geomi.cli import flags
from geomi.cli.console import conclude, note, print_json, say, say_pairs
from geomi.cli.prepare.dataset import DatasetUrl, choose_dataset, with_seeding
from geomi.engine.seeds import dead_letters
from geomi.engine.seeds.context import SeedContext
from geomi.errors import ConfigError
from geomi.model.dataset.queue import DeadLetter

commands = typer.Typer(
    help="Handle dead letters: messages that failed for good.", no_args_is_help=True
)

Letter = Annotated[str, typer.Argument(metavar="ID", help="A dead letter.")]
Letters = Annotated[
    list[str] | None, typer.Argument(metavar="ID", help="Dead letters.", show_default=False)
]
All = Annotated[bool, typer.Option("--all", help="All of them.")]


@commands.command("list")
def list_letters(
    dataset: DatasetUrl,
    output: flags.Directory = None,
    db: flags.Database = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """List dead letters: the task of each, and why it failed."""
    chosen = choose_dataset(dataset, {"output": output}, process={"db": db}, config=config)
    found = with_seeding(chosen, _every)
    if json:
        print_json([_data(letter) for letter in found])
        return
    for letter in found:
        kind = letter.error_info.error_type
        say(f"{letter.id}  {kind}  {letter.message.task}  {dead_letters.reason(letter)}")
    if not found:
        note("there are no dead letters")


@commands.command("show")
def show(
    dataset: DatasetUrl,
    letter: Letter,
    output: flags.Directory = None,
    db: flags.Database = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Show a dead letter with its message."""
    chosen = choose_dataset(dataset, {"output": output}, process={"db": db}, config=config)
    found = with_seeding(chosen, lambda seeding: dead_letters.find(seeding, letter))
    if json:
        print_json(dead_letters.letter_json(found))
        return
    about = asdict(found.error_info) | asdict(found.context)
    say_pairs({name: str(value) for name, value in about.items()})
    say(found.message.body.decode("utf-8", "backslashreplace"))


@commands.command("retry")
def retry(
    dataset: DatasetUrl,
    ids: Letters = None,
    every: All = False,
    output: flags.Directory = None,
    db: flags.Database = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Put dead letters back into their queues; then run `geomi seeds work` or `run`."""
    chosen = choose_dataset(dataset, {"output": output}, process={"db": db}, config=config)
    names = _named(ids, every=every)
    many = with_seeding(chosen, lambda seeding: _each(seeding, names, dead_letters.retry))
    conclude({"retried": many}, f"{many} dead letters are back in their queues", json=json)


@commands.command("drop")
def drop(
    dataset: DatasetUrl,
    ids: Letters = None,
    every: All = False,
    output: flags.Directory = None,
    db: flags.Database = None,
    config: flags.ConfigFile = None,
    json: flags.AsJson = False,
) -> None:
    """Delete dead letters and their raw files; domains stay failed."""
    chosen = choose_dataset(dataset, {"output": output}, process={"db": db}, config=config)
    names = _named(ids, every=every)
    many = with_seeding(chosen, lambda seeding: _each(seeding, names, dead_letters.drop))
    conclude({"dropped": many}, f"{many} dead letters are deleted", json=json)


async def _every(seeding: SeedContext) -> list[DeadLetter]:
    return [letter async for letter in dead_letters.every(seeding)]


async def _each(
    seeding: SeedContext, names: Sequence[str], act: Callable[[SeedContext, str], Awaitable[None]]
) -> int:
    """Do something with dead letters, all of them where none is named; return how many."""
    if not names:
        return await dead_letters.each(seeding, act)
    for name in names:
        await act(seeding, name)
    return len(names)


def _named(ids: list[str] | None, *, every: bool) -> Sequence[str]:
    """Return the ids that were given; none for all of them."""
    if bool(ids) is every:
        told = "ids and --all are both given" if every else "no dead letter is named"
        raise ConfigError(told, hint="name their ids, or use --all")
    return list(dict.fromkeys(ids or ()))


def _data(letter: DeadLetter) -> dict[str, object]:
    about = {"id": letter.id, "queue": letter.message.queue, "task": letter.message.task}
    return about | {"error_info": asdict(letter.error_info), "context": asdict(letter.context)}
