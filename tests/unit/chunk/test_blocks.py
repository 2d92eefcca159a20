"""Markdown as blocks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomi.chunk.pieces import MAX_HEADING_CHARS, Kind, heading_text, read_blocks


@pytest.mark.parametrize(
    ("markdown", "kinds"),
    [
        ("", []),
        ("\n \n>\n", []),
        ("one\ntwo\n\nthree", ["text", "text"]),
        ("# A\ntext\n## B", ["heading", "text", "heading"]),
        ("#no heading", ["text"]),
        ("####### seven", ["text"]),
        ("text\n```py\n# no heading\n\n| no | table |\n```\nmore", ["text", "fence", "text"]),
        ("~~~\n```\n~~~\nx", ["fence", "text"]),
        ("````\n```\n````\nx", ["fence", "text"]),
        ("``` not a `fence`", ["text"]),
        ("```\nnever closed\n\n# still code", ["fence"]),
        ("- item\n\n  ```sh\n  ls\n  ```\n", ["text", "fence"]),
        ("> ```\n> x\n> ```\n> more", ["fence", "text"]),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |\ntext", ["table", "text"]),
        ("| a | b |\n| 1 | 2 |", ["text"]),
        ("| a | b |\n| | |", ["text"]),
        ("> | a |\n> |---|\r\n> | 1 |", ["table"]),
        ("text\n| a |\n| --- |\n| 1 |", ["text", "table"]),
    ],
)
def test_kinds(markdown: str, kinds: list[str]) -> None:
    """What differs when it is cut is told apart, wherever it stands."""
    assert [block.kind for block in read_blocks(markdown)] == kinds


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("## Install ##", "Install"),
        ("# The `open()` **call**", "The open() call"),
        ("### [Guide](https://a.test/x) \\*new\\*", "Guide *new*"),
        ("# 설치  하기", "설치 하기"),
    ],
)
def test_heading_text(line: str, text: str) -> None:
    """A heading is its words."""
    assert heading_text(line) == text


def test_a_heading_has_a_limit() -> None:
    """A page of one endless line with a `#` has no heading."""
    longest = "# " + "x" * (MAX_HEADING_CHARS - 2)
    assert [block.kind for block in read_blocks(longest)] == [Kind.HEADING]
    assert [block.kind for block in read_blocks(longest + "x")] == [Kind.TEXT]


@pytest.mark.parametrize("sign", ["-", "`", "> ", "|-", "[", "- "])
def test_an_endless_line_is_read_once(sign: str) -> None:
    """No line, however it is made, takes more time than its length."""
    markdown = f"| a |\n|{sign * 100_000}x\n{sign * 100_000}x"
    assert "".join(line for block in read_blocks(markdown) for line in block.lines)


@settings(deadline=None)
@given(st.text(alphabet="#`~|-> \n:ax1.*", max_size=200))
def test_no_line_is_lost(markdown: str) -> None:
    """Every line with anything on it is in one block, in order."""
    lines = [line for block in read_blocks(markdown) for line in block.lines]
    kept = [line for line in lines if line.strip(" \t>\r")]
    assert kept == [line for line in markdown.split("\n") if line.strip(" \t>\r")]
