"""What the collector of a domain hears, and what that says of a server."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from geomi.engine.seeds.hosts import RecordingFetcher
from geomi.model.page import Fetched, Request
from geomi.model.request_log import RequestPurpose
from geomi.model.verdict import Outcome
from tests.support.clock import HandClock
from tests.support.waiting import waits

HOST = "mom.gov.sg"
PLAIN = Fetched(f"http://{HOST}/robots.txt", 200, ip="192.0.2.1")
SECURE = Fetched(f"https://{HOST}/robots.txt", 200, ip="192.0.2.1")
LINKED = replace(SECURE, status=0)  # there was a connection, and then no answer
SLOW = replace(LINKED, failure=Outcome.TIMEOUT)
AWAY = replace(LINKED, ip="", failure=Outcome.CONNECT_ERROR)


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
        ([replace(SECURE, status=404)], False, True),
        ([AWAY, PLAIN], True, False),
        ([replace(LINKED, failure=Outcome.TLS_ERROR), PLAIN], True, False),
        ([replace(AWAY, failure=Outcome.TIMEOUT), PLAIN], True, False),
        ([SLOW], False, True),  # it is there
        ([replace(LINKED, failure=Outcome.PROTOCOL_ERROR)], False, True),
        ([replace(SECURE, status=503), AWAY], False, True),
        ([SLOW, AWAY, PLAIN], True, False),  # it was asked over http: its robots.txt is that one
        ([AWAY, PLAIN, SECURE], False, True),
    ],
)
@waits
async def test_who_speaks_https(
    answers: list[Fetched], is_shut: bool, supports_https: bool
) -> None:
    hearing = RecordingFetcher(Answers(list(answers)), HandClock(), HOST, 60.0)
    for one in answers:
        await hearing.fetch(Request(one.url, (), 1.0, 1.0, 1.0, 9, purpose=RequestPurpose.ROBOTS))
    assert hearing.is_shut(HOST) is is_shut
    assert hearing.server_info(HOST).supports_https is supports_https
