"""Compute the required delay of a logged request, from its job and the stored robots.txt.

- A job's settings may change when it is resumed, so they hold for its last run only. One process at
  a time runs a job; workers that were active at the same time belong to one run. `RunHistory` finds
  the last run in a first reading of the log.
- A stored robots.txt counts only for requests that name exactly this copy.
- `RunHistory` also records where a robots.txt redirected. Only after such a redirect may a request
  for robots.txt have another path.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from geomi.admit.address import is_public
from geomi.engine.audit.invariants import ROUNDING_S
from geomi.engine.host.lease import lease_s
from geomi.engine.host.robots import JobRobots, read_copy
from geomi.engine.world import World
from geomi.fetch.request import product_token, user_agent
from geomi.frontier.politeness import base_floor_s, credit_s
from geomi.model.config import CrawlConfig
from geomi.model.job import CrawlJob
from geomi.model.request_log import RequestPurpose, SentRequest
from geomi.model.robots import RobotsKey
from geomi.model.verdict import Outcome
from geomi.ports.store import Jobs
from geomi.url.parse import parse as parse_url

KEPT_READINGS = 64  # of one host there are as many as it has schemes and we have names
# A redirect to another host waits for that host, for a slot and for the caps: a minute or so.
FOLLOWED_WITHIN_S = 600.0
JobOwner = tuple[str, str]  # a job, and who works on it


@dataclass(frozen=True, slots=True)
class RequestTerms:
    """What held for one request.

    Args:
        reading: the robots.txt that it rests on, where the store still has that copy.
    """

    config: CrawlConfig
    reading: JobRobots | None = None

    @property
    def credit_s(self) -> float:
        """How much rest may be put off in a burst."""
        return credit_s(self.config)

    def least_s(self, asked: SentRequest) -> float:
        """The least delay of the job itself."""
        return base_floor_s(self.config, is_public=_is_public(asked.ip))

    def firm_s(self, asked: SentRequest) -> float:
        """What no burst shortens: the delay that robots.txt asks for, the floor of public hosts."""
        own, rules = self.config.politeness, self.config.robots
        floor_s = own.min_delay_s if _is_public(asked.ip) else 0.0
        if self.reading is None or not rules.respect_crawl_delay:
            return floor_s
        return max(floor_s, min(self.reading.crawl_delay_s or 0.0, rules.max_crawl_delay_s))

    def expired_s(self, asked: SentRequest) -> float:
        """How long before the request its robots.txt had expired; below 0 where it was fresh.

        A page is judged before it waits for its turn, so it may be sent one lease later.
        """
        if asked.robots_at_s is None:
            return 0.0
        rules = self.config.robots
        ends_s = asked.robots_at_s + max(rules.ttl_s, rules.fail_ttl_s)
        if self.reading is not None:
            ends_s = self.reading.policy.expires_s
        return asked.started_s - ends_s - lease_s(self.config)


class TermsBook:
    """Finds the terms of requests; jobs that are gone have none.

    Args:
        jobs_of: where the jobs of a tenant are; without it all but the world's own are unknown.
    """

    def __init__(self, world: World, jobs_of: Callable[[str], Jobs] | None = None) -> None:
        self._world = world
        self._jobs_of = jobs_of
        self._jobs: dict[str, tuple[CrawlConfig, str] | None] = {}  # and the name in robots.txt
        self._readings: dict[tuple[RobotsKey, str], JobRobots | None] = {}

    async def of(self, asked: SentRequest) -> RequestTerms | None:
        """Return what held for a request."""
        known = await self._job(asked.job)
        if known is None:
            return None
        config, token = known
        if asked.robots_at_s is None or not config.robots.respect:
            return RequestTerms(config)
        reading = await self._reading(asked, config, token)
        is_same = reading is not None and reading.copy.fetched_s == asked.robots_at_s
        return RequestTerms(config, reading if is_same else None)

    async def config(self, job: str) -> CrawlConfig | None:
        """Return a job's configuration as it is now."""
        known = await self._job(job)
        return known[0] if known is not None else None

    async def _job(self, job: str) -> tuple[CrawlConfig, str] | None:
        if job not in self._jobs:
            found = await self._find(job)
            if found is None:
                self._jobs[job] = None
            else:
                name = user_agent(found.config, version=self._world.version)
                self._jobs[job] = (found.config, product_token(name))
        return self._jobs[job]

    async def _find(self, job: str) -> CrawlJob | None:
        found = await self._world.store.jobs.get(job)
        if found is not None or self._jobs_of is None:
            return found
        tenant = await self._world.store.roster.tenant_of(job)
        return await self._jobs_of(tenant).get(job) if tenant is not None else None

    async def _reading(
        self, asked: SentRequest, config: CrawlConfig, token: str
    ) -> JobRobots | None:
        url = parse_url(asked.url)
        if url is None:
            return None
        key = RobotsKey(url.scheme, url.authority, token)
        if (key, asked.job) not in self._readings:
            if len(self._readings) >= KEPT_READINGS:
                self._readings.clear()
            copy = await self._world.store.robots.get(key)
            now_s = copy.fetched_s if copy else 0.0
            reading = read_copy(copy, config.robots, now_s=now_s) if copy else None
            self._readings[key, asked.job] = reading
        return self._readings[key, asked.job]


