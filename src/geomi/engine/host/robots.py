"""Fetch the robots.txt of a worker's hosts once, keep it, and read it by each job's own rules.

The store keeps copies for the next worker, the next job and `geomi why`; a job may also keep its
copies to itself, in memory alone (ROB-07). How a copy is parsed, how long it holds and what a
failure means is each job's own choice.

`RobotsFetch` never asks for a file twice at once (ROB-08, C-10). A host's lease is exclusive, so
nobody else asks a host for its own file meanwhile. A redirect can lead to the file of another host,
which may be on its way already: then that one is waited for.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from geomi.engine.host.session import HostSession
from geomi.engine.visit.privacy import Privacy
from geomi.engine.world import World
from geomi.fetch import response
from geomi.fetch.request import Requests
from geomi.model.config import CrawlConfig, OnOversize, RobotsRules
from geomi.model.event import RobotsFetched, RobotsJudged, Warned
from geomi.model.page import Fetched
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.verdict import Outcome, Verdict
from geomi.ports.runtime import Rehearsal, RehearsedBody
from geomi.robots import match, policy
from geomi.robots.match import Judgement
from geomi.robots.parse import RobotsFile, as_utf8, parse
from geomi.robots.signals import LICENSE, Said
from geomi.url.parse import Url, split
from geomi.url.parse import parse as parse_url

# The host itself could not be reached: its pages fail with the same outcome and the retry table
# decides when to ask again, so such a copy is not kept.
UNREACHED = frozenset(
    {
        Outcome.DNS_ERROR,
        Outcome.CONNECT_ERROR,
        Outcome.TLS_ERROR,
        Outcome.TIMEOUT,
        Outcome.ADDRESS_REFUSED,
    }
)

PATH = "/robots.txt"
REHEARSAL_S = 20.0

OnJudged = Callable[[Url, Judgement], None]
FindCopy = Callable[[RobotsKey], Awaitable[RobotsCopy | None]]


@runtime_checkable
class DetailedSink(Protocol):
    """A sink that may want an event for every match (ROB-30); without one, matches cost nothing."""

    wants_details: bool


@dataclass(frozen=True, slots=True)
class JobRobots:
    """A robots.txt as one job reads it.

    Args:
        unreached: the failure that kept us from the host at all, if there was one.
        on_judged: is called for every judgement, if set.
    """

    copy: RobotsCopy
    policy: policy.RobotsPolicy
    file: RobotsFile
    unreached: Outcome | None = None
    on_judged: OnJudged | None = None

    @property
    def crawl_delay_s(self) -> float | None:
        """What the file asks our agent to wait."""
        return match.crawl_delay_s(self.file, self.copy.key.token)

    @property
    def fetched_s(self) -> float | None:
        """When the copy in force was fetched; None where the job reads no robots.txt."""
        return self.copy.fetched_s if self.file.dialect.respect else None

    def rule(self, url: Url) -> Judgement:
        """Find the line that decides a URL, or what holds without a line."""
        if self.policy.kind is policy.PolicyKind.RULES:
            return match.judge(self.file, self.copy.key.token, url.target)
        return Judgement(self.policy.kind is policy.PolicyKind.ALLOW_ALL)

    def usage(self, url: str) -> Said:
        """Return what the file says about the use of a page, and where its terms are."""
        if not (self.file.usages or self.file.license):
            return ()
        said = match.usage(self.file, self.copy.key.token, split(url).target)
        return (*said, (LICENSE, self.file.license)) if self.file.license else said

    def judge(self, url: Url) -> Verdict:
        """Return whether the file lets us fetch a URL, and which line says so."""
        found = self.rule(url)
        if self.on_judged is not None:
            self.on_judged(url, found)
        if self.policy.kind is not policy.PolicyKind.RULES:
            hint = "" if found.allowed else "wait until robots.txt can be fetched"
            return Verdict(found.allowed, "robots", self.policy.reason, hint)
        if found.line is None:
            return Verdict(True, "robots", "no rule matches")
        verb = "Allow" if found.allowed else "Disallow"
        detail = f"line {found.line}: {verb}: {found.pattern} (User-agent: {found.agent})"
        hint = (
            "" if found.allowed else "only the site can allow it: ask its owner to change the line"
        )
        return Verdict(found.allowed, "robots", detail, hint)


def read_copy(
    copy: RobotsCopy, rules: RobotsRules, *, now_s: float, on_judged: OnJudged | None = None
) -> JobRobots:
    """Read a copy by a job's rules."""
    file = parse(copy.body, rules)
    decided = policy.decide(copy, rules, now_s=now_s, was_cut=file.was_cut)
    is_final = decided.kind is not policy.PolicyKind.DISALLOW_ALL  # the job goes on without it
    unreached = copy.failure if copy.failure in UNREACHED and not is_final else None
    return JobRobots(copy, decided, file, unreached, on_judged)


