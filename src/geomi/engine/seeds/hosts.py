"""Ask the hosts of one domain: one host at a time, in its turn, within the domain's time.

- `RecordingFetcher` notes every answer and its duration. A domain has one time for all its servers
  together (C-86). Only requests count: waiting for a host's turn is our politeness. A request gets
  no more time than is left.
- `DomainSession` holds at most one host. It gives the host back when another is needed, when the
  host has to rest for long, and at the end.
- `HostProbe` asks for robots.txt over https, or else http. A failure that may pass is retried at
  once (ERR-13, ERR-14). What remains is a fact about the host (SED-29); that a host could not be
  asked in time is not. The queue retries later, and only when this has failed (C-85).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from geomi.engine.host.requests import Requests
from geomi.engine.host.robots import Reading, RobotsKeeper
from geomi.engine.seeds.hearing import Hearing
from geomi.engine.seeds.line import Line
from geomi.engine.seeds.retries import lasting
from geomi.engine.world import World
from geomi.errors import SeedError
from geomi.model.asked import Purpose
from geomi.model.config import CrawlConfig
from geomi.model.contract import RobotsFacts
from geomi.model.message import MAX_ERROR_CHARS
from geomi.model.seed import ErrorType
from geomi.model.verdict import Outcome
from geomi.seed.lastmod import lastmod_s
from geomi.text.signs import whole_signs
from geomi.text.times import iso_utc
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

UNKNOWN = "Unknown error"  # SED-29
LAST_S = 253_402_300_799.0  # 9999-12-31T23:59:59Z: no date after it can be written

# Failures of the network, which may pass; what is left is an answer that we do not take.
_PASSING = frozenset(
    {
        Outcome.DNS_ERROR,
        Outcome.CONNECT_ERROR,
        Outcome.TLS_ERROR,
        Outcome.PROTOCOL_ERROR,
        Outcome.RATE_LIMITED,  # where it is no status: another host could not be asked in time
    }
)


@dataclass(frozen=True, slots=True)
class Reached:
    """A host, by the scheme that it was asked by, its robots.txt, and who reads those of others."""

    root: Url
    reading: Reading
    keeper: RobotsKeeper


def told(status: int, failure: Outcome | None, detail: str) -> str:
    """Say why there is no file (SED-26, SED-29)."""
    if failure is None:
        return f"HTTP {status}"
    return detail or UNKNOWN


def brief(error: str) -> str:
    """Shorten an error that may quote what a server wrote."""
    return whole_signs(error[:MAX_ERROR_CHARS])


def raise_passing(status: int, failure: Outcome | None, error: str) -> None:
    """Raise where an answer, or that none came, is a failure that may pass (ERR-14)."""
    if failure is Outcome.TIMEOUT:
        raise SeedError(error, kind=ErrorType.TIMEOUT)
    if failure in _PASSING or (failure is None and 500 <= status < 600):
        raise SeedError(error, kind=ErrorType.NETWORK)


def raise_unasked(url: Url, failure: Outcome | None) -> None:
    """Raise where a file lies on a host that nobody could ask in time: that is no fact about it."""
    if failure is Outcome.RATE_LIMITED:
        raise SeedError(
            f"`{url.href}` leads to a host whose turn did not come",
            kind=ErrorType.TIMEOUT,
            hint="others ask it, or it has to rest; try the domain again later",
        )


def http_date(text: str | None) -> str | None:
    """Write the date of a header as ISO 8601 (C-56); None where it is none."""
    at_s = lastmod_s(text or "", wall_s=LAST_S)
    return iso_utc(at_s) if at_s is not None else None


class Reach:
    """Reaches hosts of one domain."""

    def __init__(
        self, world: World, config: CrawlConfig, requests: Requests, line: Line, hearing: Hearing
    ) -> None:
        self._world = world
        self._config = config
        self._requests = requests
        self._line = line
        self._hearing = hearing

    async def reach(self, name: str) -> tuple[Reached, RobotsFacts]:
        """Ask a host for its robots.txt, and again where that may help."""
        reached, facts = await lasting(
            self._world.clock,
            partial(self._ask, name),
            _judge,
            goes_on=lambda: not (self._hearing.is_over or self._line.must_rest),
        )
        raise_unasked(reached.root, reached.reading.copy.failure)
        return reached, facts

    async def _ask(self, name: str) -> tuple[Reached, RobotsFacts]:
        reached = await self._ask_by("https", name)
        if self._hearing.is_shut(name):
            reached = await self._ask_by("http", name)
        return reached, self._facts(reached)

    async def _ask_by(self, scheme: str, name: str) -> Reached:
        root = parse_url(f"{scheme}://{name}/")
        assert root is not None, "the host of a URL is one of another scheme, too"
        # A new keeper for each attempt: one keeps what it has heard, failures too.
        keeper = RobotsKeeper(self._world, "", self._config, self._requests)
        reading = await self._line.use(root.authority, partial(keeper.read, root))
        return Reached(root, reading, keeper)

    def _facts(self, reached: Reached) -> RobotsFacts:
        copy, heard = reached.reading.copy, self._hearing.last(Purpose.ROBOTS)
        fetched_at = iso_utc(heard.at_s) if heard is not None else None
        is_there = copy.failure is None and 200 <= copy.status < 300
        if not is_there and not (copy.failure is Outcome.TOO_LARGE and copy.body):  # C-11
            # A chain of redirects that leads nowhere is told as such; it has no status of its own.
            is_status = heard is not None and heard.status == copy.status
            said = copy.detail if copy.failure is None and not is_status else ""
            error = said or told(copy.status, copy.failure, copy.detail)
            return RobotsFacts(False, fetched_at=fetched_at, error=brief(error))
        named = (parse_url(text, reached.root.href) for text in reached.reading.file.sitemaps)
        return RobotsFacts(
            exists=True,
            size=len(self.file(reached)),
            last_modified=http_date(heard.header("last-modified")) if heard is not None else None,
            allows_crawling=reached.reading.judge(reached.root).admitted,  # C-53
            sitemap_urls=tuple(dict.fromkeys(url.href for url in named if url is not None)),
            fetched_at=fetched_at,
            max_age_s=None if copy.max_age_s is None else round(copy.max_age_s),
        )

    def file(self, reached: Reached) -> bytes:
        """Return the robots.txt as far as it is read; the keeper asks for one byte more."""
        return reached.reading.copy.body[: self._config.robots.max_bytes]


def _judge(answer: tuple[Reached, RobotsFacts]) -> None:
    copy = answer[0].reading.copy
    raise_passing(copy.status, copy.failure, answer[1].error)
