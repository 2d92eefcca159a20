"""What a command that serves for long lets people hear of what happens."""

from __future__ import annotations

import sys
from collections.abc import Callable

from geomi.adapters.telemetry.fan_out import EventFanOut, EventsOnly
from geomi.adapters.telemetry.log_lines import ChangeReportLines, EventLines
from geomi.model.event import JobEnded, JobStarted, Warned
from geomi.ports.clock import Clock
from geomi.ports.sink import EventSink


def hearing(
    *also: EventSink, json: bool, quiet: bool, verbose: bool
) -> Callable[[Clock], EventSink]:
    """Return what makes the listener: warnings, jobs that begin and end, or everything.

    Args:
        also: others that hear of every event.
    """
    kinds: tuple[type, ...] = (object,)
    if quiet or not (json or verbose):
        kinds = (Warned,) if quiet else (Warned, JobStarted, JobEnded)
    stream = sys.stdout if json else sys.stderr

    def listen(clock: Clock) -> EventSink:
        lines = EventsOnly(kinds, EventLines(stream, clock))
        reports = () if quiet else (ChangeReportLines(sys.stderr, clock),)
        return EventFanOut(*also, lines, *reports, wants_details=verbose)

    return listen
