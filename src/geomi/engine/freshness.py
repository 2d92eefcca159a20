"""When the pages of a crawl are due, and why: of one page for `why`, of all for `status`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from geomi.engine.recrawl import Beliefs, walk
from geomi.engine.world import World
from geomi.model.entry import UrlEntry
from geomi.model.history import History, Stage, Standing
from geomi.model.job import CrawlJob
from geomi.model.verdict import Verdict
from geomi.recrawl.rate import stage
from geomi.recrawl.reason import reason

# A walk over so many pages takes a second.
MAX_PAGES = 50_000


@dataclass(frozen=True, slots=True)
class Dues:
    """What of a crawl is due.

    Args:
        pages: how many are due now.
        next_s: when the next of the others is (wall clock); None where there is none.
        stages: how far the rates of all pages are learned.
    """

    pages: int
    next_s: float | None
    stages: Mapping[Stage, int]


async def dues(world: World, job: CrawlJob) -> Dues | None:
    """Count what of a job's crawl is due; None where that would take long, or it is not over."""
    if not job.state.is_final or job.stats.collected > MAX_PAGES:
        return None
    now_s = world.clock.wall_s()
    times: dict[bytes, float] = {}
    stages: Counter[Stage] = Counter()
    async for page in walk(world, job.crawl or job.id):
        if page.url_hash not in times:
            times[page.url_hash] = page.due_s
            stages[stage(page.history)] += 1
        if len(times) > MAX_PAGES:
            return None
    later = [due_s for due_s in times.values() if due_s > now_s]
    return Dues(len(times) - len(later), min(later, default=None), dict(stages))


async def when_due(world: World, job: CrawlJob, entry: UrlEntry) -> Verdict | None:
    """Say when the page behind an entry is due and why; None where there is no page."""
    page = await world.pages.get(entry.url_hash)
    if page is None:
        return None
    now_s = world.clock.wall_s()
    histories = await world.histories.of([entry.url_hash])
    history = histories.get(entry.url_hash, History())
    standing = Standing(
        page.url_hash, entry.url, entry.host, entry.depth, page.fetched_at_s, page.due_s, history
    )
    belief = await Beliefs(world, job.config, now_s=now_s).of(standing)
    on = datetime.fromtimestamp(page.due_s, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    when = f"due since {on}" if page.due_s <= now_s else f"due on {on}"
    return Verdict(True, "due", f"{when}: {reason(history, belief)}")
