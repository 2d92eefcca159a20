"""What the places around a block say."""

from __future__ import annotations

from functools import partial

import pytest

from geomi.extract.content.blocks import read_blocks, weigh_words
from geomi.extract.content.weights import MARKS, read_marks, read_paths
from geomi.extract.dom import parse_html


def marks(html: str) -> set[str]:
    """Return the marks of the last block of a page."""
    body = parse_html(html.encode(), "text/html").select_one("body")
    assert body is not None
    last = read_marks(read_blocks(body))[:, -1]
    return {mark for mark, depth in zip(MARKS, last.tolist(), strict=True) if depth > 0}


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>x", set()),
        ("<main><section><p>x", {"main"}),
        ("<main><p>x</p></main><p>y", set()),
        ("<aside><ul><li>x", {"aside", "ul"}),
        ("<ul><li>x<ul><li>y</ul><li>z", {"ul"}),
        ("<figure><ol><li>x</ol>y", {"figure"}),
        ("<div class=sidebar><p>x", {"furniture"}),
        ("<div id=Footer><p>x", {"furniture"}),
        ("<main><div role=navigation><p>x", {"main", "furniture"}),
        ("<div class=content-with-sidebar-left><p>x", set()),
    ],
)
def test_a_block_has_the_marks_of_all_places_around_it(html: str, expected: set[str]) -> None:
    assert marks(html) == expected


def test_names_add_up_along_the_path() -> None:
    body = parse_html(b"<div class=post><p class='body lead'>x</p></div>", "").select_one("body")
    assert body is not None
    weights = {"post": 1.0, "body": 0.5, "menu": -9.0}
    paths = read_paths(read_blocks(body), partial(weigh_words, weights=weights))
    assert paths.tolist() == [0, 1, 1.5]
