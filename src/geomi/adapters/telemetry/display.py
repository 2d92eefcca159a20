"""A live view of work on stderr: a few numbers, redrawn four times a second.

Only counts and our own words are drawn; a warning may quote a site, so it is escaped first. Where
stderr is no terminal, only the last view is written. Rich itself honours NO_COLOR.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from rich.console import Console, RenderableType
from rich.filesize import decimal
from rich.live import Live
from rich.table import Table
from rich.text import Text

from geomi.adapters.telemetry.counters import Counters, Snapshot
from geomi.model.event import Event, Warned
from geomi.url.parse import displayed

REDRAWS_PER_S = 4
MAX_PROBLEMS = 5  # kinds shown; the rest is one number
MAX_WARNING_CHARS = 500


class Display:
    """Draw a view until stopped; also a listener, for warnings.

    Args:
        draw: lays out what is known at this moment; called from another thread.
    """

    def __init__(
        self, draw: Callable[[], RenderableType], *, console: Console | None = None
    ) -> None:
        self._console = console or Console(stderr=True)
        self._live = Live(
            get_renderable=draw,
            console=self._console,
            refresh_per_second=REDRAWS_PER_S,
            redirect_stdout=False,  # stdout is data and stays what it is
        )

    def start(self) -> None:
        """Begin to draw."""
        self._live.start()

    def emit(self, event: Event) -> None:
        """Write a warning above the view; every other event is in the counters."""
        if isinstance(event, Warned):
            words = f"{event.message} ({event.hint})" if event.hint else event.message
            self._console.print(Text(f"warning: {_visible(words)}", style="yellow"))

    def stop(self) -> None:
        """Draw the last view and give the terminal back."""
        self._live.stop()


def crawl_display(counters: Counters, *, console: Console | None = None) -> Display:
    """Make the view of a crawl."""
    return Display(lambda: view(counters.snapshot()), console=console)


def view(counts: Snapshot) -> Table:
    """Lay out one moment's counts."""
    table = grid()
    table.add_row("pages", f"{counts.pages:,} of {counts.visits:,} visits")
    table.add_row("rate", f"{counts.pages_per_s:.1f} a second")
    table.add_row("hosts", f"{counts.hosts:,}")
    if counts.queue is not None:
        table.add_row("queue", f"{counts.queue:,}")
    table.add_row("received", decimal(counts.bytes_received))
    if counts.problems:
        table.add_row("no page", Text(_problems(counts), style="yellow"))
    table.add_row("time", spent(counts.elapsed_s, None if counts.has_ended else counts.eta_s))
    return table


def grid() -> Table:
    """Make a view without rows: names, and what is known of each."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    return table


def spent(elapsed_s: float, left_s: float | None) -> str:
    """Write how long it has taken so far, and how long it may still take."""
    left = "" if left_s is None else f", about {_clock(left_s)} left"
    return f"{_clock(elapsed_s)}{left}"


def _problems(counts: Snapshot) -> str:
    shown = [f"{outcome} {count:,}" for outcome, count in counts.problems[:MAX_PROBLEMS]]
    rest = sum(count for _, count in counts.problems[MAX_PROBLEMS:])
    return ", ".join([*shown, f"other {rest:,}"] if rest else shown)


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _visible(text: str) -> str:
    """Show what would move the cursor, colour the text or turn its direction."""
    cut = displayed(text)[:MAX_WARNING_CHARS]
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
