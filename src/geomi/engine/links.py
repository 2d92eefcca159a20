"""What becomes of the links of a page: most are known already, some are excluded, a few are new.

A page has about a hundred links and nearly all of them repeat, so plain strings are compared with
what this worker has put into the store before any object is made. The memory is exact and may
forget: then the store's unique key decides again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from geomi.admit.normalize import identity
from geomi.admit.rules import Admission
from geomi.frontier.priority import score
from geomi.frontier.seen import Seen
from geomi.model.config import CrawlConfig, Within
from geomi.model.entry import Discovered, EntryKind, Source, UrlEntry
from geomi.model.page import Link
from geomi.model.verdict import Exclusion, Verdict
from geomi.seed.sitemap import Sitemap
from geomi.url.canonical import url_hash
from geomi.url.parse import Url, split
from geomi.url.parse import parse as parse_url

Reader = Callable[[str], Url | None]

SITEMAPS_PER_HOST = 50
SITEMAP_NESTING = 2  # C-82


@dataclass(frozen=True, slots=True)
class Found:
    """The links of a page after the rules: what may be new, what was kept out, how many."""

    discovered: tuple[Discovered, ...] = ()
    excluded: tuple[Exclusion, ...] = ()
    links: int = 0


class LinkGate:
    """Judges links for one job and remembers what the store already has."""

    def __init__(self, config: CrawlConfig, admission: Admission) -> None:
        self._config = config
        self._admission = admission
        self._seen = Seen()
        self._sitemaps: dict[str, set[str]] = {}  # those that each host has had

    def seed(self, url: Url) -> Discovered | Verdict:
        """Judge one of the URLs the crawl was asked to start from."""
        verdict = self._admission.judge(url, 0, is_seed=True)
        return self._discovered(url, 0, Source.SEED, None) if verdict.admitted else verdict

    def admit(
        self, entry: UrlEntry, final_url: str, links: Sequence[Link], *, nofollow: bool
    ) -> Found:
        """Judge the links of a page; `nofollow` is the page's own wish (C-42)."""
        if nofollow:
            return Found(links=len(links))
        obeys = not self._config.scope.follow_nofollow
        wanted = [link.url for link in links if not (obeys and "nofollow" in link.rel)]
        # The URLs of links are parsed already, which costs more than all rules together.
        return self._judge(wanted, split, entry.depth + 1, Source.LINK, final_url)

    def admit_sitemap(self, entry: UrlEntry, content: Sitemap) -> Found:
        """Judge what a sitemap lists: pages, and further sitemaps down to a limit."""
        listed = [loc for loc, _ in content.pages]
        pages = self._judge(listed, parse_url, 1, Source.SITEMAP, entry.url)
        if entry.hops >= SITEMAP_NESTING:
            return pages
        # C-82: only robots.txt may name a sitemap on another host.
        foreign = [url for url in content.sitemaps if not _is_on(entry.host, url)]
        own = [url for url in content.sitemaps if _is_on(entry.host, url)]
        nested = self._sitemap_entries(own, entry.url, entry.hops + 1)
        excluded = tuple(Exclusion("sitemap.host", url) for url in foreign)
        return Found(pages.discovered + nested, pages.excluded + excluded, len(content.pages))

    def sitemaps(self, urls: Sequence[str], host: Url) -> tuple[Discovered, ...]:
        """Turn the Sitemap lines of a robots.txt into entries; a web-wide crawl does without."""
        if not self._config.scope.sitemaps or self._config.scope.within is Within.ANY:
            return ()
        return self._sitemap_entries(urls, f"{host.scheme}://{host.host}/robots.txt", 0)

    def follow(self, entry: UrlEntry, target: str) -> Discovered | Verdict:
        """Judge a redirect's target: same depth, one hop more, and what was first asked for."""
        url = parse_url(target)
        if url is None:
            return Verdict(False, "url", f"`{target}` is not an http(s) URL")
        if entry.kind is EntryKind.PAGE:
            verdict = self._admission.judge(url, entry.depth, is_seed=entry.source is Source.SEED)
            if not verdict.admitted:
                return verdict
        return Discovered(
            url_hash=self._hash(url, entry.kind),
            url=url.href,
            host=url.authority,
            depth=entry.depth,
            priority=entry.priority,
            source=entry.source,
            kind=entry.kind,
            parent=entry.parent,
            origin=entry.origin or entry.url,
            hops=entry.hops + 1,
        )

    def respelled(self, entry: UrlEntry, target: str | None) -> Url | None:
        """Return a redirect's target where it is the entry itself, spelled in another way."""
        url = parse_url(target) if target else None
        if url is None or url.authority != entry.host:
            return None
        return url if self._hash(url, entry.kind) == entry.url_hash else None

    def remember(self, discovered: Sequence[Discovered]) -> None:
        """Note URLs that a committed settlement has put into the store."""
        for found in discovered:
            self._seen.remember(_told_apart(found.url, found.kind), found.depth)

    def _judge(
        self, urls: Sequence[str], read: Reader, depth: int, source: Source, parent: str
    ) -> Found:
        discovered: list[Discovered] = []
        excluded: list[Exclusion] = []
        is_known = self._seen.is_known
        for raw in urls:
            if is_known(raw, depth):
                continue
            url = read(raw)
            if url is None:
                continue
            verdict = self._admission.judge(url, depth)
            if verdict.admitted:
                discovered.append(self._discovered(url, depth, source, parent))
            else:
                self._seen.remember(raw, depth)
                excluded.append(Exclusion(verdict.rule, raw, verdict.detail))
        return Found(tuple(discovered), tuple(excluded), len(urls))

    def _discovered(self, url: Url, depth: int, source: Source, parent: str | None) -> Discovered:
        # What an include list lets in matches it by definition, seeds aside, which need no boost.
        boosted = bool(self._config.scope.include)
        return Discovered(
            url_hash=url_hash(identity(url, self._config.url)),
            url=url.href,
            host=url.authority,
            depth=depth,
            priority=score(depth, source, boosted=boosted),
            source=source,
            parent=parent,
        )

    def _sitemap_entries(
        self, urls: Sequence[str], parent: str, nesting: int
    ) -> tuple[Discovered, ...]:
        parsed = [parse_url(url) for url in urls[:SITEMAPS_PER_HOST]]
        return tuple(
            Discovered(
                url_hash=self._hash(url, EntryKind.SITEMAP),
                url=url.href,
                host=url.authority,
                depth=0,
                priority=score(0, Source.SITEMAP, boosted=False),
                source=Source.SITEMAP,
                kind=EntryKind.SITEMAP,
                parent=parent,
                hops=nesting,
            )
            for url in parsed
            if url is not None
            and self._has_room(url)
            and not self._seen.is_known(_told_apart(url.href, EntryKind.SITEMAP), 0)
        )

    def _hash(self, url: Url, kind: EntryKind) -> bytes:
        return url_hash(_told_apart(identity(url, self._config.url), kind))

    def _has_room(self, url: Url) -> bool:
        """Count a host's sitemaps: they use up no page, so nothing else would end them."""
        had = self._sitemaps.setdefault(url.authority, set())
        if len(had) < SITEMAPS_PER_HOST:
            had.add(url.href)
        return url.href in had


def _is_on(host: str, text: str) -> bool:
    url = parse_url(text)
    return url is not None and url.authority == host


def _told_apart(text: str, kind: EntryKind) -> str:
    """Keep a sitemap from taking a page's place: one that redirects home is not the home page."""
    return text if kind is EntryKind.PAGE else f"{kind} {text}"
