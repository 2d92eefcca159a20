"""Counts made of events, and the rate of the last ten seconds."""

from __future__ import annotations

import pytest

from geomi.adapters.telemetry import counters as counting
from geomi.adapters.telemetry.counters import Counters
from geomi.model.event import JobEnded, JobStarted, PageSettled, Progressed, Warned
from geomi.model.verdict import Outcome, State


class HandClock:
    """A clock turned by hand."""

    def __init__(self) -> None:
        self.at_s = 1000.0

    def now_s(self) -> float:
        return self.at_s

    def wall_s(self) -> float:
        return self.at_s

    async def sleep_until(self, when_s: float) -> None:
        raise AssertionError("nothing here waits")


def page(url: str = "https://a.test/", outcome: Outcome = Outcome.OK) -> PageSettled:
    return PageSettled("j", url, outcome, State.COMPLETED, 200, 0, 100, 5, 0)


def test_nothing_counted_is_nothing() -> None:
    counts = Counters(HandClock()).snapshot()
    assert counts == counting.Snapshot()


def test_pages_bytes_hosts_and_problems() -> None:
    counters = Counters(HandClock())
    counters.emit(JobStarted("j", ("https://a.test/",), False))
    for event in (
        page(),
        page("https://a.test/b"),
        page("https://b.test/", Outcome.GONE),
        page("https://b.test/x", Outcome.TIMEOUT),
        page("https://b.test/y", Outcome.TIMEOUT),
        page("https://b.test/z", Outcome.REDIRECTED),
    ):
        counters.emit(event)
    counters.emit(Warned("j", "look"))
    counts = counters.snapshot()
    assert (counts.pages, counts.visits, counts.bytes_received, counts.hosts) == (2, 6, 600, 2)
    assert counts.problems == ((Outcome.TIMEOUT, 2), (Outcome.GONE, 1))
    assert not counts.has_ended
    counters.emit(JobEnded("j", "completed", "done", 2, 3, 1.0))
    assert counters.snapshot().has_ended


def test_the_rate_is_that_of_the_last_ten_seconds() -> None:
    clock = HandClock()
    counters = Counters(clock)
    for _ in range(20):
        counters.emit(page())
    assert counters.snapshot().pages_per_s == 20.0  # the first second counts as a whole one
    clock.at_s += 4
    assert counters.snapshot().pages_per_s == 5.0
    clock.at_s += 5.5
    for _ in range(10):
        counters.emit(page())
    clock.at_s += 0.5  # 10 s: the first second has left the window
    assert counters.snapshot().pages_per_s == 1.0
    clock.at_s += 100
    assert counters.snapshot().pages_per_s == 0.0
    assert counters.snapshot().elapsed_s == 110.0


def test_what_is_left_follows_queue_and_limit() -> None:
    counters = Counters(HandClock())
    for _ in range(2):
        counters.emit(page())
    assert (counters.snapshot().queue, counters.snapshot().eta_s) == (None, None)
    counters.emit(Progressed("job", pending=40, left=10))
    assert (counters.snapshot().queue, counters.snapshot().eta_s) == (40, 5.0)


def test_a_crawl_that_stands_still_has_no_end_in_sight() -> None:
    counters = Counters(HandClock())
    counters.emit(Progressed("job", pending=5, left=5))
    assert counters.snapshot().eta_s is None


def test_hosts_stop_at_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MAX_HOSTS", 3)
    counters = Counters(HandClock())
    for number in range(4):
        counters.emit(page(f"https://{number}.test/"))
    assert counters.snapshot().hosts == 3
