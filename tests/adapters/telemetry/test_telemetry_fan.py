"""A failing listener is dropped, told about once, and fails nothing."""

from __future__ import annotations

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.cli.prepare.seed_run import SeedCounts
from geomi.model.event import Event, SeedFileDone, Warned

EVENT = Warned("j", "look")


class Heard:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        self.events.append(event)


class Broken:
    """A listener whose pipe is closed."""

    def __init__(self) -> None:
        self.asked = 0

    def emit(self, event: Event) -> None:
        self.asked += 1
        raise BrokenPipeError("gone")


def test_everyone_hears_every_event() -> None:
    heard = (Heard(), Heard())
    EventFanOut(*heard).emit(EVENT)
    assert [listener.events for listener in heard] == [[EVENT], [EVENT]]


def test_a_failing_listener_is_dropped_with_one_warning() -> None:
    before, broken, other, after = Heard(), Broken(), Broken(), Heard()
    fan = EventFanOut(before, broken, other, after)
    fan.emit(EVENT)
    fan.emit(EVENT)
    warning = Warned("j", "Broken gets no more events: BrokenPipeError: gone")
    assert before.events == after.events == [EVENT, warning, warning, EVENT]
    assert (broken.asked, other.asked) == (1, 1)


def test_a_listener_that_counts_outlives_one_that_fails() -> None:
    counts = SeedCounts()  # it is compared by what it has counted, and has no hash
    fan = EventFanOut(counts, Broken(), SeedCounts())
    for _ in range(2):
        fan.emit(SeedFileDone("raw/x", 2, 1, 5))
    assert counts == SeedCounts(files=2, rejected=2)


def test_nobody_left_is_no_failure() -> None:
    fan = EventFanOut(Broken())
    fan.emit(EVENT)
    fan.emit(EVENT)
