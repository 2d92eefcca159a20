"""Ask the hosts of one domain: one host at a time, in its turn, within the domain's time.

- `RecordingFetcher` records every answer and its duration. A domain has one time limit for all its
  servers together (C-86). Only requests count, not the wait for a host's turn. A request gets no
  more time than is left.
- `DomainSession` leases at most one host. It gives the host back when it needs another, when the
  host must rest for long, and at the end.
- `HostProbe` asks for robots.txt over https, or else http. A failure that may pass is retried at
  once (ERR-13, ERR-14). The last failure is a fact about the host (SED-29). A missed turn is not a
  fact: the queue tries again later (C-85). It asks for the headers of the front page where nothing
  else has shown the content encoding (SED-30).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from geomi.engine.host.reserve import reserve_host
from geomi.engine.host.robots import JobRobots, RobotsKeeper
from geomi.engine.host.session import CROWDED_S, HostSession, MustRest
from geomi.engine.visit.rules import JobRules
from geomi.engine.world import World
from geomi.errors import SeedError
from geomi.fetch.request import Requests
from geomi.fetch.response import redirect_target
from geomi.model.dataset.contract import RobotsFacts, ServerInfo
from geomi.model.dataset.queue import MAX_ERROR_CHARS
from geomi.model.dataset.seed import ErrorType
from geomi.model.entry import Batch
from geomi.model.page import Fetched, Headers, Request
from geomi.model.request_log import RequestPurpose
from geomi.model.verdict import Outcome
from geomi.ports.runtime import Clock
from geomi.ports.web import Fetcher
from geomi.seed.sitemap import lastmod_s
from geomi.text.encoding import iso_utc, replace_surrogates
from geomi.url.parse import DEFAULT_PORTS, Url
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
# How long a host is waited for that others ask, or that has to rest. A crawl gives its hosts back
# every minute or so.
LONGEST_TURN_S = 300.0
T = TypeVar("T")
# What a request that is under way may take when the time is over: of a chain of redirects the last
# ones are asked for before anybody looks.
SHORTEST_S = 0.1
MAX_HEADER_CHARS = 200  # of what a server says of itself
# Nobody there speaks https; one that was connected to and is slow does.
_SHUT = frozenset({Outcome.CONNECT_ERROR, Outcome.TLS_ERROR})
MAX_RETRIES = 3
RETRYABLE = frozenset({ErrorType.NETWORK, ErrorType.TIMEOUT})


@dataclass(frozen=True, slots=True)
class ReachedHost:
    """A host, by the scheme that it was asked by, its robots.txt, and who reads those of others."""

    root: Url
    robots: JobRobots
    keeper: RobotsKeeper


def why_no_file(status: int, failure: Outcome | None, detail: str) -> str:
    """Say why there is no file (SED-26, SED-29)."""
    if failure is None:
        return f"HTTP {status}"
    return detail or UNKNOWN


def short_error(error: str) -> str:
    """Shorten an error that may quote what a server wrote."""
    return replace_surrogates(error[:MAX_ERROR_CHARS])


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
            f"`{url.href}` leads to a host that had no turn in time",
            kind=ErrorType.TIMEOUT,
            hint="other workers use it, or its delay is long; try the domain again later",
        )


def http_date(text: str | None) -> str | None:
    """Write the date of a header as ISO 8601 (C-56); None where it is none."""
    at_s = lastmod_s(text or "", wall_s=LAST_S)
    return iso_utc(at_s) if at_s is not None else None


class HostProbe:
    """Reaches hosts of one domain."""

    def __init__(
        self,
        world: World,
        rules: JobRules,
        requests: Requests,
        line: DomainSession,
        hearing: RecordingFetcher,
        *,
        alone: bool = False,
    ) -> None:
        self._alone = alone
        self._world = world
        self._config = rules.config
        self._privacy = rules.privacy
        self._requests = requests
        self._line = line
        self._hearing = hearing

    async def reach(self, name: str) -> tuple[ReachedHost, RobotsFacts]:
        """Ask a host for its robots.txt, and again where that may help."""
        reached, facts = await ask_until_lasting(
            self._world.clock,
            partial(self._ask, name),
            _judge,
            goes_on=lambda: not (self._hearing.is_over or self._line.must_rest),
        )
        raise_unasked(reached.root, reached.robots.copy.failure)
        return reached, facts

    async def _ask(self, name: str) -> tuple[ReachedHost, RobotsFacts]:
        reached = await self._ask_by("https", name)
        if self._hearing.is_shut(name):
            reached = await self._ask_by("http", name)
        return reached, self._facts(reached)

    async def _ask_by(self, scheme: str, name: str) -> ReachedHost:
        root = parse_url(f"{scheme}://{name}/")
        assert root is not None, "the host of a URL is one of another scheme, too"
        # A new keeper for each attempt: one keeps what it has heard, failures too.
        keeper = RobotsKeeper(self._world, "", self._config, self._requests, self._privacy)
        read = partial(keeper.read, root, alone=self._alone)
        robots = await self._line.use(root.authority, read)
        return ReachedHost(root, robots, keeper)

    async def show(self, reached: ReachedHost) -> None:
        """Ask for the front page where no answer of the host has named a content encoding.

        A server may send a short robots.txt as it is, and compress its pages. The request goes
        where robots.txt allows it and while there is time, and follows redirects on the same host.
        """
        url: Url | None = reached.root
        for _ in range(self._config.http.max_redirects + 1):
            if url is None or not self._may_show(url, reached):
                return
            fetched = await self._line.use(
                reached.root.authority, partial(self._headers, url, reached.robots)
            )
            target = redirect_target(fetched)
            url = parse_url(target) if target is not None else None

    def _may_show(self, url: Url, reached: ReachedHost) -> bool:
        is_known = self._hearing.server_info(contract_host_name(reached.root)).content_encoding
        is_late = self._hearing.is_over or self._line.must_rest or self._line.is_closed
        is_here = url.authority == reached.root.authority
        return not (is_known or is_late) and is_here and reached.robots.judge(url).admitted

    async def _headers(self, url: Url, robots: JobRobots, session: HostSession) -> Fetched:
        session.allowed_by(robots.fetched_s, None)
        return await session.ask(self._requests.server(url))

    def _facts(self, reached: ReachedHost) -> RobotsFacts:
        copy, heard = reached.robots.copy, self._hearing.last(RequestPurpose.ROBOTS)
        fetched_at = iso_utc(heard.at_s) if heard is not None else None
        is_there = copy.failure is None and 200 <= copy.status < 300
        if not is_there and not (copy.failure is Outcome.TOO_LARGE and copy.body):  # C-11
            error = why_no_file(copy.status, copy.failure, copy.detail)
            return RobotsFacts(False, fetched_at=fetched_at, error=short_error(error))
        named = (parse_url(text, reached.root.href) for text in reached.robots.file.sitemaps)
        return RobotsFacts(
            exists=True,
            size=len(self.file(reached)),
            last_modified=http_date(heard.header("last-modified")) if heard is not None else None,
            allows_crawling=reached.robots.judge(reached.root).admitted,  # C-53
            sitemap_urls=tuple(dict.fromkeys(url.href for url in named if url is not None)),
            fetched_at=fetched_at,
            max_age_s=None if copy.max_age_s is None else round(copy.max_age_s),
        )

    def file(self, reached: ReachedHost) -> bytes:
        """Return the robots.txt as far as it is read; the keeper asks for one byte more."""
        return reached.robots.copy.body[: self._config.robots.max_bytes]


def _judge(answer: tuple[ReachedHost, RobotsFacts]) -> None:
    copy = answer[0].robots.copy
    raise_passing(copy.status, copy.failure, answer[1].error)


class DomainSession:
    """Holds at most one host."""

    def __init__(self, world: World, rules: JobRules) -> None:
        self._world = world
        self._config = rules.config
        self._privacy = rules.privacy
        self._session: HostSession | None = None

    @property
    def must_rest(self) -> bool:
        """Whether the host in hand has to rest so long that asking it again now is pointless."""
        return self._session is not None and (self._session.must_rest() or self._session.is_down())

    @property
    def is_closed(self) -> bool:
        """Whether the host in hand has to rest for longer than anybody waits for it here."""
        held = self._session
        return held is not None and (held.is_down() or held.delay_s() > LONGEST_TURN_S)

    async def use(self, host: str, work: Callable[[HostSession], Awaitable[T]]) -> T:
        """Ask a host (`name:port`) for something; wait where a cap on all requests is reached.

        Raises `StoreBusy` where its turn does not come, and `LeaseLost` where it was over.
        """
        while True:
            try:
                return await work(await self._to(host))
            except MustRest as rest:
                await self.hang_up()
                await self._world.clock.sleep_until(rest.until_s)

    async def hang_up(self) -> None:
        """Give back the host in hand, with what was learned of it."""
        session, self._session = self._session, None
        if session is not None:
            await self._world.store.frontier.settle(Batch(hosts=(session.farewell(),)))

    async def _to(self, host: str) -> HostSession:
        if self._session is not None and (
            self._session.lease.host != host or self._session.must_rest()
        ):
            await self.hang_up()
        last_s = self._world.clock.now_s() + LONGEST_TURN_S
        while self._session is None:
            wait_s = last_s - self._world.clock.now_s()
            lease = await reserve_host(self._world, self._config, host, longest_wait_s=wait_s)
            session = self._session = HostSession(
                self._world, lease, self._config, self._privacy, asyncio.Semaphore(1)
            )
            if not await session.take_place():
                await self._step_back()
        return self._session

    async def _step_back(self) -> None:
        """Give back a host whose address has enough to do; not all of them come again at once."""
        await self.hang_up()
        clock = self._world.clock
        await clock.sleep_until(clock.now_s() + self._world.rng.uniform(0, CROWDED_S))


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One answer, or why none came.

    Args:
        is_connected: whether there was a connection, TLS included.
        at_s: when it was over (wall clock).
    """

    url: Url
    purpose: RequestPurpose
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


