"""The forms of markdown, and a caller's own markdown rules (MD-12, FUT-04).

A rule is a function that returns the markdown of an element:

def quote(tag: Tag, markdown: str) -> str:
    return f"> {markdown}" if tag.attr("class") == "pull-quote" else markdown

Crawler(markdown_rules={"aside": quote})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol


class MarkdownForm(StrEnum):
    """How much of a page's looks markdown keeps.

    `standard` is GitHub's markdown. `semantic` adds small HTML elements for what it has no sign
    for: subscripts, keys, abbreviations, folded parts. `compact` leaves out emphasis, rules and
    images, for readers that pay for each character.
    """

    STANDARD = "standard"
    SEMANTIC = "semantic"
    COMPACT = "compact"


class Tag(Protocol):
    """An element as a rule sees it."""

    @property
    def tag(self) -> str:
        """Its name, in lower case."""
        ...

    @property
    def text(self) -> str:
        """Its text without markup, spaces as in the source."""
        ...

    def attr(self, name: str, /) -> str | None:
        """Return an attribute; None where it has none of that name."""
        ...


# Given an element and what would be written for it, a rule says what is written.
MarkdownRule = Callable[[Tag, str], str]
MarkdownRules = Mapping[str, MarkdownRule]  # by the name of an element
NO_RULES: MarkdownRules = MappingProxyType({})
# Parts of a list or a table are nothing without it: a rule is for the whole of it.
UNRULED = frozenset(
    "html body head li dt dd tr td th thead tbody tfoot caption colgroup col option".split()
)
