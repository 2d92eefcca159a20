"""How likely each block belongs to the main content."""

from __future__ import annotations

import numpy as np

from geomi.extract.content.blocks import Blocks, read_blocks
from geomi.extract.content.kind import ARTICLE, KINDS
from geomi.extract.content.weights import FEATURES, _model, weigh
from geomi.extract.dom import parse_html

PROSE = "A sentence of the page that somebody wants to read, and one more for good measure. " * 4
MENU = "".join(f"<li><a href=/{n}>Topic {n}</a></li>" for n in range(30))
PAGE = (
    f"<div class=menu><ul>{MENU}</ul></div><article class=post><h1>Title of it</h1>"
    + "".join(f"<p>Part {n}. {PROSE}</p>" for n in range(8))
    + f"</article><div class='related sidebar'><ul>{MENU}</ul></div><footer><p>Imprint</p></footer>"
)


def weighed(html: str) -> tuple[Blocks, list[float]]:
    body = parse_html(html.encode(), "text/html").select_one("body")
    assert body is not None
    blocks = read_blocks(body)
    kind = np.array([name == ARTICLE for name in KINDS], np.float32)
    return blocks, weigh(blocks, kind).tolist()


def test_prose_is_likely_and_menus_are_not() -> None:
    blocks, likely = weighed(PAGE)
    prose = [p for text, p in zip(blocks.texts, likely, strict=True) if len(text) > 100]
    menus = [p for text, p in zip(blocks.texts, likely, strict=True) if text.startswith("Topic")]
    assert len(prose) == 8
    assert min(prose) > 0.5
    assert max(menus) < 0.3
    assert likely[-1] < 0.3


def test_the_stored_forest_fits_the_rows() -> None:
    forest = _model().forest
    assert 0 <= forest.rows.min() <= forest.rows.max() < len(FEATURES)
    assert np.isfinite(forest.bounds).all()
    assert np.isfinite(forest.answers).all()


def test_the_same_page_weighs_the_same_twice() -> None:
    assert weighed(PAGE)[1] == weighed(PAGE)[1]
