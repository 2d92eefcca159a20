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
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TypeVar

from geomi.engine.host.lease import hear_every_s, hold_s, lease_s, longest_request_s
from geomi.engine.pace import NEVER_SENT, Pace
from geomi.engine.spent import Spending, Spent
from geomi.engine.visit.privacy import Privacy
from geomi.engine.world import World
from geomi.errors import LeaseLost
from geomi.extract.template import learned
from geomi.frontier import politeness
from geomi.model.config import CrawlConfig
from geomi.model.entry import Batch, HostState, HostUpdate, Lease
from geomi.model.page import Fetched, Request
from geomi.model.verdict import Outcome
from geomi.ports.web import Resolution

# How long a robots.txt on another host is waited for before it counts as out of reach for now.
LONGEST_GUEST_WAIT_S = 10.0
# A host that is lent is looked at this often: most leases end long before they run out.
GUEST_LOOK_S = 0.5
# A host whose address has its share of leases already is looked at again after this long.
CROWDED_S = 2.0

T = TypeVar("T")
Slots = AbstractAsyncContextManager[None]


class MustRest(Exception):
    """A cap on requests is reached for longer than a host is held: it is given back until then."""

    def __init__(self, until_s: float) -> None:
        super().__init__(f"no request may be sent before {until_s:.3f}")
        self.until_s = until_s


async def _never() -> bool:
    return False


class Asker:
    """The one voice that speaks to a host while its lease holds."""

    def __init__(self, world: World, lease: Lease, config: CrawlConfig, slots: Slots) -> None:
        self.lease = lease
        self.is_waiting = False
        self._pace = Pace(lease, config, world.rng)
        self._spending = Spending(
            lease,
            world.owner,
            Privacy(config.safety),
            keeps_rows=config.store.request_log,
            slack_s=hold_s(world.silence_s),
        )
        self._world = world
        self._config = config
        self._slots = slots
        self._sending: tuple[Request, float, float] | None = None
        self._heard_s = world.clock.now_s()
        self._hold_s = hold_s(world.silence_s)
        self._hear_every_s = hear_every_s(world.silence_s)
        self._lease_s = lease_s(config, world.silence_s)
        self._left_word = False  # whether the store knows of a burst

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

    def spend(self) -> Spent:
        """Return what was asked since the last settlement, and start anew."""
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
        if await self._world.frontier.place(self.lease, ip, per_ip=per_ip, now_s=now_s):
            return True
        self._pace.wait_until(now_s + CROWDED_S)
        return False

    def delay_s(self) -> float:
        """Return how long the host rests after a request, on average."""
        return self._pace.mean_s

    def must_rest(self) -> bool:
        """Say whether the next turn is too far off to hold the lease for it."""
        return self._pace.turn_s - self._world.clock.now_s() > self._hold_s

    def is_down(self) -> bool:
        """Say whether the host failed so often that asking again now is pointless."""
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
        guest = Asker(self._world, lease, self._config, self._slots)
        try:
            return await guest.ask(request) if await guest._is_seated(beside=self) else None
        except MustRest as rest:
            self._pace.wait_until(rest.until_s)
            raise
        finally:
            farewell = guest.farewell()
            self._spending.take_over(guest.spend())
            await self._world.frontier.settle(Batch(hosts=(farewell,)))

    async def _reserved(self, host: str, unless: Callable[[], Awaitable[bool]]) -> Lease | None:
        clock = self._world.clock
        last_s = clock.now_s() + LONGEST_GUEST_WAIT_S
        while not await unless():
            answer = await self._world.frontier.reserve(
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

    async def _is_seated(self, *, beside: Asker) -> bool:
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
        if now_s < self._pace.turn_s:
            return False
        if now_s < self._pace.over_s:
            await self._leave_word()
        own = self._config.politeness
        if own.max_per_hour or own.max_per_day:
            permitted_s = await self._world.frontier.permit(
                per_hour=own.max_per_hour, per_day=own.max_per_day, now_s=now_s
            )
            self._pace.wait_until(permitted_s)
            return permitted_s <= now_s
        return True

    async def _leave_word(self) -> None:
        """Let the store know of a burst before it goes on.

        A worker that dies pays nothing back: what its host rests then is read from its row, where
        the whole burst stands as a back-off until we give the host back.
        """
        if self._left_word:
            return
        self._left_word = True
        update = HostUpdate(self.lease, self._pace.in_debt())
        await self._world.frontier.settle(Batch(hosts=(update,)))

    async def _keep_lease(self) -> None:
        """Renew unless this request, with the rest it owes, ends inside the lease we have."""
        now_s = self._world.clock.now_s()
        need_s = longest_request_s(self._config) + self._hold_s
        is_fresh = now_s - self._heard_s < self._hear_every_s
        if is_fresh and self.lease.until_s - now_s >= need_s:
            return
        kept = await self._world.frontier.renew([self.lease], lease_s=self._lease_s, now_s=now_s)
        if not kept:
            raise LeaseLost(f"the lease of `{self.lease.host}` was lost while it waited")
        self.lease, self._heard_s = kept[0], now_s
        self._pace.floor_s = self.lease.floor_s

    async def _send(self, request: Request) -> Fetched:
        clock, owed_s, now_s = self._world.clock, self._pace.owed_s, self._world.clock.now_s()
        if self.lease.until_s - now_s < longest_request_s(self._config):
            # This process was stopped since it made sure of its lease.
            raise LeaseLost(f"the lease of `{self.lease.host}` may be over before an answer comes")
        self._sending = request, now_s, owed_s
        fetched = await self._world.fetcher.fetch(request)
        self._sending = None
        self._pace.account(fetched, wall_s=clock.wall_s())
        if fetched.failure not in NEVER_SENT:
            self._spending.add(request, fetched, ip=self.state.ip or "", owed_s=owed_s)
        return fetched
