"""Show the events of crawls: a live view on a terminal, JSON lines elsewhere, and a summary.

`CrawlPrinter` serves one crawl or recrawl, and prints how it ended. `event_listener` serves
commands that run for long (`worker`, `serve`); it prints warnings, and jobs that start and end.
`stop_on_signals` lets Ctrl-C end a command in two steps, and says so.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

from geomi.adapters.telemetry.counters import Counters
from geomi.adapters.telemetry.display import Display, crawl_display
from geomi.adapters.telemetry.fan_out import EventFanOut, EventsExcept, EventsOnly
from geomi.adapters.telemetry.log_lines import ChangeReportLines, EventLines
from geomi.adapters.telemetry.repeats import RepeatedWarnings
from geomi.app.use.channels import ChannelDecision
from geomi.cli.console import note, print_json
from geomi.engine.worker.supervisor import CrawlReport
from geomi.model.event import JobEnded, JobStarted, RobotsFetched, Warned
from geomi.model.job import StopReason
from geomi.ports.runtime import Clock, EventSink


class CrawlPrinter:
    """What a run of `geomi crawl` prints while it works and when it is over."""

    def __init__(self, *, json: bool, quiet: bool, verbose: bool) -> None:
        self._json = json
        self._quiet = quiet
        self._verbose = verbose
        self._is_live = sys.stderr.isatty() and not (json or quiet or verbose)
        self._display: Display | None = None

    def listen(self, clock: Clock) -> EventSink:
        """Make the listener that suits where we are shown."""
        if self._is_live:
            counters = Counters(clock)
            self._display = crawl_display(counters)
            return EventFanOut(counters, self._display, ChangeReportLines(sys.stderr, clock))
        lines = EventLines(sys.stdout if self._json else sys.stderr, clock)
        # The last word of the command tells how it ended, with more.
        untold = (JobEnded,) if self._verbose else (JobEnded, RobotsFetched)
        chosen = EventsOnly((Warned,), lines) if self._quiet else EventsExcept(untold, lines)
        notices = () if self._quiet else (ChangeReportLines(sys.stderr, clock),)
        return EventFanOut(chosen, *notices, wants_details=self._verbose)

    @contextmanager
    def live(self) -> Iterator[None]:
        """Draw while the crawl runs."""
        if self._display is None:
            yield
            return
        self._display.start()
        try:
            yield
        finally:
            self._display.stop()

    def conclude(
        self, report: CrawlReport, output: Path, by: ChannelDecision | None = None
    ) -> None:
        """Say how it ended, where the files are, and by which channel a provider's came."""
        stats, provider = report.job.stats, report.job.provider
        if self._json:
            summary = {
                "event": "ended",
                "job": report.job.id,
                "state": report.job.state,
                "stop": report.stop,
                "collected": stats.collected,
                "failed": stats.failed,
                "poisoned": stats.poisoned,
                "blocked": stats.blocked,
                "skipped": stats.skipped,
                "requests": stats.requests,
                "bytes": stats.bytes_received,
                "seconds": round(report.seconds, 3),
                "strategies": report.strategies,
                "output": str(output),
            } | ({"provider": provider} if provider else {})
            if (judgement := report.judgement) is not None:
                summary |= {
                    "judged": judgement.has_enough_requests,
                    "alarms": [asdict(alarm) for alarm in judgement.alarms],
                    "remarks": judgement.remarks,
                }
            print_json(summary | ({"channel": by.channel, "why": by.why} if by else {}))
        elif not self._quiet:
            note(
                f"{f'provider {provider}: ' if provider else ''}"
                f"{report.job.state} ({report.stop}): {stats.collected} pages, "
                f"{stats.failed} failed, {stats.blocked} blocked, {stats.skipped} skipped "
                f"in {report.seconds:.1f} s"
            )
            if report.strategies:
                note(f"content found by {_shares(report.strategies)}; `geomi report` shows more")
            for remark in report.judgement.remarks if report.judgement else ():
                note(remark)
            if by is not None:
                note(f"channel {by.channel}: {by.why}")
            note(f"job {report.job.id} in {output}{_next(report)}")


def _shares(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    return ", ".join(f"{name} {many / total:.0%}" for name, many in counts.items())


def _next(report: CrawlReport) -> str:
    """Return what a user can do with a job that took no more pages."""
    if report.stop in (StopReason.INTERRUPTED, StopReason.DISK_FULL, StopReason.NO_REGION):
        return "; the same command with --resume continues"
    if report.seconds == 0:
        return "; it had ended before, so nothing was fetched (a higher limit would continue it)"
    return ""


def waiting_texts(report: CrawlReport) -> str:
    """Return a hint about whole texts that wait to be indexed and will expire."""
    store, stats = report.job.config.store, report.job.stats
    is_waiting = store.is_preview and report.job.config.analysis.index and stats.collected
    if not is_waiting or not store.whole_text_s:
        return ""
    hours = store.whole_text_s / 3600
    return (
        f"geomi erases the whole texts after {hours:g} h; index them before with "
        "geomi enrich --once; --index does it during a crawl"
    )


class Interruptible(Protocol):
    """Work that finishes what is under way when it is interrupted, and stops the second time."""

    def interrupt(self) -> bool:
        """Tell it so; return whether it was the second time."""


def stop_on_signals(work: Interruptible, doing: str = "requests in flight") -> None:
    """First Ctrl-C (or SIGTERM): finish the current work. Second: stop now. Both can resume."""

    def stop() -> None:
        is_second = work.interrupt()
        note("stopping now" if is_second else f"finishing {doing}; press Ctrl-C again to stop now")

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)


def leave_on_signals(leave: Callable[[], None]) -> None:
    """Let Ctrl-C (or SIGTERM) end what is indexed after a crawl, which is over and stays so."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, leave)


def event_listener(
    *also: EventSink, json: bool, quiet: bool, verbose: bool
) -> Callable[[Clock], EventSink]:
    """Return what makes the listener: warnings, jobs that begin and end, or everything.

    A command that runs for long may meet the same trouble for long: what repeats itself is counted.

    Args:
        also: further sinks of every event.
    """
    kinds: tuple[type, ...] = (object,)
    if quiet or not (json or verbose):
        kinds = (Warned,) if quiet else (Warned, JobStarted, JobEnded)
    stream = sys.stdout if json else sys.stderr

    def listen(clock: Clock) -> EventSink:
        lines = RepeatedWarnings(EventsOnly(kinds, EventLines(stream, clock)))
        reports = () if quiet else (ChangeReportLines(sys.stderr, clock),)
        return EventFanOut(*also, lines, *reports, wants_details=verbose)

    return listen
