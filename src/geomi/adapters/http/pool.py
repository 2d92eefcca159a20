"""Connections that wait for the next request to the same place.

Rules: one idle connection per scheme, host and port, because a host is asked one request at a time;
a bounded number altogether, the one that waited longest goes first; none waits longer than servers
usually keep theirs, and none outlives the addresses it was checked with.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from geomi.adapters.http.connection import Connection
from geomi.adapters.http.names import KEPT_S

MAX_IDLE = 256
# Apache closes after 5 s, nginx after 75 s; politeness delays of 1-10 s profit, longer ones rarely.
IDLE_S = 15.0

Place = tuple[str, str, int]


class ConnectionPool:
    """The idle connections of one client."""

    def __init__(self) -> None:
        self._idle: OrderedDict[Place, Connection] = OrderedDict()  # the longest idle first
        self._sweep: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._idle)

    def take(self, place: Place) -> Connection | None:
        """Return an open connection to that place, if one is idle."""
        connection = self._idle.pop(place, None)
        if connection is None or not connection.is_open:
            return None
        now_s = asyncio.get_running_loop().time()
        if now_s - connection.parked_s > IDLE_S or now_s - connection.opened_s > KEPT_S:
            connection.close()
            return None
        return connection

    def park(self, place: Place, connection: Connection) -> None:
        """Keep a connection whose last answer was read to its end."""
        if not connection.is_open:
            return
        loop = asyncio.get_running_loop()
        connection.parked_s = loop.time()
        before = self._idle.pop(place, None)
        if before is not None:
            before.close()
        self._idle[place] = connection
        if len(self._idle) > MAX_IDLE:
            self._idle.popitem(last=False)[1].close()
        if self._sweep is None:
            self._sweep = loop.call_later(IDLE_S, self._close_stale)

    def close(self) -> None:
        """Close every idle connection."""
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        while self._idle:
            self._idle.popitem()[1].close()

    def _close_stale(self) -> None:
        loop = asyncio.get_running_loop()
        self._sweep = None
        while self._idle:
            place, connection = next(iter(self._idle.items()))
            left_s = connection.parked_s + IDLE_S - loop.time()
            if connection.is_open and left_s > 0:
                self._sweep = loop.call_later(left_s, self._close_stale)
                return
            del self._idle[place]
            connection.close()
