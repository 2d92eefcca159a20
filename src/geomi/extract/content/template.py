"""Find what the pages of one site repeat (boilerplate), and leave it out of each page.

A page's content is cut into sections: the parts of its tree without a large share of it. Sections
that most of the first pages of a site repeat, word for word, are its template. From then on they
are left out. The template is learned again now and then, because sites change.

Rules kept:
- A section with code, a table or the page's title is content, however often it occurs. So is a note
  or a warning.
- The larger part of a page is never left out: if the pages of a site are that similar, their
  template cannot be separated from them.
- A page without a new section does not count: it is a copy or an error page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import islice
from zlib import crc32

from geomi.extract.dom import Element
from geomi.extract.markdown.notes import is_admonition
from geomi.model.page import Template

# A part with a larger share of the text is looked into; what is shorter than this proves nothing.
SECTION_SHARE = 0.3
MIN_SECTION_CHARS = 20
MAX_SECTIONS = 64
MAX_DEPTH = 30
MAX_LEFT_OUT_SHARE = 0.5
# Measured on the documentation sites of the corpus: fewer pages mistake a chapter for the site.
LESSON_PAGES = 8
REPEATED_PAGES = 6
LESSON_EVERY = 500

_KEPT = ("pre", "code", "table", "h1")


def needs_sections(template: Template) -> bool:
    """Return whether a page's sections matter now: something is known, or being learned."""
    return bool(template.known) or template.pages < LESSON_PAGES


def leave_out(content: Element, template: Template) -> tuple[tuple[int, ...], int]:
    """Take the template out of a page's content.

    Return the marks of all its sections, which are the same for the same text, and how many of them
    went.
    """
    found, known = list(islice(_sections(content), MAX_SECTIONS)), set(template.known)
    repeated = [
        (part, chars) for part, mark, chars in found if mark in known and not _is_kept(part)
    ]
    if sum(chars for _, chars in repeated) > len(content.text) * MAX_LEFT_OUT_SHARE:
        repeated = []
    for part, _ in repeated:
        part.decompose()
    return tuple(mark for _, mark, _ in found), len(repeated)


def learned(template: Template, sections: Collection[int]) -> Template:
    """Return what is known of a site after one more of its pages."""
    if template.pages >= LESSON_PAGES:
        pages = (template.pages + 1) % LESSON_EVERY
        return Template(pages, template.known)
    seen = Counter(dict(template.seen))
    if all(mark in seen for mark in sections):
        return template
    seen.update(set(sections))
    if template.pages + 1 < LESSON_PAGES:
        return Template(template.pages + 1, template.known, tuple(seen.items()))
    repeated = (mark for mark, pages in seen.items() if pages >= REPEATED_PAGES)
    return Template(LESSON_PAGES, tuple(repeated))


def _sections(content: Element) -> Iterator[tuple[Element, int, int]]:
    """Yield parts of a page, each with its mark and its size."""
    large = len(content.text) * SECTION_SHARE
    waiting = [(content, 0)]
    while waiting:
        parent, depth = waiting.pop()
        for child in parent.children:
            if not isinstance(child, Element):
                continue
            text = child.text
            if len(text) > large and depth < MAX_DEPTH:
                waiting.append((child, depth + 1))
            elif len(text) >= MIN_SECTION_CHARS:
                yield child, _mark(text), len(text)


def _is_kept(part: Element) -> bool:
    if part.tag in _KEPT or is_admonition(part):
        return True
    return next(part.iter_elements(_KEPT), None) is not None


def _mark(text: str) -> int:
    return crc32(text.strip().encode("utf-8", "surrogatepass"))