def forbidden(reading: JobRobots, asked: SentRequest) -> str:
    """Return the line of a robots.txt that forbids a request; empty where it is allowed."""
    url = parse_url(asked.url)
    if url is None or reading.rule(url).allowed:
        return ""
    return reading.judge(url).detail


@lru_cache(4096)
def _is_public(ip: str) -> bool:
    return bool(ip) and is_public(ip)


class RunHistory:
    """Keeps two times of each worker, and eight bytes of each robots.txt that redirected."""

    def __init__(self) -> None:
        self.gone_before_s = -math.inf  # the log begins here
        self._spans: dict[str, dict[str, tuple[float, float]]] = {}
        self._redirects: dict[JobOwner, array[float]] = {}
        self._since_s: dict[str, float] = {}

    def add(self, asked: SentRequest) -> None:
        """Take a request; the order does not matter."""
        spans, start_s = self._spans.setdefault(asked.job, {}), asked.started_s
        first_s, last_s = spans.get(asked.owner, (start_s, start_s))
        spans[asked.owner] = min(first_s, start_s), max(last_s, start_s)
        if asked.purpose is RequestPurpose.ROBOTS and asked.outcome is Outcome.REDIRECTED:
            self._redirects.setdefault((asked.job, asked.owner), array("d")).append(asked.ended_s)

    def end(self) -> None:
        """Put in order what was taken; questions come after it."""
        self._since_s = {job: _last_run_s(of_job.values()) for job, of_job in self._spans.items()}
        self._redirects = {who: array("d", sorted(of)) for who, of in self._redirects.items()}

    def is_present(self, asked: SentRequest) -> bool:
        """Return whether the settings that its job has today held for a request too."""
        return asked.started_s >= self._since_s.get(asked.job, -math.inf)

    def is_followed(self, asked: SentRequest) -> bool:
        """Return whether a robots.txt had redirected the worker just before."""
        ends_s = self._redirects.get((asked.job, asked.owner), array("d"))
        before = bisect_right(ends_s, asked.started_s + ROUNDING_S)
        longest_s = FOLLOWED_WITHIN_S + asked.floor_s
        if asked.started_s - self.gone_before_s <= longest_s:
            return True  # the log that would show it is gone
        return before > 0 and asked.started_s - ends_s[before - 1] <= longest_s


def _last_run_s(spans: Iterable[tuple[float, float]]) -> float:
    """Return when the last of those runs began that spans of workers add up to."""
    newest_first = sorted(spans, key=lambda span: span[1], reverse=True)
    since_s = newest_first[0][0]
    for first_s, last_s in newest_first:
        if last_s < since_s:
            break
        since_s = min(since_s, first_s)
    return since_s
