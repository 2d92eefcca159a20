"""What is said of each block in numbers."""

from __future__ import annotations

import numpy as np
import pytest

from geomi.extract.content.blocks import read_blocks
from geomi.extract.content.kind import KINDS
from geomi.extract.content.weights import (
    FEATURES,
    MAX_SINCE_H1,
    PlaceFeatures,
    describe_blocks,
    read_marks,
)
from geomi.extract.dom import parse_html

PROSE = "A sentence of the page, and one more that somebody wants to read. " * 3


def table(html: str) -> dict[str, list[float]]:
    body = parse_html(html.encode(), "text/html").select_one("body")
    assert body is not None
    blocks = read_blocks(body)
    paths = np.arange(len(blocks.names), dtype=np.float32)
    kind = np.zeros(len(KINDS), np.float32)
    found = describe_blocks(blocks, PlaceFeatures(paths, read_marks(blocks)), kind)
    assert found.shape == (len(FEATURES), len(blocks.texts))
    assert np.isfinite(found).all()
    return dict(zip(FEATURES, found.round(3).tolist(), strict=True))


def test_text() -> None:
    found = table("<p>12 of <a href=x>it</a>, now. Yes.<p>No<p>No")
    assert found["linked"] == [pytest.approx(2 / 20, abs=1e-3), 0, 0]
    assert found["words"] == [6, 1, 1]
    assert found["ends"] == [1, 0, 0]
    assert found["copies"] == [1, 2, 2]


def test_position() -> None:
    found = table("<p>1234<h1>1234567</h1><p>1<p>1234")
    assert found["before"] == [0, 0.25, pytest.approx(11 / 16, abs=1e-3), 0.75]
    assert found["after"] == [0.75, pytest.approx(5 / 16, abs=1e-3), 0.25, 0]
    assert found["since_h1"] == [-1, 0, 1, 2]
    assert found["heading_chars"] == [0, 0, 7, 7]
    assert table("<h1>x</h1>" + "<p>x" * 60)["since_h1"][-1] == MAX_SINCE_H1


def test_neighbours() -> None:
    found = table("<p>1<p>123<p>1234567")
    assert found["chars_-1"] == [0, 1, 3]
    assert found["chars_+1"] == [3, 7, 0]
    assert found["chars_-2"] == [0, 0, 1]
    assert found["path_+1"] == [2, 3, 0]


def test_places() -> None:
    found = table(f"<div><p>{PROSE}</p></div><ul><li>x<li>y</ul>")
    assert found["place0_twins"] == [1, 2, 2]
    assert found["place1_prose"] == [1, 0, 0]
    assert found["levels_up"] == [0, 2, 2]
    assert found["is_div"] == [0, 0, 0]
    assert found["in_ul"] == [0, 1, 1]


def test_a_page_of_one_block_is_its_own_surroundings() -> None:
    assert table("x")["page_blocks"] == [1]
