"""Decide what follows a failed message, and manage dead letters: list, retry or drop them.

A failure is one of the catalogue's five error classes (ERR-15). A message waits 1, 2 and 4 s
before its next try (SED-35, SED-42); after the last it is a dead letter (SED-43). A message is also
a dead letter if too many workers died while they processed it. A dropped letter's raw file counts
again when it is queued again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

import orjson

from geomi.engine.seeds.context import SeedContext
from geomi.errors import SeedError, StoreError, UnknownName
from geomi.model.dataset.queue import (
    MAX_ERROR_CHARS,
    DeadLetter,
    ErrorContext,
    ErrorInfo,
    LoanSettlement,
    Message,
)
from geomi.model.dataset.seed import ErrorType
from geomi.text.encoding import iso_utc
from geomi.text.identifiers import new_ulid

# Workers that may be lost with a message in hand before nobody tries it any more: what ends a
# process each time would end all of them, one after the other. A deployment that is restarted often
# loses a few by itself.
MAX_LOSSES = 20
# What a whole loan may suffer from because of one of its messages.
ONE_MESSAGE_ERRORS = frozenset({ErrorType.PARSE, ErrorType.VALIDATION})
PER_READ = 100
MAX_ID_CHARS = 80  # shown of one that is not there
# Of a message, as an object; of a larger one the beginning is shown as text. A domain may have as
# many URLs as a raw file holds, and a hundred megabytes of them take a gigabyte as objects.
MAX_SHOWN_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """Why work ended, in the words of a dead letter."""

    kind: ErrorType
    message: str


def failure_of(error: Exception) -> TaskFailure:
    """Say what kind of failure an error is."""
    text = str(error) if isinstance(error, SeedError | StoreError) else _described(error)
    # It may quote what came from outside; a lone surrogate can be written nowhere.
    written = text.encode("utf-8", "replace").decode()
    return TaskFailure(_kind_of(error), written[:MAX_ERROR_CHARS])


def lost_too_often(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return those messages that cost too many workers."""
    return tuple(message for message in messages if message.losses >= MAX_LOSSES)


def give_up(
    seeding: SeedContext, messages: Iterable[Message], why: TaskFailure, *, began_s: float
) -> LoanSettlement:
    """Give messages up, however often they were tried."""
    dead = (_letter(seeding, message, why, began_s=began_s) for message in messages)
    return LoanSettlement(dead=tuple(dead))


def try_later(
    seeding: SeedContext, messages: Iterable[Message], why: TaskFailure, *, began_s: float
) -> LoanSettlement:
    """Try messages again after 1, 2, 4 s and so on; give up those that had all their tries."""
    later: list[tuple[str, float]] = []
    dead: list[DeadLetter] = []
    now_s = seeding.world.clock.now_s()
    for message in messages:
        if message.attempts < seeding.config.seeds.max_retries:
            later.append((message.name, now_s + 2.0**message.attempts))
        else:
            dead.append(_letter(seeding, message, why, began_s=began_s))
    return LoanSettlement(later=tuple(later), dead=tuple(dead))


def _letter(
    seeding: SeedContext, message: Message, why: TaskFailure, *, began_s: float
) -> DeadLetter:
    world = seeding.world
    wall_s = world.clock.wall_s()
    return DeadLetter(
        id=new_ulid(wall_s, world.rng),
        message=replace(message, attempts=message.attempts + 1),
        error_info=ErrorInfo(why.kind, why.message, message.attempts, iso_utc(wall_s)),
        context=ErrorContext(
            message.queue, world.version, round((world.clock.now_s() - began_s) * 1000)
        ),
    )


def _kind_of(error: Exception) -> ErrorType:
    match error:
        case SeedError():
            return ErrorType(error.kind)
        case StoreError():
            return ErrorType.STORAGE
        case TimeoutError():  # before OSError, which it is one of
            return ErrorType.TIMEOUT
        case OSError():
            return ErrorType.NETWORK
        case UnicodeError() | SyntaxError() | RecursionError():
            return ErrorType.PARSE
        case _:  # a fault of ours: something in what came was not expected
            return ErrorType.VALIDATION


def _described(error: Exception) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


async def find(seeding: SeedContext, letter: str) -> DeadLetter:
    """Find a dead letter by its id."""
    found = await seeding.queues.letter(seeding.dataset.name, _plain(seeding, letter))
    if found is None:
        raise _unknown(seeding, letter)
    return found


async def every(seeding: SeedContext) -> AsyncIterator[DeadLetter]:
    """Read all dead letters, some at a time."""
    after = ""
    while found := await seeding.queues.dead(seeding.dataset.name, after=after, limit=PER_READ):
        after = found[-1].id
        for letter in found:
            yield letter


async def each(seeding: SeedContext, act: Callable[[SeedContext, str], Awaitable[None]]) -> int:
    """Do something with every dead letter; return with how many that somebody else has not taken.

    Whoever works meanwhile may take them: a raw file that is sent again is dead no more.
    """
    many = 0
    for letter in [letter.id async for letter in every(seeding)]:
        with suppress(UnknownName):
            await act(seeding, letter)
            many += 1
    return many


async def retry(seeding: SeedContext, letter: str) -> None:
    """Let a dead letter wait again, from the beginning."""
    now_s = seeding.world.clock.now_s()
    name = _plain(seeding, letter)
    if not await seeding.queues.revive(seeding.dataset.name, name, now_s=now_s):
        raise _unknown(seeding, letter)


async def drop(seeding: SeedContext, letter: str) -> None:
    """Forget a dead letter, and its raw file, which counts again when it is sent again.

    A domain stays failed: nobody sends it again, and its contract is missing.
    """
    dataset, name = seeding.dataset.name, _plain(seeding, letter)
    if not await seeding.queues.drop(dataset, name, forgets=seeding.config.seeds.seed_queue):
        raise _unknown(seeding, letter)


def reason(letter: DeadLetter) -> str:
    """Say why it failed, without the name of what failed: that stands beside it."""
    return letter.error_info.error_message.removeprefix(f"{letter.message.task}: ")


def letter_json(letter: DeadLetter) -> dict[str, object]:
    """Write a dead letter as the catalogue has it (SED-43)."""
    return {
        "original_message": _body(letter.message.body),
        "error_info": asdict(letter.error_info),
        "context": asdict(letter.context),
    }


def _body(body: bytes) -> object:
    if len(body) > MAX_SHOWN_BYTES:
        return body[:MAX_SHOWN_BYTES].decode("utf-8", "ignore") + "…"
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:  # nobody of ours has written it
        return body.decode("utf-8", "backslashreplace")


def _plain(seeding: SeedContext, letter: str) -> str:
    """Return what can be an id: a command line brings bytes that no store can be asked for."""
    if not letter.isascii():
        raise _unknown(seeding, letter)
    return letter


def _unknown(seeding: SeedContext, letter: str) -> UnknownName:
    return UnknownName(
        f"no dead letter `{ascii(letter[:MAX_ID_CHARS])[1:-1]}` in {seeding.dataset.name}",
        hint="`geomi seeds dlq list` lists all dead letters",
    )
