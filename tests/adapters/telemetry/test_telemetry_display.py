"""The live view: what it says, what it escapes, and where it stays silent."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from geomi.adapters.telemetry.counters import Counters, Snapshot
from geomi.adapters.telemetry.display import MAX_WARNING_CHARS, crawl_display, view
from geomi.model.event import JobStarted, Warned
from geomi.model.verdict import Outcome


class StoppedClock:
    """A clock that shows one moment."""

    def now_s(self) -> float:
        return 5.0

    def wall_s(self) -> float:
        return 5.0

    async def sleep_until(self, when_s: float) -> None:
        raise AssertionError("nothing here waits")


def console(*, is_terminal: bool, no_color: bool = False) -> Console:
    environment = {"TERM": "xterm-256color"} | ({"NO_COLOR": "1"} if no_color else {})
    return Console(file=io.StringIO(), force_terminal=is_terminal, width=100, _environ=environment)


def text(screen: Console) -> str:
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def drawn(counts: Snapshot) -> list[str]:
    screen = console(is_terminal=False)
    screen.print(view(counts))
    return [" ".join(line.split()) for line in text(screen).splitlines()]


def test_a_view_says_what_was_counted() -> None:
    problems = tuple(zip(list(Outcome)[4:11], range(10, 3, -1), strict=True))
    counts = Snapshot(1200, 1500, 3_000_000, 12, 40, problems, 12.34, 61.0, 3.2)
    assert drawn(counts) == [
        "pages 1,200 of 1,500 visits",
        "rate 12.3 a second",
        "hosts 12",
        "queue 40",
        "received 3.0 MB",
        "no page robots 10, address_refused 9, refused 8, gone 7, client_error 6, other 9",
        "time 0:01:01, about 0:00:03 left",
    ]


def test_a_view_leaves_out_what_is_not_known() -> None:
    assert drawn(Snapshot(has_ended=True, eta_s=9.0))[3:] == ["received 0 bytes", "time 0:00:00"]


def test_a_display_draws_until_it_is_stopped() -> None:
    screen = console(is_terminal=True)
    display = crawl_display(Counters(StoppedClock()), console=screen)
    display.start()
    display.emit(JobStarted("j", (), False))
    display.emit(Warned("j", "slow host", "raise the limit"))
    display.stop()
    assert "warning: slow host (raise the limit)" in text(screen)
    assert "visits" in text(screen)
    assert text(screen).endswith("\x1b[?25h")  # the cursor is shown again


def test_stdout_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    display = crawl_display(Counters(StoppedClock()), console=console(is_terminal=True))
    display.start()
    sys.stdout.write("data\n")
    display.stop()
    assert capsys.readouterr().out == "data\n"


def test_without_a_terminal_only_the_last_view_is_written() -> None:
    screen = console(is_terminal=False)
    display = crawl_display(Counters(StoppedClock()), console=screen)
    display.start()
    assert text(screen) == ""
    display.stop()
    assert text(screen).count("visits") == 1


def test_no_color_is_honoured() -> None:
    screen = console(is_terminal=True, no_color=True)
    crawl_display(Counters(StoppedClock()), console=screen).emit(Warned("j", "look"))
    assert "\x1b[3" not in text(screen)


@pytest.mark.parametrize("evil", ["\x1b[2J", "\x9b2J", "\r\n", "\u202e", "\x07"])
def test_a_warning_cannot_drive_the_terminal(evil: str) -> None:
    screen = console(is_terminal=True, no_color=True)
    crawl_display(Counters(StoppedClock()), console=screen).emit(Warned("j", f"a[bold]{evil}b"))
    assert text(screen).rstrip("\n").isprintable()
    assert "a[bold]" in text(screen)


def test_a_warning_stops_at_its_limit() -> None:
    screen = console(is_terminal=False)
    message = "x" * (MAX_WARNING_CHARS + 1)
    crawl_display(Counters(StoppedClock()), console=screen).emit(Warned("j", message))
    assert text(screen).count("x") == MAX_WARNING_CHARS
