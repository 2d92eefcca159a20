"""What kind of page it is."""

from __future__ import annotations

import numpy as np
import pytest

from geomi.extract.content.blocks import Blocks, read_blocks
from geomi.extract.content.kind import (
    FACTS,
    KINDS,
    MAX_CLAIMS,
    claimed_types,
    facts,
    page_words,
    tell_kind,
)
from geomi.extract.dom import parse_html

PROSE = "A sentence of the page that somebody wants to read, and one more for good measure. " * 4


def page(html: str) -> tuple[Blocks, frozenset[str]]:
    document = parse_html(html.encode(), "text/html")
    body = document.select_one("body")
    assert body is not None
    return read_blocks(body), claimed_types(document)


def kind(html: str) -> str:
    return KINDS[int(tell_kind(*page(html)).argmax())]


def test_a_text_is_an_article() -> None:
    html = f"<meta property=og:type content=article><article class=post><h1>T</h1>{'<p>' + PROSE}"
    assert kind(html * 3) == "article"


def test_offers_are_a_collection() -> None:
    card = "<li class=product-card><a href=x><h3 class=product-title>Bag</h3></a><p>$9.99</p></li>"
    assert kind(f"<main class=collection><h1>Bags</h1><ul class=product-grid>{card * 40}</ul>") in (
        "collection",
        "listing",
    )


def test_posts_are_a_forum() -> None:
    claimed = '<script type="application/ld+json">{"@type": "DiscussionForumPosting"}</script>'
    post = f"<div class='post topic-post'><span class=username>A</span><div>{PROSE}</div></div>"
    assert kind(f"{claimed}<div class=topic><h1>Question?</h1>{post * 6}</div>") == "forum"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<meta property=og:type content=' Product '>", {"og:product"}),
        ('<script type="application/ld+json">{"@type": "FAQPage"', {"ld:faqpage"}),
        ('<script type="application/ld+json">{"@type":["Product","x"]}', {"ld:product"}),
        ("<p>og:type", set()),
    ],
)
def test_claims(html: str, expected: set[str]) -> None:
    assert page(html)[1] == expected


def test_only_so_many_scripts_are_asked() -> None:
    names = [f"T{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(MAX_CLAIMS + 1)]
    script = '<script type="application/ld+json">{"@type": "%s"}</script>'
    assert len(page("".join(script % name for name in names))[1]) == MAX_CLAIMS
    assert len(page(script % '"}, {"@type": "'.join(names))[1]) == MAX_CLAIMS


@pytest.mark.parametrize("html", ["", "x", "<p>$5?", "<ul>" + "<li>1" * 500])
def test_any_page_has_facts_and_a_kind(html: str) -> None:
    blocks, claimed = page(html)
    assert facts(blocks).shape == (len(FACTS),)
    assert np.isfinite(facts(blocks)).all()
    likely = tell_kind(blocks, claimed)
    assert likely.sum() == pytest.approx(1, abs=1e-5)


def test_words_are_those_of_elements_and_claims() -> None:
    blocks, _ = page("<div class=postBody>seen</div>")
    assert page_words(blocks, frozenset(("og:x",))) == {"post", "body", "og:x"}
