"""Names are looked up once, kept for their time, and renewed before it is over."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from geomi.adapters.http import names as names_module
from geomi.adapters.http.names import (
    FAILURE_KEPT_S,
    KEPT_S,
    RENEWED_BEFORE_S,
    Names,
    Records,
    ResolvedName,
)
from tests.support.clock import HandClock
from tests.support.waiting import waits

OLD, NEW = ("93.184.216.34",), ("93.184.216.35",)
RENEWED_S = KEPT_S - RENEWED_BEFORE_S


class Resolver:
    """A resolver that notes what it is asked, and waits before it answers if it has to."""

    def __init__(self, answer: tuple[str, ...] | Records = OLD) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    def __call__(self, name: str) -> tuple[str, ...] | Records:
        """Look up a name."""
        self.asked.append(name)
        assert self.may_answer.wait(5)
        return self.answer


@asynccontextmanager
async def renewing(
    answer: tuple[str, ...] | Records = OLD,
) -> AsyncIterator[tuple[Names, HandClock, Resolver]]:
    """Keep names under a clock turned by hand."""
    clock, resolver = HandClock(), Resolver(answer)
    names = Names(clock, resolver)
    try:
        yield names, clock, resolver
    finally:
        resolver.may_answer.set()
        names.close()


async def renewals() -> None:
    """Wait until no renewal is under way; one that sleeps is none."""
    await asyncio.sleep(0)  # for those that the clock has just woken
    tasks = [task for task in asyncio.all_tasks() if task.get_name().startswith("renew ")]
    if tasks:
        await asyncio.wait(tasks, timeout=5)


@pytest.mark.req("DNS-01")
@pytest.mark.parametrize(
    ("answer", "kept_s"),
    [
        (OLD, KEPT_S),
        ((), FAILURE_KEPT_S),
        (Records(OLD, 300.5), 300.5),
        (Records(OLD, 60.0), 60.0),
        (Records(OLD, 59.0), 60.0),
        (Records(OLD, 0.0), 60.0),
        (Records(OLD, -1.0), 60.0),
        (Records(OLD, 3600.0), 3600.0),
        (Records(OLD, 3601.0), 3600.0),
        (Records(OLD, 1e12), 3600.0),
        (Records((), 3600.0), FAILURE_KEPT_S),
    ],
)
@waits
async def test_answers_are_kept_for_their_time_within_bounds(
    answer: tuple[str, ...] | Records, kept_s: float
) -> None:
    """G-08: 60 to 3600 s, failures 60 s."""
    async with renewing(answer) as (names, clock, resolver):
        first = await names.find("a.test")
        clock.advance(kept_s / 2 - 1)
        assert await names.find("a.test") is first
        assert len(resolver.asked) == 1
        clock.advance(kept_s / 2 + 1)
        await names.find("a.test")
        assert len(resolver.asked) == 2


@pytest.mark.req("DNS-02")
@waits
async def test_a_name_that_is_still_asked_for_is_renewed_before_its_answer_ends() -> None:
    """And whoever asks afterwards finds the new answer without a look-up."""
    async with renewing() as (names, clock, resolver):
        await names.find("a.test")
        resolver.answer = NEW
        clock.advance(KEPT_S / 2)
        assert (await names.find("a.test")).addresses == OLD
        clock.advance(RENEWED_S - KEPT_S / 2 - 1)
        await asyncio.sleep(0)
        assert len(resolver.asked) == 1
        clock.advance(1)
        await renewals()
        assert len(resolver.asked) == 2
        clock.advance(KEPT_S / 2 - 1)  # by now the first answer is over
        assert (await names.find("a.test")).addresses == NEW
        assert (len(resolver.asked), clock.next_wake_s) == (2, None)


@pytest.mark.req("DNS-02")
@waits
async def test_a_name_is_renewed_again_and_again_while_it_is_asked_for() -> None:
    async with renewing() as (names, clock, resolver):
        await names.find("a.test")
        for times in range(1, 12):
            assert len(resolver.asked) == times
            clock.advance(RENEWED_S)
            resolver.may_answer.clear()  # whoever had to wait for DNS would wait in vain
            async with asyncio.timeout(1):
                await names.find("a.test")
            resolver.may_answer.set()
            await renewals()


@pytest.mark.req("DNS-02")
@waits
async def test_nobody_waits_for_a_renewal() -> None:
    """While it is under way the old answer is given, and no second question is asked."""
    async with renewing() as (names, clock, resolver):
        await names.find("a.test")
        clock.advance(RENEWED_S + 1)
        resolver.may_answer.clear()
        for _ in range(10):
            async with asyncio.timeout(1):
                assert (await names.find("a.test")).addresses == OLD
            await asyncio.sleep(0)
        resolver.answer = NEW
        resolver.may_answer.set()
        await renewals()
        assert (await names.find("a.test")).addresses == NEW
        assert len(resolver.asked) == 2


@waits
async def test_a_renewal_that_outlives_the_answer_is_the_one_question() -> None:
    async with renewing() as (names, clock, resolver):
        await names.find("a.test")
        clock.advance(RENEWED_S)
        resolver.may_answer.clear()
        await names.find("a.test")
        await asyncio.sleep(0)
        clock.advance(RENEWED_BEFORE_S)
        async with asyncio.TaskGroup() as group:
            late = [group.create_task(names.find("a.test")) for _ in range(5)]
            await asyncio.sleep(0)
            resolver.answer = NEW
            resolver.may_answer.set()
        assert [task.result().addresses for task in late] == [NEW] * 5
        assert len(resolver.asked) == 2


@waits
async def test_a_renewal_that_wakes_too_late_leaves_the_question_to_who_has_asked_it() -> None:
    async with renewing() as (names, clock, resolver):
        await names.find("a.test")
        clock.advance(KEPT_S / 2)
        await names.find("a.test")
        await asyncio.sleep(0)
        clock.advance(KEPT_S / 2)  # the renewal is woken, and runs after whoever asks now
        await names.find("a.test")
        await renewals()
        assert len(resolver.asked) == 2


@waits
async def test_a_name_that_nobody_asks_for_any_more_is_not_renewed() -> None:
    """Asking in the first half of an answer's life is the visit that it was looked up for."""
    async with renewing() as (names, clock, resolver):
        await names.find("a.test")
        clock.advance(KEPT_S / 2 - 1)
        await names.find("a.test")
        assert clock.next_wake_s is None
        clock.advance(KEPT_S)
        await renewals()
        assert len(resolver.asked) == 1


