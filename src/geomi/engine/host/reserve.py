"""Reserve one host outside the crawl loop, and fetch a URL of it along its redirects.

A survey, a preview, the seed engine and `geomi robots` use it. They are polite like a crawl: the
host is reserved like any claim, robots.txt is obeyed, and every redirect is judged. A redirect to
another host is judged by that host's own robots.txt.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from geomi.engine.host.lease import lease_s
from geomi.engine.host.robots import JobRobots, RobotsKeeper
from geomi.engine.host.session import HostSession
from geomi.engine.visit.privacy import Privacy
from geomi.engine.visit.rules import JobRules
from geomi.engine.world import World
from geomi.errors import StoreBusy
from geomi.fetch import response
from geomi.fetch.request import Requests
from geomi.frontier import politeness
from geomi.frontier.state import NEW
from geomi.model.config import CrawlConfig
from geomi.model.entry import Batch, Discovered, Lease, UrlEntry
from geomi.model.page import Fetched, Headers, Sink
from geomi.model.verdict import Outcome, Verdict
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

LONGEST_WAIT_S = 60.0  # for a host that another crawl is asking
LOOK_S = 0.5


async def reserve_host(
    world: World, config: CrawlConfig, host: str, *, longest_wait_s: float = LONGEST_WAIT_S
) -> Lease:
    """Borrow one host; `StoreBusy` where others ask it for too long."""
    clock = world.clock
    last_s = clock.now_s() + longest_wait_s
    while True:
        answer = await world.store.frontier.reserve(
            "",
            host,
            owner=world.owner,
            lease_s=lease_s(config, world.silence_s),
            delay_s=politeness.base_floor_s(config, is_public=False),
            now_s=clock.now_s(),
        )
        if isinstance(answer, Lease):
            return answer
        if (now_s := clock.now_s()) >= last_s:
            raise StoreBusy(f"`{host}` is leased by another worker", hint="try again in a minute")
        await clock.sleep_until(min(answer, now_s + LOOK_S))


@asynccontextmanager
async def reserved_session(
    world: World,
    config: CrawlConfig,
    host: str,
    privacy: Privacy,
    *,
    longest_wait_s: float = LONGEST_WAIT_S,
) -> AsyncIterator[HostSession]:
    """Borrow one host for a while, and give it back with what was learned of it."""
    lease = await reserve_host(world, config, host, longest_wait_s=longest_wait_s)
    session = HostSession(world, lease, config, privacy, asyncio.Semaphore(1))
    try:
        yield session
    finally:
        await world.store.frontier.settle(Batch(hosts=(session.farewell(),)))


async def look_up_robots(world: World, config: CrawlConfig, url: Url) -> JobRobots:
    """Fetch a host's robots.txt in its turn, outside any crawl."""
    privacy, requests = Privacy(config.safety), Requests(config, [], version=world.version)
    keeper = RobotsKeeper(world, "", config, requests, privacy)
    async with reserved_session(world, config, url.authority, privacy) as session:
        return await keeper.read(url, session)


@dataclass(frozen=True, slots=True)
class RedirectFollower:
    """How one URL is asked for and its redirects are followed.

    Args:
        conditions: what is sent along to a URL that gave the known copy.
    """

    rules: JobRules
    requests: Requests
    conditions: Mapping[str, Headers] = field(default_factory=dict)

    async def ask(
        self,
        entry: UrlEntry,
        session: HostSession,
        robots: JobRobots,
        keeper: RobotsKeeper,
        sink: Sink | None = None,
    ) -> Fetched | Verdict:
        """Ask for an entry and follow its redirects, each judged like a link.

        Args:
            robots: the robots.txt of the session's host.
            keeper: reads those of other hosts.
        """
        url, hops = parse_url(entry.url), 0
        while True:
            assert url is not None, "only URLs that parse are listed"
            is_here = url.authority == session.lease.host
            theirs = robots if is_here else await keeper.read_elsewhere(url, session)
            if not is_here and (failure := _out_of_reach(theirs)) is not None:
                return Fetched(url.href, failure=failure, detail=theirs.copy.detail)
            if not (verdict := theirs.judge(url)).admitted:
                return verdict
            session.allowed_by(theirs.fetched_s if is_here else None, None)
            request = self.requests.page(entry, url, self.conditions.get(url.href, ()), sink)
            if is_here:
                fetched = await session.ask(request)
            else:
                guest = await session.ask_elsewhere(url.authority, request)
                fetched = guest or Fetched(url.href, failure=Outcome.RATE_LIMITED)
            target = response.redirect_target(fetched)
            if target is None or hops >= self.rules.config.http.max_redirects:
                return fetched
            answer = self.rules.follow(entry, target)
            if isinstance(answer, Verdict):
                return fetched
            url, hops = parse_url(answer.url), hops + 1


def as_entry(one: Discovered) -> UrlEntry:
    """Give a find the form in which the rules and the requests know it."""
    return UrlEntry(
        job="",
        url_hash=one.url_hash,
        url=one.url,
        host=one.host,
        depth=one.depth,
        priority=one.priority,
        source=one.source,
        kind=one.kind,
        parent=one.parent,
        origin=one.origin,
        hops=one.hops,
        state=NEW,
        attempts=0,
        due_s=0.0,
        discovered_s=0.0,
        nesting=one.nesting,
        pattern=one.pattern,
        lastmod_s=one.lastmod_s,
    )


def _out_of_reach(theirs: JobRobots) -> Outcome | None:
    """Return why another host cannot be asked now: it is out of reach, or it is not our turn."""
    busy = Outcome.RATE_LIMITED
    return busy if theirs.copy.failure is busy else theirs.unreached
