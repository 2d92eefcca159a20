"""Ask one leased host: one request at a time, never before its delay, never past its lease.

Every request of a crawl goes through a `HostSession`: pages, robots.txt and sitemaps. So the gap
between the end of one response and the start of the next holds for all of them together.

`HostPace` knows when the host may be asked next. A burst postpones rests; all of them are taken
before the host is given back. `over_s` is when no rest is owed any more, and the next turn comes
at most one credit before it (`frontier/politeness.py`). `RequestCounter` counts requests and
bytes, and writes a row of the log for each request that was sent.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TypedDict, TypeVar

from geomi.engine.host.lease import JOINED_S, hear_every_s, hold_s, lease_s, longest_request_s
from geomi.engine.visit.privacy import Privacy
from geomi.engine.world import World
from geomi.errors import LeaseLost
from geomi.extract.content.template import learned
from geomi.fetch.response import respond
from geomi.fetch.retry import parse_retry_after
from geomi.frontier import politeness
from geomi.model.config import CrawlConfig
from geomi.model.entry import (
    NO_ANSWERS,
    AnswerTimes,
    Batch,
    HostState,
    HostUpdate,
    Lease,
    RequestCap,
)
from geomi.model.page import Fetched, Request
from geomi.model.request_log import RequestPurpose, SentRequest
from geomi.model.verdict import Outcome
from geomi.ports.web import Resolution
from geomi.url.host import registrable_domain, split_authority

# How long a robots.txt on another host is waited for before it counts as out of reach for now.
LONGEST_GUEST_WAIT_S = 10.0
# A host that is lent is looked at this often: most leases end long before they run out.
GUEST_LOOK_S = 0.5
# A host whose address has its share of leases already is looked at again after this long.
CROWDED_S = 2.0
T = TypeVar("T")
Slots = AbstractAsyncContextManager[None]
NEVER_SENT = frozenset({Outcome.DNS_ERROR, Outcome.ADDRESS_REFUSED})


class MustRest(Exception):
    """A cap on requests is reached for longer than a host is held: it is given back until then."""

    def __init__(self, until_s: float) -> None:
        super().__init__(f"no request may be sent before {until_s:.3f}")
        self.until_s = until_s


async def _never() -> bool:
    return False


class HostSession:
    """The one voice that speaks to a host while its lease holds."""

    def __init__(
        self, world: World, lease: Lease, config: CrawlConfig, privacy: Privacy, slots: Slots
    ) -> None:
        self.lease = lease
        self.is_waiting = False
        self.is_pausing = False
        self._pace = HostPace(lease, config, world.rng)
        self._spending = RequestCounter(
            lease,
            world.owner,
            privacy,
            keeps_rows=config.store.request_log,
            slack_s=hold_s(world.silence_s),
        )
        self._world = world
        self._config = config
        self._privacy = privacy
        self._slots = slots
        self._sending: tuple[Request, float, float] | None = None
        self._heard_s = self._joined_look_s = world.clock.now_s()
        self._hold_s = hold_s(world.silence_s)
        self._hear_every_s = hear_every_s(world.silence_s)
        self._lease_s = lease_s(config, world.silence_s)
        self._left_word = False  # whether the store knows of a burst
        self._caps = request_caps(config, lease.host)

    @property
    def state(self) -> HostState:
        """What is remembered of the host."""
        return self._pace.state

    async def ask(self, request: Request) -> Fetched:
        """Send one request in the host's next turn; raise `LeaseLost` instead of sending late.

        A request that met a connection the server had just closed is sent once more, in the turn
        after: it may have arrived all the same. Raises `MustRest` where a cap of the job is reached
        for longer than a host is held.
        """
        fetched = await self._ask(request)
        return await self._ask(request) if fetched.is_stale else fetched

    def allowed_by(self, at_s: float | None, line: int | None) -> None:
        """Note which robots.txt, and which of its lines, the next requests rest on."""
        self._spending.robots = (at_s, line)

    def spend(self) -> RequestTotals:
        """Return the requests since the last settlement, and start again at zero."""
        return self._spending.take()

    async def hold(self, work: Awaitable[T]) -> T:
        """Wait for something slow that asks the host nothing, and keep the lease meanwhile."""
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=self._hear_every_s))[0]:
                await self._keep_lease()
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})

    async def pause(self, seconds: float) -> None:
        """Let others have the loop, and keep the lease; a drain may end the visit here."""
        self.is_pausing = True
        try:
            await asyncio.sleep(seconds)
            await self._keep_lease()
        finally:
            self.is_pausing = False

    def learn(self, crawl_delay_s: float | None, extra_s: float) -> None:
        """Take over what robots.txt asks for; it holds for the rest under way too."""
        self._pace.learn(crawl_delay_s, extra_s)

    def teach(self, sections: Sequence[int]) -> None:
        """Remember the parts of a page; what the host's pages repeat is their template."""
        template = learned(self.state.template, sections)
        if template is not self.state.template:
            self._pace.state = replace(self.state, template=template)

    async def take_place(self) -> bool:
        """Resolve the host and take one of its address's places; False sends it to the back."""
        resolution = await self._resolve()
        if resolution.failure is not None:
            return True  # the visit meets the same failure and settles it
        ip = resolution.addresses[0]
        if ip == self.state.ip and self.lease.job:  # the claim has seen that there is a place
            return True
        self._pace.state = replace(self.state, ip=ip)
        per_ip, now_s = self._config.politeness.per_ip, self._world.clock.now_s()
        if await self._world.store.frontier.place(self.lease, ip, per_ip=per_ip, now_s=now_s):
            return True
        self._pace.wait_until(now_s + CROWDED_S)
        return False

    def delay_s(self) -> float:
        """Return how long the host rests after a request, on average."""
        return self._pace.mean_s

    def must_rest(self) -> bool:
        """Return whether the next turn is too far off to hold the lease for it."""
        return self._pace.turn_s - self._world.clock.now_s() > self._hold_s

    def is_down(self) -> bool:
        """Return whether the host failed so often that asking again now is pointless."""
        return politeness.is_down(self.state, now_s=self._world.clock.now_s())

    def farewell(self) -> HostUpdate:
        """Return the host with everything learned about it, free again after its delay."""
        if self._sending is not None:  # cut off in the middle; it may have lasted until now
            request, started_s, owed_s = self._sending
            now_s = self._world.clock.now_s()
            given_up = Fetched(
                request.url, started_s=started_s, ended_s=now_s, failure=Outcome.TIMEOUT
            )
            self._spending.add(request, given_up, ip=self.state.ip or "", owed_s=owed_s)
            self._pace.rest(now_s)
        next_s = max(self._pace.turn_s, self._pace.over_s)
        return HostUpdate(self.lease, self.state, next_s, self._spending.take_rows())

    async def ask_elsewhere(
        self, host: str, request: Request, unless: Callable[[], Awaitable[bool]] = _never
    ) -> Fetched | None:
        """Send one request to another host in its own turn; None when that turn is too far off.

        For the hop of a robots.txt to another authority. The wait is bounded, so that two workers
        that want each other's host cannot hold one another up.

        Args:
            unless: whether there is no need to ask any more; a host may be waited for so long that
                somebody else has asked it.
        """
        lease = await self._reserved(host, unless)
        if lease is None:
            return None
        guest = HostSession(self._world, lease, self._config, self._privacy, self._slots)
        try:
            return await guest.ask(request) if await guest._is_seated(beside=self) else None
        except MustRest as rest:
            self._pace.wait_until(rest.until_s)
            raise
        finally:
            farewell = guest.farewell()
            self._spending.take_over(guest.spend())
            await self._world.store.frontier.settle(Batch(hosts=(farewell,)))

    async def _reserved(self, host: str, unless: Callable[[], Awaitable[bool]]) -> Lease | None:
        clock = self._world.clock
        last_s = clock.now_s() + LONGEST_GUEST_WAIT_S
        while not await unless():
            answer = await self._world.store.frontier.reserve(
                self.lease.job,
                host,
                owner=self._world.owner,
                lease_s=self._lease_s,
                delay_s=self.lease.floor_s,
                now_s=clock.now_s(),
            )
            if isinstance(answer, Lease):
                return answer
            if (now_s := clock.now_s()) >= last_s:
                return None
            await self._sleep_until(min(answer, now_s + GUEST_LOOK_S))
        return None

    async def _is_seated(self, *, beside: HostSession) -> bool:
        """Take a place, or share that of a host at the same address, which asks nothing now."""
        resolution = await self._resolve()
        if resolution.addresses[:1] == (beside.state.ip,):
            return True
        return await self.take_place()

    async def _resolve(self) -> Resolution:
        host, _, port = self.lease.host.rpartition(":")
        resolution = await self._world.resolver.resolve(host, int(port))
        self._pace.is_public = resolution.is_public
        return resolution

    async def _ask(self, request: Request) -> Fetched:
        while True:
            await self._wait_for_turn()
            async with self._slots:
                if await self._may_send():
                    return await self._send(request)
            if self.must_rest():
                raise MustRest(self._pace.turn_s)

    async def _wait_for_turn(self) -> None:
        """Wait for the host's next turn, keeping its lease alive meanwhile."""
        while (now_s := self._world.clock.now_s()) < (turn_s := self._pace.turn_s):
            await self._sleep_until(min(turn_s, self.lease.until_s - self._world.silence_s))
            self._world.meter.waited(self._world.clock.now_s() - now_s)
            await self._keep_lease()

    async def _sleep_until(self, when_s: float) -> None:
        """Sleep as one who takes no slot meanwhile, and whom a drain may wake for good."""
        self.is_waiting = True
        try:
            await self._world.clock.sleep_until(when_s)
        finally:
            self.is_waiting = False

    async def _may_send(self) -> bool:
        """Make sure, at the last moment, of the lease, the turn and the caps that jobs share."""
        await self._keep_lease()
        now_s = self._world.clock.now_s()
        if now_s >= self._joined_look_s:
            self._joined_look_s = now_s + JOINED_S
            self._pace.heed(await self._world.store.census.floor_s(self.lease.host))
            now_s = self._world.clock.now_s()
        if now_s < self._pace.turn_s:
            return False
        if now_s < self._pace.over_s:
            await self._leave_word()
        if not self._caps:
            return True
        permitted_s = await self._world.store.frontier.permit(self._caps, now_s=now_s)
        self._pace.wait_until(permitted_s)
        return permitted_s <= now_s

    async def _leave_word(self) -> None:
        """Write a burst to the store before it continues.

        A worker that dies pays nothing back: what its host rests then is read from its row, where
        the whole burst stands as a back-off until we give the host back.
        """
        if self._left_word:
            return
        self._left_word = True
        update = HostUpdate(self.lease, self._pace.in_debt())
        await self._world.store.frontier.settle(Batch(hosts=(update,)))

    async def _keep_lease(self) -> None:
        """Renew unless this request, with the rest it owes, ends inside the lease we have."""
        now_s = self._world.clock.now_s()
        need_s = longest_request_s(self._config) + self._hold_s
        is_fresh = now_s - self._heard_s < self._hear_every_s
        if is_fresh and self.lease.until_s - now_s >= need_s:
            return
        kept = await self._world.store.frontier.renew(
            [self.lease], lease_s=self._lease_s, now_s=now_s
        )
        if not kept:
            raise LeaseLost(f"the lease of `{self.lease.host}` was lost while it waited")
        self.lease, self._heard_s = kept[0], now_s
        self._pace.floor_s = self.lease.floor_s

    async def _send(self, request: Request) -> Fetched:
        clock, owed_s, now_s = self._world.clock, self._pace.owed_s, self._world.clock.now_s()
        if self.lease.until_s - now_s < longest_request_s(self._config):
            # This process was stopped since it made sure of its lease.
            raise LeaseLost(f"the lease of `{self.lease.host}` may end before an answer comes")
        self._sending = request, now_s, owed_s
        fetched = await self._world.fetcher.fetch(request)
        self._sending = None
        self._pace.account(fetched, wall_s=clock.wall_s())
        if fetched.failure not in NEVER_SENT:
            self._spending.add(request, fetched, ip=self.state.ip or "", owed_s=owed_s)
        return fetched


