"""What the collector of a domain hears, and what that says of a server."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from geomi.engine.seeds.hearing import Hearing
from geomi.model.asked import Purpose
from geomi.model.page import Fetched, Request
from geomi.model.verdict import Outcome
from geomi.testing.clock import HandClock
from tests.engine.running import run

HOST = "mom.gov.sg"
SLOW = Fetched(f"https://{HOST}/robots.txt", ip="192.0.2.1", failure=Outcome.TIMEOUT)
AWAY = Fetched(f"https://{HOST}/robots.txt", failure=Outcome.CONNECT_ERROR)
SECURE = Fetched(f"https://{HOST}/robots.txt", 200, ip="192.0.2.1")
PLAIN = Fetched(f"http://{HOST}/robots.txt", 200, ip="192.0.2.1")


@dataclass
class Answers:
    """A network that answers from a list."""

    fetched: list[Fetched]

    async def fetch(self, request: Request) -> Fetched:
        """Say what comes next."""
        return replace(self.fetched.pop(0), url=request.url)

    async def aclose(self) -> None:
        """Have nothing to close."""


@pytest.mark.req("C-57", "SED-12")
@pytest.mark.parametrize(
    ("answers", "is_shut", "supports_https"),
    [
        ([SECURE], False, True),
        ([AWAY, PLAIN], True, False),
        ([SLOW], False, True),
        ([SLOW, AWAY, PLAIN], True, False),  # it was asked over http: its robots.txt is that one
        ([AWAY, PLAIN, SECURE], False, True),
    ],
)
def test_who_was_asked_over_http_in_the_end_has_no_https(
    answers: list[Fetched], is_shut: bool, supports_https: bool
) -> None:
    async def work() -> Hearing:
        hearing = Hearing(Answers(list(answers)), HandClock(), HOST, 60.0)
        for one in answers:
            await hearing.fetch(Request(one.url, (), 1.0, 1.0, 1.0, 9, purpose=Purpose.ROBOTS))
        return hearing

    hearing = run(work())
    assert hearing.is_shut(HOST) is is_shut
    assert hearing.server_info(HOST).supports_https is supports_https
