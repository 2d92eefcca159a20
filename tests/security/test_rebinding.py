"""Names whose answer changes between two look-ups: what was checked is what is connected to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from geomi.adapters.http import Egress, EgressRules, HttpClient
from geomi.adapters.http.names import KEPT_S, MOST_KEPT_S, RENEWED_BEFORE_S, Records
from geomi.model.page import Fetched
from geomi.model.verdict import Outcome
from tests.adapters.http.support import request
from tests.adapters.http.test_names import renewals
from tests.security.ground import EVIL, Ground
from tests.security.spellings import OTHER_PUBLIC, PUBLIC
from tests.support.clock import HandClock
from tests.support.server import Reply, Site
from tests.support.waiting import waits

THIRD_PUBLIC = "8.8.4.4"
CLOSING = Reply(b"<p>hello", headers=(("Connection", "close"),))


class Turning:
    """A resolver that gives one answer after the other, and then the last one for ever."""

    def __init__(self, *answers: tuple[str, ...] | Records) -> None:
        self.answers = answers
        self.asked = 0

    def __call__(self, name: str) -> tuple[str, ...] | Records:
        self.asked += 1
        return self.answers[min(self.asked, len(self.answers)) - 1]


@dataclass
class Visitor:
    """A client with a clock turned by hand."""

    clock: HandClock
    egress: Egress
    client: HttpClient

    async def fetch(self, port: int = 80) -> Fetched:
        """Ask for the attacker's page."""
        return await self.client.fetch(request(f"http://{EVIL}:{port}/", connect_timeout_s=1.0))


@asynccontextmanager
async def visit(lookup: Turning) -> AsyncIterator[Visitor]:
    """Visit with the guard on."""
    clock = HandClock()
    egress = Egress(EgressRules(), clock, lookup)
    client = HttpClient(egress, clock)
    try:
        yield Visitor(clock, egress, client)
    finally:
        await client.aclose()


@pytest.mark.req("HTTP-15", "SEC-02")
@waits
async def test_the_checked_address_is_the_one_that_is_dialled(ground: Ground) -> None:
    """A resolver that lies at every second question is asked once."""
    lookup = Turning((PUBLIC,), ("127.0.0.1",))

    async with visit(lookup) as visitor:
        fetched = await visitor.fetch(ground.port)
        assert (fetched.failure, fetched.ip) == (Outcome.CONNECT_ERROR, "")
    assert ground.wire.dialled == [(PUBLIC, ground.port)]
    assert lookup.asked == 1


@pytest.mark.req("HTTP-15")
@waits
async def test_every_address_that_is_tried_was_checked(ground: Ground) -> None:
    """A server that is down leads to the next address of the same answer, not to a new look-up."""
    lookup = Turning((PUBLIC, OTHER_PUBLIC, THIRD_PUBLIC), ("127.0.0.1",))
    with Site({"/": CLOSING}) as site:
        ground.wire.detours[THIRD_PUBLIC] = site.address, site.port

        async with visit(lookup) as visitor:
            fetched = await visitor.fetch()
            assert (fetched.status, fetched.ip) == (200, THIRD_PUBLIC)
        assert site.log[0].host == EVIL
    assert ground.wire.dialled == [(PUBLIC, 80), (OTHER_PUBLIC, 80), (THIRD_PUBLIC, 80)]
    ground.assert_untouched(allowed=ground.wire.dialled)


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize(
    "inside", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254"]
)
@pytest.mark.parametrize("ttl_s", [0.0, 1.0, 1e9])
@waits
async def test_a_later_answer_is_judged_as_the_first_was(
    ground: Ground, inside: str, ttl_s: float
) -> None:
    """However short the TTL that an attacker tells, or long (G-08)."""
    lookup = Turning(Records((PUBLIC,), ttl_s), (inside,))
    with Site({"/": CLOSING}) as site:
        ground.wire.detours[PUBLIC] = site.address, site.port

        async with visit(lookup) as visitor:
            assert (await visitor.fetch()).status == 200
            assert (await visitor.fetch()).status == 200
            assert lookup.asked == 1
            visitor.clock.advance(MOST_KEPT_S)
            fetched = await visitor.fetch()
            assert (fetched.failure, inside in fetched.detail) == (Outcome.ADDRESS_REFUSED, True)
    ground.assert_untouched(allowed=[(PUBLIC, 80)])


@pytest.mark.req("SEC-02")
@waits
async def test_between_resolving_and_connecting(ground: Ground) -> None:
    """Who resolved a host earlier, for its politeness, has not let it through for later."""
    lookup = Turning((PUBLIC,), (PUBLIC, "127.0.0.1"))

    async with visit(lookup) as visitor:
        assert (await visitor.egress.resolve(EVIL, ground.port)).addresses == (PUBLIC,)
        visitor.clock.advance(KEPT_S)
        assert (await visitor.fetch(ground.port)).failure is Outcome.ADDRESS_REFUSED
    ground.assert_untouched()


@pytest.mark.req("SEC-02", "DNS-02")
@waits
async def test_an_answer_that_was_renewed_in_the_background(ground: Ground) -> None:
    """Nobody waited for it, and it is judged all the same."""
    lookup = Turning((PUBLIC,), ("127.0.0.1",))

    async with visit(lookup) as visitor:
        await visitor.egress.resolve(EVIL, 80)
        visitor.clock.advance(KEPT_S - RENEWED_BEFORE_S)
        assert (await visitor.egress.resolve(EVIL, 80)).addresses == (PUBLIC,)
        await renewals()
        assert (await visitor.fetch(ground.port)).failure is Outcome.ADDRESS_REFUSED
    assert lookup.asked == 2
    ground.assert_untouched()


@pytest.mark.req("SEC-02")
@waits
async def test_a_connection_that_is_kept_open(ground: Ground) -> None:
    """It leads where it led when it was checked; the next one is checked anew."""
    lookup = Turning((PUBLIC,), ("127.0.0.1",))
    answers = [Reply(b"<p>one"), Reply(b"<p>two"), CLOSING]
    with Site({"/": lambda _: answers.pop(0)}) as site:
        ground.wire.detours[PUBLIC] = site.address, site.port

        async with visit(lookup) as visitor:
            assert (await visitor.fetch()).status == 200
            visitor.clock.advance(KEPT_S)
            for _ in range(2):
                fetched = await visitor.fetch()
                assert (fetched.status, fetched.ip) == (200, PUBLIC)
            assert (await visitor.fetch()).failure is Outcome.ADDRESS_REFUSED
        assert [seen.connection for seen in site.log] == [1, 1, 1]
    ground.assert_untouched(allowed=[(PUBLIC, 80)])
