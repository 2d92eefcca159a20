"""The ladder EXT-01…EXT-04: which one element of a page is its main content.

The job's own selector, then semantic elements, then the names that sites commonly use, then the
body narrowed down by where its text is. A rung is taken only when what it finds holds a fair share
of the page's text, so that one teaser card in an `<article>` is not mistaken for the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter

from geomi.extract.dom import HEADINGS, Element, select

SELECTOR = "selector"  # the rung of the job's own choice
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

_RUNGS = (
    ("article", "article", ARTICLE_SHARE),
    ("main", "main", MAIN_SHARE),
    ("role", '[role="main"]', MAIN_SHARE),
    ("common", _COMMON, COMMON_SHARE),
)
_WHOLE = ("body", "html")
_CONTAINERS = frozenset(("div", "article", "main", "section", "body"))
_LEAVES = frozenset(("p", "table", "ul", "ol", "pre"))


@dataclass(frozen=True, slots=True)
class Choice:
    """The main content, how it was found, how sure that is (0 to 1), and the kind of page.

    Where the kind was told by the blocks, `kinds` says how likely each one is.
    """

    content: Element
    strategy: str
    confidence: float
    kind: str = ""
    kinds: tuple[tuple[str, float], ...] = ()


def choose_own(body: Element, selector: str) -> Choice | None:
    """Return what the job's own selector finds, if that is anything."""
    if not selector:
        return None
    if selector.strip().lower() in _WHOLE:
        return Choice(body, SELECTOR, 1.0)
    found = longest(select(body, selector))
    return None if found is None else Choice(_container(found[0]), SELECTOR, 1.0)


def _container(found: Element) -> Element:
    """Return what holds the element: a table or a list by itself is no content to be written."""
    if found.tag in _CONTAINERS:
        return found
    around = Element("div")
    found.wrap(around)
    return around


def choose(body: Element) -> Choice:
    """Climb the ladder on a pruned body, from its second rung."""
    total = len(body.text) or 1
    for strategy, rung, share in _RUNGS:
        found = longest(body.select(rung))
        if found is not None and (held := found[1] / total) >= share:
            return Choice(found[0], strategy, confidence_in(held))
    return Choice(_narrow(body), "body", 0.4)


def longest(elements: list[Element]) -> tuple[Element, int] | None:
    """Return the element with the most text, and how much that is."""
    measured = [(element, len(element.text)) for element in elements[:MAX_CANDIDATES]]
    return max(measured, key=itemgetter(1), default=None)


def confidence_in(held: float) -> float:
    """Return how sure an element is that holds this share of the text."""
    return round(0.6 + 0.4 * min(held, 1.0), 2)


def _narrow(body: Element) -> Element:
    content, chars, headings = body, len(body.text), _headings(body)
    for _ in range(MAX_DEPTH):
        enough = chars * DOMINANT_SHARE
        inner = next((child for child in _measured(content) if child[1] >= enough), None)
        if inner is None or inner[0].tag in _LEAVES or _headings(inner[0]) < headings:
            break
        content, chars = inner
    return content


def _measured(parent: Element) -> Iterator[tuple[Element, int]]:
    for child in parent.children:
        if isinstance(child, Element):
            yield child, len(child.text)


def _headings(element: Element) -> int:
    return sum(1 for _ in element.iter_elements(HEADINGS))
