"""What must hold of every store, archive and request log, whatever happened to the crawl.

Each invariant has a name, a sentence and one check. A check is a pure function of values, so that
everybody can ask it: `geomi audit` and `geomi doctor --deep` of what is kept, the alarms of the
service of a job that has ended, the chaos suites of what servers saw, and the explorer of the
claim protocol of each state that it reaches. Nobody else decides what must hold.

A check yields a sentence for each thing that is wrong, and nothing where all is well.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from geomi.model.entry import EntryKind, UrlEntry
from geomi.model.job import CrawlStats
from geomi.model.page import Ref
from geomi.model.request_log import RequestPurpose, SentRequest
from geomi.model.verdict import Outcome, State
from geomi.url.parse import parse as parse_url

# Two processes may read their clocks so far apart, and sums of seconds since 1970 are rounded.
ROUNDING_S = 0.001


class Invariant(StrEnum):
    """The name of what must hold."""

    LOST = "no_page_lost"
    AT_ONCE = "at_once"
    GAP = "gap"
    REFETCHED = "refetched"
    COUNTERS = "counters"
    READABLE = "readable"
    TENANTS = "tenants"
    GATE = "gate"
    FENCE = "fence"
    PER_ADDRESS = "per_address"
    CAPS = "caps"
    ROBOTS = "robots"
    DAMAGED = "damaged_row"


SENTENCES: Mapping[Invariant, str] = {
    Invariant.LOST: "every URL that was found waits or has ended, and every kept page is there",
    Invariant.AT_ONCE: "a host has one request in flight at a time",
    Invariant.GAP: "a host rests after each answer for at least its delay",
    Invariant.REFETCHED: "a page is asked for again only after a lease that was open at a fault",
    Invariant.COUNTERS: "counters equal a recount of entries, captures and log",
    Invariant.READABLE: "the bytes of every kept page can be read, and are that page's",
    Invariant.TENANTS: "a tenant reads only what its own jobs have collected",
    Invariant.GATE: "nothing leaves but through the gate, to an address that it lets through",
    Invariant.FENCE: "what comes under a lost lease writes nothing but its log",
    Invariant.PER_ADDRESS: "no address serves more hosts at once than its jobs allow",
    Invariant.CAPS: "no hour and no day has more requests than its cap",
    Invariant.ROBOTS: "every request rests on a robots.txt that allows it",
    Invariant.DAMAGED: "every row of the log can be true",
}


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that breaks an invariant, in words."""

    invariant: Invariant
    detail: str


@dataclass(frozen=True, slots=True)
class Recount:
    """What a job's counters have to equal; None where it was not counted.

    Args:
        captures: what was kept, and `urls` how many different ones.
        logged: rows of the log; where workers died it has more than they have settled.
        settled: visits that count for the page limit.
    """

    by_state: Mapping[State, int]
    duplicates: int
    captures: int | None = None
    urls: int | None = None
    logged: int | None = None
    settled: int | None = None
    retries: int | None = None
    poisoned: int | None = None


def is_kept(entry: UrlEntry) -> bool:
    """Whether an entry says that its page was kept; sitemaps and lists are read and left."""
    return entry.kind is EntryKind.PAGE and entry.state is State.COMPLETED


def lost(wanted: Iterable[str], kept: Collection[str]) -> Iterator[str]:
    """Check `LOST`: everything that must be there is there."""
    yield from sorted(set(wanted) - set(kept))


def too_close(
    gap_s: float, owed_s: float, *, slack_s: float = ROUNDING_S
) -> tuple[Invariant, str] | None:
    """Check `AT_ONCE` and `GAP` of two requests to one host, one after the other.

    Args:
        gap_s: from the end of one to the start of the next; below 0 where they overlap.
    """
    if gap_s < -slack_s:
        return Invariant.AT_ONCE, "the previous request had not ended"
    if gap_s < owed_s - slack_s:
        return Invariant.GAP, f"{owed_s:.3f} s were required, {gap_s:.3f} s were kept"
    return None


def asked_again(many: int, lent: int, what: str = "pages") -> Iterator[str]:
    """Check `REFETCHED`: no more is asked for again than open leases held at faults."""
    if many > lent:
        yield f"{what} asked for again: {many}, lent when something failed: {lent}"


