"""Keep a log small: a warning that repeats itself is written once, and counted from then on.

What clients, sites and broken machines cause can come a thousand times a second. Two warnings count
as one where they differ by numbers alone. In each interval the log has a line for the first of its
kind, a line with the count if there were more, and a limited number of kinds. Metrics count before
this, so they miss nothing.

What libraries log, such as a traceback of the web server, becomes a warning here, too.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from geomi.model.event import Event, Warned
from geomi.ports.runtime import EventSink

EVERY_S = 60.0
# Kinds of warnings in an interval: with the longest of texts it is 240 KB, usually a tenth of it.
MOST_KINDS = 60
# The end of a traceback says what went wrong, and its beginning how it came there.
MAX_TEXT_CHARS = 4000
_CUT = "\n[…]\n"

_NUMBERS = re.compile(r"0x[0-9a-f]+|[0-9]+")


@dataclass(slots=True)
class _Kind:
    """The first warning of a kind, and how many came after it in this interval."""

    first: Warned
    more: int = 0


class RepeatedWarnings:
    """An `EventSink` that hands on each warning once in an interval, and every other event."""

    def __init__(self, sink: EventSink, *, every_s: float = EVERY_S) -> None:
        self._sink = sink
        self._every_s = every_s
        self._kinds: dict[tuple[str, str], _Kind] = {}
        self._left_out = 0

    def emit(self, event: Event) -> None:
        """Take one event; where no loop runs, which would end an interval, each is handed on."""
        if not isinstance(event, Warned) or not (self._kinds or self._begins()):
            self._sink.emit(event)
            return
        event = replace(event, message=_cut(event.message))
        key = event.job, _NUMBERS.sub("0", event.message)
        if (kind := self._kinds.get(key)) is not None:
            kind.more += 1
        elif len(self._kinds) < MOST_KINDS:
            self._kinds[key] = _Kind(event)
            self._sink.emit(event)
        else:
            self._left_out += 1

    def flush(self) -> None:
        """End an interval: say the counts; a repeated warning is still known in the next."""
        counted = {key: kind for key, kind in self._kinds.items() if kind.more}
        left_out, self._left_out, self._kinds = self._left_out, 0, {}
        for key, kind in counted.items():
            self._kinds[key] = _Kind(kind.first)
            told = f"repeated {kind.more:,} times: {kind.first.message}"
            self._sink.emit(replace(kind.first, message=told))
        if left_out:
            told = f"{left_out:,} more warnings of other kinds were left out of the log"
            self._sink.emit(Warned("", told))
        if self._kinds:
            self._begins()

    def _begins(self) -> bool:
        with suppress(RuntimeError):
            asyncio.get_running_loop().call_later(self._every_s, self.flush)
            return True
        return False


@contextmanager
def logs_as_warnings(sink: EventSink) -> Iterator[None]:
    """Turn what libraries of this process log, from warnings on, into events."""
    handler, root = _Warnings(sink, asyncio.get_running_loop()), logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


class _Warnings(logging.Handler):
    """Makes a warning of a log record, in the thread that hears events."""

    def __init__(self, sink: EventSink, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(logging.WARNING)
        self._sink = sink
        self._loop = loop

    def emit(self, record: logging.LogRecord) -> None:
        """Take one record; a loop that has ended hears no more."""
        event = Warned("", f"{record.name}: {self.format(record).strip()}")
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._sink.emit, event)


def _cut(text: str) -> str:
    if len(text) <= MAX_TEXT_CHARS:
        return text
    half = (MAX_TEXT_CHARS - len(_CUT)) // 2
    return text[:half] + _CUT + text[-half:]
