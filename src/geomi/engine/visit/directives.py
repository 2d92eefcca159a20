"""Read what a page asks of crawlers: noindex, nofollow, signals, and its canonical URL.

Directives come from the answer's headers, the page's tags and robots.txt; all of them count.

A canonical URL is a hint, and is followed only where the crawl may go (C-42). Its page is visited
like the target of a redirect: at the same depth, one hop further, so that a chain of hints ends.
A canonical URL that differs in scheme or `www.` alone names the page itself. Otherwise a site that
answers under both names would be crawled twice.
"""

from __future__ import annotations

from dataclasses import dataclass

from geomi.engine.host.robots import Reading
from geomi.model.page import Article, Fetched
from geomi.model.signals import Signals
from geomi.robots.meta import directives
from geomi.robots.signals import read_signals


@dataclass(frozen=True, slots=True)
class Wishes:
    """What was asked.

    Args:
        nofollow: its links are to be left alone.
        noindex: where it says that it is not to be kept; empty if it does not (ROB-33).
        signals: what may be done with it.
    """

    nofollow: bool
    noindex: str
    signals: Signals


def hear(reading: Reading, fetched: Fetched, article: Article | None = None) -> Wishes:
    """Put together what is said about one page; an answer without content has no tags."""
    token = reading.copy.key.token
    tags = [value for name, value in fetched.headers if name == "x-robots-tag"]
    answered = directives(tags, token) if tags else _NOTHING
    written = directives(tuple(article.robots), token) if article else _NOTHING
    words = answered | written
    noindex = ""
    if "noindex" in words:
        noindex = "X-Robots-Tag header" if "noindex" in answered else "meta robots tag"
    rights = article.rights if article else ()
    signals = read_signals(reading.usage(fetched.url), fetched.headers, words, rights)
    return Wishes("nofollow" in words, noindex, signals)


_NOTHING: frozenset[str] = frozenset()
