"""A log stays small, whatever repeats itself."""

from __future__ import annotations

import asyncio
import logging

from geomi.adapters.telemetry.repeats import (
    MAX_TEXT_CHARS,
    MOST_KINDS,
    RepeatedWarnings,
    logs_as_warnings,
)
from geomi.model.event import Event, JobStarted, Warned
from tests.support.waiting import waits


class Heard:
    """Keeps the events in order."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        """Keep one."""
        self.events.append(event)

    @property
    def messages(self) -> list[str]:
        """Return what was warned of."""
        return [event.message for event in self.events if isinstance(event, Warned)]


@waits
async def test_what_repeats_itself_is_written_once_and_counted() -> None:
    heard = Heard()
    repeats = RepeatedWarnings(heard)
    for number in range(1001):
        repeats.emit(Warned("", f"socket {number} at {number:#x} is away", "wait"))
    repeats.emit(Warned("", "a disk is away"))
    assert heard.messages == ["socket 0 at 0x0 is away", "a disk is away"]
    repeats.flush()
    assert heard.messages[2:] == ["repeated 1,000 times: socket 0 at 0x0 is away"]
    repeats.emit(Warned("", "socket 7 at 0xff is away"))
    repeats.emit(Warned("", "a disk is away"))
    assert heard.messages[3:] == ["a disk is away"]  # once an interval; the socket is still known
    repeats.flush()
    assert heard.messages[4:] == ["repeated 1 times: socket 0 at 0x0 is away"]
    repeats.flush()
    repeats.flush()
    repeats.emit(Warned("", "socket 9 at 0x0 is away"))
    assert heard.messages[5:] == ["socket 9 at 0x0 is away"]


@waits
async def test_jobs_are_told_apart_and_other_events_pass() -> None:
    heard = Heard()
    repeats = RepeatedWarnings(heard)
    warnings = [Warned(job, "slow") for job in ("j-1", "j-2")]
    others = [JobStarted("j-1", (), resumed=True)] * 3
    events: list[Event] = [*warnings, *others]
    for event in events:
        repeats.emit(event)
    assert heard.events == events


@waits
async def test_one_kind_too_many_is_counted_alone() -> None:
    heard = Heard()
    repeats = RepeatedWarnings(heard)
    kinds = [f"{'a' * number} is away" for number in range(1, MOST_KINDS + 3)]
    for kind in kinds:
        repeats.emit(Warned("", kind))
    assert heard.messages == kinds[:MOST_KINDS]
    repeats.flush()
    assert heard.messages[MOST_KINDS:] == [
        "2 more warnings of other kinds were left out of the log"
    ]


@waits
async def test_an_interval_ends_by_itself() -> None:
    heard, counted = Heard(), asyncio.Event()

    class Last:
        def emit(self, event: Event) -> None:
            heard.emit(event)
            if len(heard.events) == 2:
                counted.set()

    repeats = RepeatedWarnings(Last(), every_s=0.0)
    for _ in range(3):
        repeats.emit(Warned("", "a disk is away"))
    await counted.wait()
    assert heard.messages == ["a disk is away", "repeated 2 times: a disk is away"]


def test_without_a_loop_nothing_is_held_back() -> None:
    heard = Heard()
    repeats = RepeatedWarnings(heard)
    for _ in range(3):
        repeats.emit(Warned("", "a disk is away"))
    assert heard.messages == ["a disk is away"] * 3


@waits
async def test_the_longest_text_is_kept_and_a_longer_one_cut() -> None:
    heard = Heard()
    repeats = RepeatedWarnings(heard)
    repeats.emit(Warned("", "a" * MAX_TEXT_CHARS))
    repeats.emit(Warned("", "b" * MAX_TEXT_CHARS + "c"))
    whole, cut = heard.messages
    assert whole == "a" * MAX_TEXT_CHARS
    assert len(cut) < MAX_TEXT_CHARS and cut.endswith("bc") and "[…]" in cut


@waits
async def test_what_a_library_logs_is_a_warning() -> None:
    heard = Heard()
    log = logging.getLogger("somebody.else")
    with logs_as_warnings(heard):
        try:
            raise ValueError("of theirs")
        except ValueError as error:
            await asyncio.to_thread(log.error, "%s failed", "something", exc_info=error)
        log.info("nothing to worry about")
        await asyncio.sleep(0)
    log.warning("later")
    await asyncio.sleep(0)
    (told,) = heard.messages
    assert told.startswith("somebody.else: something failed\nTraceback")
    assert told.endswith("ValueError: of theirs")
