"""Judge the links of a page: most are known already, some are excluded, a few are new.

A page has about a hundred links, and nearly all of them repeat. So `LinkGate` compares plain
strings with what this worker has put into the store before it makes any object. Its memory is
exact and may forget; then the store's unique key decides. `JobRules` judges what is left. Rules may
change, and a pattern may turn out to be endless, before a URL's turn comes. Then the URL is judged
once more. A page whose links take long shares the loop with all others (`loop_share`).

Two orders of the frontier need more than new links:
- The order that counts links (adr 14) needs every link, known or new. `CountedLinks` names each
  URL once and remembers it as far as there is room.
- The order `weighted` (PRI-02) needs a value for each find. `LinkValue` asks `SiteTraffic` how much
  its place is visited; freshness comes from the last visit or the sitemap, one batch at a time.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from geomi.engine.loop_share import JudgingTime, LoopShare, Rest
from geomi.engine.visit.identity import key_of_kind, may_hold_trackers
from geomi.engine.visit.patterns import Patterns
from geomi.engine.visit.rules import JobRules
from geomi.engine.visit.sitemaps import Sitemaps
from geomi.engine.visit.traffic import SiteTraffic
from geomi.engine.world import World
from geomi.frontier.priority import freshness, merit, raised
from geomi.frontier.seen import SeenUrls
from geomi.model.config import CrawlConfig, UrlOrder, Within
from geomi.model.entry import Discovered, EntryKind, Novelty, Settlement, Source, Target, UrlEntry
from geomi.model.page import PageLink
from geomi.model.verdict import Exclusion, Verdict
from geomi.seed.sitemap import Sitemap, lastmod_s
from geomi.url.parse import Url, absolute, split, url_hash
from geomi.url.parse import parse as parse_url

UrlParser = Callable[[str], Url | None]
ANY_DEPTH = sys.maxsize
LEFT_UNJUDGED = "links.time"  # the rule that counts pages with such links
NEAREST = 1  # where a link may lead at all, it does from the start URLs
COUNTED_LINKS_CAPACITY = 100_000  # per generation; about 40 MB for both with URLs of 80 characters


@dataclass(frozen=True, slots=True)
class FoundLinks:
    """The links of a page after the rules: what may be new, what was kept out, how many.

    Args:
        endorsed: all that the rules let in, known or new, where the order counts links.
        offered: where the page leads, known or new, before the rules.
    """

    discovered: tuple[Discovered, ...] = ()
    excluded: tuple[Exclusion, ...] = ()
    links: int = 0
    endorsed: tuple[Target, ...] = ()
    offered: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class _Offer:
    """The URLs that a page or a list has, and how they are read.

    Args:
        changed: when those of a sitemap changed.
    """

    urls: Sequence[str]
    read: UrlParser
    depth: int
    source: Source
    parent: str
    changed: Mapping[str, float] = field(default_factory=dict)


class LinkGate:
    """Judges links for one job and remembers what the store already has.

    Args:
        told: called with the CPU time that each page took.
    """

    def __init__(
        self,
        rules: JobRules,
        share: LoopShare | None = None,
        told: Callable[[float], None] = lambda _: None,
    ) -> None:
        self.rules = rules
        self._share = share or LoopShare()
        self._told = told
        self._config = rules.config
        self._identity = rules.identity
        self._patterns = Patterns(rules)
        self._seen = SeenUrls()
        self._sitemaps = Sitemaps(rules, self._seen)
        counts_links = rules.config.order is UrlOrder.WEIGHTED
        self._endorsements = CountedLinks(self._target) if counts_links else None

    async def admit(
        self,
        entry: UrlEntry,
        final_url: str,
        links: Sequence[PageLink],
        *,
        nofollow: bool,
        left_out: int = 0,
        rest: Rest = asyncio.sleep,
    ) -> FoundLinks:
        """Judge the links of a page.

        Args:
            nofollow: the page's own wish (C-42).
            left_out: how many links beyond the limit of a page were not read.
            rest: waits between two slices.
        """
        if nofollow:
            return FoundLinks(links=len(links))
        # The URLs of links are parsed already, which costs more than all rules together.
        offered = self.offered(links)
        with self._share.of_page(rest) as time:
            offer = _Offer(offered, split, entry.depth + 1, Source.LINK, final_url)
            found = replace(await self._judge(offer, time), offered=tuple(offered))
            if self._endorsements is not None:
                found = replace(found, endorsed=await self._endorsements.of(offered, time))
            self._told(time.spent_s)
        if not left_out:
            return found
        limit = self._config.limits.max_links_per_page
        told = Exclusion("links.limit", final_url, f"{left_out} links beyond the first {limit}")
        return replace(found, excluded=(*found.excluded, told))

    def offered(self, links: Sequence[PageLink]) -> list[str]:
        """Return the links that may be followed as far as their page is concerned."""
        if self._config.scope.follow_nofollow:
            return [link.url for link in links]
        return [url for url, _, rel in links if not rel or "nofollow" not in rel]

    async def admit_sitemap(
        self, entry: UrlEntry, content: Sitemap, *, wall_s: float = 0.0, rest: Rest = asyncio.sleep
    ) -> FoundLinks:
        """Judge what a sitemap lists: pages, and further sitemaps down to a limit."""
        listed = [loc for loc, _ in content.pages]
        dated = ((loc, lastmod_s(text, wall_s=wall_s)) for loc, text in content.pages)
        changed = {loc: at_s for loc, at_s in dated if at_s is not None}
        urls = [*listed, *content.alternates]
        offer = _Offer(urls, parse_url, 1, Source.SITEMAP, entry.url, changed)
        pages = await self._listed(offer, rest)
        nested, excluded = self._sitemaps.listed(entry, content.sitemaps)
        return FoundLinks(pages.discovered + nested, pages.excluded + excluded, len(content.pages))

    async def admit_listing(
        self, entry: UrlEntry, final_url: str, hrefs: Sequence[str], *, rest: Rest = asyncio.sleep
    ) -> FoundLinks:
        """Judge the pages that a site's owner lists in its /llms.txt."""
        urls = [url for url in absolute(hrefs, final_url) if url is not None]
        return await self._listed(_Offer(urls, split, 1, Source.SITEMAP, entry.url), rest)

    def sitemaps(self, urls: Sequence[str], host: Url) -> FoundLinks:
        """Turn the Sitemap lines of a robots.txt into entries; a web-wide crawl does without."""
        if not self._config.scope.sitemaps or self._config.scope.within is Within.ANY:
            return FoundLinks()
        named, left = self._sitemaps.named(urls, f"{host.scheme}://{host.host}/robots.txt")
        return FoundLinks(named, self.rules.privacy.exclusions(left))

    def recheck(self, entry: UrlEntry) -> Verdict | None:
        """Return what refuses an entry now that its turn has come; None where nothing does."""
        url = split(entry.url)  # it was parsed before it came into the frontier
        if entry.kind is not EntryKind.PAGE:
            verdict = self.rules.host_verdict(url)
        else:
            verdict = self.rules.verdict(url, entry.depth, is_seed=entry.source is Source.SEED)
        return self._patterns.exhausted(entry) if verdict.admitted else verdict

    def weigh(
        self, entry: UrlEntry, found: FoundLinks, text: str, *, repeats: bool
    ) -> tuple[FoundLinks, Novelty | None]:
        """Name the spaces of what a page leads to, and say what its visit brought.

        Args:
            repeats: whether the page is exactly another one of the job.
        """
        discovered, novelty = self._patterns.weigh(
            entry, found.offered, found.discovered, text, repeats=repeats
        )
        return replace(found, discovered=discovered), novelty

    def follow(self, entry: UrlEntry, target: str) -> Discovered | Verdict:
        """Judge a redirect's target, and keep it in the space of the URL that led to it."""
        answer = self.rules.follow(entry, target)
        return answer if isinstance(answer, Verdict) else self._patterns.of_redirect(entry, answer)

    def redirect_novelty(self, entry: UrlEntry, found: FoundLinks) -> Novelty | None:
        """Say what a redirect brought, where its pattern is counted: perhaps a new place."""
        new = [target for target in found.discovered if not self._has_seen(target)]
        return self._patterns.redirected(entry, new)

    def remember(self, discovered: Sequence[Discovered]) -> None:
        """Note URLs that a committed settlement has put into the store."""
        for found in discovered:
            self._seen.remember(key_of_kind(found.url, found.kind), found.depth)
            if found.kind is EntryKind.PAGE and may_hold_trackers(found.url):
                self._seen.remember(self._identity.key(split(found.url)), found.depth)

    async def _listed(self, offer: _Offer, rest: Rest) -> FoundLinks:
        """Judge the pages of a list."""
        with self._share.of_page(rest) as time:
            found = await self._judge(offer, time)
            self._told(time.spent_s)
        return found

    async def _judge(self, offer: _Offer, time: JudgingTime) -> FoundLinks:
        """Judge as many as the time suffices for, and count the rest."""
        discovered: list[Discovered] = []
        excluded: list[Exclusion] = []
        unknown = self._seen.unknown(offer.urls, offer.depth)
        for number, raw in enumerate(unknown):
            if time.is_slice_over and not await time.next_slice():
                left = len(unknown) - number
                told = f"{left} links: judging {number} took {time.spent_s:.0f} s"
                excluded.append(Exclusion(LEFT_UNJUDGED, offer.parent, told))
                break
            found = self._judge_one(raw, offer)
            if isinstance(found, Exclusion):
                excluded.append(found)
            elif found is not None:
                discovered.append(found)
        return FoundLinks(tuple(discovered), tuple(excluded), len(offer.urls))

    def _judge_one(self, raw: str, offer: _Offer) -> Discovered | Exclusion | None:
        """Judge one URL; None for what is no URL, and for what turns out to be known."""
        depth, is_known = offer.depth, self._seen.is_known
        url = offer.read(raw)
        if url is None:
            return None
        url = self._identity.wire(url)
        if url.href != raw and is_known(url.href, depth):
            self._seen.remember(raw, depth)
            return None
        verdict = self.rules.verdict(url, depth)
        if not verdict.admitted:
            self._seen.remember(raw, depth)
            return Exclusion(verdict.rule, raw, verdict.detail)
        key = self._identity.key(url)
        if may_hold_trackers(raw) and is_known(key, depth):
            return None
        changed_s = offer.changed.get(raw)
        return self.rules.found_page(url, key, depth, offer.source, offer.parent, changed_s)

    def _target(self, raw: str) -> Target | None:
        """Name what a link leads to; None for what no page of this job may lead to."""
        url = self._identity.wire(split(raw))
        if not self.rules.verdict(url, NEAREST).admitted:
            return None
        return url.authority, url_hash(self._identity.key(url))

    def _has_seen(self, target: Discovered) -> bool:
        if self._seen.is_known(key_of_kind(target.url, target.kind), ANY_DEPTH):
            return True
        url = target.url
        return may_hold_trackers(url) and self._seen.is_known(
            self._identity.key(split(url)), ANY_DEPTH
        )


