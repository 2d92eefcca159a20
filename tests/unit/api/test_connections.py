"""Who may stay connected, by a clock that is set by hand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from geomi.api.connections import (
    LEAST_BYTES_PER_S,
    LINGER_S,
    ClientStanding,
    ConnectionLimits,
    Connections,
    Owed,
    counted_address,
)

EVERY_S = 0.5
BEGINS = ClientStanding(Owed.HEADER)
HERE, NEAR, FAR = "127.0.0.1", "192.0.2.7", "198.51.100.9"


@dataclass(eq=False)
class Client:
    """A connection that stands as it is told."""

    stands: ClientStanding = BEGINS
    ended: list[tuple[Owed, bool]] = field(default_factory=list)

    def standing(self) -> ClientStanding:
        """Return how it stands."""
        return self.stands

    def end(self, owed: Owed, *, is_late: bool) -> None:
        """Note how it was closed."""
        self.ended.append((owed, is_late))

    def moves(self, many_bytes: int) -> None:
        """Send a part of a body, or read a part of an answer."""
        self.stands = replace(self.stands, moved=self.stands.moved + many_bytes)


class Crowd:
    """Connections and the time that passes for them."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.now_s = 1000.0
        self.all = Connections(limits, lambda: self.now_s)

    def comes(self, address: str = HERE, stands: ClientStanding = BEGINS) -> Client | None:
        """Let a client connect, if there is room."""
        if not self.all.has_room(address):
            return None
        client = Client(stands)
        self.all.enter(client, address)
        return client

    def passes(self, seconds: float) -> None:
        """Let time pass while the server works as it should."""
        for _ in range(round(seconds / EVERY_S)):
            self.now_s += EVERY_S
            self.all.sweep(EVERY_S)


def comes(crowd: Crowd, address: str = HERE, stands: ClientStanding = BEGINS) -> Client:
    """Let a client connect that finds room."""
    client = crowd.comes(address, stands)
    assert client is not None
    return client


@pytest.mark.parametrize(
    ("owed", "patience_s"),
    [
        (Owed.HEADER, 10.0),
        (Owed.BODY, 20.0),
        (Owed.READING, 30.0),
        (Owed.REQUEST, 40.0),
        (Owed.LEAVING, LINGER_S),
    ],
)
def test_each_thing_may_be_owed_for_its_time_and_no_longer(owed: Owed, patience_s: float) -> None:
    limits = ConnectionLimits(9, header_s=10.0, body_s=20.0, reading_s=30.0, idle_s=40.0)
    crowd = Crowd(limits)
    client, served = comes(crowd), comes(crowd, stands=ClientStanding(None))
    client.stands = ClientStanding(owed, requests=1)
    crowd.passes(EVERY_S)
    crowd.passes(patience_s)
    assert client.ended == []
    crowd.passes(EVERY_S)
    assert client.ended == [(owed, True)]
    assert served.ended == [] and len(crowd.all) == 1


@pytest.mark.parametrize("owed", [Owed.BODY, Owed.READING])
def test_the_least_rate_is_enough_and_a_byte_less_is_not(owed: Owed) -> None:
    crowd = Crowd(ConnectionLimits(9, body_s=10.0, reading_s=10.0))
    quick, slow = (
        comes(crowd, stands=ClientStanding(owed, 1)),
        comes(crowd, stands=ClientStanding(owed, 1)),
    )
    for _ in range(60):
        crowd.passes(1.0)
        quick.moves(LEAST_BYTES_PER_S)
        slow.moves(LEAST_BYTES_PER_S - 1)
    assert quick.ended == [] and slow.ended == [(owed, True)]


def test_a_drip_of_a_header_gains_no_time() -> None:
    crowd = Crowd(ConnectionLimits(9, header_s=10.0))
    client = comes(crowd)
    for _ in range(11):
        crowd.passes(1.0)
        client.moves(LEAST_BYTES_PER_S * 9)
    assert client.ended == [(Owed.HEADER, True)]


