"""Reading ahead: whoever reads a job back goes through its segments in order, record by record.

A request for each record costs some milliseconds on loopback and some tens of them elsewhere. A
reader that goes on where it stopped is given its next records out of one larger range; one that
jumps is given what it asked for and no more. Segments in a bucket never change, so that what was
read stays right.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

MIB = 1024 * 1024
# Some sixty pages in one request.
AHEAD_BYTES = MIB
# The workers of one machine write to a segment each, and a job's pages lie in all of them in turn.
MAX_SEGMENTS = 16

Range = Callable[[str, int, int], Awaitable[bytes]]


class ReadAhead:
    """Ranges of files, some of them kept; `read` asks for one and may return less than that."""

    def __init__(self, read: Range) -> None:
        self._read = read
        self._windows: OrderedDict[str, _Window] = OrderedDict()

    async def range(self, name: str, start: int, length: int) -> bytes:
        """Return bytes of a file; fewer where it ends before."""
        window = self._windows.get(name)
        if window is not None and window.start <= start and start + length <= window.end:
            return window.data[start - window.start : start - window.start + length]
        is_next = window is not None and window.start <= start <= window.end + AHEAD_BYTES
        data = await self._read(name, start, max(length, AHEAD_BYTES) if is_next else length)
        self._windows[name] = _Window(start, data[:AHEAD_BYTES])
        self._windows.move_to_end(name)
        if len(self._windows) > MAX_SEGMENTS:
            self._windows.popitem(last=False)
        return data[:length]

    def forget(self) -> None:
        """Let go of everything that was read."""
        self._windows.clear()


@dataclass(frozen=True, slots=True)
class _Window:
    """What was read last of a file."""

    start: int
    data: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.data)