def request_caps(config: CrawlConfig, host: str) -> tuple[RequestCap, ...]:
    """Return the caps of a job that a request to a host counts under."""
    own = config.politeness
    caps = []
    if own.max_per_hour or own.max_per_day:
        caps.append(RequestCap("", own.max_per_hour, own.max_per_day))
    if own.max_per_domain_hour or own.max_per_domain_day:
        domain = registrable_domain(split_authority(host)[0])
        caps.append(RequestCap(domain, own.max_per_domain_hour, own.max_per_domain_day))
    return tuple(caps)


class _Floors(TypedDict):
    floor_s: float
    is_public: bool
    extra_s: float


class HostPace:
    """The politeness of one host under one lease.

    Args:
        floor_s: the longest known delay among the active jobs of the host.
    """

    def __init__(self, lease: Lease, config: CrawlConfig, rng: random.Random) -> None:
        self.state: HostState = lease.state
        self.floor_s = lease.floor_s
        self.is_public = True
        self.over_s = 0.0
        self._config = config
        self._rng = rng
        self._ready_s = 0.0  # the claim already saw to it that the host is due
        self._extra_s = 0.0  # what the robots policy adds to the delay

    @property
    def turn_s(self) -> float:
        """When the host may be asked next, as far as is known by now."""
        return max(self._ready_s, self.state.last_end_s + self.owed_s)

    @property
    def owed_s(self) -> float:
        """The shortest rest before the next request, without jitter; a burst needs less."""
        owed = politeness.least_s if self._config.politeness.burst == 1 else politeness.firm_s
        return owed(self.state, self._config, **self._floors())

    @property
    def mean_s(self) -> float:
        """How long the host rests after a request, on average."""
        return politeness.mean_s(self.state, self._config, **self._floors())

    def learn(self, crawl_delay_s: float | None, extra_s: float) -> None:
        """Take over what robots.txt asks for; it holds for the rest under way too."""
        if crawl_delay_s != self.state.crawl_delay_s:
            self.state = replace(self.state, crawl_delay_s=crawl_delay_s)
        self._extra_s = extra_s

    def heed(self, floor_s: float) -> None:
        """Obey a slower job that has joined the host; that it has left is learned by a renewal."""
        self.floor_s = max(self.floor_s, floor_s)

    def wait_until(self, when_s: float) -> None:
        """Ask nothing before a time."""
        self._ready_s = max(self._ready_s, when_s)

    def account(self, fetched: Fetched, *, wall_s: float) -> None:
        """Let the host rest after a request; a request that was not sent needs no rest."""
        after = politeness.after(
            self.state,
            outcome=respond(fetched),
            started_s=fetched.started_s,
            ended_s=fetched.ended_s,
            retry_after_s=parse_retry_after(fetched.header("retry-after"), wall_s=wall_s),
            config=self._config,
        )
        if fetched.failure in NEVER_SENT:
            self.state = replace(after, last_end_s=self.state.last_end_s)
            return
        self.state = after
        self.rest(fetched.ended_s)
        # An outage is waited for once; if the host does not answer then, `is_down` gives it up.
        if after.errors == politeness.DOWN_AFTER:
            self.wait_until(fetched.ended_s + politeness.DOWN_REST_S)

    def rest(self, ended_s: float) -> None:
        """Owe the host its delay from the end of a request; in a burst it is given later."""
        self.state = replace(self.state, last_end_s=max(self.state.last_end_s, ended_s))
        least_s = politeness.least_s(self.state, self._config, **self._floors())
        self.over_s = max(self.over_s, ended_s) + least_s
        self._ready_s = self.over_s - politeness.credit_s(self._config)
        if self._ready_s > ended_s:
            self._ready_s += self._delay_s() - least_s

    def in_debt(self) -> HostState:
        """Return the host as a burst may leave it, with all that is put off as a back-off."""
        debt_s = politeness.credit_s(self._config) + self._delay_s()
        return replace(self.state, backoff_s=max(self.state.backoff_s, debt_s))

    def _delay_s(self) -> float:
        return politeness.delay_s(self.state, self._config, rng=self._rng, **self._floors())

    def _floors(self) -> _Floors:
        return {"floor_s": self.floor_s, "is_public": self.is_public, "extra_s": self._extra_s}


