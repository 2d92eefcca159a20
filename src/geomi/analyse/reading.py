"""A page's text as all parts of the analysis ask for it, read once for all of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from geomi.analyse.prose import Form, Passages, read_passages
from geomi.analyse.terms import terms_of

# What stands behind the first of these in a title is mostly the name of the site.
_SPLIT = re.compile(r"\s[|·•»–—:-]\s")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a page says.

    Args:
        passages: all of it, line by line.
        text: the passages without code, one line each.
        headings: those of the passages that are headings.
        terms: the terms of the text in their order.
    """

    passages: Passages
    text: str
    headings: tuple[str, ...]
    terms: tuple[str, ...]

    @property
    def heading(self) -> str:
        """The first heading, which is mostly the page's own; empty where there is none."""
        return self.headings[0] if self.headings else ""


def read_text(markdown: str, max_chars: int) -> Reading:
    """Read markdown up to `max_chars` (C-73)."""
    passages = read_passages(markdown, max_chars)
    text = "\n".join(p.text for p in passages if p.form is not Form.CODE)
    headings = tuple(p.text for p in passages if p.form is Form.HEADING)
    return Reading(passages, text, headings, tuple(terms_of(text)))


def own_title(title: str) -> str:
    """Return a title without the name of its site."""
    return _SPLIT.split(title, maxsplit=1)[0]