def miscounted(stats: CrawlStats, counted: Recount) -> Iterator[str]:
    """Check `COUNTERS` of one job."""
    states = counted.by_state
    recounts = (
        ("discovered", stats.discovered, sum(states.values())),
        ("failed", stats.failed, states.get(State.FAILED, 0)),
        ("skipped", stats.skipped, states.get(State.SKIPPED, 0)),
        ("blocked", stats.blocked, states.get(State.BLOCKED, 0)),
        ("duplicates", stats.duplicates, counted.duplicates),
        ("collected", stats.collected, counted.captures),
        ("collected", stats.collected, counted.urls),
        ("settled", stats.settled, counted.settled),
        ("retries", stats.retries, counted.retries),
        ("poisoned", stats.poisoned, counted.poisoned),
    )
    for name, told, right in recounts:
        if right is not None:
            yield from differ(name, told, right)
    if counted.logged is not None and stats.requests > counted.logged:
        yield f"{stats.requests} requests are counted, {counted.logged} are in the log"


def differ(name: str, told: int, right: int) -> Iterator[str]:
    """Check `COUNTERS` of one number."""
    if told != right:
        yield f"{name} is {told}, a recount says {right}"


def misread(urls: Collection[str], named: Collection[str]) -> Iterator[str]:
    """Check `READABLE` of a record that could be read.

    Args:
        urls: the page's own, first, and the one first asked for where redirects led to it.
        named: the URLs that the record itself names as its own.
    """
    if set(urls).isdisjoint(named):
        yield f"the record of {next(iter(urls))} is one of {next(iter(named))}"


def foreign(
    what: str, place: Ref, own: Collection[str], others: Mapping[str, str]
) -> Iterator[str]:
    """Check `TENANTS` of bytes that a tenant's handle leads to.

    Args:
        own: the jobs that may be led to.
        others: every job of other tenants, with whose it is.
    """
    if place.job in own:
        return
    whose = f"tenant `{others[place.job]}`" if place.job in others else "another job"
    yield f"{what} leads to bytes of job {place.job}, of {whose}"


def ungated(asked: SentRequest, *, is_allowed: bool) -> Iterator[str]:
    """Check `GATE` of one request.

    Args:
        is_allowed: whether the gate lets its address through.
    """
    if not is_allowed:
        yield f"{asked.host} was asked at {asked.ip}, which is neither public nor allowed"


def fenced(*, wrote: bool, told_lost: bool) -> Iterator[str]:
    """Check `FENCE` of a settlement whose lease was lost."""
    if wrote:
        yield "a settlement under a lost lease was written"
    if not told_lost:
        yield "a settlement under a lost lease was not called lost"


def crowded(ip: str, at_once: int, allowed: int) -> Iterator[str]:
    """Check `PER_ADDRESS` at one moment."""
    if at_once > allowed:
        yield f"{at_once} hosts of `{ip}` at once, {allowed} are allowed"


def damage(asked: SentRequest, *, now_s: float = math.inf) -> str:
    """Check `DAMAGED`: return why a row of the log cannot be true; empty where it can."""
    times_s = (asked.started_s, asked.ended_s, asked.floor_s, asked.robots_at_s or 0.0)
    if not all(map(math.isfinite, times_s)):
        return "its times are not finite"
    if asked.ended_s < asked.started_s - ROUNDING_S:
        return "it ended before it began"
    if asked.ended_s > now_s + ROUNDING_S:
        return "it ended after now"
    if asked.floor_s < 0:
        return "its required delay is below zero"
    if asked.is_erased:
        return ""
    url = parse_url(asked.url)
    if url is None or url.authority != asked.host:
        return f"its URL is not on `{asked.host}`"
    return ""


def answered_pages(log: Iterable[SentRequest]) -> Counter[tuple[str, str]]:
    """Count the requests for each page of each job that a server answered."""
    return Counter(
        (asked.job, asked.url)
        for asked in log
        if asked.purpose is RequestPurpose.PAGE and asked.status and not asked.is_erased
    )


def count_endings(endings: Mapping[tuple[State, Outcome | None, int | None], int]) -> Recount:
    """Add up how entries ended."""
    states, outcomes = Counter[State](), Counter[Outcome | None]()
    for (state, outcome, _), many in endings.items():
        states[state] += many
        outcomes[outcome] += many
    return Recount(states, outcomes[Outcome.DUPLICATE], poisoned=outcomes[Outcome.POISONED])
