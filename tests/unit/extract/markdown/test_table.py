"""Tables made fit for markdown."""

from __future__ import annotations

import pytest

from geomi.extract.dom import Element, parse_html
from geomi.extract.markdown import table as room
from geomi.extract.markdown.table import straighten
from geomi.model.config import TableStyle


def straightened(html: str) -> Element:
    table = parse_html(html.encode(), "text/html").select_one("table")
    assert table is not None
    straighten(table, TableStyle.GRID)
    return table


def grid(html: str) -> list[list[str]]:
    rows = straightened(html).select("tr")
    return [[cell.text for cell in row.select("td, th")] for row in rows]


@pytest.mark.req("MD-03")
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<table><tr><th>a<th>b<tr><td>c<td>d</table>", [["a", "b"], ["c", "d"]]),
        ("<table><tr><th>a<th>b<tr><td>c</table>", [["a", "b"], ["c", ""]]),
        (
            "<table><tr><td colspan=2>a<td>b<tr><td>c<td>d<td>e</table>",
            [["a", "", "b"], ["c", "d", "e"]],
        ),
        ("<table><tr><td rowspan=2>a<td>b<tr><td>c</table>", [["a", "b"], ["", "c"]]),
        ("<table><tr><td>a<td rowspan=2>b<tr><td>c</table>", [["a", "b"], ["c", ""]]),
        (
            "<table><tr><td rowspan=2 colspan=2>a<td>b<tr><td>c</table>",
            [["a", "", "b"], ["", "", "c"]],
        ),
        ("<table><tr><td colspan=x rowspan=0>a<td colspan=>b</table>", [["a", "b"]]),
        (
            "<table><thead><tr><td>a<td>b</thead><tfoot><tr><td>c</tfoot></table>",
            [["a", "b"], ["c", ""]],
        ),
        ("<table></table>", []),
        ("<table><caption><math><td>x</math></caption><tr><td>a</table>", [["a"]]),
    ],
)
def test_a_table_becomes_a_grid(html: str, expected: list[list[str]]) -> None:
    assert grid(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td>menu<td><table><tr><td>x</table></table>",
        "<table><tr><td><h2>Title</h2><p>text<td>x</table>",
        "<table><tr><td><pre>code</pre></table>",
        "<table><tr><td> <td><pre>code</pre></table>",
    ],
)
def test_a_layout_table_becomes_blocks(html: str) -> None:
    table = straightened(html)
    assert table.tag == "div"
    assert {e.tag for e in table.select(":scope > div, :scope > div > div")} == {"div"}


def test_code_in_a_table_of_several_columns_stays_in_it() -> None:
    assert straightened("<table><tr><td>x<td><pre>y</pre></table>").tag == "table"


def test_a_span_is_limited() -> None:
    cells = "<td>x" * room.MAX_SPAN
    first, _ = grid(f"<table><tr><td colspan={room.MAX_SPAN + 1}>a<tr>{cells}</table>")
    assert len(first) == room.MAX_SPAN


def test_a_grid_that_would_grow_too_large_becomes_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MAX_CELLS", 4)
    assert straightened("<table><tr><td>a<td>b<tr><td>c</table>").tag == "table"
    assert straightened("<table><tr><td>a<td>b<td>c<tr><td>d</table>").tag == "div"
    assert straightened("<table><tr><td colspan=5>a</table>").tag == "div"
    assert straightened("<table>" + "<tr><td rowspan=9>a" * 4 + "</table>").tag == "div"


def test_a_grid_that_is_mostly_holes_becomes_blocks() -> None:
    most = room.FREE_HOLES + room.HOLES_PER_CELL  # of a table with one cell
    for holes, tag in ((most, "table"), (most + 1, "div")):
        assert straightened(f"<table><tr><td colspan={holes + 1}>a</table>").tag == tag
        assert straightened("<table><tr><td rowspan=99>a" + "<tr>" * holes).tag == tag
    row = "<td>a" * room.FREE_HOLES  # five rows of it are what it may gain
    for short_rows, tag in ((5, "table"), (6, "div")):
        assert straightened(f"<table><tr>{row}" + "<tr>" * short_rows).tag == tag


@pytest.mark.parametrize("style", TableStyle)
@pytest.mark.parametrize(
    "table",
    [
        pytest.param("<tr>" + "<td colspan=100>" * 16_000, id="one row of spans"),
        pytest.param(("<tr>" + "<td colspan=100>" * 400 + "</table><table>") * 40, id="tables"),
        pytest.param("<tr>" + "<td rowspan=100 colspan=100>" * 9_000, id="both ways"),
        pytest.param("<td colspan=1>" + "<td>" * 32_000 + "<tr>" * 32_000, id="empty rows"),
        pytest.param("<td>" * 200 + "<tr><td>" * 30_000, id="one long row"),
    ],
)
def test_a_page_of_spans_costs_no_more_than_its_size(table: str, style: TableStyle) -> None:
    """256 KB of such tables took up to 27 s and 450 MB; an empty cell is made only if it stays."""
    document = parse_html(f"<table>{table}</table>".encode(), "text/html")
    own = len(document.select("td"))
    for element in document.select("table"):
        straighten(element, style)
    assert len(document.select("td, div > div > div")) <= (room.HOLES_PER_CELL + 1) * own
