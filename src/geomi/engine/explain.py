"""Why a URL was, or was not, collected: the same pure chain again, over what is stored.

Nothing was logged to make this answer: rules come from the job's configuration, the winning robots
line from the stored copy, the rest from the entry and the page. A URL that was kept out has no
entry, so the pages that link to it are read back to learn how deep it lay.
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from geomi.admit.normalize import identity
from geomi.admit.rules import Admission
from geomi.engine.robots import judge_copy
from geomi.engine.world import World
from geomi.fetch.request import product_token, user_agent
from geomi.model.entry import Source, UrlEntry
from geomi.model.job import CrawlJob, StopReason
from geomi.model.robots import RobotsKey
from geomi.model.verdict import Outcome, State, Verdict
from geomi.robots import policy
from geomi.robots.parse import parse as parse_robots
from geomi.url.canonical import url_hash
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

# How many collected pages are read back to find who links to a URL that has no entry.
PAGES_READ_BACK = 20_000
PAGES_PER_READ = 500


@dataclass(frozen=True, slots=True)
class Step:
    """One check of the chain, in the order a page meets it."""

    name: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Explanation:
    """The whole chain, the step that decided, and the smallest change that would turn it round."""

    url: str
    job: str
    answer: str
    decided_by: str
    detail: str
    hint: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class _Mention:
    """The shallowest collected page that links to a URL."""

    parent: str
    depth: int


async def explain(world: World, job: CrawlJob, url: Url) -> Explanation:
    """Answer "why was this page (not) crawled?" for one job."""
    admission = Admission(job.config, job.seeds, now_year=_year(world))
    entry = await world.census.entry(job.id, _hash(url, job), host=url.authority)
    mention = None if entry else await _mention(world, job, url)
    depth = entry.depth if entry else mention.depth if mention else 0
    is_seed = entry.source is Source.SEED if entry else url.href in job.seeds
    steps = [Step(*check) for check in admission.explain(url, depth, is_seed=is_seed)]
    robots = await _robots(world, job, url)
    if robots is not None:
        steps.append(Step("robots", robots))
    steps.append(_frontier(entry, mention, job))
    if entry is not None and entry.state is not State.PENDING and entry.outcome is not None:
        steps.append(_visit(entry))
    return _conclude(url, job, entry, steps)


def _conclude(url: Url, job: CrawlJob, entry: UrlEntry | None, steps: list[Step]) -> Explanation:
    """The entry's own end decides; without one, the first check that said no."""
    if entry is not None and entry.outcome is not Outcome.ROBOTS:
        decisive = steps[-1]
    else:
        decisive = next((step for step in steps if not step.verdict.admitted), steps[-1])
    state = entry.state if entry else "never entered the frontier"
    return Explanation(
        url=url.href,
        job=job.id,
        answer=_ANSWERS.get(state, str(state)),
        decided_by=decisive.verdict.rule,
        detail=decisive.verdict.detail,
        hint=decisive.verdict.hint,
        steps=tuple(steps),
    )


_ANSWERS: dict[str, str] = {
    State.PENDING: "waiting to be fetched",
    State.COMPLETED: "fetched and kept",
    State.FAILED: "fetched without success",
    State.SKIPPED: "visited and not kept",
    State.BLOCKED: "not fetched: it is not allowed",
    "never entered the frontier": "not fetched",
}


def _frontier(entry: UrlEntry | None, mention: _Mention | None, job: CrawlJob) -> Step:
    if entry is not None:
        found = f"found on {entry.parent}" if entry.parent else f"a {entry.source} of this job"
        detail = f"{found}, depth {entry.depth}, {entry.state}"
        if entry.state is not State.PENDING:
            return Step("frontier", Verdict(True, "frontier", detail))
        return Step("frontier", Verdict(True, "frontier", detail + _waiting(entry), _way_on(job)))
    if mention is not None:
        detail = f"linked from {mention.parent}, which lies at depth {mention.depth - 1}"
        return Step("frontier", Verdict(False, "frontier", detail))
    detail = f"never seen: none of the {job.stats.collected} collected pages links to it"
    hint = "give it as a start URL, or crawl deeper or wider so that a page linking to it is read"
    return Step("frontier", Verdict(False, "never_seen", detail, hint))


def _waiting(entry: UrlEntry) -> str:
    """Say what a URL waits for: its first turn, or another try."""
    if not entry.attempts:
        return "; its turn has not come"
    status = f" (HTTP {entry.status})" if entry.status else ""
    return f"; try {entry.attempts} ended with {entry.outcome}{status}, another follows"


def _way_on(job: CrawlJob) -> str:
    if job.stop is StopReason.MAX_PAGES:
        return f"--resume --max-pages {2 * job.config.limits.max_pages}"
    return "--resume"


def _visit(entry: UrlEntry) -> Step:
    outcome = entry.outcome or Outcome.OK
    kept = entry.state is State.COMPLETED
    status = f"HTTP {entry.status}" if entry.status else ""
    tries = f"after {entry.attempts} visits" if entry.attempts > 1 else ""
    detail = ", ".join(part for part in (status, entry.detail, tries) if part) or outcome
    hint = f"--exclude '{_path(entry.url)}'" if kept else ""
    return Step("visit", Verdict(kept, f"outcome.{outcome}", detail, hint))


async def _robots(world: World, job: CrawlJob, url: Url) -> Verdict | None:
    token = product_token(user_agent(job.config, version=world.version))
    if not job.config.robots.respect:
        return Verdict(True, "robots", "robots.txt is ignored by this job")
    copy = await world.robots.get(RobotsKey(url.scheme, url.authority, token))
    if copy is None:
        return None
    rules = policy.decide(copy, job.config.robots, now_s=copy.fetched_s)
    file = parse_robots(copy.body, max_bytes=job.config.robots.max_bytes)
    return judge_copy(rules, file, token, url)


async def _mention(world: World, job: CrawlJob, url: Url) -> _Mention | None:
    """Read collected pages back until the shallowest one that links to this URL is known."""
    wanted = _hash(url, job)
    needle = url.path.encode()
    best: _Mention | None = None
    after = seen = 0
    while seen < PAGES_READ_BACK:
        rows = await world.pages.feed(job.id, after=after, limit=PAGES_PER_READ)
        for row in rows:
            line = await world.archive.read(row.record)
            if needle in line and (found := _links_to(line, wanted, job)) is not None:
                best = found if best is None or found.depth < best.depth else best
        if len(rows) < PAGES_PER_READ:
            break
        after, seen = rows[-1].seq, seen + len(rows)
    return best


def _links_to(line: bytes, wanted: bytes, job: CrawlJob) -> _Mention | None:
    record = orjson.loads(line)
    for link in record["links"]:
        target = parse_url(link["url"])
        if target is not None and _hash(target, job) == wanted:
            return _Mention(record["final_url"], record["depth"] + 1)
    return None


def _hash(url: Url, job: CrawlJob) -> bytes:
    return url_hash(identity(url, job.config.url))


def _path(url: str) -> str:
    parsed = parse_url(url)
    return parsed.path if parsed else url


def _year(world: World) -> int:
    return 1970 + int(world.clock.wall_s() // (365.2425 * 86_400))