class RobotsKeeper:
    """Reads robots.txt for one job, through the lease of the host it belongs to."""

    def __init__(
        self, world: World, job: str, config: CrawlConfig, requests: Requests, privacy: Privacy
    ) -> None:
        self._world = world
        self._job = job
        self._rules = config.robots
        self._token = requests.token
        self._privacy = privacy
        self._kept: OrderedDict[RobotsKey, JobRobots] = OrderedDict()
        self._source = RobotsFetch(world, config.robots, requests, self._known)
        wants = isinstance(world.sink, DetailedSink) and world.sink.wants_details
        self._on_judged = self._tell_match if wants else None

    async def read(self, url: Url, session: HostSession, *, alone: bool = False) -> JobRobots:
        """Return the robots.txt in force for a URL, and let the session keep its delay.

        Args:
            alone: a file is read in the process that can be killed before it is read here.
        """
        reading = await self._read(url, session, alone=alone)
        session.learn(reading.crawl_delay_s, reading.policy.extra_delay_s)
        return reading

    async def read_elsewhere(self, url: Url, session: HostSession) -> JobRobots:
        """Return the robots.txt of another host, to which a URL of the session's host leads."""
        return await self._read(url, session)

    async def _read(self, url: Url, session: HostSession, *, alone: bool = False) -> JobRobots:
        key = RobotsKey(url.scheme, url.authority, self._token)
        if (kept := self._in_force(key)) is not None:
            return kept
        await self._source.landed(key, session)
        return self._in_force(key) or await self._renew(key, url, session, alone=alone)

    async def _renew(
        self, key: RobotsKey, url: Url, session: HostSession, *, alone: bool
    ) -> JobRobots:
        now_s = self._world.clock.now_s()
        if not self._rules.respect:
            ignored = RobotsCopy(key, 404, b"", now_s, detail="robots.txt is ignored by this job")
            return self._keep(ignored)
        known = await self._known(key)
        alone = alone or (known is not None and known.failure is Outcome.POISONED)
        if alone and known is not None:
            known, stored = await self._rehearsed(known, session), known
            if known is not stored:
                await self._store(known)
        if known is not None and policy.is_fresh(known, self._rules, now_s=now_s):
            self._tell(known, from_cache=True, now_s=now_s)
            return self._admit(known)
        with self._source.flight(key):
            latest, *twins = await self._source.fetch(key, url, session)
            if alone:
                latest, twins = await self._rehearsed(latest, session), []
            self._tell(latest, from_cache=False, now_s=now_s)
            chosen = policy.choose(known, latest, self._rules, now_s=now_s)
            for copy in (*twins, chosen):
                await self._store(copy)
            return self._admit(chosen)

    async def _rehearsed(self, copy: RobotsCopy, session: HostSession) -> RobotsCopy:
        """Return a copy that can be read; of a file that kills its reader only that is kept."""
        what = Rehearsal(RehearsedBody.ROBOTS, robots=self._rules)
        compute = self._world.compute
        reading = compute.rehearse(what, copy.body, deadline_s=REHEARSAL_S)
        if (unread := await session.hold(reading)) is None:
            return copy
        return replace(copy, body=b"", failure=Outcome.POISONED, detail=unread.reason)

    def _in_force(self, key: RobotsKey) -> JobRobots | None:
        kept = self._recall(key)
        if kept is None or kept.unreached is not None:
            return None
        return kept if self._world.clock.now_s() < kept.policy.expires_s else None

    async def _known(self, key: RobotsKey) -> RobotsCopy | None:
        if self._rules.persist:
            return await self._world.store.robots.get(key)
        kept = self._recall(key)
        return None if kept is None or kept.unreached is not None else kept.copy

    async def _store(self, copy: RobotsCopy) -> None:
        if not self._rules.persist:
            self._keep(copy)
        elif copy.failure not in UNREACHED:
            await self._world.store.robots.put(self._privacy.robots(copy))

    def _admit(self, copy: RobotsCopy) -> JobRobots:
        """Keep a copy that is new to this worker, and warn about parts that are not obeyed."""
        reading = self._keep(copy)
        limit_s = self._rules.max_crawl_delay_s
        if self._rules.respect_crawl_delay and (reading.crawl_delay_s or 0.0) > limit_s:  # C-05
            self._warn(copy, f"asks for {reading.crawl_delay_s:g} s; {limit_s:g} s are obeyed")
        if reading.file.was_cut and self._rules.on_oversize is OnOversize.OBEY:
            self._warn(copy, "is above the limits; geomi obeys the part that it read")
        elif reading.file.was_cut:
            self._warn(
                copy,
                "is above the limits; geomi takes it as allowing everything (robots.on_oversize)",
            )
        return reading

    def _recall(self, key: RobotsKey) -> JobRobots | None:
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def _keep(self, copy: RobotsCopy) -> JobRobots:
        now_s = self._world.clock.now_s()
        reading = read_copy(copy, self._rules, now_s=now_s, on_judged=self._on_judged)
        self._kept[copy.key] = reading
        self._kept.move_to_end(copy.key)
        if len(self._kept) > self._rules.cache_entries:
            self._kept.popitem(last=False)
        return reading

    def _tell(self, copy: RobotsCopy, *, from_cache: bool, now_s: float) -> None:
        self._world.sink.emit(
            RobotsFetched(
                job=self._job,
                host=copy.key.host,
                status=copy.status,
                from_cache=from_cache,
                age_s=max(0.0, now_s - copy.fetched_s),
                bytes=len(copy.body),
                detail=self._privacy.told(copy.detail),
            )
        )

    def _tell_match(self, url: Url, found: Judgement) -> None:
        self._world.sink.emit(
            RobotsJudged(
                job=self._job,
                host=url.authority,
                path=url.target,
                decision="ALLOW" if found.allowed else "DISALLOW",
                winner_pattern=self._privacy.told(found.pattern),
                match_len=found.size,
            )
        )

    def _warn(self, copy: RobotsCopy, what: str) -> None:
        self._world.sink.emit(Warned(self._job, f"robots.txt of `{copy.key.host}` {what}"))


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

    async def landed(self, key: RobotsKey, session: HostSession) -> None:
        """Wait for a file that is on its way already."""
        while (flight := self._flights.get(key)) is not None:
            await session.hold(flight.wait())

    async def fetch(self, key: RobotsKey, url: Url, session: HostSession) -> tuple[RobotsCopy, ...]:
        """Ask for /robots.txt; what a redirect leads to holds for where we started (C-10).

        The copy for `key` comes first. The others are the same file for the authorities on the
        way whose own robots.txt it is: a bare domain often leads to the file of its `www.`.
        """
        target, status = parse_url(PATH, url.href), 0
        passed: list[tuple[int, RobotsKey]] = []
        for hop in range(self._rules.max_redirects + 1):
            assert target is not None, "a redirect that leads to no URL is an answer"
            if self._rules.same_host_redirects and target.host != url.host:
                detail = f"robots.txt redirects to `{target.host}`"
                excluded = self._no_file(key, detail, hop, Outcome.REDIRECT_EXCLUDED)
                return (replace(excluded, status=status),)
            if hop and target.target == PATH:
                passed.append((hop, RobotsKey(target.scheme, target.authority, key.token)))
            answer = await self._answer(key, target, hop, session)
            if isinstance(answer, RobotsCopy):
                return (answer,)
            following = response.redirect_target(answer)
            if following is None:
                return self._shared(self._copy(key, answer, hop), passed)
            target, status = parse_url(following), answer.status
        limit = self._rules.max_redirects
        detail = f"robots.txt redirects more than {limit} times"
        endless = self._no_file(key, detail, limit, Outcome.TOO_MANY_REDIRECTS)
        return (replace(endless, status=status),)

    async def _answer(
        self, key: RobotsKey, target: Url, hop: int, session: HostSession
    ) -> Fetched | RobotsCopy:
        """Take one step: a copy where the step ends the search, else what the server said."""
        theirs = RobotsKey(target.scheme, target.authority, key.token)
        is_theirs = theirs != key and target.target == PATH
        if is_theirs and (borrowed := await self._borrowed(key, theirs, hop, session)) is not None:
            return borrowed
        fetched = await self._ask(target, session, theirs if is_theirs else None)
        if fetched is not None:
            return fetched
        if is_theirs and (borrowed := await self._borrowed(key, theirs, hop, session)) is not None:
            return borrowed
        detail = f"robots.txt is on `{target.authority}`, which is busy"
        return self._no_file(key, detail, hop, Outcome.RATE_LIMITED)

    async def _borrowed(
        self, key: RobotsKey, theirs: RobotsKey, hop: int, session: HostSession
    ) -> RobotsCopy | None:
        """Return a copy of the file that a redirect leads to, where it is another site's own."""
        if self._leads_back(theirs, key):
            detail = "robots.txt redirects in a circle"
            return self._no_file(key, detail, hop, Outcome.TOO_MANY_REDIRECTS)
        self._awaited[key] = theirs
        try:
            await self.landed(theirs, session)
        finally:
            del self._awaited[key]
        copy = await self._fresh(theirs)
        return replace(copy, key=key, redirects=hop) if copy else None

    async def _fresh(self, key: RobotsKey) -> RobotsCopy | None:
        copy = await self._known(key)
        now_s = self._world.clock.now_s()
        return copy if copy and policy.is_fresh(copy, self._rules, now_s=now_s) else None

    def _leads_back(self, key: RobotsKey | None, start: RobotsKey) -> bool:
        """Return whether a flight waits for ours, so that waiting for it would never end."""
        while key is not None and key != start:
            key = self._awaited.get(key)
        return key is not None

    async def _ask(
        self, target: Url, session: HostSession, theirs: RobotsKey | None
    ) -> Fetched | None:
        """Ask for a file; None where that takes too long, or another site's own has come in."""

        async def has_come() -> bool:
            return theirs is not None and await self._fresh(theirs) is not None

        request = self._requests.robots(target.href, target.authority)
        # One byte more than is read shows whether there was more to read.
        request = replace(request, max_bytes=self._rules.max_bytes + 1)
        if target.authority == session.lease.host:
            return await session.ask(request)
        return await session.ask_elsewhere(target.authority, request, has_come)

    def _shared(
        self, copy: RobotsCopy, passed: list[tuple[int, RobotsKey]]
    ) -> tuple[RobotsCopy, ...]:
        if not policy.is_answer(copy, self._rules):  # their trouble may pass: they are asked again
            return (copy,)
        twins = (replace(copy, key=key, redirects=copy.redirects - hop) for hop, key in passed)
        return (copy, *(twin for twin in twins if twin.key != copy.key))

    def _no_file(self, key: RobotsKey, detail: str, hops: int, failure: Outcome) -> RobotsCopy:
        """Say why a chain of redirects led to no file.

        RFC 9309 §2.3.1.2: one that is not followed counts as "unavailable", like a missing file.
        Its status is that of its last redirect, where there is one: no server said 404.
        """
        now_s = self._world.clock.now_s()
        return RobotsCopy(key, 0, b"", now_s, failure, detail, redirects=hops)

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
