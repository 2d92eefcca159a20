"""Explain why a URL was, or was not, collected: the same pure rules again, over what is stored.

Nothing was logged to make this answer. The rules come from the job's configuration and the
deciding robots line from the stored copy. The rest comes from the entry, its pattern and its page.
An excluded URL has no entry. For it, collected pages are read back to find the shallowest one that
links to it, and whether the limit of waiting URLs kept it out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import orjson

from geomi.admit.trap import BUDGETS, judge_tally
from geomi.engine.host.robots import read_copy
from geomi.engine.inspect.status import when_due
from geomi.engine.regions import live_regions
from geomi.engine.visit.identity import UrlIdentity
from geomi.engine.visit.links import LEFT_UNJUDGED
from geomi.engine.visit.patterns import Patterns
from geomi.engine.visit.rules import JobRules, rules_for
from geomi.engine.world import World
from geomi.fetch.request import product_token, user_agent
from geomi.frontier.region import RegionMap, regions_of
from geomi.model.entry import Source, Tally, UrlEntry
from geomi.model.index.document import DocumentState, document_id
from geomi.model.job import CrawlJob, StopReason
from geomi.model.robots import RobotsKey
from geomi.model.site import SiteRule
from geomi.model.verdict import Outcome, State, Verdict, WaitingLimit
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

# Endings that say what a rule said, which names itself and its remedy better.
_BY_RULE = frozenset({Outcome.ROBOTS, Outcome.EXCLUDED, Outcome.TRAPPED, Outcome.LEFT_ALONE})
# Endings without a request, whatever the state they lead to is called.
_NOT_ASKED = {
    Outcome.EXCLUDED: "not fetched",
    Outcome.TRAPPED: "not fetched",
    Outcome.LEFT_ALONE: "not fetched: it is blocked",
}
_ANSWERS = {
    State.COMPLETED: "fetched and kept",
    State.FAILED: "fetched, but failed",
    State.SKIPPED: "visited, not kept",
    State.BLOCKED: "not fetched: not allowed",
}
# How many collected pages are read back to find who links to a URL that has no entry.
PAGES_READ_BACK = 20_000
PAGES_PER_READ = 500
_FEWER_PATTERNS = "use fewer or simpler patterns, then crawl anew"
# A change of the job's own limit lets its pages be read once more.
_HINTS = {
    WaitingLimit.OF_ALL: "set GEOMI_MAX_QUEUED higher, then --resume --set limits.max_queued=0"
}


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


async def explain(
    world: World, job: CrawlJob, url: Url, reviews: Sequence[SiteRule]
) -> Explanation:
    """Answer "why was this page (not) crawled?" for one job.

    Args:
        reviews: what people decided about sites.
    """
    rules = await rules_for(world, job.config, job.seeds, reviews)
    naming = rules.identity
    url = naming.wire(url)
    entry = await _find(world, job, naming.hash(url), url.authority)
    mention = None if entry else await find_linking_page(world, job, url, naming)
    room = await _left_out(world, job, url, mention) if mention else None
    judged = await _rules(world, job, url, entry, mention, rules)
    steps = [*judged, _frontier(url, entry, mention, job, room)]
    if entry is not None and entry.state is State.PENDING:
        steps += [Step("region", one) for one in await _region(world, job, entry)]
    if entry is not None and entry.state is not State.PENDING and entry.outcome is not None:
        steps.append(_visit(entry))
    told = _conclude(url, job, entry, steps)
    later = (
        ("due", await when_due(world, job, entry) if entry else None),
        ("index", await _indexed(world, job, naming.hash(url)) if entry else None),
    )
    after = [Step(name, verdict) for name, verdict in later if verdict is not None]
    return replace(told, steps=(*told.steps, *after))


async def _region(world: World, job: CrawlJob, entry: UrlEntry) -> list[Verdict]:
    """Say which regions serve a URL that waits, and whether a worker of theirs is alive."""
    regions = regions_of(RegionMap(job.config.regions).label(entry.host))
    if not regions:
        return []
    detail = f"it waits for a worker of region {' or '.join(regions)}"
    if not (await live_regions(world, job)).isdisjoint(regions):
        return [Verdict(True, "regions", detail)]
    hint = f"start `geomi worker --region {regions[0]}`"
    return [Verdict(True, "regions", f"{detail}, and none is alive", hint)]


async def _find(world: World, job: CrawlJob, url_hash: bytes, host: str) -> UrlEntry | None:
    """Find a URL in a job, or in the first of its crawl: a recrawl has only some of the pages."""
    entry = await world.store.census.entry(job.id, url_hash, host=host)
    if entry is None and job.crawl:
        return await world.store.census.entry(job.crawl, url_hash, host=host)
    return entry


async def _rules(
    world: World,
    job: CrawlJob,
    url: Url,
    entry: UrlEntry | None,
    mention: LinkingPage | None,
    rules: JobRules,
) -> list[Step]:
    """Judge a URL again: the site, the job's rules, its pattern, blocked URLs, robots.txt."""
    depth = entry.depth if entry else mention.depth if mention else 0
    is_seed = entry.source is Source.SEED if entry else url.href in job.seeds
    told = await asyncio.to_thread(rules.explain, url, depth, is_seed=is_seed)
    steps = [Step(name, _with_origin(job, verdict)) for name, verdict in told]
    exhausted = Patterns(rules).exhausted(entry) if entry else None
    later = (
        ("pattern", exhausted or await _pattern(world, job, url, entry, rules)),
        ("blocked_urls", await _refused(world, url, rules.identity.hash(url))),
        ("robots", await _robots(world, job, url)),
    )
    return steps + [Step(name, verdict) for name, verdict in later if verdict is not None]


