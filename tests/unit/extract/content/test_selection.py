"""Which blocks stay."""

from __future__ import annotations

import numpy as np
import pytest

from geomi.extract.content.blocks import Blocks, read_blocks
from geomi.extract.content.kind import ARTICLE, COLLECTION, DOCUMENTATION, KINDS, Likely
from geomi.extract.content.selection import remove_others, select_blocks
from geomi.extract.dom import Element, parse_html, text_of


def page(html: str) -> tuple[Element, Blocks]:
    body = parse_html(html.encode(), "text/html").select_one("body")
    assert body is not None
    return body, read_blocks(body)


def surely(kind: str) -> Likely:
    return np.array([name == kind for name in KINDS], np.float32)


def kept(html: str, likely: list[float], kind: str = COLLECTION) -> list[bool]:
    _, blocks = page(html)
    return [bool(stays) for stays in select_blocks(blocks, np.array(likely), surely(kind)).kept]


LONG = "x" * 100


@pytest.mark.parametrize(
    ("likely", "expected"),
    [
        ([0.9, 0.9, 0.1], [True, True, False]),
        ([0.9, 0.5, 0.1], [True, True, False]),
        ([0.3, 0.3, 0.25], [True, True, True]),  # nothing is certain: take what there is
        ([0.9, 0.2, 0.2], [True, False, False]),
    ],
)
def test_the_bar_moves_with_the_page(likely: list[float], expected: list[bool]) -> None:
    assert kept(f"<p>{LONG}" * 3, likely) == expected


def test_doubt_counts_more_on_a_page_of_prose() -> None:
    html = f"<p>{LONG}" * 3
    assert kept(html, [0.9, 0.42, 0.4]) == [True, True, True]
    assert kept(html, [0.9, 0.42, 0.4], ARTICLE) == [True, False, False]


def test_what_is_expected_is_told() -> None:
    _, blocks = page(f"<p>{LONG}" * 2)
    assert select_blocks(blocks, np.array([1.0, 0.0]), surely(COLLECTION)).expected == 1
    assert select_blocks(blocks, np.array([0.5, 0.0]), surely(COLLECTION)).expected < 0.7


@pytest.mark.parametrize(
    ("html", "likely", "expected"),
    [
        ("<ul><li>12345<li>12345<li>1</ul><p>1", [0.9, 0.9, 0, 0], [True, True, True, False]),
        ("<ul><li>1<li>1<li>1</ul><p>1", [0.9, 0, 0, 0], [True, False, False, False]),
        ("<table><tr><td>12345<td>1</table><p>1", [0.9, 0, 0], [True, True, False]),
    ],
)
def test_a_group_that_mostly_stays_is_whole(
    html: str, likely: list[float], expected: list[bool]
) -> None:
    assert kept(html, likely) == expected


@pytest.mark.parametrize(
    ("html", "likely", "expected"),
    [
        (f"<h1>t</h1><h2>s</h2><p>{LONG}<h2>o</h2><p>{LONG}", [0, 0, 1, 0, 0], "11100"),
        (f"<h1>t</h1><p><a>{LONG}</a><h2>s</h2><p>{LONG}", [0, 0, 0, 1], "1011"),
        (f"<h2>t</h2><p><a>{LONG}</a><h2>s</h2><p>{LONG}", [0, 0, 0, 1], "0011"),
        (f"<div><h2>t</h2></div><p>{LONG}", [0, 1], "11"),
        (f"<div><h2>t</h2><a>{LONG}</a></div><p>{LONG}", [0, 0, 1], "001"),
        (f"<p>{LONG}</p><h2>last</h2>", [1, 0], "10"),
    ],
)
def test_what_stays_keeps_the_headings_above_it(
    html: str, likely: list[float], expected: str
) -> None:
    assert "".join(str(int(stays)) for stays in kept(html, likely)) == expected


@pytest.mark.parametrize(
    ("hole", "is_filled"),
    [
        ("<p>short", True),
        (f"<p>{LONG * 3}", True),
        (f"<p>{LONG * 3}x", False),
        ("<p><a href=x>short", False),
        ("</section><p>short</p><section>", False),
    ],
)
def test_small_holes_are_filled(hole: str, is_filled: bool) -> None:
    html = f"<section><p>{LONG * 9}</p>{hole}<p>{LONG * 9}</p></section>"
    assert kept(html, [1, 0, 1]) == [True, is_filled, True]


@pytest.mark.parametrize("tag", ["pre", "table"])
@pytest.mark.parametrize(("likely", "stays"), [(0.31, True), (0.29, False)])
def test_code_and_tables_stay_with_their_text(tag: str, likely: float, stays: bool) -> None:
    exhibit = f"<div><{tag}><tr><td>{LONG * 5}</{tag}></div>"
    html = f"<section><p>{LONG * 20}</p>{exhibit}</section><p>{LONG * 9}"
    assert kept(html, [0.99, likely, 0.01], ARTICLE) == [True, stays, False]


@pytest.mark.parametrize(("kind", "stays"), [(DOCUMENTATION, False), (COLLECTION, True)])
def test_the_way_to_a_page_of_a_manual_goes(kind: str, stays: bool) -> None:
    html = f"<p><a href=x>Manual</a> &gt;<h1>t</h1><p>{LONG}<p><a href=y>more</a>"
    assert kept(html, [1, 1, 1, 1], kind) == [stays, True, True, True]


def test_the_others_leave_the_tree() -> None:
    body, blocks = page("<div>a<p>b</p>c<img alt=d></div><section><p>e</p></section><p>f")
    remove_others(blocks, np.array([True, False, False, False, True]))
    assert text_of(body) == "a f"
    assert [element.tag for element in body.select("*")] == ["div", "img", "p"]


def test_if_nothing_stays_the_body_does() -> None:
    body, blocks = page("<p>a<p>b")
    remove_others(blocks, np.array([False, False]))
    assert text_of(body) == ""
