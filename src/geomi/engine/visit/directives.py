"""Read what a page asks of crawlers: noindex, nofollow, signals, and its canonical URL.

Directives come from the answer's headers, the page's tags and robots.txt; all of them count.

A canonical URL is a hint, and is followed only where the crawl may go (C-42). Its page is visited
like the target of a redirect: at the same depth, one hop further, so that a chain of hints ends.
A canonical URL that differs in scheme or `www.` alone names the page itself. Otherwise a site that
answers under both names would be crawled twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from geomi.engine.host.robots import JobRobots
from geomi.engine.visit.rules import JobRules
from geomi.model.entry import Discovered, Source, UrlEntry
from geomi.model.page import Article, Fetched
from geomi.model.robots import Signals
from geomi.model.verdict import Verdict
from geomi.robots.meta import directives
from geomi.robots.signals import read_signals
from geomi.url.parse import split

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Directives:
    """What was asked.

    Args:
        nofollow: its links are to be left alone.
        noindex: where it says that it is not to be kept; empty if it does not (ROB-33).
        signals: what may be done with it.
    """

    nofollow: bool
    noindex: str
    signals: Signals


def read_directives(
    robots: JobRobots, fetched: Fetched, article: Article | None = None
) -> Directives:
    """Put together what is said about one page; an answer without content has no tags."""
    token = robots.copy.key.token
    tags = [value for name, value in fetched.headers if name == "x-robots-tag"]
    answered = directives(tags, token) if tags else _NOTHING
    written = directives(tuple(article.robots), token) if article else _NOTHING
    words = answered | written
    noindex = ""
    if "noindex" in words:
        noindex = "X-Robots-Tag header" if "noindex" in answered else "meta robots tag"
    rights = article.rights if article else ()
    signals = read_signals(robots.usage(fetched.url), fetched.headers, words, rights)
    return Directives("nofollow" in words, noindex, signals)


def canonical_target(entry: UrlEntry, canonical: str, rules: JobRules) -> Discovered | None:
    """Return the other page that a page names; None where it names itself, or is not believed."""
    config = rules.config
    if canonical in ("", entry.url) or not config.scope.honor_canonical:
        return None
    if entry.hops >= config.http.max_redirects:
        return None
    # Only what links may lead to; a seed may lie outside.
    named = rules.follow(replace(entry, source=Source.LINK), canonical)
    if isinstance(named, Verdict) or named.url_hash == entry.url_hash:
        return None
    if _place(named.url) == _place(entry.url):
        return None
    return replace(named, parent=entry.url, origin=None)


def _place(href: str) -> tuple[str, str]:
    url = split(href)
    return url.host.removeprefix("www."), url.target
