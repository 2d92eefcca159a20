"""Change reports of providers in the log, exactly as the catalogue writes them (RPT-02)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TextIO

from geomi.model.event import Event, Reported
from geomi.ports.clock import Clock
from geomi.recrawl.notice import write_notice


class Notices:
    """Write the report of each provider's run to a stream; times are UTC."""

    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._stream = stream
        self._clock = clock

    def emit(self, event: Event) -> None:
        """Write a report; every other event is somebody else's."""
        if isinstance(event, Reported):
            at = datetime.fromtimestamp(self._clock.wall_s(), UTC)
            self._stream.write("\n".join(write_notice(event, at)) + "\n")
            self._stream.flush()
