"""Review suspected traps: list them, overrule a detector, exclude a site (TRP-07)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from geomi.admit.trap import BUDGETS, DETECTORS, STILL_GROWING, judge_tally
from geomi.admit.url_pattern import kind_of
from geomi.engine.visit.rules import TRAP_RULES, SiteDecisions
from geomi.engine.world import World
from geomi.errors import ConfigError, UnknownName
from geomi.model.entry import Tally
from geomi.model.job import CrawlJob
from geomi.model.site import Review, SiteRule
from geomi.url.host import split_authority
from geomi.url.parse import parse as parse_url

MAX_NOTE_CHARS = 2000
# A pattern is worth a look when half of its budget went by and half of the patience, too.
SUSPECTED_AT = 0.5
DEEP = 1_000_000  # what a URL may be told of a pattern's cap, however deep it lies


class PatternStatus(StrEnum):
    """How a pattern stands."""

    TRAP = "trap"
    SUSPECTED = "suspected"
    ALLOWED = "allowed"


@dataclass(frozen=True, slots=True)
class SuspectedTrap:
    """A pattern of a job that is a trap, may be one, or was found to be none."""

    host: str  # name without port
    pattern: str
    standing: PatternStatus
    tally: Tally


@dataclass(frozen=True, slots=True)
class SuspectedTraps:
    """All that a person needs to review the traps of a job."""

    job: str
    patterns: tuple[SuspectedTrap, ...]
    rules: dict[str, tuple[int, tuple[str, ...]]]  # links kept out by each detector, examples
    reviews: tuple[SiteRule, ...]


async def list_suspected_traps(
    world: World, job: CrawlJob, decided: Sequence[SiteRule]
) -> SuspectedTraps:
    """List what looks endless in a job, beside what was decided about sites."""
    reviews = SiteDecisions(decided)
    suspects = [
        suspect
        for host, pattern, tally in await world.store.census.patterns(job.id)
        if (suspect := _suspect(host, pattern, tally, reviews)) is not None
    ]
    exclusions = await world.store.census.exclusions(job.id)
    rules = {rule: told for rule, told in exclusions.items() if rule.startswith(TRAP_RULES)}
    return SuspectedTraps(job.id, tuple(suspects), rules, tuple(decided))


async def decide(world: World, host: str, pattern: str, review: Review, note: str) -> SiteRule:
    """Keep a decision about a host, or about one pattern on it."""
    if len(note) > MAX_NOTE_CHARS:
        raise ConfigError(f"the note has more than {MAX_NOTE_CHARS} characters")
    if pattern:
        _check_pattern(pattern)
    rule = SiteRule(_host_name(host), pattern, review, note, world.clock.wall_s())
    await world.store.sites.put(rule)
    return rule


async def was_asked(world: World, rule: SiteRule) -> bool:
    """Return whether the log has the host of a decision, on any port."""
    return any(split_authority(host)[0] == rule.host for host in await world.store.requests.hosts())


async def reset(
    world: World, host: str, pattern: str | None, decided: Sequence[SiteRule]
) -> list[SiteRule]:
    """Forget the decisions about a host, or the one about a pattern; return what they were."""
    name = _host_name(host)
    found = [rule for rule in decided if rule.host == name and pattern in (None, rule.pattern)]
    gone = [rule for rule in found if not rule.remedy]
    if found and not gone:
        raise ConfigError(f"`{name}` is excluded: {found[0].note}", hint=found[0].remedy)
    if not gone:
        about = f"`{pattern}` of `{name}`" if pattern else f"`{name}`"
        raise UnknownName(f"there is no decision about {about}", hint="geomi traps list")
    for rule in gone:
        await world.store.sites.remove(rule.host, rule.pattern)
    return gone


def _check_pattern(text: str) -> None:
    """Raise for a text that names neither a pattern nor a detector: it would allow nothing."""
    kind, _, template = text.partition(":")
    is_pattern = kind in BUDGETS and template.startswith("/")
    is_rule = text.startswith(TRAP_RULES) and text.removeprefix(TRAP_RULES) in DETECTORS
    if not (is_pattern or is_rule):
        rules = ", ".join(f"{TRAP_RULES}{name}" for name in DETECTORS)
        raise ConfigError(
            f"`{text[:80]}` is neither a pattern nor a rule",
            hint=f"patterns begin with one of {', '.join(BUDGETS)}, as in pagination:/list?page; "
            f"rules are {rules}",
        )


def _suspect(
    authority: str, pattern: str, tally: Tally, reviews: SiteDecisions
) -> SuspectedTrap | None:
    host, _ = split_authority(authority)
    budget = BUDGETS.get(kind_of(pattern))
    if budget is None:
        return None
    if judge_tally(pattern, tally, host=host, depth=DEEP, is_inside=True) is not None:
        standing = PatternStatus.TRAP
    elif (
        tally.visited >= SUSPECTED_AT * budget.visits
        and tally.stale_growth < STILL_GROWING
        and tally.stale_links >= SUSPECTED_AT * budget.stale
    ):
        standing = PatternStatus.SUSPECTED
    else:
        return None
    if reviews.allow(host, pattern):
        standing = PatternStatus.ALLOWED
    return SuspectedTrap(host, pattern, standing, tally)


def _host_name(text: str) -> str:
    url = parse_url(text if "://" in text else f"https://{text}")
    if url is None:
        raise ConfigError(f"`{text[:200]}` is not a host name", hint="write it as example.org")
    return url.host
