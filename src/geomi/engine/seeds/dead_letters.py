"""Decide what follows a failed message, and manage dead letters: list, retry or drop them.

A failure is one of the catalogue's five error classes (ERR-15). A message waits 1, 2 and 4 s
before its next try (SED-35, SED-42); after the last it is a dead letter (SED-43). A message with
which too many workers died is given up as well. A dropped letter's raw file counts again when it
is sent again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from geomi.engine.seeds.context import Seeding
from geomi.errors import SeedError, StoreError
from geomi.model.message import (
    MAX_ERROR_CHARS,
    DeadLetter,
    ErrorContext,
    ErrorInfo,
    Message,
    Settlement,
)
from geomi.model.seed import ErrorType
from geomi.text.times import iso_utc
from geomi.text.ulid import new_ulid

# Workers that may be lost with a message in hand before nobody tries it any more: what ends a
# process each time would end all of them, one after the other. A deployment that is restarted often
# loses a few by itself.
MAX_LOSSES = 20

# What a whole loan may suffer from because of one of its messages.
OF_ONE = frozenset({ErrorType.PARSE, ErrorType.VALIDATION})


@dataclass(frozen=True, slots=True)
class Failure:
    """Why work ended, in the words of a dead letter."""

    kind: ErrorType
    message: str


def failure_of(error: Exception) -> Failure:
    """Say what kind of failure an error is."""
    text = str(error) if isinstance(error, SeedError | StoreError) else _described(error)
    # It may quote what came from outside; a lone surrogate can be written nowhere.
    written = text.encode("utf-8", "replace").decode()
    return Failure(_kind_of(error), written[:MAX_ERROR_CHARS])


def worn_out(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return those messages that cost too many workers."""
    return tuple(message for message in messages if message.losses >= MAX_LOSSES)


def buried(
    seeding: Seeding, messages: Iterable[Message], why: Failure, *, began_s: float
) -> Settlement:
    """Give messages up, however often they were tried."""
    dead = (_letter(seeding, message, why, began_s=began_s) for message in messages)
    return Settlement(dead=tuple(dead))


def put_off(
    seeding: Seeding, messages: Iterable[Message], why: Failure, *, began_s: float
) -> Settlement:
    """Try messages again after 1, 2, 4 s and so on; give up those that had all their tries."""
    later: list[tuple[str, float]] = []
    dead: list[DeadLetter] = []
    now_s = seeding.world.clock.now_s()
    for message in messages:
        if message.attempts < seeding.config.seeds.max_retries:
            later.append((message.name, now_s + 2.0**message.attempts))
        else:
            dead.append(_letter(seeding, message, why, began_s=began_s))
    return Settlement(later=tuple(later), dead=tuple(dead))


def _letter(seeding: Seeding, message: Message, why: Failure, *, began_s: float) -> DeadLetter:
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
