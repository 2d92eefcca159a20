"""Asking for one robots.txt, along its redirects, and never twice at once (ROB-08, C-10).

A host's lease is exclusive, so nobody else asks a host for its own file meanwhile. A redirect can
lead to the file of another host, which may be on its way already: then that one is waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from geomi.engine.host.requests import Requests
from geomi.engine.host.session import HostSession
from geomi.engine.world import World
from geomi.fetch import response
from geomi.model.config import RobotsRules
from geomi.model.page import Fetched
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.verdict import Outcome
from geomi.robots import policy
from geomi.robots.parse import as_utf8
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

PATH = "/robots.txt"

FindCopy = Callable[[RobotsKey], Awaitable[RobotsCopy | None]]


class RobotsFetch:
    """Fetches robots.txt for one job, through the lease of the host it belongs to.

    Args:
        known: finds the copy that is kept under a key.
    """

    def __init__(
        self, world: World, rules: RobotsRules, requests: Requests, known: FindCopy
    ) -> None:
        self._world = world
        self._rules = rules
        self._requests = requests
        self._known = known
        self._flights: dict[RobotsKey, asyncio.Event] = {}
        self._awaited: dict[RobotsKey, RobotsKey] = {}  # whose flight each one waits for

    @contextmanager
    def flight(self, key: RobotsKey) -> Iterator[None]:
        """Let others know that a file is on its way, until its copy is where they look for it."""
        landing = self._flights[key] = asyncio.Event()
        try:
            yield
        finally:
            del self._flights[key]
            landing.set()

    async def landed(self, key: RobotsKey, asker: HostSession) -> None:
        """Wait for a file that is on its way already."""
        while (flight := self._flights.get(key)) is not None:
            await asker.hold(flight.wait())

    async def fetch(self, key: RobotsKey, url: Url, asker: HostSession) -> tuple[RobotsCopy, ...]:
        """Ask for /robots.txt; what a redirect leads to holds for where we started (C-10).

        The copy for `key` comes first. The others are the same file for the authorities on the
        way whose own robots.txt it is: a bare domain often leads to the file of its `www.`.
        """
        target = parse_url(PATH, url.href)
        passed: list[tuple[int, RobotsKey]] = []
        for hop in range(self._rules.max_redirects + 1):
            if target is None:
                return (self._no_file(key, "robots.txt redirects to nowhere", hop),)
            if self._rules.same_host_redirects and target.host != url.host:
                return (self._no_file(key, f"robots.txt redirects to `{target.host}`", hop),)
            if hop and target.target == PATH:
                passed.append((hop, RobotsKey(target.scheme, target.authority, key.token)))
            answer = await self._answer(key, target, hop, asker)
            if isinstance(answer, RobotsCopy):
                return (answer,)
            following = response.redirect_target(answer)
            if following is None:
                return self._shared(self._copy(key, answer, hop), passed)
            target = parse_url(following)
        limit = self._rules.max_redirects
        return (self._no_file(key, f"robots.txt redirects more than {limit} times", limit),)

    async def _answer(
        self, key: RobotsKey, target: Url, hop: int, asker: HostSession
    ) -> Fetched | RobotsCopy:
        """Take one step: a copy where the step ends the search, else what the server said."""
        theirs = RobotsKey(target.scheme, target.authority, key.token)
        is_theirs = theirs != key and target.target == PATH
        if is_theirs and (borrowed := await self._borrowed(key, theirs, hop, asker)) is not None:
            return borrowed
        fetched = await self._ask(target, asker, theirs if is_theirs else None)
        if fetched is not None:
            return fetched
        if is_theirs and (borrowed := await self._borrowed(key, theirs, hop, asker)) is not None:
            return borrowed
        detail = f"robots.txt lies on `{target.authority}`, which is busy"
        return replace(self._no_file(key, detail, hop), failure=Outcome.RATE_LIMITED)

    async def _borrowed(
        self, key: RobotsKey, theirs: RobotsKey, hop: int, asker: HostSession
    ) -> RobotsCopy | None:
        """Return a copy of the file that a redirect leads to, where it is another site's own."""
        if self._leads_back(theirs, key):
            return self._no_file(key, "robots.txt redirects in a circle", hop)
        self._awaited[key] = theirs
        try:
            await self.landed(theirs, asker)
        finally:
            del self._awaited[key]
        copy = await self._fresh(theirs)
        return replace(copy, key=key, redirects=hop) if copy else None

    async def _fresh(self, key: RobotsKey) -> RobotsCopy | None:
        copy = await self._known(key)
        now_s = self._world.clock.now_s()
        return copy if copy and policy.is_fresh(copy, self._rules, now_s=now_s) else None

    def _leads_back(self, key: RobotsKey | None, start: RobotsKey) -> bool:
        """Say whether a flight waits for ours, so that waiting for it would never end."""
        while key is not None and key != start:
            key = self._awaited.get(key)
        return key is not None

    async def _ask(
        self, target: Url, asker: HostSession, theirs: RobotsKey | None
    ) -> Fetched | None:
        """Ask for a file; None where that takes too long, or another site's own has come in."""

        async def has_come() -> bool:
            return theirs is not None and await self._fresh(theirs) is not None

        request = self._requests.robots(target.href, target.authority)
        # One byte more than is read shows whether there was more to read.
        request = replace(request, max_bytes=self._rules.max_bytes + 1)
        if target.authority == asker.lease.host:
            return await asker.ask(request)
        return await asker.ask_elsewhere(target.authority, request, has_come)

    def _shared(
        self, copy: RobotsCopy, passed: list[tuple[int, RobotsKey]]
    ) -> tuple[RobotsCopy, ...]:
        if not policy.is_answer(copy, self._rules):  # their trouble may pass: they are asked again
            return (copy,)
        twins = (replace(copy, key=key, redirects=copy.redirects - hop) for hop, key in passed)
        return (copy, *(twin for twin in twins if twin.key != copy.key))

    def _no_file(self, key: RobotsKey, detail: str, hops: int) -> RobotsCopy:
        """RFC 9309 §2.3.1.2: a chain of redirects that is not followed counts as "unavailable"."""
        return RobotsCopy(key, 404, b"", self._world.clock.now_s(), detail=detail, redirects=hops)

    def _copy(self, key: RobotsKey, fetched: Fetched, hops: int) -> RobotsCopy:
        return RobotsCopy(
            key=key,
            status=fetched.status,
            body=as_utf8(fetched.body, fetched.header("content-type")),
            fetched_s=self._world.clock.now_s(),
            failure=fetched.failure,
            detail=fetched.detail,
            max_age_s=policy.max_age_s(fetched.header("cache-control")),
            redirects=hops,
        )
