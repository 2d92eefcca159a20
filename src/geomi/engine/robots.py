"""The robots.txt of the hosts a worker serves: fetched once, kept, and read by the job's own rules.

A host's lease is exclusive, so two tasks never ask for one robots.txt at once; the store keeps the
copy for the next worker and for `geomi why`.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace

from geomi.engine.ask import Asker
from geomi.engine.requests import Requests
from geomi.engine.world import World
from geomi.fetch import redirect
from geomi.model.config import CrawlConfig
from geomi.model.event import RobotsFetched
from geomi.model.page import Fetched
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.verdict import Outcome, Verdict
from geomi.robots import match, policy
from geomi.robots.parse import RobotsFile, parse
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

KEPT_HOSTS = 2048  # parsed files in memory; the store has the rest

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


@dataclass(frozen=True, slots=True)
class Reading:
    """A robots.txt as one job reads it.

    Args:
        unreached: the failure that kept us from the host at all, if there was one.
    """

    copy: RobotsCopy
    policy: policy.Policy
    file: RobotsFile
    unreached: Outcome | None = None

    @property
    def crawl_delay_s(self) -> float | None:
        """What the file asks our agent to wait."""
        return match.crawl_delay_s(self.file, self.copy.key.token)

    def judge(self, url: Url) -> Verdict:
        """Say whether the file lets us fetch a URL, and which line says so."""
        return judge_copy(self.policy, self.file, self.copy.key.token, url)


def judge_copy(rules: policy.Policy, file: RobotsFile, token: str, url: Url) -> Verdict:
    """Apply a policy and its file to one URL."""
    if rules.kind is policy.PolicyKind.ALLOW_ALL:
        return Verdict(True, "robots", rules.reason)
    if rules.kind is policy.PolicyKind.DISALLOW_ALL:
        return Verdict(False, "robots", rules.reason, "wait until robots.txt can be fetched")
    found = match.judge(file, token, url.target)
    if found.line is None:
        return Verdict(True, "robots", "no rule matches")
    verb = "Allow" if found.allowed else "Disallow"
    detail = f"line {found.line}: {verb}: {found.pattern} (User-agent: {found.agent})"
    hint = "" if found.allowed else "only the site can allow it: ask its owner to change that line"
    return Verdict(found.allowed, "robots", detail, hint)


class RobotsKeeper:
    """Reads robots.txt for one job, through the lease of the host it belongs to."""

    def __init__(self, world: World, job: str, config: CrawlConfig, requests: Requests) -> None:
        self._world = world
        self._job = job
        self._config = config
        self._requests = requests
        self._kept: OrderedDict[RobotsKey, Reading] = OrderedDict()

    async def read(self, url: Url, asker: Asker) -> Reading:
        """Return the robots.txt in force for a URL, and let the asker keep its delay."""
        reading = await self._read(url, asker)
        asker.learn(reading.crawl_delay_s, reading.policy.extra_delay_s)
        return reading

    async def _read(self, url: Url, asker: Asker) -> Reading:
        key = RobotsKey(url.scheme, url.authority, self._requests.token)
        now_s = self._world.clock.now_s()
        if not self._config.robots.respect:
            ignored = RobotsCopy(key, 404, b"", now_s, detail="robots.txt is ignored by this job")
            return self._keep(ignored)
        kept = self._kept.get(key)
        if kept is not None and kept.unreached is None and now_s < kept.policy.expires_s:
            return kept
        known = await self._world.robots.get(key)
        if known is not None and policy.is_fresh(known, self._config.robots, now_s=now_s):
            self._tell(known, from_cache=True, now_s=now_s)
            return self._keep(known)
        latest = await self._fetch(key, url, asker)
        chosen = policy.choose(known, latest, self._config.robots, now_s=now_s)
        self._tell(latest, from_cache=False, now_s=now_s)
        if chosen.failure not in UNREACHED:
            await self._world.robots.put(chosen)
        return self._keep(chosen)

    def _keep(self, copy: RobotsCopy) -> Reading:
        rules = policy.decide(copy, self._config.robots, now_s=self._world.clock.now_s())
        file = parse(copy.body, max_bytes=self._config.robots.max_bytes)
        is_final = rules.kind is not policy.PolicyKind.DISALLOW_ALL  # the job goes on without it
        unreached = copy.failure if copy.failure in UNREACHED and not is_final else None
        reading = Reading(copy, rules, file, unreached)
        self._kept[copy.key] = reading
        self._kept.move_to_end(copy.key)
        if len(self._kept) > KEPT_HOSTS:
            self._kept.popitem(last=False)
        return reading

    async def _fetch(self, key: RobotsKey, url: Url, asker: Asker) -> RobotsCopy:
        """Ask for /robots.txt; what a redirect leads to holds for where we started (C-10)."""
        target = parse_url("/robots.txt", url.href)
        limit = self._config.robots.max_redirects
        for hop in range(limit + 1):
            if target is None:
                return self._unavailable(key, "robots.txt redirects to nowhere", hop)
            if (borrowed := await self._borrowed(key, target, hop)) is not None:
                return borrowed
            fetched = await self._ask(target, asker)
            if fetched is None and (borrowed := await self._borrowed(key, target, hop)) is not None:
                return borrowed
            if fetched is None:
                detail = f"robots.txt lies on `{target.authority}`, which is busy"
                return replace(self._unavailable(key, detail, hop), failure=Outcome.RATE_LIMITED)
            following = redirect.target(fetched)
            if following is None:
                return self._copy(key, fetched, hop)
            target = parse_url(following)
        return self._unavailable(key, f"robots.txt redirects more than {limit} times", limit)

    async def _borrowed(self, key: RobotsKey, target: Url, hops: int) -> RobotsCopy | None:
        """Return a copy of the file that a redirect leads to, where it is another site's own.

        A bare domain often sends us to the robots.txt of its `www.`, which the same crawl holds.
        """
        theirs = RobotsKey(target.scheme, target.authority, key.token)
        if theirs == key or target.target != "/robots.txt":
            return None
        copy = await self._world.robots.get(theirs)
        now_s = self._world.clock.now_s()
        if copy is None or not policy.is_fresh(copy, self._config.robots, now_s=now_s):
            return None
        return replace(copy, key=key, redirects=hops)

    async def _ask(self, target: Url, asker: Asker) -> Fetched | None:
        request = self._requests.robots(target.href, target.authority)
        if target.authority == asker.lease.host:
            return await asker.ask(request)
        return await asker.ask_elsewhere(target.authority, request)

    def _unavailable(self, key: RobotsKey, detail: str, hops: int) -> RobotsCopy:
        """RFC 9309 §2.3.1.2: a chain of redirects without an end counts as "unavailable"."""
        return RobotsCopy(key, 404, b"", self._world.clock.now_s(), detail=detail, redirects=hops)

    def _copy(self, key: RobotsKey, fetched: Fetched, hops: int) -> RobotsCopy:
        return RobotsCopy(
            key=key,
            status=fetched.status,
            body=fetched.body,
            fetched_s=self._world.clock.now_s(),
            failure=fetched.failure,
            detail=fetched.detail,
            max_age_s=policy.max_age_s(fetched.header("cache-control")),
            redirects=hops,
        )

    def _tell(self, copy: RobotsCopy, *, from_cache: bool, now_s: float) -> None:
        self._world.sink.emit(
            RobotsFetched(
                job=self._job,
                host=copy.key.host,
                status=copy.status,
                from_cache=from_cache,
                age_s=max(0.0, now_s - copy.fetched_s),
                bytes=len(copy.body),
                detail=copy.detail,
            )
        )
