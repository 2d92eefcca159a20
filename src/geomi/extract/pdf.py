"""Read the text of a PDF with its headings, with the extra `pdf` (FUT-09, CTY-04).

A PDF has no headings, only letters of some size: a short line that is clearly larger than most of
the text is a heading. Pages and characters are bounded. A PDF is always read in the process that
can be killed, which bounds time and memory: the reader is a large program, and its input comes
from strangers. An encrypted PDF is not read.
"""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from geomi.errors import DISTRIBUTION
from geomi.extract.dates import iso_date

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

MAX_PAGES = 500
MAX_CHARS = 2_000_000
MAX_HEADINGS = 200
MAX_HEADING_CHARS = 120
MAX_LEVELS = 3
MAX_INFO_CHARS = 1000
# A heading's letters are so much larger than the body's; notes and captions are smaller.
HEADING_SCALE = 1.15

NO_READER = f"PDF needs the extra `{DISTRIBUTION}[pdf]`"
NOT_PDF = "PDF that cannot be read"
ENCRYPTED = "PDF that is encrypted"

_BROKEN_WORD = re.compile(r"(\w)[-\u00ad]\n(?=[a-z])")
_LEADER = ". . ."  # of a table of contents
_END = re.compile(r"[.!?:;)\]。]$")


@dataclass(frozen=True, slots=True)
class Pdf:
    """What a PDF says; `problem` says why it says nothing."""

    title: str = ""
    author: str = ""
    created: str = ""
    markdown: str = ""
    outline: tuple[tuple[int, str], ...] = ()
    problem: str = ""


@dataclass(slots=True)
class _Line:
    """A line of a page: its words, and the size of its largest letters."""

    text: str = ""
    size: float = 0.0


def read_pdf(body: bytes) -> Pdf:
    """Read a PDF's text; whatever it is, an answer comes back."""
    if importlib.util.find_spec("pypdf") is None:
        return Pdf(problem=NO_READER)
    import pypdf

    try:
        reader = pypdf.PdfReader(BytesIO(body))
        if reader.is_encrypted:
            return Pdf(problem=ENCRYPTED)
        return _read(reader)
    except Exception:  # of any kind: the reader trusts its file, and trips over it in its own ways
        return Pdf(problem=NOT_PDF)


def _read(reader: PdfReader) -> Pdf:
    pages: list[list[_Line]] = []
    left = MAX_CHARS
    for number, page in enumerate(reader.pages):
        if number == MAX_PAGES or left <= 0:
            break
        pages.append(_lines(page))
        left -= sum(len(line.text) for line in pages[-1])
    levels = _levels(pages)
    markdown, outline = _written(pages, levels)
    info: Mapping[str, object] = reader.metadata or {}
    told = {name: " ".join(str(info.get(f"/{name}") or "").split()) for name in ("Title", "Author")}
    created = str(info.get("/CreationDate") or "").removeprefix("D:").replace("'", "")
    return Pdf(
        title=told["Title"][:MAX_INFO_CHARS] or next((words for _, words in outline), ""),
        author=told["Author"][:MAX_INFO_CHARS],
        created=_created(created),
        markdown=markdown[:MAX_CHARS],
        outline=outline,
    )


def _lines(page: PageObject) -> list[_Line]:
    """Read a page line by line, with the size of its letters as they are shown."""
    lines = [_Line()]

    def visit(
        text: str, matrix: list[float], text_matrix: list[float], _: object, size: float
    ) -> None:
        shown = abs(size * text_matrix[3] * matrix[3]) or abs(size)
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append(_Line())
            if part.strip():
                lines[-1].size = max(lines[-1].size, round(shown, 1))
            lines[-1].text += part

    page.extract_text(visitor_text=visit)
    return [_Line(" ".join(line.text.split()), line.size) for line in lines]


def _levels(pages: list[list[_Line]]) -> dict[float, int]:
    """Say which sizes are headings, and of which level: those above what most letters have."""
    letters: Counter[float] = Counter()
    for page in pages:
        for line in page:
            letters[line.size] += len(line.text)
    body = letters.most_common(1)[0][0] if letters else 0.0
    larger = sorted((size for size in letters if size > body * HEADING_SCALE), reverse=True)
    return {size: min(level, MAX_LEVELS) for level, size in enumerate(larger, start=1)}


def _written(
    pages: list[list[_Line]], levels: dict[float, int]
) -> tuple[str, tuple[tuple[int, str], ...]]:
    blocks: list[str] = []
    outline: list[tuple[int, str]] = []
    paragraph: list[str] = []

    def close() -> None:
        if paragraph:
            blocks.append(_BROKEN_WORD.sub(r"\1", "\n".join(paragraph)).replace("\n", " "))
            paragraph.clear()

    for page in pages:
        for line in page:
            level = levels.get(line.size) if _may_head(line.text) else None
            if level is not None and len(outline) < MAX_HEADINGS:
                close()
                outline.append((level, line.text))
                blocks.append(f"{'#' * level} {line.text}")
            elif not line.text:
                close()
            else:
                paragraph.append(line.text)
        if paragraph and _END.search(paragraph[-1]):  # a sentence may go on over the page
            close()
    close()
    return "\n\n".join(blocks), tuple(outline)


def _may_head(words: str) -> bool:
    return 0 < len(words) <= MAX_HEADING_CHARS and _LEADER not in words


def _created(stamp: str) -> str:
    """Bring a PDF's own form of a date, `20240102030405+0900`, to ISO 8601."""
    return iso_date(f"{stamp[:8]}T{stamp[8:]}" if len(stamp) >= len("YYYYMMDDHHmm") else stamp[:8])
