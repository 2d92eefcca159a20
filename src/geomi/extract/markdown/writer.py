"""Write a content tree as markdown; before anything is pruned, save what is content beyond doubt.

`salvage` comes first. The lists of CLN-01 and CLN-02 name layout and machinery, and most elements
they name are that. A formula in a script, the check box of a task list and an `aside` that a
documentation generator writes for its notes are content, so they get another name. A reference to a
footnote that is not raised is raised, so that it is found like the others. The parser's index of
tags finds them, which costs next to nothing on pages that have none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from geomi.extract.dom import HEADINGS, Document, Element, MarkdownRendering, Text
from geomi.extract.markdown.code import prepare_code
from geomi.extract.markdown.converters import CallerRules, Converter, form_converters
from geomi.extract.markdown.formula import FORMULA, mark_formulas, write_formula
from geomi.extract.markdown.notes import (
    BLOCKS,
    MARK,
    MAX_NOTES,
    UNRAISED,
    is_admonition,
    is_footnote,
    mark_footnotes,
    write_admonitions,
    write_mark,
)
from geomi.extract.markdown.table import straighten
from geomi.model.config import Extraction, ImageStyle, LinkStyle, TableStyle
from geomi.model.markdown import MarkdownRules
from geomi.url.parse import absolute

Targets = Mapping[str, str | None]

CUT_MARK = "\n\n[…]\n"
MAX_HEADINGS = 200  # of an outline
MAX_HEADING_CHARS = 200
MAX_PREPARED = 2000  # of each tag; more are written as they are
BOX = "g-box"
MAX_BOXES = 2000
MAX_ASIDES = 500

_FENCE_END = "\n```"
# A no-break space, and how the renderer writes it in some places; searches want a plain one.
_NO_BREAK = "\xa0"
_SPACE_REFERENCE = "&#160;"
# No-break spaces that stand where markup could begin, behind the signs of lists and quotations.
_HELD_BACK = re.compile(r"(?:[ \t>]|[-*+] |\d{1,9}[.)] ){0,20}\xa0+")
# Blank lines after a blank line; in a quotation they are not empty.
_GAP = re.compile(r"(\n[ \t>]*\n)(?:[ \t>]*\n)+")
# The renderer takes `9.8` at a line's start for the first item of a list, which it is not.
_ESCAPED_NUMBER = re.compile(r"(\n\d{1,9})\\\.(?=\d)")
# Line breaks after a line break are written as a backslash each, and mean a new paragraph.
_BREAKS = re.compile(r"(?:  |\\)?\n(?:[ \t>]*\\\n)+")
# Any of them: most pages have none, and one search tells.
_UNTIDY = re.compile(r"\n(?:[ \t>]*(?:\n[ \t>]*\n|\\\n)|\d{1,9}\\\.\d)")
_FENCE = re.compile(r"\n[ \t>]*(`{3,})")
_PLAIN_FRAGMENT = re.compile(r"[\w.~!$&*+,;=:@/?%-]+")
_PREPARED = (*HEADINGS, *BLOCKS, "pre", "code", "table", "img", "sup", "dd", "summary", "tt")
_PHRASES = frozenset(("a", "b", "code", "em", "i", "span", "strong"))
_MARKS = frozenset(("#", "¶", "§", "🔗"))
# Rendered once for each level otherwise; and bold in bold is only more asterisks.
_NESTED = ":is(b, strong) :is(b, strong), :is(i, em) :is(i, em), a a"
_EXPONENT = re.compile(r"[-+\u2212]?[0-9]{1,3}")


@dataclass(frozen=True, slots=True)
class Written:
    """A content in markdown, its headings as (level, text), and what a caller's rule failed at."""

    markdown: str
    outline: tuple[tuple[int, str], ...] = ()
    failure: str = ""


NOTHING = Written("")


def salvage(document: Document) -> None:
    """Rename what is to stay; the tree is changed in place."""
    mark_formulas(document)
    for box in document.select('input[type="checkbox" i]')[:MAX_BOXES]:
        if _is_task(box):
            box.tag = BOX
    for selector in UNRAISED:
        for anchor in document.select(selector)[:MAX_NOTES]:
            _raise(anchor)
    for aside in document.select("aside")[:MAX_ASIDES]:
        if is_admonition(aside) or is_footnote(aside):
            aside.tag = "div"


def write_box(box: Element, _: str) -> str:
    """Write the box of a task."""
    return "[ ]" if box.attr("checked") is None else "[x]"


def _raise(anchor: Element) -> None:
    if anchor.closest("sup") is None and next(anchor.iter_elements("sup"), None) is None:
        anchor.wrap(Element("sup"))


