"""What a visit counts for, and which rules' examples are kept.

`settled` rises with visits that count for `max_pages`, `collected` with pages that were kept, of
which `duplicates` repeat another, `retries` with visits that will be repeated; `failed`, `skipped`
and `blocked` with entries that ended so.
"""

from __future__ import annotations

from collections.abc import Iterable

from geomi.model.entry import Batch, Settlement
from geomi.model.job import CrawlStats
from geomi.model.request_log import SentRequest
from geomi.model.verdict import Outcome, State

EXAMPLES = 5  # enough to recognise a rule at work (C-93)

COUNTERS = tuple(CrawlStats.__dataclass_fields__)


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
        retries=int(visit.state is State.PENDING),
        requests=visit.requests,
        bytes_received=visit.bytes_received,
    )


def total(parts: Iterable[CrawlStats]) -> CrawlStats:
    """Add counters up."""
    rows = [[getattr(part, name) for name in COUNTERS] for part in parts]
    return CrawlStats(*map(sum, zip(*rows, strict=True))) if rows else CrawlStats()


def all_asked(batch: Batch) -> list[SentRequest]:
    """Return every request that a batch tells of."""
    asked = [one for visit in batch.settlements for one in visit.asked]
    return asked + [one for host in batch.hosts for one in host.asked]


def with_examples(kept: tuple[str, ...], found: Iterable[str]) -> tuple[str, ...]:
    """Keep the first few different URLs a rule kept out."""
    return tuple(dict.fromkeys((*kept, *found)))[:EXAMPLES]
