"""Which strategy finds the main content of a page.

The job's own selector comes first (EXT-01). A semantic element that holds the text and hardly any
layout is taken as it is (EXT-02). On any other page every block is weighed and the likely ones are
kept, wherever they stand (EXT-08): a forum's posts, a shop's offers, a text. A page with too few
or too many blocks to be weighed climbs the ladder. A job that asks for the catalogue's own rules
gets them and nothing else (`ladder.find_literally`).
"""

from __future__ import annotations

from dataclasses import replace

from geomi.extract.content.blocks import CODES, MAX_BLOCKS, read_blocks
from geomi.extract.content.kind import ARTICLE, DOCUMENTATION, KINDS, claimed_types, tell_kind
from geomi.extract.content.ladder import (
    Choice,
    choose,
    choose_own,
    confidence_in,
    find_literally,
    longest,
)
from geomi.extract.content.prune import MAX_ANCHORS, clear, drop_boilerplate, drop_frame, drop_named
from geomi.extract.content.selection import remove_others, select_blocks
from geomi.extract.content.weights import weigh
from geomi.extract.dom import Document, Element
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
