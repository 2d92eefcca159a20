"""What the visit of a known page teaches: its history, its pools, and when it is due again.

Rules kept:
- A page has changed when the hash of its main text differs from the stored one (CHG-01, C-95). The
  same bytes are the same page, whatever is read of them now.
- A page that its site no longer shows is gone: it is kept with a date, and looked after (C-38).
- A visit that brought no answer about the page teaches nothing about its changes.
- A recrawl follows a link only to what the crawl has not met, or what a sitemap says has changed
  since it was collected; everything else waits until it is due.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from email.utils import parsedate_to_datetime

from geomi.engine.visit.endings import Visit
from geomi.engine.world import World
from geomi.model.entry import Discovered, EntryKind, Settlement
from geomi.model.history import History, Learned, Pool, Version
from geomi.model.job import CrawlJob
from geomi.model.page import PageRecord
from geomi.model.verdict import Outcome, State
from geomi.recrawl.due import due_s
from geomi.recrawl.pattern import pattern_of
from geomi.recrawl.rate import Belief, Gap, believe, learn

# The site has answered, and the page that we have is not there any more.
NO_LONGER = frozenset(
    {
        Outcome.GONE,
        Outcome.SOFT_404,
        Outcome.EMPTY,
        Outcome.NOINDEX,
        Outcome.WRONG_TYPE,
        Outcome.REDIRECTED,
        Outcome.REDIRECT_EXCLUDED,
    }
)
# A rule said no before anything was asked for.
NOT_ASKED = frozenset({Outcome.EXCLUDED, Outcome.TRAPPED, Outcome.LEFT_ALONE})
MAX_DATE_CHARS = 64


class Lessons:
    """What one job learns of pages that its tenant has."""

    def __init__(self, world: World, job: CrawlJob) -> None:
        self._world = world
        self._rules = job.config.recrawl
        self._crawl = job.crawl

    @property
    def is_again(self) -> bool:
        """Whether the job visits a crawl again."""
        return bool(self._crawl)

    async def learn(self, visit: Visit, before: PageRecord) -> Visit:
        """Add to a visit of a known page what it has taught."""
        settled = visit.settlement
        if settled.state is State.PENDING:  # the next try tells
            return visit
        learned = await self._learned(settled, before)
        page = replace(settled.page, due_s=learned.due_s) if settled.page else None
        return replace(visit, settlement=replace(settled, page=page, learned=learned))

    async def put_off(self, visit: Visit) -> Visit:
        """Let a page that was put back, and not asked for after all, be due later."""
        settled = visit.settlement
        before = await self._world.pages.get(settled.entry.url_hash)
        if before is None or settled.outcome not in NOT_ASKED:
            return visit
        return await self.learn(visit, before)

    async def only_news(self, visit: Visit) -> Visit:
        """Leave out what a visit found that the crawl has met, unless it is known to differ."""
        settled = visit.settlement
        pages = [found for found in settled.discovered if found.kind is EntryKind.PAGE]
        if not pages:
            return visit
        met = await self._world.histories.met(self._crawl, pages)
        news = tuple(
            found
            for found in settled.discovered
            if found.kind is not EntryKind.PAGE or _is_news(found, met.get(found.url_hash))
        )
        return replace(visit, settlement=replace(settled, discovered=news))

    async def _learned(self, settled: Settlement, before: PageRecord) -> Learned:
        entry, now_s = settled.entry, self._world.clock.wall_s()
        histories = await self._world.histories.of([entry.url_hash])
        history = histories.get(entry.url_hash) or History(before.fetched_at_s, visits=1)
        pattern = pattern_of(entry.url)
        pools = await self._world.histories.pools(entry.host, ("", pattern))

        def belief(of: History) -> Belief:
            kin, host = pools.get(pattern, Pool()), pools.get("", Pool())
            return believe(of, kin, host, now_s=now_s, rules=self._rules)

        changed = _changed(settled, before, history)
        gap = Gap(
            from_s=max(history.visited_at_s, before.fetched_at_s),
            to_s=now_s,
            changed=changed,
            modified_at_s=_modified_s(settled),
            is_gone=settled.page is None,
        )
        known, evidence = learn(history, gap, belief(history))
        if changed is None:
            known = replace(history, missed_at_s=now_s)
        again_s = due_s(
            now_s, known, belief(known), self._rules, gap_s=gap.length_s, depth=entry.depth
        )
        old = (
            Version(before.fingerprint.content_hash, gap.from_s)
            if _is_other(settled, before)
            else None
        )
        return Learned(known, again_s, pattern, evidence, old)


def _changed(settled: Settlement, before: PageRecord, history: History) -> bool | None:
    """Say whether a page is another than at its last visit; None where that cannot be told."""
    if settled.page is not None:
        return history.gone_at_s is not None or _is_other(settled, before)
    if settled.outcome in NO_LONGER:
        return history.gone_at_s is None
    return None


def _is_other(settled: Settlement, before: PageRecord) -> bool:
    """Whether a page is here that says something else than the one that was stored."""
    if settled.page is None:
        return False
    now, then = settled.page.fingerprint, before.fingerprint
    return now.content_hash != then.content_hash and now.html_hash != then.html_hash


def _modified_s(settled: Settlement) -> float | None:
    """Return when a page changed by its own word or its sitemap's."""
    text = settled.page.last_modified if settled.page else ""
    if not text or len(text) > MAX_DATE_CHARS:
        return settled.entry.lastmod_s
    try:
        at = parsedate_to_datetime(text)
        return at.replace(tzinfo=at.tzinfo or UTC).timestamp()
    except (ValueError, OverflowError):
        return settled.entry.lastmod_s


def _is_news(found: Discovered, collected_s: float | None) -> bool:
    if collected_s is None:
        return True
    return bool(collected_s and found.lastmod_s and found.lastmod_s > collected_s)
