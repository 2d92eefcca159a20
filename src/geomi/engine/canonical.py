"""The URL that a page names as canonical: a hint, believed only where the crawl may go (C-42).

The page it names is visited like a redirect's target: at the same depth, one hop further, so that
pages which name each other in a row come to an end. One that differs in scheme or `www.` alone is
the page itself: a site that answers under both names would be crawled twice.
"""

from __future__ import annotations

from dataclasses import replace

from geomi.engine.visit.links import LinkGate
from geomi.model.config import CrawlConfig
from geomi.model.entry import Discovered, Source, UrlEntry
from geomi.model.verdict import Verdict
from geomi.url.parse import split


def believed(
    entry: UrlEntry, canonical: str, gate: LinkGate, config: CrawlConfig
) -> Discovered | None:
    """Return the other page that a page names; None where it names itself, or is not believed."""
    if canonical in ("", entry.url) or not config.scope.honor_canonical:
        return None
    if entry.hops >= config.http.max_redirects:
        return None
    # Only what links may lead to; a seed may lie outside.
    named = gate.follow(replace(entry, source=Source.LINK), canonical)
    if isinstance(named, Verdict) or named.url_hash == entry.url_hash:
        return None
    if _place(named.url) == _place(entry.url):
        return None
    return replace(named, parent=entry.url, origin=None)


def _place(href: str) -> tuple[str, str]:
    url = split(href)
    return url.host.removeprefix("www."), url.target
