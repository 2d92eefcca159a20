"""Choose the strategy that finds the main content of a page.

The job's own selector comes first (EXT-01). A semantic element that holds the text and hardly any
layout is taken as it is (EXT-02). On any other page every block is weighed and the likely ones are
kept, wherever they stand (EXT-08): a forum's posts, a shop's offers, a text. A page with too few
or too many blocks to be weighed climbs the ladder.

The ladder (EXT-01…EXT-04) takes one element: by semantic elements, then by the names that sites
commonly use, then the body narrowed down to where its text is. A rung is taken only when its
element holds a fair share of the page's text, so one teaser card in an `<article>` is not the page.

A job can ask for the catalogue to the letter (`find_literally`, EXT-01…EXT-04, CLN-01…CLN-08). The
first element of the first rung that matches is the content. Everything that the lists name goes out
of it, even a `header` with the page's title. The lists were written for documentation and harm
other sites.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import itemgetter

from geomi.extract.content.blocks import CODES, MAX_BLOCKS, read_blocks
from geomi.extract.content.kind import ARTICLE, DOCUMENTATION, KINDS, claimed_types, tell_kind
from geomi.extract.content.prune import (
    MAX_ANCHORS,
    clear,
    drop_boilerplate,
    drop_frame,
    drop_named,
    drop_tooling,
)
from geomi.extract.content.selection import remove_others, select_blocks
from geomi.extract.content.weights import weigh
from geomi.extract.dom import HEADINGS, Document, Element, select
from geomi.model.config import Extraction, Ladder

# Fewer blocks say too little: the pages that the weights were learned from have 15 and more.
MIN_WEIGHED_BLOCKS = 12
# A semantic element with this share of the text and hardly any layout in it is the content, and
# needs no weighing. On WCXB that are 13 % of the pages, and the word F1 stays as it is; with a
# `div` for each paragraph they are 22 %, but what blogs add to their articles comes along.
PLAIN_SHARE = 0.3
MIN_PLAIN_CHARS = 1000
# A shorter one is taken, whatever its layout, if it is the only one of the page: so few blocks say
# too little to be weighed.
MAX_PLAIN_DIVS = 0.25  # for each paragraph
MAX_LISTING_DIVS = 1.5  # likewise, on a page with code: highlighters wrap each listing
MAX_PLAIN_LINKED = 0.3
KIND_DIGITS = 3  # of how likely each kind is
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
_UNWANTED = (
    "noscript, nav, header, footer, aside, .ad, .ads, .advertisement, [data-ad], [data-adunit], "
    ".sidebar, .toc, .table-of-contents, .breadcrumb, .breadcrumbs, .pagination, .pager, .cta, "
    ".banner, .announcement, .alert-banner, .promo, .feedback, .feedback-widget, .thumbs-up-down, "
    ".was-helpful, .cookie-banner, .cookie-consent, .gdpr-banner"
)
# Each rung, and how sure it is: the further down, the more pages use it for something else.
_LITERAL_RUNGS = (
    ("article", "article", 0.9),
    ("main", "main", 0.9),
    ("role", '[role="main"]', 0.9),
    ("common", ".content", 0.7),
    ("common", ".docs-body", 0.7),
    ("common", "#content", 0.7),
    ("common", ".markdown-body", 0.7),
)


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


def find_content(document: Document, body: Element, rules: Extraction) -> Choice:
    """Find the main content and take everything else out of the tree."""
    if rules.ladder is Ladder.LITERAL:
        return find_literally(body, rules)
    claimed = claimed_types(document)
    clear(body, rules.remove)
    if (own := choose_own(body, rules.content)) is not None:
        drop_boilerplate(own.content)
        return own
    semantic, chars = drop_frame(body)
    plain = _find_plain(body, semantic, chars) if semantic else None
    return plain or _weigh_blocks(body, claimed)


def _find_plain(body: Element, semantic: list[Element], total: int) -> Choice | None:
    """Return the element that holds a page's text and hardly anything else, if there is one."""
    articles = [element for element in semantic if element.tag == "article"]
    mains = [element for element in semantic if element.tag == "main"]
    is_lone = len(mains) == 1 and len(articles) <= 1
    for found in filter(None, map(longest, (articles, mains))):
        content, chars = found
        tags = [element.tag for element in content.iter_elements(("p", "pre", "div"))]
        is_short = chars < MIN_PLAIN_CHARS
        if not (is_lone if is_short else _is_little_layout(tags)):
            continue
        held = chars / ((not is_short and total) or len(body.text) or 1)
        is_in_frame = content.closest("body") is None  # and has gone with it
        if held >= PLAIN_SHARE and _linked(content) <= MAX_PLAIN_LINKED * chars and not is_in_frame:
            drop_boilerplate(content)
            kind = DOCUMENTATION if "pre" in tags else ARTICLE
            return Choice(content, content.tag, confidence_in(held), kind)
    return None


def _is_little_layout(tags: list[str]) -> bool:
    listings = tags.count("pre")
    divs = MAX_LISTING_DIVS if listings else MAX_PLAIN_DIVS
    return tags.count("div") <= divs * (tags.count("p") + listings)


def _linked(content: Element) -> int:
    return sum(len(anchor.text) for anchor in content.select("a")[:MAX_ANCHORS])


def _weigh_blocks(body: Element, claimed: frozenset[str]) -> Choice:
    blocks = read_blocks(body)
    likely = tell_kind(blocks, claimed)
    kind = KINDS[int(likely.argmax())]
    shares = [round(share, KIND_DIGITS) for share in likely.tolist()]
    kinds = tuple(zip(KINDS, shares, strict=True))
    if not MIN_WEIGHED_BLOCKS <= len(blocks.texts) < MAX_BLOCKS:
        drop_boilerplate(body)
        return replace(choose(body), kind=kind, kinds=kinds)
    selection = select_blocks(blocks, weigh(blocks, likely), likely)
    remove_others(blocks, selection.kept)
    if kind == DOCUMENTATION or (blocks.codes == CODES["pre"]).any():
        drop_named(body)
    return Choice(body, "blocks", round(selection.expected, 2), kind, kinds)


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


def find_literally(body: Element, rules: Extraction) -> Choice:
    """Find the main content and take what is unwanted out of it (EXT-05)."""
    clear(body, rules.remove)
    choice = choose_own(body, rules.content) or _climb_literally(body)
    choice.content.remove(_UNWANTED)
    drop_tooling(choice.content)
    return choice


def _climb_literally(body: Element) -> Choice:
    for strategy, rung, confidence in _LITERAL_RUNGS:
        if (found := body.select_one(rung)) is not None:
            return Choice(found, strategy, confidence)
    return Choice(body, "body", 0.4)
