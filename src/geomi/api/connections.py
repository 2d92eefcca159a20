"""Decide which connections of clients stay open: how many there may be, and how long each may take.

A client owes us something while we wait for it: the rest of a header, of a body, or that it reads
what we answered. It has a time for each. A body and an answer must also move at a least rate, so
that no drip of bytes holds a connection. Where it is our turn, as in an event stream between two
events, there is no limit: what the service does has limits of its own.

A place for a new client is made at the expense of those that owe for longest, of the address that
has the most of them. So half-sent requests displace each other, and a client that sends its request
at once is always served. Only where every connection is being answered is a new one refused.

A reverse proxy on this machine stands for all its clients: connections from loopback do not count
as those of one address.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

# A modem of the nineties is faster; who drips a byte a second is not reading.
LEAST_BYTES_PER_S = 1024
# A client that we refuse while it still sends a body needs a moment to read why.
LINGER_S = 5.0
# Looking for those that owe costs a look at every connection, so room is made for several at once.
ROOM_SHARE = 16
# Of bodies that are not whole yet and answers that nobody reads: past it, some have to go.
MOST_HELD_BYTES = 128 * 1024 * 1024
# A client with one IPv6 address mostly has a whole network of this size.
IPV6_NETWORK_BITS = 64


class Owed(Enum):
    """What a connection waits for that only its client can do."""

    HEADER = auto()
    BODY = auto()
    READING = auto()  # of what we answered
    LEAVING = auto()  # after we have answered a request that was not sent whole
    REQUEST = auto()  # another one, on a connection that is kept


# A client that keeps to the least rate here has as long as it likes.
PACED = frozenset({Owed.BODY, Owed.READING})


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections there may be, and how long a client may owe what it owes.

    Args:
        most_of_one_address: 0 for as many as there may be in all.
    """

    most: int
    most_of_one_address: int = 0
    header_s: float = 10.0
    body_s: float = 10.0
    reading_s: float = 30.0
    idle_s: float = 30.0

    def patience_s(self, owed: Owed) -> float:
        """Return how long a client may owe this."""
        match owed:
            case Owed.HEADER:
                return self.header_s
            case Owed.BODY:
                return self.body_s
            case Owed.READING:
                return self.reading_s
            case Owed.LEAVING:
                return LINGER_S
            case Owed.REQUEST:
                return self.idle_s


@dataclass(frozen=True, slots=True)
class ClientStanding:
    """How a connection stands.

    Args:
        owed: what its client has to do; None where it is our turn.
        requests: how many have begun on it.
        moved: bytes of what is owed that have come or gone so far.
        held: bytes that we keep until the client has done its part.
    """

    owed: Owed | None
    requests: int = 0
    moved: int = 0
    held: int = 0


class ClientConnection(Protocol):
    """An open connection, as its limits see it."""

    def standing(self) -> ClientStanding:
        """Return how it stands now."""
        ...

    def end(self, owed: Owed, *, is_late: bool) -> None:
        """Close it: its client is late with what it owes, or another client needs its place."""
        ...


class Patience:
    """Since when the client of one connection owes what it owes, without keeping to the rate."""

    def __init__(self, address: str, now_s: float) -> None:
        self.address = address
        self.owed: Owed | None = Owed.HEADER
        self.held = 0
        self.since_s = now_s
        self._last = ClientStanding(Owed.HEADER)

    def look(self, found: ClientStanding, now_s: float) -> None:
        """Compare how it stands with how it stood."""
        last, self.owed, self.held = self._last, found.owed, found.held
        is_same = (found.owed, found.requests) == (last.owed, last.requests)
        if is_same and found.owed in PACED:
            is_same = found.moved - last.moved < LEAST_BYTES_PER_S * (now_s - self.since_s)
        if not is_same:
            self._last, self.since_s = found, now_s


