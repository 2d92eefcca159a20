"""Which part of a page is its main content: the ladder EXT-01…EXT-04.

The job's own selector, then semantic elements, then the names that sites commonly use, then the
body narrowed down by where its text is. A rung is taken only when what it finds holds a fair
share of the page's text, so that one teaser card in an `<article>` is not mistaken for the page.
"""

from __future__ import annotations

from dataclasses import dataclass

from geomi.extract.dom import Element, select

# A rung's element must hold this share of the text that the pruned body shows.
ARTICLE_SHARE = 0.4
MAIN_SHARE = 0.2
COMMON_SHARE = 0.4
# The body is narrowed to a child as long as the child holds nearly everything.
DOMINANT_SHARE = 0.8
MAX_DEPTH = 30
# How many elements of a rung are measured: measuring reads their whole text.
MAX_CANDIDATES = 50

_COMMON = (
    '.content, .docs-body, #content, .markdown-body, [itemprop="articleBody"], .post-content, '
    ".entry-content, .article-body, .article-content, .post-body, #main, .main, #main-content, "
    ".main-content, .document, #article, .article, .post"
)

_LEAVES = frozenset(("p", "table", "ul", "ol", "pre"))


@dataclass(frozen=True, slots=True)
class Choice:
    """The main content, by which rung it was found, and how sure that is (0 to 1)."""

    content: Element
    strategy: str
    confidence: float


def choose(body: Element, selector: str) -> Choice:
    """Climb the ladder on a pruned body."""
    total = len(body.text) or 1
    if selector and (own := _longest(select(body, selector))) is not None:
        return Choice(own, "selector", 1.0)
    for strategy, rung, share in (
        ("article", "article", ARTICLE_SHARE),
        ("main", "main", MAIN_SHARE),
        ("role", '[role="main"]', MAIN_SHARE),
        ("common", _COMMON, COMMON_SHARE),
    ):
        found = _longest(body.select(rung))
        if found is not None and (held := len(found.text) / total) >= share:
            return Choice(found, strategy, round(0.6 + 0.4 * held, 2))
    return Choice(_narrow(body), "body", 0.4)


def _longest(elements: list[Element]) -> Element | None:
    return max(elements[:MAX_CANDIDATES], key=lambda element: len(element.text), default=None)


def _narrow(body: Element) -> Element:
    content = body
    for _ in range(MAX_DEPTH):
        enough = len(content.text) * DOMINANT_SHARE
        children = (child for child in content.children if isinstance(child, Element))
        inner = next((child for child in children if len(child.text) >= enough), None)
        if inner is None or inner.tag in _LEAVES or _headings(inner) < _headings(content):
            break
        content = inner
    return content


def _headings(element: Element) -> int:
    return len(element.select("h1, h2, h3, h4, h5, h6"))