def _is_task(box: Element) -> bool:
    # A shop's filters are lists of check boxes, too; those of a text cannot be ticked.
    is_still = box.attr("disabled") is not None or "task" in (box.attr("class") or "")
    return is_still and box.closest("li") is not None


def to_markdown(
    content: Element, base: str, targets: Targets, rules: Extraction, own: MarkdownRules
) -> Written:
    """Write the content; the tree is changed on the way.

    Args:
        targets: where each href of the page leads; one that is missing leads nowhere.
        own: the caller's rules, by the name of an element.
    """
    content.strip_tags(_NESTED)
    parts = _by_tag(content)
    outline = _outline(parts["heading"])
    _prepare(content, parts, rules.tables)
    callers = CallerRules(own)
    callers.wrap(content)
    converters: dict[str, Converter] = {
        "b": _strong, "strong": _strong, "i": _emphasis, "em": _emphasis, "rt": _reading,
        "del": _struck, "s": _struck, "strike": _struck,
        "a": _link_writer(base, targets, rules.links),
        "img": _image_writer(parts["img"], base, rules.images),
        FORMULA: write_formula, BOX: write_box, MARK: write_mark,
    }  # fmt: skip
    converters |= form_converters(content, rules.markdown) | callers.converters()
    text = content.to_markdown(MarkdownRendering(converters))
    # The first test costs next to nothing and is enough for most pages.
    if "&" in text and _SPACE_REFERENCE in text and _SPACE_REFERENCE not in content.text:
        text = text.replace(_SPACE_REFERENCE, _NO_BREAK)
    return Written(cut(tidy(text), rules.max_markdown_chars), outline, callers.failure)


def tidy(text: str) -> str:
    """Close gaps between blocks (MD-11), write plain spaces and numbers, leave code as it is."""
    lines = f"\n{text}\n"  # each line stands between two line ends, and so does each part below
    if _NO_BREAK not in lines and not _UNTIDY.search(lines):
        return text
    parts: list[str] = []
    at = 0
    while opening := _FENCE.search(lines, at):
        start = opening.start() + 1
        closing = re.compile(rf"\n[ \t>]*{opening[1]}[ \t>]*(?=\n)").search(lines, opening.end())
        end = closing.end() if closing else len(lines) - 1
        parts += _plain(lines[at:start]), lines[start:end]
        at = end
    parts.append(_plain(lines[at:]))
    return "".join(parts)[1:-1]


def cut(text: str, max_chars: int) -> str:
    """Shorten a text at a line's end where it is too long, and say so in it."""
    if len(text) <= max_chars:
        return text
    kept = text[: max_chars - len(_FENCE_END) - len(CUT_MARK)]
    kept = kept[: kept.rfind("\n") + 1 or len(kept)].rstrip()
    return kept + _FENCE_END * (kept.count("```") % 2) + CUT_MARK


def _plain(lines: str) -> str:
    if "\\\n" in lines:
        lines = _BREAKS.sub(_paragraph, lines)
    if "\\." in lines:
        lines = _ESCAPED_NUMBER.sub(r"\1.", lines)
    lines = _GAP.sub(r"\1", lines)
    if _NO_BREAK not in lines:
        return lines
    return "\n".join(map(_spaced, lines.split("\n")))


def _spaced(line: str) -> str:
    """Write plain spaces, but not where a line begins: there they would make markup of its text."""
    start = _HELD_BACK.match(line)
    at = start.end() if start else 0
    return line[:at] + line[at:].replace(_NO_BREAK, " ")


def _paragraph(breaks: re.Match[str]) -> str:
    return "\n".join(line.rstrip("\\ \t") for line in breaks[0].split("\n"))


def _by_tag(content: Element) -> Mapping[str, list[Element]]:
    """Find everything that needs preparation in one walk over the tree."""
    parts: dict[str, list[Element]] = {tag: [] for tag in (*_PREPARED, "heading", "block")}
    parts |= dict.fromkeys(HEADINGS, parts["heading"])  # one list, in the order of the page
    parts |= dict.fromkeys(BLOCKS, parts["block"])
    for element in content.iter_elements(_PREPARED):
        parts[element.tag].append(element)
    return parts


def _prepare(content: Element, parts: Mapping[str, list[Element]], tables: TableStyle) -> None:
    write_admonitions(parts["block"])
    for block in parts["pre"][:MAX_PREPARED]:
        prepare_code(block)
    for table in parts["table"][:MAX_PREPARED]:
        straighten(table, tables)
    mark_footnotes(content, parts["sup"])
    for raised in parts["sup"][:MAX_PREPARED]:
        _mark_exponent(raised)
    for meaning in parts["dd"][:MAX_PREPARED]:
        if meaning.tag == "dd":  # else it is a footnote by now
            _mark_meaning(meaning)
    for typed in parts["tt"][:MAX_PREPARED]:
        typed.tag = "code"
    for summary in parts["summary"][:MAX_PREPARED]:
        if summary.text.strip() and next(summary.iter_elements(HEADINGS), None) is None:
            summary.wrap_children(Element("strong"))