class Connections:
    """All open connections of a server.

    Args:
        clock_s: any clock that only goes forward.
    """

    def __init__(self, limits: ConnectionLimits, clock_s: Callable[[], float]) -> None:
        self.limits = limits
        self._clock_s = clock_s
        self._stalled_s = 0.0
        self._swept_s = clock_s()
        self._open: dict[ClientConnection, Patience] = {}
        self._of_address: dict[str, dict[ClientConnection, None]] = {}
        self.displaced = 0
        self.refused = 0

    def __len__(self) -> int:
        return len(self._open)

    def has_room(self, address: str) -> bool:
        """Make room for a client where there is none; False if nobody owes anything."""
        counted = counted_address(address)
        most, ours = self.limits.most_of_one_address, self._of_address.get(counted, {})
        has_room = not (counted and most and len(ours) >= most) or self._displace(ours)
        if has_room and len(self._open) >= self.limits.most:
            has_room = self._displace(self._open)
        self.refused += not has_room
        return has_room

    def enter(self, connection: ClientConnection, address: str) -> None:
        """Count a connection that has room."""
        counted = counted_address(address)
        self._open[connection] = Patience(counted, self._now_s)
        self._of_address.setdefault(counted, {})[connection] = None

    def leave(self, connection: ClientConnection) -> None:
        """Forget a connection; one that was displaced is forgotten already."""
        patience = self._open.pop(connection, None)
        if patience is None:
            return
        ours = self._of_address[patience.address]
        del ours[connection]
        if not ours:
            del self._of_address[patience.address]

    def sweep(self, every_s: float) -> None:
        """End the connections whose clients are late.

        Args:
            every_s: how often this is called. If it was called later than that, this process stood
                still and read nothing: that is not held against clients.
        """
        now_s = self._clock_s()
        late_s = now_s - self._swept_s - every_s
        self._swept_s = now_s
        if late_s > every_s:
            self._stalled_s += late_s
        for connection, patience in list(self._open.items()):
            patience.look(connection.standing(), self._now_s)
            owed = patience.owed
            if owed and self._now_s - patience.since_s > self.limits.patience_s(owed):
                self._end(connection, owed, is_late=True)
        self._shed()

    @property
    def _now_s(self) -> float:
        return self._clock_s() - self._stalled_s

    def _displace(self, some: Iterable[ClientConnection]) -> bool:
        """End those that owe for longest, of the address with the most of them."""
        owing: dict[str, list[ClientConnection]] = {}
        for connection in some:
            patience = self._open[connection]
            patience.look(connection.standing(), self._now_s)
            if patience.owed:
                owing.setdefault(patience.address, []).append(connection)
        most = max(owing.values(), key=len, default=[])
        most.sort(key=lambda connection: self._open[connection].since_s)
        for connection in most[: max(1, len(most) // ROOM_SHARE)]:
            owed = self._open[connection].owed
            assert owed is not None, "those that owe nothing were left out"
            self._end(connection, owed, is_late=False)
        return bool(most)

    def _shed(self) -> None:
        """End those that owe for longest while we hold too much for all of them."""
        held = sum(patience.held for patience in self._open.values())
        if held <= MOST_HELD_BYTES:
            return
        for connection, patience in sorted(self._open.items(), key=lambda one: one[1].since_s):
            if patience.owed and patience.held and held > MOST_HELD_BYTES:
                held -= patience.held
                self._end(connection, patience.owed, is_late=False)

    def _end(self, connection: ClientConnection, owed: Owed, *, is_late: bool) -> None:
        self.leave(connection)
        self.displaced += not is_late
        connection.end(owed, is_late=is_late)


def counted_address(address: str) -> str:
    """Return what stands for a client; empty for this machine, where a proxy stands for many."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is None:
            if ip.is_loopback:
                return ""
            return str(ipaddress.ip_network((ip, IPV6_NETWORK_BITS), strict=False))
        ip = ip.ipv4_mapped
    return "" if ip.is_loopback else str(ip)
