"""Note what this process has in hand, so that its death can be told from others.

While a piece of work runs, its mark stands; while it waits for anything, the mark is away. One
thread runs one piece of work at a time, so the mark names the one that the process dies of. It
covers all that is done with bytes from outside: unpacking, reading, links, fingerprints. What comes
over a connection is unpacked between two steps; the connection puts the mark up for that moment.
"""

from __future__ import annotations

import types
from asyncio import CancelledError
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

from geomi.errors import GeomiError
from geomi.model.worker import WorkInHand, pack_work
from geomi.ports.runtime import MARK_LENGTH, WorkMark

T = TypeVar("T")
# These end a process for reasons of its own; any other error that leaves a piece of work is its.
_NOT_ITS_OWN = (GeomiError, CancelledError, GeneratorExit, KeyboardInterrupt)


@types.coroutine
def in_hand(
    mark: WorkMark, work: WorkInHand, doing: Coroutine[Any, Any, T], *, is_caught: bool = False
) -> Generator[Any, Any, T]:
    """Do a piece of work, step by step, with its mark up in each.

    Args:
        is_caught: no `Exception` that leaves the work ends this process.
    """
    packed = pack_work(work)
    frame = MARK_LENGTH.pack(len(packed)) + packed
    put, clear, send = mark.put, mark.clear, doing.send
    answer: Any = None
    error: BaseException | None = None
    while True:
        put(frame)
        try:
            awaited = send(answer) if error is None else doing.throw(error)
        except StopIteration as done:
            clear()
            return done.value  # type: ignore[no-any-return]  # what a coroutine returns
        except BaseException as failure:
            if is_its_own(failure) and not (is_caught and isinstance(failure, Exception)):
                mark.leave()
            else:
                clear()
            raise
        clear()
        answer, error = None, None
        try:
            answer = yield awaited
        except GeneratorExit:
            doing.close()
            raise
        except BaseException as thrown:
            error = thrown


def is_its_own(failure: BaseException) -> bool:
    """Whether an error comes of the work itself, and not of the store, the lease or a signal."""
    if isinstance(failure, BaseExceptionGroup):
        return any(map(is_its_own, failure.exceptions))
    return not isinstance(failure, _NOT_ITS_OWN)


class NoMark:
    """The mark of a process whose death nobody looks into."""

    frame = b""

    def put(self, frame: bytes) -> None:
        """Note nothing."""

    def clear(self) -> None:
        """Note nothing."""

    def leave(self) -> None:
        """Note nothing."""
