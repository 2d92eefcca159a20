"""Which part of a page is its main content."""

from __future__ import annotations

import pytest

from geomi.extract.content import strategy
from geomi.extract.content.kind import ARTICLE, DOCUMENTATION, KINDS
from geomi.extract.content.strategy import MIN_PLAIN_CHARS, MIN_WEIGHED_BLOCKS, Choice, find_content
from geomi.extract.dom import parse_html, text_of
from geomi.model.config import Extraction, Ladder

LONG = "Words that a reader came for. " * 10


def found(html: str, rules: Extraction) -> Choice:
    document = parse_html(html.encode(), "text/html")
    body = document.select_one("body")
    assert body is not None
    return find_content(document, body, rules)


MENU = "".join(f"<li><a href=/{n}>Topic {n}</a></li>" for n in range(20))
PAGE = (
    f"<ul class=menu>{MENU}</ul><h1>Title</h1>"
    + f"<p>{LONG}</p>" * 6
    + f"<div class=sidebar><h3>Related</h3><ul>{MENU}</ul></div>"
)


@pytest.mark.req("EXT-07", "EXT-08", "FUT-03")
def test_the_blocks_of_a_page_are_weighed() -> None:
    choice = found(PAGE, Extraction())
    assert choice.strategy == "blocks"
    assert choice.kind in KINDS
    assert 0 < choice.confidence <= 1
    text = text_of(choice.content)
    assert text.startswith("Title Words")
    assert text.count(LONG.strip()) == 6
    assert "Topic" not in text


def test_the_jobs_selector_comes_first() -> None:
    choice = found(PAGE, Extraction(content="h1"))
    assert (choice.strategy, text_of(choice.content)) == ("selector", "Title")


@pytest.mark.parametrize(("blocks", "strategy"), [(-1, "body"), (0, "blocks")])
def test_a_small_page_climbs_the_ladder(blocks: int, strategy: str) -> None:
    html = f"<p>{LONG}</p>" * (MIN_WEIGHED_BLOCKS + blocks)
    assert found(html, Extraction()).strategy == strategy


def test_a_page_of_too_many_blocks_climbs_the_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategy, "MAX_BLOCKS", MIN_WEIGHED_BLOCKS + 1)
    html = f"<p>{LONG}</p>" * MIN_WEIGHED_BLOCKS
    assert found(html, Extraction()).strategy == "blocks"
    assert found(html + "<p>more", Extraction()).strategy == "body"


@pytest.mark.parametrize("is_plain", [True, False])
def test_code_keeps_no_line_numbers_and_headings_no_permalinks(is_plain: bool) -> None:
    code = (
        "<h2>Use<a class=headerlink href=#u>#</a></h2><pre><span class=linenos>1</span>x = 1</pre>"
    )
    layout = "" if is_plain else "<div></div>" * 40
    choice = found(f"<main>{('<p>' + LONG) * 14}{code}<p>{LONG}{layout}</main>", Extraction())
    assert choice.strategy == ("main" if is_plain else "blocks")
    assert "Use x = 1" in text_of(choice.content)


PARAGRAPHS = f"<p>{LONG}</p>" * 8


@pytest.mark.req("EXT-02")
@pytest.mark.parametrize(
    ("html", "strategy", "kind"),
    [
        (f"<article>{PARAGRAPHS}</article>{MENU}", "article", ARTICLE),
        (f"<main><h1>T</h1>{PARAGRAPHS}<pre>code</pre></main>{MENU}", "main", DOCUMENTATION),
        (f"<main><ul>{MENU}</ul><article>{PARAGRAPHS}</article></main>", "article", ARTICLE),
        (f"<article>{PARAGRAPHS}<div></div><div></div></article>", "article", ARTICLE),
    ],
)
def test_a_plain_element_is_taken_as_it_is(html: str, strategy: str, kind: str) -> None:
    choice = found(html, Extraction())
    assert (choice.strategy, choice.kind) == (strategy, kind)
    assert "Topic" not in text_of(choice.content)


@pytest.mark.parametrize(
    "html",
    [
        f"<article>{PARAGRAPHS}{'<div></div>' * 3}</article>{MENU}",
        f"<article>{PARAGRAPHS}<ul>{MENU * 20}</ul></article>",
        f"<article>{PARAGRAPHS}</article><section>{PARAGRAPHS * 3}</section>",
        f"<article><p>{LONG[: MIN_PLAIN_CHARS // 10]}</p></article><ul>{MENU}</ul>",
        f"<nav><article>{PARAGRAPHS}</article></nav><p>{LONG * 20}</p><ul>{MENU}</ul>",
    ],
    ids=["layout", "links", "share", "short", "in a menu"],
)
def test_anything_else_is_weighed(html: str) -> None:
    assert found(html, Extraction()).strategy == "blocks"


def test_a_selector_that_finds_nothing_is_passed_over() -> None:
    assert found(PAGE, Extraction(content=".gone")).strategy == "blocks"


def test_the_catalogues_own_rules_can_be_had() -> None:
    html = f"<article><header><h1>Title</h1></header>{PARAGRAPHS}</article>"
    assert "Title" in text_of(found(html, Extraction()).content)
    literal = found(html, Extraction(ladder=Ladder.LITERAL))
    assert "Title" not in text_of(literal.content)
    assert (literal.strategy, literal.kind) == ("article", "")


TABS = (
    "<div class=tabs><ul role=tablist><li>npm<li>yarn</ul><div role=tabpanel><pre>npm i loom</pre>"
    "</div><div role=tabpanel hidden><pre>yarn add loom</pre></div></div>"
)


@pytest.mark.parametrize("layout", ["", "<div class=x></div>" * 20])
def test_listings_in_tabs_are_kept(layout: str) -> None:
    """Hidden panels too, on a plain page and on one whose blocks are weighed."""
    prose = "".join(f"<p>{number} {LONG}</p>" for number in range(9))
    page = f"<ul>{MENU}</ul><main><article><h1>T</h1>{prose}{TABS}{layout}</article></main>"
    text = text_of(found(page, Extraction()).content)
    assert "npm i loom" in text
    assert "yarn add loom" in text


def test_the_only_main_of_a_small_page_is_taken_whole() -> None:
    terms = "<dl><dt>Warp<dd>Threads along.<dt>Weft<dd>Threads across.</dl>"
    page = f"<nav>{MENU}</nav><main><h1>Terms</h1>{terms}<div class=card>See more.</div></main>"
    choice = found(page, Extraction())
    assert choice.strategy == "main"
    assert text_of(choice.content).endswith("Weft Threads across. See more.")


@pytest.mark.parametrize("selector", ["body", " HTML "])
def test_a_selector_may_name_the_whole_page(selector: str) -> None:
    choice = found(f"<main><p>{LONG}</p></main><p>After it.", Extraction(content=selector))
    assert choice.strategy == "selector"
    assert text_of(choice.content).endswith("After it.")