def _with_origin(job: CrawlJob, verdict: Verdict) -> Verdict:
    """Say where an exclude pattern was set: it need not be the flag of that name."""
    origin = dict(job.origins).get("scope.exclude", "")
    if verdict.admitted or verdict.rule != "exclude" or not origin:
        return verdict
    return replace(verdict, hint=f"{verdict.hint} (set by {origin})")


def _conclude(url: Url, job: CrawlJob, entry: UrlEntry | None, steps: list[Step]) -> Explanation:
    """The entry's own end decides; where a rule was that end, or no end has come, the rule."""
    refusals = [step for step in steps[:-1] if not step.verdict.admitted]
    if entry is not None and entry.state is not State.PENDING and entry.outcome not in _BY_RULE:
        refusals = []
    decisive = refusals[0] if refusals else steps[-1]
    return Explanation(
        url=url.href,
        job=job.id,
        answer=_answer(entry, is_refused=bool(refusals)),
        decided_by=decisive.verdict.rule,
        detail=decisive.verdict.detail,
        hint=decisive.verdict.hint,
        steps=tuple(steps),
    )


def _answer(entry: UrlEntry | None, *, is_refused: bool) -> str:
    if entry is None:
        return "not fetched"
    if entry.state is State.PENDING:
        return "waiting, but excluded now" if is_refused else "waiting to be fetched"
    if entry.outcome in _NOT_ASKED:
        return _NOT_ASKED[entry.outcome]
    return _ANSWERS[entry.state]


def _frontier(
    url: Url,
    entry: UrlEntry | None,
    mention: LinkingPage | None,
    job: CrawlJob,
    room: Verdict | None,
) -> Step:
    if entry is not None:
        found = f"found on {entry.parent}" if entry.parent else f"a {entry.source} of this job"
        if entry.url != url.href:  # both have one identity
            found = f"the same page as {entry.url}, which geomi requests; {found}"
        detail = f"{found}, depth {entry.depth}, {entry.state}"
        if entry.state is not State.PENDING:
            return Step("frontier", Verdict(True, "frontier", detail))
        return Step("frontier", Verdict(True, "frontier", detail + _waiting(entry), _way_on(job)))
    if job.expired:
        detail = "the URLs of this job have expired, and their results with them"
        return Step("frontier", Verdict(False, "retention.urls_days", detail, "crawl anew"))
    if mention is not None:
        detail = f"linked from {mention.parent}, which is at depth {mention.depth - 1}"
        if room is not None:
            return Step("frontier", replace(room, detail=f"{detail}; {room.detail}"))
        return Step("frontier", Verdict(False, "frontier", detail))
    detail = f"never found: none of the {job.stats.collected} collected pages links to it"
    hint = "give it as a start URL, or crawl deeper or wider to reach a page that links to it"
    if not job.config.scope.probe:
        hint += "; --set scope.probe=true asks for /sitemap.xml and /llms.txt, as geomi map does"
    return Step("frontier", Verdict(False, "never_seen", detail, hint))


def _waiting(entry: UrlEntry) -> str:
    """Explain what a URL waits for: its first turn, or another try."""
    if not entry.attempts:
        return "; its turn has not come yet"
    status = f" (HTTP {entry.status})" if entry.status else ""
    return f"; try {entry.attempts} ended with {entry.outcome}{status}; another follows"


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
    if outcome is Outcome.LEFT_ALONE:
        hint = "start another crawl when it is no longer blocked"
    return Step("visit", Verdict(kept, f"outcome.{outcome}", detail, hint))


async def _pattern(
    world: World, job: CrawlJob, url: Url, entry: UrlEntry | None, rules: JobRules
) -> Verdict | None:
    """Explain what the URLs of the same pattern have brought, and whether it is a trap."""
    pattern = entry.pattern if entry else rules.identity.pattern(url)
    if not pattern:
        return None
    tally = entry.tally if entry else await _tally(world, job, url.authority, pattern)
    kind, _, template = pattern.partition(":")
    free = BUDGETS[kind].visits if kind in BUDGETS else 0
    told = f"{kind} {template}: {tally.visited} visited, the first {free} are not judged"
    if rules.decisions.allow(url.host, pattern):
        return Verdict(True, "pattern", f"{told}; allowed by a review")
    refusal = None if entry else judge_tally(pattern, tally, host=url.host)
    return refusal or Verdict(True, "pattern", told)


