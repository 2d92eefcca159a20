"""The network as the collector of one domain has it: every answer is noted, and what it took.

A domain has one time for all its servers together (C-86). Only requests count: waiting for a host's
turn is our politeness, not its slowness. A request gets no more time than is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from geomi.errors import SeedError
from geomi.model.asked import Purpose
from geomi.model.contract import ServerInfo
from geomi.model.page import Fetched, Headers, Request
from geomi.model.seed import ErrorType
from geomi.model.verdict import Outcome
from geomi.ports.clock import Clock
from geomi.ports.web import Fetcher
from geomi.url.parse import DEFAULT_PORTS, Url
from geomi.url.parse import parse as parse_url

# What a request that is under way may take when the time is over: of a chain of redirects the last
# ones are asked for before anybody looks.
SHORTEST_S = 0.1
MAX_HEADER_CHARS = 200  # of what a server says of itself

# Nobody there speaks https; one that was connected to and is slow does.
_SHUT = frozenset({Outcome.CONNECT_ERROR, Outcome.TLS_ERROR})


@dataclass(frozen=True, slots=True)
class Heard:
    """One answer, or why none came.

    Args:
        is_connected: whether there was a connection, TLS included.
        at_s: when it was over (wall clock).
    """

    url: Url
    purpose: Purpose
    status: int
    failure: Outcome | None
    headers: Headers
    is_connected: bool
    ms: int
    at_s: float

    def header(self, name: str) -> str | None:
        """Return the first header of that lower-case name; None where there is none."""
        said = next((value for key, value in self.headers if key == name and value), None)
        return said[:MAX_HEADER_CHARS] if said is not None else None


def name_of(url: Url) -> str:
    """Name the host of a URL as a contract does: its port only where it is an unusual one."""
    return url.host if url.port in DEFAULT_PORTS.values() else url.authority


class Hearing:
    """A `Fetcher` that notes what it hears; the one behind it stays open."""

    def __init__(self, inner: Fetcher, clock: Clock, domain: str, timeout_s: float) -> None:
        self._inner = inner
        self._domain = domain
        self._clock = clock
        self._timeout_s = timeout_s
        self._took_s = 0.0
        self._heard: list[Heard] = []

    async def fetch(self, request: Request) -> Fetched:
        """Send a request, in no more than the time that is left."""
        left_s = max(self._timeout_s - self._took_s, SHORTEST_S)
        fetched = await self._inner.fetch(
            replace(request, total_timeout_s=min(request.total_timeout_s, left_s))
        )
        self._took_s += fetched.ended_s - fetched.started_s
        url = parse_url(request.url)
        assert url is not None, "only URLs that parse are asked for"
        self._heard.append(
            Heard(
                url,
                request.purpose,
                fetched.status,
                fetched.failure,
                fetched.headers,
                bool(fetched.ip),
                fetched.fetch_ms,
                self._clock.wall_s(),
            )
        )
        return fetched

    async def aclose(self) -> None:
        """Leave the network open: others use it."""

    @property
    def is_over(self) -> bool:
        """Whether the servers of the domain have had their time."""
        return self._took_s >= self._timeout_s

    def check(self) -> None:
        """Raise where the servers of the domain have had their time, and something is left."""
        if self.is_over:
            raise SeedError(
                f"the servers of `{self._domain}` took {self._took_s:.1f} s; the limit is "
                f"{self._timeout_s:g} s",
                kind=ErrorType.TIMEOUT,
                hint="raise seeds.domain_timeout_s, or drop the domain",
            )

    def last(self, purpose: Purpose) -> Heard | None:
        """Return what was heard last of a kind."""
        return next((one for one in reversed(self._heard) if one.purpose is purpose), None)

    def is_shut(self, name: str) -> bool:
        """Say whether nobody speaks https on a host, as far as was heard."""
        asked = [one for one in self._of(name) if one.url.scheme == "https"]
        if not asked or any(one.status for one in asked):
            return False
        last = asked[-1]
        return last.failure in _SHUT or (last.failure is Outcome.TIMEOUT and not last.is_connected)

    def server_info(self, name: str) -> ServerInfo:
        """Say what the answers of a host show of it (SED-30)."""
        heard = self._of(name)
        answers = [one for one in heard if one.failure is None]
        return ServerInfo(
            server=_first(answers, "server"),
            content_encoding=_first(answers, "content-encoding"),
            supports_https=not self.is_shut(name)  # or it was asked over http (C-57)
            and any(
                one.url.scheme == "https" and one.is_connected and one.failure not in _SHUT
                for one in heard
            ),
            response_time_avg_ms=(
                round(sum(one.ms for one in answers) / len(answers)) if answers else None
            ),
        )

    def _of(self, name: str) -> list[Heard]:
        return [one for one in self._heard if name_of(one.url) == name]


def _first(answers: Sequence[Heard], header: str) -> str | None:
    return next((said for one in answers if (said := one.header(header))), None)
