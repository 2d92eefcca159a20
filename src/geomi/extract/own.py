"""Markdown rules of the caller's own, kept from doing harm (MD-12).

Each element that a rule is for is put into a shell whose converter is the rule: so the rule is
given what would have been written otherwise, whatever the element is, and returns it unchanged
where it has nothing to say. A rule that fails leaves its element as it would have been; the first
failure is told.
"""

from __future__ import annotations

from collections.abc import Callable

from geomi.extract.dom import Element
from geomi.model.markdown import MarkdownRule, MarkdownRules

SHELL = "g-own"
MAX_OWN = 2000  # elements of a page that rules are asked about
MAX_FAILURE_CHARS = 200
_INLINE = frozenset(
    "a abbr b bdi bdo cite code data del dfn em i img ins kbd mark q ruby s samp small span "
    "strike strong sub sup time tt u var".split()
)


class OwnRules:
    """A caller's rules at work on one page; `failure` says what went wrong first."""

    def __init__(self, rules: MarkdownRules) -> None:
        self._rules = {tag.lower(): rule for tag, rule in rules.items()}
        self.failure = ""

    def wrap(self, content: Element) -> None:
        """Put elements with a rule into shells; the innermost too, so that rules can nest."""
        if not self._rules:
            return
        found = [e for e in content.iter_elements(tuple(self._rules)) if e is not content]
        for element in found[:MAX_OWN]:
            element.wrap(Element(SHELL))

    def converters(self) -> dict[str, Callable[[Element, str], str]]:
        """Return what the renderer calls for a shell; nothing without rules."""
        return {SHELL: self._write} if self._rules else {}

    def _write(self, shell: Element, markdown: str) -> str:
        element = next((e for e in shell.children if isinstance(e, Element)), None)
        rule = self._rules.get(element.tag) if element is not None else None
        if element is None or rule is None:
            return markdown
        written = self._asked(rule, element, markdown)
        return written if element.tag in _INLINE else f"\n\n{written}\n\n"

    def _asked(self, rule: MarkdownRule, element: Element, markdown: str) -> str:
        try:
            written: object = rule(element, markdown)
        except Exception as error:  # the caller's code: whatever it raises is about one page
            problem = f"{element.tag}: {type(error).__name__}: {error}"
            self.failure = self.failure or problem[:MAX_FAILURE_CHARS]
            return markdown
        if isinstance(written, str):
            return written
        self.failure = self.failure or f"{element.tag}: returned no text"
        return markdown