async def _tally(world: World, job: CrawlJob, host: str, pattern: str) -> Tally:
    counted = await world.store.census.patterns(job.id)
    return next((tally for *name, tally in counted if name == [host, pattern]), Tally())


async def _refused(world: World, url: Url, url_hash: bytes) -> Verdict | None:
    refusal = await world.store.refusals.find(url_hash, wall_s=world.clock.wall_s())
    if refusal is None:
        return None
    until = f"until {_day(refusal.until_s)}" if refusal.until_s is not None else "for good"
    detail = f"{refusal.reason} on {_day(refusal.since_s)}; left alone {until}"
    return Verdict(False, "blocked_urls", detail, f"geomi blocked remove {url.href}")


async def _robots(world: World, job: CrawlJob, url: Url) -> Verdict | None:
    token = product_token(user_agent(job.config, version=world.version))
    if not job.config.robots.respect:
        return Verdict(True, "robots", "robots.txt is ignored by this job")
    copy = await world.store.robots.get(RobotsKey(url.scheme, url.authority, token))
    if copy is None:
        return None
    return read_copy(copy, job.config.robots, now_s=copy.fetched_s).judge(url)


async def _indexed(world: World, job: CrawlJob, url_hash: bytes) -> Verdict | None:
    """Explain whether search can find a page, and why not; None if it is not enriched yet."""
    row = await world.store.documents.get(document_id(job.config.analysis.collection, url_hash))
    if row is None:
        return None
    detail = f"{row.state} in collection {row.collection}: {row.detail}"
    return Verdict(row.state is DocumentState.INDEXED, row.reason, detail)


def _path(url: str) -> str:
    parsed = parse_url(url)
    return parsed.path if parsed else url


def _day(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).date().isoformat()


@dataclass(frozen=True, slots=True)
class LinkingPage:
    """The shallowest collected page that links to a URL."""

    parent: str
    depth: int


async def find_linking_page(
    world: World, job: CrawlJob, url: Url, naming: UrlIdentity
) -> LinkingPage | None:
    """Read collected pages back until the shallowest one that links to this URL is known."""
    wanted = naming.hash(url)
    needle = url.path.encode()
    best: LinkingPage | None = None
    after = seen = 0
    while seen < PAGES_READ_BACK:
        rows = await world.store.pages.feed(job.id, after=after, limit=PAGES_PER_READ)
        for row in rows:
            line = await world.archive.read(row.record)
            if needle in line and (found := _links_to(line, wanted, naming)) is not None:
                best = found if best is None or found.depth < best.depth else best
        if len(rows) < PAGES_PER_READ:
            break
        after, seen = rows[-1].seq, seen + len(rows)
    return best


async def _left_out(world: World, job: CrawlJob, url: Url, mention: LinkingPage) -> Verdict | None:
    """Say why a link that a collected page has was not taken, where geomi had to leave some out."""
    count, pages = (await world.store.census.exclusions(job.id)).get(LEFT_UNJUDGED, (0, ()))
    if mention.parent in pages:
        detail = "judging its links took so long that geomi left out the rest of them"
        return Verdict(False, LEFT_UNJUDGED, detail, _FEWER_PATTERNS)
    told = await queue_limit_verdict(world, job, url)
    if told is None and count > len(pages):
        detail = f"geomi left out links of {count:,} pages, because judging them took too long"
        return Verdict(False, LEFT_UNJUDGED, detail, _FEWER_PATTERNS)
    return told


async def queue_limit_verdict(world: World, job: CrawlJob, url: Url) -> Verdict | None:
    """Say which limit of what may wait has kept a URL out, or may have; None where none has any."""
    told = await world.store.census.exclusions(job.id)
    kept_out = [(rule, *told[rule]) for rule in WaitingLimit if rule in told]
    for rule, count, examples in kept_out:
        if url.href in examples:
            detail = f"too many URLs were waiting, so geomi left it out, as it did {count:,} links"
            return Verdict(False, rule, detail, _hint(rule))
    for rule, count, _ in kept_out:
        detail = f"it may be among the {count:,} links that found too many URLs waiting"
        return Verdict(False, rule, detail, _hint(rule))
    return None


def _links_to(line: bytes, wanted: bytes, naming: UrlIdentity) -> LinkingPage | None:
    record = orjson.loads(line)
    for link in record["links"]:
        target = parse_url(link["url"])
        if target is not None and naming.hash(target) == wanted:
            return LinkingPage(record["final_url"], record["depth"] + 1)
    return None


def _hint(rule: WaitingLimit) -> str:
    return _HINTS.get(rule, f"--resume --set {rule}=0")
