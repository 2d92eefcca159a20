"""Prepare tables for markdown, which has only grids of single lines (MD-03).

A table that lays out a page (with other tables or headings in it, or with nothing but code) becomes
plain blocks. If a caller wants that, a table whose cells span others becomes text, a paragraph for
each row. Any other table becomes a grid: a cell that spans others gets empty cells beside or below
it, and short rows are filled up. A grid that would exceed `MAX_CELLS`, or be mostly empty,
becomes blocks too. This is checked before the cells are made: an empty cell costs 250 bytes of
memory, and `colspan=100` only 16 bytes of the page.
"""

from __future__ import annotations

from itertools import chain

from geomi.extract.dom import HEADINGS, Element, text_of
from geomi.model.config import TableStyle

MAX_SPAN = 100
MAX_CELLS = 50_000
# Empty cells that a table may gain: some, and so many for each cell of its own. Of 254 real tables
# that are no grid as they come, none gained more than 2.6 a cell. A limit for one table alone would
# not do: a page can hold ten thousand.
FREE_HOLES = 16
HOLES_PER_CELL = 4

BETWEEN_CELLS = " · "

_SECTIONS = frozenset(("thead", "tbody", "tfoot"))
_CELLS = frozenset(("td", "th"))
_SPANS = ("colspan", "rowspan")
_PAGE_BLOCKS = ("table", *HEADINGS)

Rows = list[tuple[Element, list[Element]]]


def straighten(table: Element, style: TableStyle) -> None:
    """Turn one table into blocks, into text or into a full grid, in place."""
    if _is_grid(table):
        return
    rows = _rows(table)
    if _is_listing(table, rows):
        _drop_blank(rows)
        _lay_out(table, _rows(table))
    elif _is_layout(table, rows):
        _lay_out(table, rows)
    elif style is TableStyle.TEXT and _has_spans(rows):
        _flatten(table, rows)
    elif not _open_spans(rows) or not _fill(_rows(table), _room(rows)):
        _lay_out(table, _rows(table))


def _is_grid(table: Element) -> bool:
    """Tell quickly whether nothing is to be done, which is so for most tables."""
    if table.select_one("[colspan], [rowspan]") is not None or _holds(table, *_PAGE_BLOCKS, "pre"):
        return False
    widths: list[int] = []
    for element in table.iter_elements(("tr", "td", "th")):
        if element.tag == "tr":
            widths.append(0)
        elif widths:
            widths[-1] += 1
    return len(set(widths)) <= 1


def _is_listing(table: Element, rows: Rows) -> bool:
    """Return whether a table is one block of code beside its line numbers, or where they were."""
    if len(rows) != 1 or not _holds(table, "pre"):
        return False
    return all(_holds(cell, "pre") or not cell.text.strip() for cell in rows[0][1])


def _drop_blank(rows: Rows) -> None:
    for cell in rows[0][1]:
        if not cell.text.strip():
            cell.decompose()


def _rows(table: Element) -> Rows:
    parts = [_named(part, {"tr"}) if part.tag in _SECTIONS else [part] for part in _elements(table)]
    return [(row, _named(row, _CELLS)) for row in chain(*parts) if row.tag == "tr"]


def _elements(parent: Element) -> list[Element]:
    return [child for child in parent.children if isinstance(child, Element)]


def _named(parent: Element, tags: frozenset[str] | set[str]) -> list[Element]:
    return [child for child in _elements(parent) if child.tag in tags]


def _is_layout(table: Element, rows: Rows) -> bool:
    return _holds(table, *_PAGE_BLOCKS) or (_width(rows) <= 1 and _holds(table, "pre"))


def _holds(table: Element, *tags: str) -> bool:
    return next(table.iter_elements(tags), None) is not None


def _width(rows: Rows) -> int:
    return max((len(cells) for _, cells in rows), default=0)


def _lay_out(table: Element, rows: Rows) -> None:
    table.tag = "div"
    for part in _elements(table):
        part.tag = "div"
    for row, cells in rows:
        row.tag = "div"
        for cell in cells:
            cell.tag = "div"


def _has_spans(rows: Rows) -> bool:
    return any(_span(cell, name) > 1 for _, cells in rows for cell in cells for name in _SPANS)


def _flatten(table: Element, rows: Rows) -> None:
    """Write each row as one line; a cell that spans others stands where it begins."""
    _lay_out(table, [])
    for row, cells in rows:
        texts = (" ".join(text_of(cell).split()) for cell in cells)
        row.tag = "p"
        row.set_text(BETWEEN_CELLS.join(text for text in texts if text))


def _room(rows: Rows) -> int:
    """Return how many empty cells a table of these rows may gain."""
    own = sum(len(cells) for _, cells in rows)
    return min(MAX_CELLS - own, FREE_HOLES + HOLES_PER_CELL * own)


def _open_spans(rows: Rows) -> bool:
    """Put empty cells where a span covers the grid; False if there would be too many."""
    room = _room(rows)
    covered: dict[int, int] = {}  # column -> rows below that a cell reaches into, at least one
    for row, cells in rows:
        column = 0
        for cell in cells:
            while column in covered:
                _use(covered, column)
                cell.insert_before(Element("td"))
                column, room = column + 1, room - 1
            width, height = (_span(cell, name) for name in _SPANS)
            for name in _SPANS:
                cell.attrs.pop(name, None)
            room -= width - 1
            if room < 0:
                return False
            cell.insert_after(*(Element("td") for _ in range(width - 1)))
            covered.update(dict.fromkeys(range(column, column + width), height))
            for place in range(column, column + width):
                _use(covered, place)
            column += width
        late = [place for place in covered if place >= column]
        room -= len(late)
        if room < 0:
            return False
        for place in late:
            _use(covered, place)
            row.append(Element("td"))
    return True


def _use(covered: dict[int, int], column: int) -> None:
    """Take one row off a cover; one that is used up is forgotten, or every row would look at it."""
    covered[column] -= 1
    if not covered[column]:
        del covered[column]


def _span(cell: Element, name: str) -> int:
    value = cell.attr(name) or ""
    return max(1, min(int(value), MAX_SPAN)) if value.isdecimal() and len(value) < 9 else 1


def _fill(rows: Rows, room: int) -> bool:
    """Make all rows as wide as the widest; False if that takes too many cells."""
    width = _width(rows)
    if sum(width - len(cells) for _, cells in rows) > room:
        return False
    for row, cells in rows:
        for _ in range(width - len(cells)):
            row.append(Element("td"))
    return True
