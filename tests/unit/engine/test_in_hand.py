"""A mark stands while a piece of work runs, and only then."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field

import pytest

from geomi.engine.in_hand import in_hand
from geomi.errors import LeaseLost, StoreError
from geomi.model.worker import WorkInHand, WorkKind, unpack_work
from geomi.ports.runtime import MARK_LENGTH
from tests.support.waiting import waits

ONE = WorkInHand("local", WorkKind.PAGE, b"one", "http://a.test/1")
TWO = WorkInHand("local", WorkKind.PAGE, b"two", "http://a.test/2")


@dataclass
class Mark:
    """What is in hand, in memory."""

    frame: bytes = b""
    now: str = ""
    is_left: bool = False
    seen: list[str] = field(default_factory=list)

    def put(self, frame: bytes) -> None:
        work = unpack_work(frame[MARK_LENGTH.size :])
        assert work is not None
        self.now = work.name.decode()

    def clear(self) -> None:
        self.now = ""

    def leave(self) -> None:
        self.is_left = True


@waits
async def test_only_the_work_that_runs_is_in_hand() -> None:
    mark = Mark()

    async def work(name: str, wait: asyncio.Event, other: asyncio.Event) -> str:
        assert mark.now == name
        other.set()
        await wait.wait()
        assert mark.now == name
        return name

    first, second = asyncio.Event(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        one = group.create_task(in_hand(mark, ONE, work("one", first, second)))
        await second.wait()
        assert mark.now == ""
        two = group.create_task(in_hand(mark, TWO, work("two", second, first)))
    assert (one.result(), two.result()) == ("one", "two")
    assert mark.now == ""
    assert not mark.is_left


async def _raise(error: BaseException) -> None:
    await asyncio.sleep(0)
    raise error


class _PanicError(BaseException):
    """What native code raises that is no `Exception`."""


@pytest.mark.parametrize(
    ("error", "is_left"),
    [
        (ValueError(), True),
        (_PanicError(), True),
        (MemoryError(), True),
        (ExceptionGroup("", [LeaseLost(""), ExceptionGroup("", [ValueError()])]), True),
        (LeaseLost(""), False),
        (StoreError(""), False),
        (asyncio.CancelledError(), False),
        (ExceptionGroup("", [LeaseLost(""), StoreError("")]), False),
    ],
    ids=lambda value: type(value).__name__,
)
@waits
async def test_an_error_of_the_work_itself_leaves_its_mark(
    error: BaseException, is_left: bool
) -> None:
    mark = Mark()
    with pytest.raises(type(error)):
        await in_hand(mark, ONE, _raise(error))
    assert mark.is_left is is_left
    assert mark.now == ("one" if is_left else "")


@waits
async def test_what_is_thrown_into_the_work_reaches_it() -> None:
    mark = Mark()

    async def work() -> str:
        try:
            async with asyncio.timeout(0.001):
                await asyncio.Event().wait()
        except TimeoutError:
            return mark.now
        return ""

    assert await in_hand(mark, ONE, work()) == "one"


@waits
async def test_work_that_is_cancelled_cleans_up_with_its_mark_up() -> None:
    mark = Mark()
    begun = asyncio.Event()

    async def work() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            mark.seen.append(mark.now)

    async def start(doing: Coroutine[None, None, None]) -> None:
        await in_hand(mark, ONE, doing)

    task = asyncio.ensure_future(start(work()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert mark.seen == ["one"]
    assert (mark.now, mark.is_left) == ("", False)
