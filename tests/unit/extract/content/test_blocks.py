"""A page as a row of blocks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomi.extract.content import blocks as room
from geomi.extract.content.blocks import CODES, Blocks, read_blocks
from geomi.extract.dom import parse_html


def row(html: str) -> Blocks:
    body = parse_html(html.encode("utf-8", "replace"), "text/html").select_one("body")
    assert body is not None
    return read_blocks(body)


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("", []),
        (" \n ", []),
        ("<p>one</p> <p>two</p>", ["one", "two"]),
        ("<p>one <b>bold</b>\n text</p>", ["one bold text"]),
        ("<p>one<br>two</p>", ["one two"]),
        ("<div>before<p>inside</p>after</div>", ["before", "inside", "after"]),
        ("<ul><li>a<ul><li>b</ul></ul>", ["a", "b"]),
        ("<table><tr><td>1<td>2</table>", ["1", "2"]),
        ("<p><!-- not text -->text</p>", ["text"]),
    ],
)
def test_a_run_of_text_in_one_place_is_a_block(html: str, texts: list[str]) -> None:
    assert row(html).texts == texts


def test_links_are_counted() -> None:
    blocks = row("<p>go <a href=x><b>there</b></a></p><a href=y><p>all of it</p></a><p>none</p>")
    assert blocks.linked.tolist() == [5, 9, 0]
    assert blocks.chars.tolist() == [8, 9, 4]


def test_a_place_holds_a_slice_of_the_row() -> None:
    blocks = row("<div id=x class='a b' role=main><h1>t</h1><p>p</p></div><p>q</p>")
    assert blocks.names == ["", "a b x main", "", "", ""]
    assert blocks.parents.tolist() == [0, 0, 1, 1, 0]
    assert blocks.depths == (0, 1, 2, 2, 1)
    assert list(zip(blocks.starts.tolist(), blocks.ends.tolist(), strict=True)) == [
        (0, 3), (0, 2), (0, 1), (1, 2), (2, 3),
    ]  # fmt: skip
    assert blocks.codes.tolist() == [-1, CODES["div"], CODES["h1"], CODES["p"], CODES["p"]]


def test_siblings_of_one_tag_are_twins() -> None:
    blocks = row("<li class=a id=1>x<li class=b id=2>y<p>z")
    assert blocks.twins == [1, 2, 2, 1]


def test_behind_the_limit_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_BLOCKS", 2)
    assert row("<p>a<p>b").texts == ["a", "b"]
    assert row("<p>a<p>b<p>c").texts == ["a", "b"]


def test_a_block_of_many_pieces_takes_time_in_proportion() -> None:
    assert len(row("<p>" + "<b>x</b>" * 100_000).texts[0]) == 199_999


def test_long_names_are_cut() -> None:
    assert len(row(f"<p class={'x' * 600}>text").names[1]) == room.MAX_NAME_CHARS


@settings(deadline=None)
@given(st.lists(st.sampled_from("<div> </div> <p> <a> </a> <b> x <li> </ul> <ul>".split())))
def test_every_block_lies_in_the_slices_of_all_places_around_it(pieces: list[str]) -> None:
    blocks = row("".join(pieces))
    for number, home in enumerate(blocks.homes.tolist()):
        place = home
        while place:
            assert blocks.starts[place] <= number < blocks.ends[place]
            place = int(blocks.parents[place])
