"""Dead letters of a dataset: what nobody tries any more is looked at, tried again, or dropped."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict

import orjson

from geomi.engine.seeds.context import Seeding
from geomi.errors import UnknownName
from geomi.model.message import DeadLetter

PER_READ = 100
MAX_ID_CHARS = 80  # shown of one that is not there
# Of a message, as an object; of a larger one the beginning is shown as text. A domain may have as
# many URLs as a raw file holds, and a hundred megabytes of them take a gigabyte as objects.
MAX_SHOWN_BYTES = 4 * 1024 * 1024


async def find(seeding: Seeding, letter: str) -> DeadLetter:
    """Find a dead letter by its id."""
    found = await seeding.queues.letter(seeding.dataset.name, _plain(seeding, letter))
    if found is None:
        raise _unknown(seeding, letter)
    return found


async def every(seeding: Seeding) -> AsyncIterator[DeadLetter]:
    """Read all dead letters, some at a time."""
    after = ""
    while found := await seeding.queues.dead(seeding.dataset.name, after=after, limit=PER_READ):
        after = found[-1].id
        for letter in found:
            yield letter


async def each(seeding: Seeding, act: Callable[[Seeding, str], Awaitable[None]]) -> int:
    """Do something with every dead letter; return with how many that somebody else has not taken.

    Whoever works meanwhile may take them: a raw file that is sent again is dead no more.
    """
    many = 0
    for letter in [letter.id async for letter in every(seeding)]:
        with suppress(UnknownName):
            await act(seeding, letter)
            many += 1
    return many


async def retry(seeding: Seeding, letter: str) -> None:
    """Let a dead letter wait again, from the beginning."""
    now_s = seeding.world.clock.now_s()
    name = _plain(seeding, letter)
    if not await seeding.queues.revive(seeding.dataset.name, name, now_s=now_s):
        raise _unknown(seeding, letter)


async def drop(seeding: Seeding, letter: str) -> None:
    """Forget a dead letter, and its raw file, which counts again when it is sent again.

    A domain stays failed: nobody sends it again, and its contract is missing.
    """
    dataset, name = seeding.dataset.name, _plain(seeding, letter)
    if not await seeding.queues.drop(dataset, name, forgets=seeding.config.seeds.seed_queue):
        raise _unknown(seeding, letter)


def reason(letter: DeadLetter) -> str:
    """Say why it failed, without the name of what failed: that stands beside it."""
    return letter.error_info.error_message.removeprefix(f"{letter.message.task}: ")


def written(letter: DeadLetter) -> dict[str, object]:
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


def _plain(seeding: Seeding, letter: str) -> str:
    """Return what can be an id: a command line brings bytes that no store can be asked for."""
    if not letter.isascii():
        raise _unknown(seeding, letter)
    return letter


def _unknown(seeding: Seeding, letter: str) -> UnknownName:
    return UnknownName(
        f"no dead letter `{ascii(letter[:MAX_ID_CHARS])[1:-1]}` in {seeding.dataset.name}",
        hint="the list of dead letters tells those that there are",
    )
