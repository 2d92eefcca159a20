"""Room in memory that the large bodies of one client share.

Rules: a body up to `FREE_BYTES` needs no leave; a larger one waits there until the room holds all
that it may become, so two bodies that are half here can never wait for one another. Whoever asked
first goes first, however small the next one is. The room is taken as long as somebody holds the
answer: while it waits to be read and until it is archived, not only while it comes.
"""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from geomi.model.page import Fetched

MIB = 1024 * 1024
# Nearly every page stays below (the median is 0.05 MiB), and ten that just do are 10 MiB.
FREE_BYTES = MIB
# Two pages of the largest size by default: one is read by its process while the next one comes.
# Ten hosts that serve 9 MiB each at once cost a worker 123 MiB without this.
ROOM_BYTES = 20 * MIB


class BodyMemory:
    """The room of one client; all of it happens in the client's event loop."""

    def __init__(self, size_bytes: int = ROOM_BYTES) -> None:
        self._size_bytes = size_bytes
        self._taken_bytes = 0
        self._waiting: deque[Share] = deque()

    @property
    def taken_bytes(self) -> int:
        """How much of it is taken."""
        return self._taken_bytes

    def ask(self, need_bytes: int, on_given: Callable[[], None]) -> Share:
        """Queue for a share; `on_given` is called once it is there, never before this returns.

        A body that may become larger than the whole room gets the whole room.
        """
        share = Share(self, min(need_bytes, self._size_bytes), on_given)
        self._waiting.append(share)
        self._serve()
        return share

    def _leave(self, share: Share) -> None:
        self._waiting.remove(share)
        self._serve()  # it may have been the one that all others waited behind

    def _return(self, size_bytes: int) -> None:
        self._taken_bytes -= size_bytes
        self._serve()

    def _serve(self) -> None:
        while self._waiting and self._has_room_for(self._waiting[0]):
            share = self._waiting.popleft()
            self._taken_bytes += share.size_bytes
            asyncio.get_running_loop().call_soon(share.arrive())

    def _has_room_for(self, share: Share) -> bool:
        return self._taken_bytes + share.size_bytes <= self._size_bytes


class Share:
    """A part of the memory: requested, granted, and given back once."""

    __slots__ = ("_is_over", "_on_given", "_room", "size_bytes")

    def __init__(self, room: BodyMemory, size_bytes: int, on_given: Callable[[], None]) -> None:
        self.size_bytes = size_bytes
        self._room = room
        self._on_given: Callable[[], None] | None = on_given
        self._is_over = False

    def arrive(self) -> Callable[[], None]:
        """Be given; return whom to tell, and let go of it."""
        told, self._on_given = self._on_given, None
        assert told is not None, "a share is given once"
        return told

    def give_back(self) -> None:
        """Leave the queue, or return what was given."""
        if self._is_over:
            return
        self._is_over = True
        if self._on_given is not None:
            self._on_given = None
            self._room._leave(self)
        else:
            self._room._return(self.size_bytes)

    def keep_for(self, fetched: Fetched) -> None:
        """Keep as much as an answer really needs, while something refers to it."""
        if not fetched.body:
            self.give_back()
            return
        spare_bytes = max(0, self.size_bytes - len(fetched.body))
        self.size_bytes -= spare_bytes
        self._room._return(spare_bytes)
        loop = asyncio.get_running_loop()
        weakref.finalize(fetched, _soon, loop, self.give_back).atexit = False


def _soon(loop: asyncio.AbstractEventLoop, give_back: Callable[[], None]) -> None:
    """Give back in the loop: the last one to hold an answer may be a thread of the archive."""
    with suppress(RuntimeError):  # the loop is closed, and nobody waits for room any more
        loop.call_soon_threadsafe(give_back)