def contract_host_name(url: Url) -> str:
    """Name the host of a URL as a contract does: its port only where it is an unusual one."""
    return url.host if url.port in DEFAULT_PORTS.values() else url.authority


class RecordingFetcher:
    """A `Fetcher` that notes what it hears; the one behind it stays open."""

    def __init__(self, inner: Fetcher, clock: Clock, domain: str, timeout_s: float) -> None:
        self._inner = inner
        self._domain = domain
        self._clock = clock
        self._timeout_s = timeout_s
        self._took_s = 0.0
        self._heard: list[RecordedAnswer] = []

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
            RecordedAnswer(
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

    def last(self, purpose: RequestPurpose) -> RecordedAnswer | None:
        """Return what was heard last of a kind."""
        return next((one for one in reversed(self._heard) if one.purpose is purpose), None)

    def is_shut(self, name: str) -> bool:
        """Return whether nobody speaks https on a host, as far as was heard."""
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

    def _of(self, name: str) -> list[RecordedAnswer]:
        return [one for one in self._heard if contract_host_name(one.url) == name]


def _first(answers: Sequence[RecordedAnswer], header: str) -> str | None:
    return next((said for one in answers if (said := one.header(header))), None)


async def with_retries(
    clock: Clock, operation: Callable[[], Awaitable[T]], *, max_retries: int = MAX_RETRIES
) -> T:
    """Do something; after a failure that may pass, again after 1, 2 and 4 s. Raise the last one."""
    for attempt in range(max_retries):
        try:
            return await operation()
        except SeedError as error:
            if error.kind not in RETRYABLE:
                raise
        await clock.sleep_until(clock.now_s() + 2**attempt)
    return await operation()


async def ask_until_lasting(
    clock: Clock,
    ask: Callable[[], Awaitable[T]],
    judge: Callable[[T], None],
    *,
    goes_on: Callable[[], bool],
) -> T:
    """Ask until an answer is none that may pass, or asking again is pointless; return the last.

    Args:
        judge: raises where an answer is a failure that may pass.
        goes_on: whether it may be asked again.
    """
    latest: list[T] = []

    async def attempt() -> None:
        if latest and not goes_on():
            return
        latest[:] = [await ask()]
        judge(latest[0])

    with suppress(SeedError):
        await with_retries(clock, attempt)
    return latest[0]
