"""The ladder EXT-01…EXT-04."""

from __future__ import annotations

import pytest

from geomi.extract.content import strategy
from geomi.extract.content.strategy import Choice, choose, choose_own
from geomi.extract.dom import parse_html, text_of

LONG = "Words that a reader came for. " * 10
SHORT = "Beside it."


def chosen(html: str, selector: str = "") -> Choice:
    body = parse_html(html.encode(), "text/html").select_one("body")
    assert body is not None
    return choose_own(body, selector) or choose(body)


@pytest.mark.req("EXT-01", "EXT-02", "EXT-03", "EXT-04", "CFG-08")
@pytest.mark.parametrize(
    ("html", "selector", "strategy"),
    [
        (f"<main><p class=own>{SHORT}</p><article>{LONG}</article></main>", ".own", "selector"),
        (f"<main><article>{LONG}</article></main>", ".none", "article"),
        (f"<main><article>{LONG}</article></main>", "p[", "article"),
        (f"<main>{LONG}</main><div role=main>{SHORT}</div>", "", "main"),
        (f'<div role="main">{LONG}</div><div class=content>{SHORT}</div>', "", "role"),
        (f"<div class=content>{LONG}</div>", "", "common"),
        (f"<div class=docs-body>{LONG}</div>", "", "common"),
        (f"<div id=content>{LONG}</div>", "", "common"),
        (f"<div class=markdown-body>{LONG}</div>", "", "common"),
        (f"<div>{LONG}</div><p>{SHORT}</p>", "", "body"),
    ],
)
def test_the_ladder(html: str, selector: str, strategy: str) -> None:
    choice = chosen(html, selector)
    assert choice.strategy == strategy
    assert (SHORT if selector == ".own" else LONG.strip()) in text_of(choice.content)
    assert 0 < choice.confidence <= 1


def test_a_teaser_is_not_the_page() -> None:
    cards = f"<article>{SHORT}</article>" * 6
    choice = chosen(f"<main><p>{LONG}</p>{cards}</main>")
    assert choice.strategy == "main"
    assert text_of(choice.content).count(SHORT) == 6


def test_the_longest_of_several_is_taken() -> None:
    assert text_of(chosen(f"<article>{SHORT}</article><article>{LONG}</article>").content) in LONG


def test_the_body_is_narrowed_but_keeps_its_headings() -> None:
    assert chosen(f"<p>{SHORT}</p><div><section>{LONG}</section></div>").content.tag == "section"
    assert chosen(f"<h1>{SHORT}</h1><div><section>{LONG}</section></div>").content.tag == "body"
    assert chosen(f"<div><p>{LONG}</p></div>").content.tag == "div"


def test_only_so_many_candidates_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    html = f"<article>{SHORT}</article><article>{LONG}</article>"
    monkeypatch.setattr(strategy, "MAX_CANDIDATES", 1)
    assert chosen(html).strategy == "body"


def test_an_empty_body_is_its_own_content() -> None:
    assert chosen("").strategy == "body"
