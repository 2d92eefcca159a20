"""Trying again at once: what may pass, how often, and after which waits."""

from __future__ import annotations

import asyncio

import pytest

from geomi.engine.seeds.hosts import raise_passing, with_retries
from geomi.errors import SeedError, StoreError
from geomi.model.dataset.seed import ErrorType
from geomi.model.verdict import Outcome
from tests.support.clock import HandClock
from tests.support.waiting import waits


async def tried(errors: list[Exception], **limit: int) -> list[float]:
    """Let an operation fail as told, then succeed; return when it was tried."""
    clock = HandClock(0.0)
    times: list[float] = []

    async def operation() -> str:
        times.append(clock.now_s())
        if errors:
            raise errors.pop(0)
        return "done"

    async def turn() -> None:
        while True:
            await asyncio.sleep(0)
            if clock.next_wake_s is not None:
                clock.advance(clock.next_wake_s - clock.now_s())

    turning = asyncio.create_task(turn())
    try:
        assert await with_retries(clock, operation, **limit) == "done"
    finally:
        turning.cancel()
    return times


def failure(kind: ErrorType, text: str = "x") -> SeedError:
    return SeedError(text, kind=kind)


@pytest.mark.req("ERR-13", "ERR-14")
@pytest.mark.parametrize("kind", [ErrorType.NETWORK, ErrorType.TIMEOUT])
@waits
async def test_what_may_pass_is_tried_after_one_two_and_four_seconds(kind: ErrorType) -> None:
    assert await tried([failure(kind)] * 3) == [0.0, 1.0, 3.0, 7.0]
    assert await tried([]) == [0.0]


@pytest.mark.req("ERR-13")
@pytest.mark.parametrize("retries", [0, 1, 3])
@waits
async def test_the_last_error_is_raised(retries: int) -> None:
    errors: list[Exception] = [
        failure(ErrorType.NETWORK, str(number)) for number in range(retries + 2)
    ]
    with pytest.raises(SeedError, match=f"^{retries}$"):
        await tried(errors, max_retries=retries)
    assert len(errors) == 1


@pytest.mark.req("ERR-13")
@waits
async def test_there_are_four_attempts_where_nobody_says_otherwise() -> None:
    errors: list[Exception] = [failure(ErrorType.NETWORK, str(number)) for number in range(5)]
    with pytest.raises(SeedError, match=r"^3$"):
        await tried(errors)
    assert len(errors) == 1


@pytest.mark.req("ERR-14")
@pytest.mark.parametrize(
    "error",
    [
        failure(ErrorType.PARSE),
        failure(ErrorType.STORAGE),
        failure(ErrorType.VALIDATION),
        StoreError("x"),
    ],
)
@waits
async def test_everything_else_is_raised_at_once(error: Exception) -> None:
    left = [error, failure(ErrorType.PARSE)]
    with pytest.raises(type(error)):
        await tried(left)
    assert len(left) == 1


@pytest.mark.req("ERR-14")
@pytest.mark.parametrize(
    ("status", "outcome", "kind"),
    [
        (200, None, None),
        (404, None, None),
        (429, None, None),
        (499, None, None),
        (500, None, ErrorType.NETWORK),
        (599, None, ErrorType.NETWORK),
        (600, None, None),
        (0, Outcome.TIMEOUT, ErrorType.TIMEOUT),
        (0, Outcome.DNS_ERROR, ErrorType.NETWORK),
        (0, Outcome.CONNECT_ERROR, ErrorType.NETWORK),
        (0, Outcome.TLS_ERROR, ErrorType.NETWORK),
        (0, Outcome.PROTOCOL_ERROR, ErrorType.NETWORK),
        (200, Outcome.TOO_LARGE, None),
        (0, Outcome.ADDRESS_REFUSED, None),
    ],
)
def test_which_answers_may_pass(
    status: int, outcome: Outcome | None, kind: ErrorType | None
) -> None:
    if kind is None:
        raise_passing(status, outcome, "x")
        return
    with pytest.raises(SeedError, match=r"^x$") as raised:
        raise_passing(status, outcome, "x")
    assert raised.value.kind is kind
