"""What a page asks of us, wherever it says so: in its answer, its tags, its robots.txt."""

from __future__ import annotations

from dataclasses import dataclass

from geomi.engine.robots import Reading
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
