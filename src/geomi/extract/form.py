"""The three forms of markdown: what `semantic` adds to the standard, and `compact` leaves out."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from geomi.extract.dom import Element
from geomi.model.markdown import MarkdownForm

MAX_TITLE_CHARS = 200

# Small elements that renderers of markdown let through.
_KEPT = ("sub", "sup", "mark", "kbd", "ins", "u")
_BARE = ("b", "strong", "i", "em", "del", "s", "strike")
# In one another they would be written once for each level.
_NESTED = ", ".join(f"{tag} {tag}" for tag in (*_KEPT, "abbr", "details"))

Converter = Callable[[Element, str], str]


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