def _outline(headings: list[Element]) -> tuple[tuple[int, str], ...]:
    """Clean the headings and list them."""
    outline: list[tuple[int, str]] = []
    for heading in headings[:MAX_PREPARED]:
        words = _clean_heading(heading)
        if words and len(outline) < MAX_HEADINGS:
            outline.append((int(heading.tag[1]), " ".join(words)[:MAX_HEADING_CHARS]))
    return tuple(outline)


def _clean_heading(heading: Element) -> list[str]:
    """Take away a permalink that is not named as one, and a heading that says nothing."""
    words = heading.text.split()
    if not words:
        heading.unwrap()
    elif words[-1][-1] in _MARKS or words[0] in _MARKS:
        for anchor in heading.select("a"):
            if anchor.text.strip() in _MARKS:
                anchor.decompose()
        words = heading.text.split()
    return words


def _mark_exponent(raised: Element) -> None:
    """Write 10 raised to 6 as `10^6`: as `106` it would be another number."""
    before = raised.previous_sibling
    is_after_number = isinstance(before, Text) and before.data[-1:].isdigit()
    if is_after_number and _EXPONENT.fullmatch(raised.text.strip()):
        raised.insert(0, Text("^"))


def _mark_meaning(meaning: Element) -> None:
    """Begin a definition with a colon, as Markdown Extra and Pandoc do; a block stays a block."""
    first = next((n for n in meaning.children if not _is_blank(n)), None)
    if isinstance(first, Element) and first.tag == "p":
        first.insert(0, Text(": "))
    elif isinstance(first, Text) or (isinstance(first, Element) and first.tag in _PHRASES):
        meaning.insert(0, Text(": "))


def _is_blank(node: object) -> bool:
    return isinstance(node, Text) and not node.data.strip()


def _strong(_: Element, text: str) -> str:
    return f"**{text}**" if text else ""


def _emphasis(_: Element, text: str) -> str:
    return f"*{text}*" if text else ""


def _struck(_: Element, text: str) -> str:
    return f"~~{text}~~" if text and "\n" not in text else text


def _reading(_: Element, text: str) -> str:
    return f"({text})" if text else ""


def _link_writer(base: str, targets: Targets, links: LinkStyle) -> Converter:
    """Return how a link is written: absolute, or its text alone (MD-07, MD-08, G-12)."""
    if links is LinkStyle.TEXT:
        return lambda _, text: text
    here = base.partition("#")[0]

    def write(anchor: Element, text: str) -> str:
        href = anchor.attr("href") or ""
        url = targets.get(href)
        if url is None or not text or "\n" in text or text[0] == "#":
            return text  # a link around whole blocks would break them
        fragment = href.partition("#")[2]
        if fragment and url == here:
            return text
        return f"[{text}]({_address(url, fragment)})"

    return write


def _image_writer(found: list[Element], base: str, images: ImageStyle) -> Converter:
    """Return how an image is written; one without words is nothing (MD-06, G-13)."""
    sources: list[str] = []
    for image in found:
        if _alt(image):
            sources.append(_source(image))
        else:
            image.decompose()
    if images is ImageStyle.ALT:
        return lambda image, _: f"[이미지: {_alt(image)}]"
    targets = dict(zip(sources, absolute(sources, base), strict=True))

    def write(image: Element, _: str) -> str:
        target = targets.get(_source(image))
        return f"![{_alt(image)}]({_address(target, '')})" if target else ""

    return write


def _source(image: Element) -> str:
    """Return where an image lies; one that is loaded late has a placeholder for its source."""
    source = image.attr("src") or ""
    if source and not source.startswith("data:"):
        return source
    several = image.attr("srcset") or image.attr("data-srcset") or ""
    return image.attr("data-src") or several.strip().partition(" ")[0]


def _address(url: str, fragment: str) -> str:
    """Join a link's target; a URL with parentheses is bracketed, an odd fragment is left out."""
    if fragment and _PLAIN_FRAGMENT.fullmatch(fragment):
        url = f"{url}#{fragment}"
    return f"<{url}>" if "(" in url or ")" in url else url


def _alt(image: Element) -> str:
    words = " ".join((image.attr("alt") or "").split())
    return words.replace("\\", "/").replace("[", "(").replace("]", ")").replace("<", "\\<")