@dataclass(frozen=True, slots=True)
class RequestTotals:
    """What was asked since the last settlement."""

    requests: int
    bytes: int
    asked: tuple[SentRequest, ...]
    answers: AnswerTimes = NO_ANSWERS


class RequestCounter:
    """Counts the requests of one lease.

    Args:
        keeps_rows: whether the job keeps a log of its requests.
        slack_s: how long after its deadline a request may have ended. An answer that was read later
            came to a process that was stopped; by then its lease may be another's.
    """

    def __init__(
        self, lease: Lease, owner: str, privacy: Privacy, *, keeps_rows: bool, slack_s: float
    ) -> None:
        self.robots: tuple[float | None, int | None] = (None, None)  # what the next rest on
        self._lease = lease
        self._owner = owner
        self._privacy = privacy
        self._keeps_rows = keeps_rows
        self._slack_s = slack_s
        self._requests = self._bytes = 0
        self._answers = NO_ANSWERS
        self._asked: list[SentRequest] = []

    def add(self, request: Request, fetched: Fetched, *, ip: str, owed_s: float) -> None:
        """Count one request that was sent.

        Args:
            ip: the address that was meant, where no connection came about.
            owed_s: the least rest that the host was owed before it.
        """
        self._requests += 1
        self._bytes += fetched.wire_bytes
        outcome = respond(fetched)
        latest_s = fetched.started_s + request.total_timeout_s + self._slack_s
        ended_s = min(fetched.ended_s, latest_s)
        if request.purpose is RequestPurpose.PAGE and outcome not in politeness.UNANSWERED:
            self._answers = self._answers.plus(
                AnswerTimes(1, max(0.0, ended_s - fetched.started_s))
            )
        if not self._keeps_rows:
            return
        at_s, line = (None, None) if request.purpose is RequestPurpose.ROBOTS else self.robots
        self._asked.append(
            SentRequest(
                host=self._lease.host,
                job=self._lease.job,
                owner=self._owner,
                ip=fetched.ip or ip,
                purpose=request.purpose,
                url=self._privacy.told(request.url),
                started_s=fetched.started_s,
                ended_s=ended_s,
                status=fetched.status,
                outcome=outcome,
                floor_s=owed_s,
                robots_at_s=at_s,
                robots_line=line,
            )
        )

    def take_over(self, spent: RequestTotals) -> None:
        """Count what a guest has spent for us; its rows go their own way."""
        self._requests += spent.requests
        self._bytes += spent.bytes

    def take(self) -> RequestTotals:
        """Return the counts, and start again at zero."""
        spent = RequestTotals(self._requests, self._bytes, self.take_rows(), self._answers)
        self._requests = self._bytes = 0
        self._answers = NO_ANSWERS
        return spent

    def take_rows(self) -> tuple[SentRequest, ...]:
        """Return the rows alone, and start again without any."""
        rows = tuple(self._asked)
        self._asked.clear()
        return rows
