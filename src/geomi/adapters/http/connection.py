"""One connection: a request goes out, an answer comes in, and three clocks watch it.

Rules: the whole fetch has a deadline, every silence has one, and an answer that has begun must keep
up a minimum speed, because a server that drips a byte a second never falls silent. Whatever ends an
exchange before the answer is whole closes the connection. An idle connection that receives anything
is closed: nothing it says could be meant for the next request. While a large body waits for room
nothing is read, so that the server waits too; of the three clocks the deadline alone goes on.
"""

from __future__ import annotations

import asyncio
from typing import cast

from geomi.adapters.http.response import ResponseReader
from geomi.adapters.http.room import BodyMemory, Share
from geomi.model.verdict import Outcome
from geomi.ports.runtime import WorkMark

# A page of 50 kB at 1 KiB in 10 s would take longer than any total deadline; slower is not serving.
MIN_WINDOW_BYTES = 1024
WINDOW_S = 10.0
# Also of an answer that lay whole in the system while this process was stopped: its host may have
# been lent to somebody else since.
LATE = "the answer was not complete within the total time"


class Connection(asyncio.BufferedProtocol):
    """A connection to one host; carries one exchange at a time.

    Args:
        buffer: where asyncio puts what it receives. All connections of a loop may share one,
            because it is read before anything else runs. `data_received` would allocate it anew for
            each packet, which costs 0.05 ms on a page of 50 kB.
        room: where large bodies wait for leave.
        mark: an answer is read when it comes, outside the work that asked for it; so this work's
            mark is put up again for that moment.

    Attributes:
        ip: the checked address behind it.
        opened_s, parked_s: loop time of its opening and of its last exchange's end.
    """

    def __init__(self, buffer: bytearray, room: BodyMemory, mark: WorkMark) -> None:
        self._buffer = memoryview(buffer)
        self._room = room
        self._mark = mark
        self._frame = b""
        self.ip = ""
        self.opened_s = 0.0
        self.parked_s = 0.0
        self.is_open = False
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._reader: ResponseReader | None = None
        self._share: Share | None = None
        self._done: asyncio.Future[None] | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._deadline_s = self._silence_s = self._heard_s = 0.0
        self._window_start_s = 0.0
        self._window_start_bytes = 0

    async def exchange(
        self, message: bytes, reader: ResponseReader, *, deadline_s: float, silence_s: float
    ) -> Share | None:
        """Send a request and wait until `reader` is over; what went wrong is in the reader.

        Args:
            deadline_s: loop time at which the answer must be whole.
            silence_s: the longest time without a byte.

        Returns:
            The room that a large body took, which is now the caller's to give back.
        """
        if self._transport is None or not self.is_open:
            reader.end(None)
            return None
        self._reader = reader
        self._frame = self._mark.frame
        self._done = self._loop.create_future()
        self._deadline_s, self._silence_s = deadline_s, silence_s
        self._start_window(self._loop.time(), 0)
        self._transport.write(message)
        self._look_at_clocks()
        has_taker = False
        try:
            await self._done
            has_taker = True
            return self._share
        finally:
            if self._share is not None and not has_taker:
                self._share.give_back()
            self._reader = self._share = self._done = None
            reader.release()
            if self._watch is not None:
                self._watch.cancel()
            if not (has_taker and reader.is_reusable):  # cut off, there is nobody to park it
                self.close()

    def close(self) -> None:
        """Close at once; nothing that is still under way is wanted."""
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    # what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance
        self.opened_s = self._loop.time()
        self.is_open = True

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        reader = self._reader
        if reader is None:
            self.close()
            return
        self._heard_s = self._loop.time()
        if self._heard_s >= self._deadline_s:  # this process was stopped meanwhile: see `LATE`
            reader.fail(Outcome.TIMEOUT, LATE)
            self._finish()
            return
        self._mark.put(self._frame)
        try:
            reader.feed(self._buffer[:nbytes])
        finally:
            self._mark.clear()
        if reader.is_over:
            self._finish()
        elif reader.is_held and self._share is None and self._transport is not None:
            self._transport.pause_reading()
            self._share = self._room.ask(reader.need_bytes, self._go_on)

    def eof_received(self) -> None:
        self.is_open = False  # returning None lets the transport close itself

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        # A transport of TLS has 256 KiB of buffers, and nothing may collect this object for long.
        self._transport = None
        if self._reader is not None:
            self._reader.end(exc)
            if self._reader.is_over:  # else it is here, and waits for room
                self._finish()

    # the room

    def _go_on(self) -> None:
        """Read on: there is room for the whole body."""
        reader = self._reader
        if reader is None or reader.failure is not None:
            return
        around = self._mark.frame  # of the work that has just given its room back
        self._mark.put(self._frame)
        try:
            reader.proceed()
        finally:
            self._mark.clear()
            self._mark.put(around)
        self._start_window(self._loop.time(), reader.wire_bytes)
        if self._transport is not None:  # else all of it has come
            self._transport.resume_reading()
        self._finish_if_over(reader)

    def _finish_if_over(self, reader: ResponseReader) -> None:
        if reader.is_over:
            self._finish()

    # the clocks

    def _start_window(self, now_s: float, wire_bytes: int) -> None:
        self._heard_s = self._window_start_s = now_s
        self._window_start_bytes = wire_bytes

    def _look_at_clocks(self) -> None:
        """End the exchange if a clock has run out, or look again when the next one could."""
        reader = self._reader
        if reader is None:
            return
        now_s = self._loop.time()
        if reader.is_held:  # the silence is ours
            self._start_window(now_s, reader.wire_bytes)
        problem = self._overdue(now_s, reader.wire_bytes)
        if problem:
            waited = "; it waited for free memory" if reader.is_held else ""
            reader.fail(Outcome.TIMEOUT, problem + waited)
            self._finish()
            return
        next_s = min(
            self._deadline_s, self._heard_s + self._silence_s, self._window_start_s + WINDOW_S
        )
        self._watch = self._loop.call_at(next_s, self._look_at_clocks)

    def _overdue(self, now_s: float, wire_bytes: int) -> str:
        if now_s >= self._deadline_s:
            return LATE
        if now_s >= self._heard_s + self._silence_s:
            return f"no byte came for {self._silence_s:g} s"
        if now_s < self._window_start_s + WINDOW_S:
            return ""
        came_bytes = wire_bytes - self._window_start_bytes
        had_begun = self._window_start_bytes > 0
        self._window_start_s, self._window_start_bytes = now_s, wire_bytes
        if had_begun and came_bytes < MIN_WINDOW_BYTES:
            return (
                f"only {came_bytes} bytes came in {WINDOW_S:g} s; the least is {MIN_WINDOW_BYTES}"
            )
        return ""

    def _finish(self) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_result(None)
