"""What a visit counts for, what the visits of a pattern add up to, and which URLs a batch found.

`settled` rises with visits that count for `max_pages`, `collected` with pages that were kept, of
which `duplicates` repeat another, `retries` with visits that will be repeated; `failed`, `skipped`
and `blocked` with entries that ended so, `poisoned` with those that kill what reads them. `admit`
decides when a pattern is a trap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from geomi.model.entry import (
    NO_ANSWERS,
    AnswerTimes,
    Batch,
    Discovered,
    Novelty,
    Settlement,
    Tally,
    UrlHash,
)
from geomi.model.job import CrawlStats
from geomi.model.request_log import SentRequest
from geomi.model.verdict import Outcome, State

EXAMPLES = 5  # enough to recognise a rule at work (C-93)
COUNTERS = tuple(CrawlStats.__dataclass_fields__)
T = TypeVar("T")
Found = dict[UrlHash, tuple[Discovered, float]]  # with the time it was found at


def count(visit: Settlement) -> CrawlStats:
    """Return what one visit adds to its job's counters, the URLs it found left out."""
    is_kept = visit.page is not None
    return CrawlStats(
        settled=int(visit.counts),
        collected=int(is_kept),
        failed=int(visit.state is State.FAILED),
        skipped=int(visit.state is State.SKIPPED),
        blocked=int(visit.state is State.BLOCKED),
        redirected=int(visit.outcome is Outcome.REDIRECTED),
        duplicates=int(is_kept and visit.outcome is Outcome.DUPLICATE),
        poisoned=int(visit.outcome is Outcome.POISONED),
        retries=int(visit.state is State.PENDING),
        requests=visit.requests,
        bytes_received=visit.bytes_received,
    )


def total(parts: Iterable[CrawlStats]) -> CrawlStats:
    """Add counters up."""
    rows = [[getattr(part, name) for name in COUNTERS] for part in parts]
    return CrawlStats(*map(sum, zip(*rows, strict=True))) if rows else CrawlStats()


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """What visits add to one queue: entries that have ended, and the times of answers."""

    ended: int = 0
    answers: AnswerTimes = NO_ANSWERS


def progress_of(visits: Iterable[tuple[T, Settlement, str]]) -> dict[T, QueueProgress]:
    """Add up visits by their queues; each with its queue, and the state that its entry has now."""
    found: dict[T, QueueProgress] = {}
    for queue, visit, state in visits:
        before = found.get(queue, QueueProgress())
        ended = before.ended + (state != State.PENDING)
        found[queue] = QueueProgress(ended, before.answers.plus(visit.answers))
    return found


def all_asked(batch: Batch) -> list[SentRequest]:
    """Return every request that a batch tells of."""
    asked = [one for visit in batch.settlements for one in visit.asked]
    return asked + [one for host in batch.hosts for one in host.asked]


def with_examples(kept: tuple[str, ...], found: Iterable[str]) -> tuple[str, ...]:
    """Keep the first few different URLs a rule kept out."""
    return tuple(dict.fromkeys((*kept, *found)))[:EXAMPLES]


def finds_of_own_pattern(visit: Settlement) -> dict[UrlHash, str]:
    """Return what a visit found of its own kind on its host, with the pattern of each."""
    if visit.novelty is None:
        return {}
    host, patterns = visit.entry.host, visit.novelty.kin
    return {
        found.url_hash: found.pattern
        for found in visit.discovered
        if found.pattern in patterns and found.host == host
    }


def tally_with_visit(tally: Tally, novelty: Novelty, *, grew: bool) -> Tally:
    """Add one visit; `grew` says whether it led to a new URL of the pattern itself."""
    stale_links = tally.stale_links + 1
    if novelty.links:
        stale_links = max(0, tally.stale_links - novelty.setback) if novelty.setback else 0
    return Tally(
        visited=tally.visited + 1,
        stale_links=stale_links,
        stale_text=0 if novelty.text else tally.stale_text + 1,
        text_mark=novelty.text_mark or tally.text_mark,
        stale_growth=0 if grew else tally.stale_growth + 1,
    )


def tally_with_growth(tally: Tally) -> Tally:
    """Note that a page of another pattern led to a new URL of this one."""
    return replace(tally, stale_growth=0)


class FoundUrls:
    """What was found, by job and host; a URL found twice is one find."""

    def __init__(self) -> None:
        self.by_queue: dict[tuple[int, str], Found] = {}

    def take(self, job: int, urls: Sequence[Discovered], found_s: float) -> None:
        """Remember what one page held."""
        by_queue = self.by_queue
        for url in urls:
            place = (job, url.host)
            found = by_queue.get(place)
            if found is None:
                found = by_queue[place] = {}
            first = found.get(url.url_hash)
            if first is None:
                found[url.url_hash] = (url, found_s)
            elif url.depth < first[0].depth:
                found[url.url_hash] = (_nearer(first[0], url), first[1])

    def many(self, job: int) -> int:
        """Return how many URLs were found in one job."""
        return sum(len(found) for (owner, _), found in self.by_queue.items() if owner == job)


def _nearer(first: Discovered, again: Discovered) -> Discovered:
    return replace(first, depth=again.depth, priority=max(first.priority, again.priority))
