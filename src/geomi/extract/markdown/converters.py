"""Write elements in the form of a job, or by the caller's own rules, instead of standard markdown.

A job chooses one of three forms: `semantic` adds elements for which markdown has no sign,
`compact` leaves out emphasis, rules and images, `standard` changes nothing.

A caller of the library may have rules of its own (MD-12). Each element with a rule is put into a
wrapper whose converter is the rule. So the rule receives the markdown that geomi would write, and
may return it unchanged. If a rule fails, geomi writes the element by its own rule and reports the
first failure.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from geomi.extract.dom import Element
from geomi.model.markdown import MarkdownForm, MarkdownRule, MarkdownRules

MAX_TITLE_CHARS = 200
# Small elements that renderers of markdown let through.
_KEPT = ("sub", "sup", "mark", "kbd", "ins", "u")
_BARE = ("b", "strong", "i", "em", "del", "s", "strike")
# In one another they would be written once for each level.
_NESTED = ", ".join(f"{tag} {tag}" for tag in (*_KEPT, "abbr", "details"))
Converter = Callable[[Element, str], str]
RULE_WRAPPER = "g-own"
MAX_OWN = 2000  # elements of a page that rules are asked about
MAX_FAILURE_CHARS = 200
_INLINE = frozenset(
    "a abbr b bdi bdo cite code data del dfn em i img ins kbd mark q ruby s samp small span "
    "strike strong sub sup time tt u var".split()
)


def form_converters(content: Element, form: MarkdownForm) -> dict[str, Converter]:
    """Return how a form writes elements, where it is not as the standard does."""
    converters: dict[str, Converter] = {}
    if form is MarkdownForm.SEMANTIC:
        content.strip_tags(_NESTED)
        converters |= dict.fromkeys(_KEPT, _kept)
        converters |= {"abbr": _abbreviation, "details": _folded}
    elif form is MarkdownForm.COMPACT:
        converters |= dict.fromkeys(_BARE, _bare)
        converters |= dict.fromkeys(("hr", "img"), _nothing)
    return converters


def _kept(element: Element, text: str) -> str:
    if not text or "\n" in text:
        return text
    return f"<{element.tag}>{text.strip('`')}</{element.tag}>"


def _abbreviation(element: Element, text: str) -> str:
    title = " ".join((element.attr("title") or "").split())[:MAX_TITLE_CHARS]
    return f'<abbr title="{escape(title)}">{text}</abbr>' if title and text else text


def _folded(element: Element, text: str) -> str:
    summary = element.select_one("summary")
    if summary is None:
        return text
    label = " ".join(summary.text.split())[:MAX_TITLE_CHARS]
    rest = text.partition("\n\n")[2]
    return f"\n\n<details>\n<summary>{escape(label)}</summary>\n\n{rest}\n\n</details>\n\n"


def _bare(_: Element, text: str) -> str:
    return text


def _nothing(_: Element, __: str) -> str:
    return ""


class CallerRules:
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
            element.wrap(Element(RULE_WRAPPER))

    def converters(self) -> dict[str, Callable[[Element, str], str]]:
        """Return what the renderer calls for a shell; nothing without rules."""
        return {RULE_WRAPPER: self._write} if self._rules else {}

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
