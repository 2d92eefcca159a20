"""Decide which sitemaps a job asks for: those that somebody names, up to limits.

Lists use up no page, so only these limits end a site that names more and more of them. What a
limit leaves out is counted like a link that a rule excludes: its pages may be found nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from geomi.engine.visit.identity import key_of_kind
from geomi.engine.visit.rules import JobRules
from geomi.frontier.seen import SeenUrls
from geomi.model.entry import Discovered, EntryKind, Source, UrlEntry
from geomi.model.verdict import Exclusion
from geomi.url.parse import Url
from geomi.url.parse import parse as parse_url

SITEMAPS_PER_HOST = 1000  # 50 million pages; large shops name some hundreds
SITEMAP_NESTING = 2  # C-82

Named = tuple[tuple[Discovered, ...], tuple[Exclusion, ...]]  # what is asked for, what is not


class Sitemaps:
    """The sitemaps of one job, as one worker has met them."""

    def __init__(self, rules: JobRules, seen: SeenUrls) -> None:
        self._rules = rules
        self._seen = seen
        self._had: dict[str, set[str]] = {}  # by host

    def named(self, urls: Sequence[str], parent: str) -> Named:
        """Judge sitemaps that a robots.txt or a person names, on whatever host."""
        return self._judged(urls, parent, 0)

    def listed(self, entry: UrlEntry, urls: Sequence[str]) -> Named:
        """Judge what a sitemap index lists; it may name nothing on another host (C-82).

        What it lists comes as early as the index does.
        """
        foreign = [url for url in urls if not _is_on(entry.host, url)]
        own = [url for url in urls if _is_on(entry.host, url)]
        found, excluded = self._judged(own, entry.url, entry.nesting + 1)
        found = tuple(replace(one, priority=entry.priority) for one in found)
        return found, excluded + tuple(Exclusion("sitemap.host", url) for url in foreign)

    def _judged(self, urls: Sequence[str], parent: str, nesting: int) -> Named:
        found: list[Discovered] = []
        excluded: list[Exclusion] = []
        for text in urls:
            if self._is_known(text) or (url := parse_url(text)) is None or self._is_known(url.href):
                continue
            verdict = self._rules.host_verdict(url)
            if not verdict.admitted:
                excluded.append(Exclusion(verdict.rule, url.href, verdict.detail))
            elif nesting > SITEMAP_NESTING:
                detail = f"{nesting} indexes above it; the limit is {SITEMAP_NESTING}"
                excluded.append(Exclusion("sitemap.nesting", url.href, detail))
            elif not self._has_room(url):
                detail = f"the limit is {SITEMAPS_PER_HOST} sitemaps for each host"
                excluded.append(Exclusion("sitemap.limit", url.href, detail))
            else:
                kind, source = EntryKind.SITEMAP, Source.SITEMAP
                found.append(self._rules.found_list(url, kind, source, parent, nesting))
                continue
            # A robots.txt is read with every page: what was kept out is told once.
            self._seen.remember(key_of_kind(url.href, EntryKind.SITEMAP), 0)
        return tuple(found), tuple(excluded)

    def _is_known(self, href: str) -> bool:
        return self._seen.is_known(key_of_kind(href, EntryKind.SITEMAP), 0)

    def _has_room(self, url: Url) -> bool:
        had = self._had.setdefault(url.authority, set())
        if len(had) < SITEMAPS_PER_HOST:
            had.add(url.href)
        return url.href in had


def _is_on(host: str, text: str) -> bool:
    url = parse_url(text)
    return url is not None and url.authority == host