class CountedLinks:
    """The links of one worker's pages as the store knows them.

    Args:
        name: judges a URL as a page has it; None for one that the job does not want.
    """

    def __init__(
        self, name: Callable[[str], Target | None], capacity: int = COUNTED_LINKS_CAPACITY
    ) -> None:
        self._name = name
        self._capacity = capacity
        self._young: dict[str, Target | None] = {}
        self._old: dict[str, Target | None] = {}

    async def of(self, urls: Sequence[str], time: JudgingTime) -> tuple[Target, ...]:
        """Return where some links lead, each place once; as many as the time suffices for."""
        targets: dict[Target | None, None] = {}
        for url in urls:
            if time.is_slice_over and not await time.next_slice():
                break
            targets[self._target(url)] = None
        return tuple(target for target in targets if target is not None)

    def _target(self, url: str) -> Target | None:
        young = self._young
        if url in young:
            return young[url]
        target = self._old[url] if url in self._old else self._name(url)
        if len(young) >= self._capacity:
            self._old, self._young = young, {}
        self._young[url] = target
        return target


class LinkValue:
    """Values what the visits of one job have found."""

    def __init__(self, world: World, config: CrawlConfig) -> None:
        self._world = world
        self._weights = config.weights
        self._traffic = SiteTraffic(world)

    async def settlements(self, visits: Sequence[Settlement]) -> list[Settlement]:
        """Value found links; a busy page lends them some of its traffic (PRI-07)."""
        found = [(visit.entry.url, url) for visit in visits for url in visit.discovered]
        if not found:
            return list(visits)
        valued = iter(await self._valued(found))
        return [
            replace(visit, discovered=tuple(next(valued) for _ in visit.discovered))
            for visit in visits
        ]

    async def of(self, found: Sequence[Discovered]) -> list[Discovered]:
        """Value what no page has led to."""
        return await self._valued([(url.url, url) for url in found])

    async def _valued(self, found: Sequence[tuple[str, Discovered]]) -> list[Discovered]:
        visited = await self._world.store.pages.visited([url.url_hash for _, url in found])
        places = {place for page, url in found for place in (page, url.url)}
        busy = {place: (await self._traffic.find(split(place))).traffic for place in places}
        now_s = self._world.clock.wall_s()
        valued = []
        for page, url in found:
            fetched_at_s, due_s = visited.get(url.url_hash, (None, None))
            fresh = freshness(
                now_s, fetched_at_s=fetched_at_s, due_s=due_s, lastmod_s=url.lastmod_s
            )
            worth = merit(self._weights, traffic=raised(busy[url.url], busy[page]), freshness=fresh)
            valued.append(replace(url, priority=worth))
        return valued


def link_value_of(world: World, config: CrawlConfig) -> LinkValue | None:
    """Return what values the finds of a job; None where its order does not ask for it."""
    return LinkValue(world, config) if config.order is UrlOrder.WEIGHTED else None