def test_each_request_has_its_own_time() -> None:
    crowd = Crowd(ConnectionLimits(9, idle_s=10.0))
    client = comes(crowd)
    for number in range(1, 9):
        client.stands = ClientStanding(Owed.REQUEST, requests=number)
        crowd.passes(9.0)
    assert client.ended == []


def test_a_server_that_stood_still_does_not_blame_its_clients() -> None:
    crowd = Crowd(ConnectionLimits(9, header_s=10.0))
    client = comes(crowd)
    crowd.passes(1.0)
    crowd.now_s += 3600
    crowd.all.sweep(EVERY_S)
    crowd.passes(8.0)
    assert client.ended == []
    crowd.passes(2.0)
    assert client.ended == [(Owed.HEADER, True)]


def test_one_more_than_there_may_be_displaces_who_owes_for_longest() -> None:
    crowd = Crowd(ConnectionLimits(3))
    first, served = comes(crowd), comes(crowd, stands=ClientStanding(None))
    crowd.passes(1.0)
    second = comes(crowd)
    third = comes(crowd)
    assert first.ended == [(Owed.HEADER, False)]
    assert served.ended == second.ended == third.ended == []
    assert len(crowd.all) == 3


def test_who_moves_bytes_is_displaced_after_who_does_not() -> None:
    crowd = Crowd(ConnectionLimits(2, reading_s=60.0))
    reads = comes(crowd, stands=ClientStanding(Owed.READING, 1))
    crowd.passes(1.0)
    idles = comes(crowd)
    for _ in range(5):
        reads.moves(100_000)
        crowd.passes(1.0)
    comes(crowd)
    assert (reads.ended, idles.ended) == ([], [(Owed.HEADER, False)])


def test_who_holds_most_makes_room_for_the_others() -> None:
    crowd = Crowd(ConnectionLimits(10))
    few = [comes(crowd, NEAR) for _ in range(2)]
    crowd.passes(1.0)
    many = [comes(crowd, FAR) for _ in range(8)]
    for _ in range(20):
        many.append(comes(crowd, FAR))
    assert all(client.ended == [] for client in few)
    assert sum(client.ended != [] for client in many) == 20


def test_where_all_are_served_one_more_is_refused() -> None:
    crowd = Crowd(ConnectionLimits(2))
    both = [comes(crowd, stands=ClientStanding(None)) for _ in range(2)]
    assert crowd.comes() is None and crowd.all.refused == 1
    assert all(client.ended == [] for client in both)
    crowd.all.leave(both[0])
    assert crowd.comes() is not None


@pytest.mark.parametrize(("most", "held"), [(3, 3), (0, 9)])
def test_one_address_has_its_limit_and_0_is_none(most: int, held: int) -> None:
    crowd = Crowd(ConnectionLimits(9, most))
    for _ in range(9):
        crowd.comes(NEAR, ClientStanding(None))
    assert len(crowd.all) == held
    assert (crowd.comes(FAR) is None) == (held == 9)


def test_one_address_displaces_its_own_alone() -> None:
    crowd = Crowd(ConnectionLimits(9, 2))
    other = comes(crowd, FAR)
    first, second, third = (comes(crowd, NEAR) for _ in range(3))
    assert first.ended == [(Owed.HEADER, False)]
    assert other.ended == second.ended == third.ended == []


def test_a_proxy_on_this_machine_has_no_limit_of_its_own() -> None:
    crowd = Crowd(ConnectionLimits(9, 1))
    for address in (HERE, "127.0.0.2", "::1", "::ffff:127.0.0.1"):
        assert crowd.comes(address, ClientStanding(None)) is not None


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        (NEAR, NEAR),
        (f"::ffff:{NEAR}", NEAR),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", ""),
        ("127.9.9.9", ""),
        ("a name", "a name"),
    ],
)
def test_an_address_is_counted_as_what_one_client_has(address: str, counted: str) -> None:
    assert counted_address(address) == counted
