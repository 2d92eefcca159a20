"""Asking one leased host: one request at a time, never sooner than its delay, never past its lease.

Every request of the crawl goes through an `Asker` (pages, robots.txt, sitemaps), so the gap between
the end of one response and the start of the next holds for all of them together.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from geomi.engine.world import World
from geomi.errors import LeaseLost
from geomi.fetch.respond import respond
from geomi.fetch.retry import parse_retry_after
from geomi.frontier import politeness
from geomi.model.config import CrawlConfig
from geomi.model.entry import Batch, HostState, HostUpdate, Lease
from geomi.model.page import Fetched, Request
from geomi.model.verdict import Outcome

# A lease outlives any request inside it and the rest that follows, so that a worker that dies
# leaves its host alone for at least one delay.
LEASE_MARGIN_S = 60.0
# A wait longer than this is better spent by giving the host back than by holding its lease.
LONGEST_HOLD_S = 30.0
# How long a robots.txt on another host is waited for before it counts as out of reach for now.
LONGEST_GUEST_WAIT_S = 10.0
# A host that is lent is looked at this often: most leases end long before they run out.
GUEST_LOOK_S = 0.5
# A host whose address has its share of leases already is looked at again after this long.
CROWDED_S = 2.0

NEVER_SENT = frozenset({Outcome.DNS_ERROR, Outcome.ADDRESS_REFUSED})


def lease_s(config: CrawlConfig) -> float:
    """Return how long a host is lent: one whole request, the longest rest held, and a margin."""
    return config.http.total_timeout_s + LONGEST_HOLD_S + LEASE_MARGIN_S


class Asker:
    """The one voice that speaks to a host while its lease holds."""

    def __init__(
        self, world: World, lease: Lease, config: CrawlConfig, slots: asyncio.Semaphore
    ) -> None:
        self.lease = lease
        self.state: HostState = lease.state
        self.is_public = True
        self.is_waiting = False
        self._world = world
        self._config = config
        self._slots = slots
        self._in_flight = False
        self._requests = self._bytes = 0
        self._extra_s = 0.0  # what the robots policy adds to the delay
        self._ready_s = 0.0  # the claim already saw to it that the host is due

    async def ask(self, request: Request) -> Fetched:
        """Send one request in the host's next turn; raise `LeaseLost` instead of sending late.

        A request that met a connection the server had just closed is sent once more, in the turn
        after: it may have arrived all the same.
        """
        fetched = await self._ask(request)
        return await self._ask(request) if fetched.is_stale else fetched

    async def _ask(self, request: Request) -> Fetched:
        await self._turn()
        async with self._slots:
            await self._keep_lease()
            self._in_flight = True
            fetched = await self._world.fetcher.fetch(request)
            self._in_flight = False
        self._account(fetched)
        return fetched

    def spend(self) -> tuple[int, int]:
        """Return the requests sent and bytes received since the last settlement, and start anew."""
        spent = self._requests, self._bytes
        self._requests = self._bytes = 0
        return spent

    def learn(self, crawl_delay_s: float | None, extra_s: float) -> None:
        """Take over what robots.txt asks for; it holds from the next rest on."""
        self.state = replace(self.state, crawl_delay_s=crawl_delay_s)
        if extra_s != self._extra_s or crawl_delay_s is not None:
            self._extra_s = extra_s
            self._ready_s = max(self._ready_s, self.state.last_end_s + self._delay_s())

    def seat(self, ip: str, *, placed: bool) -> None:
        """Note the host's address, and rest a little when that address is crowded."""
        self.state = replace(self.state, ip=ip)
        if not placed:
            self._ready_s = self._world.clock.now_s() + CROWDED_S

    def must_rest(self) -> bool:
        """Say whether the next turn is too far off to hold the lease for it."""
        return self._ready_s - self._world.clock.now_s() > LONGEST_HOLD_S

    def is_down(self) -> bool:
        """Say whether the host failed so often that asking again now is pointless."""
        return politeness.is_down(self.state, now_s=self._world.clock.now_s())

    def farewell(self) -> HostUpdate:
        """Return the host with everything learned about it, free again after its delay."""
        now_s = self._world.clock.now_s()
        if self._in_flight:  # cut off in the middle: the request may have lasted until now
            self.state = replace(self.state, last_end_s=now_s)
            self._ready_s = now_s + self._delay_s()
        return HostUpdate(self.lease, self.state, next_s=max(self._ready_s, self.state.last_end_s))

    async def ask_elsewhere(self, host: str, request: Request) -> Fetched | None:
        """Send one request to another host in its own turn; None when that turn is too far off.

        For the hop of a robots.txt to another authority. The wait is bounded, so that two workers
        that want each other's host cannot hold one another up.
        """
        clock, frontier = self._world.clock, self._world.frontier
        last_s = clock.now_s() + LONGEST_GUEST_WAIT_S
        while True:
            answer = await frontier.reserve(
                self.lease.job,
                host,
                owner=self._world.owner,
                lease_s=lease_s(self._config),
                delay_s=self.lease.floor_s,
                now_s=clock.now_s(),
            )
            if isinstance(answer, Lease):
                break
            if (now_s := clock.now_s()) >= last_s:
                return None
            await self._sleep_until(min(answer, now_s + GUEST_LOOK_S))
        guest = Asker(self._world, answer, self._config, self._slots)
        try:
            return await guest.ask(request)
        finally:
            requests, wire_bytes = guest.spend()
            self._requests += requests
            self._bytes += wire_bytes
            await frontier.settle(Batch(hosts=(guest.farewell(),)))

    def _account(self, fetched: Fetched) -> None:
        """Let the host rest after a request; one that never left us costs it nothing."""
        asked_s = parse_retry_after(
            fetched.header("retry-after"), wall_s=self._world.clock.wall_s()
        )
        after = politeness.after(
            self.state,
            outcome=respond(fetched),
            started_s=fetched.started_s,
            ended_s=fetched.ended_s,
            retry_after_s=asked_s,
            config=self._config,
        )
        if fetched.failure in NEVER_SENT:
            self.state = replace(after, last_end_s=self.state.last_end_s)
            return
        self.state = after
        # An outage is waited for once; if the host does not answer then, `is_down` gives it up.
        rest_s = politeness.DOWN_REST_S if after.errors == politeness.DOWN_AFTER else 0.0
        self._ready_s = fetched.ended_s + max(self._delay_s(), rest_s)
        self._requests += 1
        self._bytes += fetched.wire_bytes

    async def _turn(self) -> None:
        """Wait for the host's next turn, keeping its lease alive meanwhile."""
        while self._world.clock.now_s() < self._ready_s:
            await self._sleep_until(min(self._ready_s, self.lease.until_s - LEASE_MARGIN_S))
            await self._keep_lease()

    async def _sleep_until(self, when_s: float) -> None:
        """Sleep as one who takes no slot meanwhile, and whom a drain may wake for good."""
        self.is_waiting = True
        try:
            await self._world.clock.sleep_until(when_s)
        finally:
            self.is_waiting = False

    async def _keep_lease(self) -> None:
        """Renew unless this request, with the rest it owes, ends inside the lease we have."""
        now_s = self._world.clock.now_s()
        need_s = self._config.http.total_timeout_s + LONGEST_HOLD_S
        if self.lease.until_s - now_s >= need_s:
            return
        kept = await self._world.frontier.renew(
            [self.lease], lease_s=lease_s(self._config), now_s=now_s
        )
        if not kept:
            raise LeaseLost(f"the lease of `{self.lease.host}` was lost while it waited")
        self.lease = kept[0]

    def _delay_s(self) -> float:
        return politeness.delay_s(
            self.state,
            self._config,
            floor_s=self.lease.floor_s,
            is_public=self.is_public,
            extra_s=self._extra_s,
            rng=self._world.rng,
        )
