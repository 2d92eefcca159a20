"""Tables made fit for markdown, which knows only a grid of single lines (MD-03).

A table that lays out a page (other tables or headings in it, or one column with code) becomes
plain blocks. Any other becomes a grid: a cell that spans gets empty cells beside or below it,
short rows are filled up. A grid that would grow beyond `MAX_CELLS` becomes blocks too.
"""

from __future__ import annotations

from itertools import chain

from geomi.extract.dom import HEADINGS, Element

MAX_SPAN = 100
MAX_CELLS = 50_000

_SECTIONS = frozenset(("thead", "tbody", "tfoot"))
_CELLS = frozenset(("td", "th"))
_PAGE_BLOCKS = ("table", *HEADINGS)

Rows = list[tuple[Element, list[Element]]]


def straighten(table: Element) -> None:
    """Turn one table into blocks or into a full grid, in place."""
    if _is_grid(table):
        return
    rows = _rows(table)
    if _is_layout(table, rows) or not _open_spans(rows) or not _fill(_rows(table)):
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


def _open_spans(rows: Rows) -> bool:
    """Put empty cells where a span covers the grid; False if there would be too many."""
    room = MAX_CELLS
    covered: dict[int, int] = {}  # column -> rows below that a cell still reaches into
    for row, cells in rows:
        column = 0
        for cell in cells:
            while covered.get(column, 0):
                covered[column] -= 1
                cell.insert_before(Element("td"))
                column, room = column + 1, room - 1
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            cell.insert_after(*(Element("td") for _ in range(width - 1)))
            covered.update(dict.fromkeys(range(column, column + width), height - 1))
            column, room = column + width, room - width
        late = [place for place, left in covered.items() if place >= column and left]
        for place in late:
            covered[place] -= 1
            row.append(Element("td"))
        room -= len(late)
        if room < 0:
            return False
    return True


def _span(cell: Element, name: str) -> int:
    value = cell.attr(name)
    if value is None:
        return 1
    del cell.attrs[name]
    return max(1, min(int(value), MAX_SPAN)) if value.isdecimal() and len(value) < 9 else 1


def _fill(rows: Rows) -> bool:
    """Make all rows as wide as the widest; False if that takes too many cells."""
    width = _width(rows)
    if len(rows) * width > MAX_CELLS:
        return False
    for row, cells in rows:
        for _ in range(width - len(cells)):
            row.append(Element("td"))
    return True