@waits
async def test_a_failure_is_not_renewed() -> None:
    async with renewing(()) as (names, clock, _):
        await names.find("gone.test")
        clock.advance(FAILURE_KEPT_S - 1)
        assert (await names.find("gone.test")).problem == "it has no address"
        assert clock.next_wake_s is None


@pytest.mark.req("DNS-02")
@waits
async def test_a_renewal_that_fails_leaves_the_old_answer_until_its_end() -> None:
    """It is not tried again before: whoever asks then waits for the next question."""
    async with renewing() as (names, clock, resolver):
        await names.find("a.test")
        clock.advance(RENEWED_S)
        resolver.answer = ()
        await names.find("a.test")
        await renewals()
        assert len(resolver.asked) == 2
        clock.advance(RENEWED_BEFORE_S - 1)
        assert (await names.find("a.test")).addresses == OLD
        await renewals()
        assert (len(resolver.asked), clock.next_wake_s) == (2, None)
        clock.advance(1)
        assert (await names.find("a.test")).addresses == ()
        assert len(resolver.asked) == 3


@waits
async def test_closing_ends_renewals() -> None:
    async with renewing() as (names, clock, resolver):
        await names.find("a.test")
        clock.advance(KEPT_S / 2)
        await names.find("a.test")
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == 2
        names.close()
        await asyncio.sleep(0)
        assert clock.next_wake_s is None
        clock.advance(KEPT_S / 2 - 1)
        assert (await names.find("a.test")).addresses == OLD
        assert len(asyncio.all_tasks()) == 1
        assert len(resolver.asked) == 1


@waits
async def test_renewals_beyond_the_limit_are_left_to_who_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(names_module, "MAX_RENEWALS", 2)

    async with renewing() as (names, clock, resolver):
        for _ in range(2):
            for name in ("a", "b", "c"):
                await names.find(name)
            clock.advance(KEPT_S / 2)
        await renewals()
        assert sorted(resolver.asked) == ["a", "a", "b", "b", "c"]
        await names.find("c")
        assert resolver.asked[-1] == "c"


@waits
async def test_names_are_forgotten_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is forgotten is not renewed either."""
    monkeypatch.setattr(names_module, "MAX_KEPT_NAMES", 2)

    async with renewing() as (names, clock, resolver):
        for name in ("a", "b", "b", "a", "c", "b"):
            await names.find(name)
        assert resolver.asked == ["a", "b", "c"]
        clock.advance(KEPT_S / 2)
        for name in ("b", "a"):
            await names.find(name)
        assert resolver.asked == ["a", "b", "c", "a"]
        clock.advance(KEPT_S / 2)
        await renewals()
        assert resolver.asked == ["a", "b", "c", "a"]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("93.184.216.34", ("93.184.216.34",)),
        ("::1", ("::1",)),
        ("fe80::1%lo", ("fe80::1%lo",)),
        ("localhost", ("127.0.0.1", "::1")),
        ("localhost.", ("127.0.0.1", "::1")),
        ("a.b.localhost", ("127.0.0.1", "::1")),
    ],
)
@waits
async def test_what_nobody_has_to_be_asked_about(text: str, addresses: tuple[str, ...]) -> None:
    """RFC 6761 §6.3: what `localhost` is does not depend on a resolver."""
    async with renewing() as (names, _, resolver):
        assert await names.find(text) == ResolvedName(addresses)
        assert resolver.asked == []


@pytest.mark.parametrize("text", ["127.1", "0x7f.1", "2130706433", "127.0.0.1.", "notlocalhost"])
@waits
async def test_odd_spellings_are_for_the_resolver(text: str) -> None:
    async with renewing() as (names, _, resolver):
        await names.find(text)
        assert resolver.asked == [text]


@waits
async def test_many_questions_about_one_name_are_one() -> None:
    async with renewing() as (names, _, resolver):
        resolver.may_answer.clear()
        async with asyncio.TaskGroup() as group:
            first = group.create_task(names.find("a.test"))
            others = [group.create_task(names.find("a.test")) for _ in range(5)]
            await asyncio.sleep(0)
            first.cancel()  # the next one in line asks again
            resolver.may_answer.set()
        with suppress(asyncio.CancelledError):
            await first
        assert [task.result().addresses for task in others] == [OLD] * 5
        assert len(resolver.asked) == 2
