"""A content tree as markdown (MD-01…MD-11).

The parser's own renderer does the writing, in C; this module prepares the tree where that
renderer is wrong for us, by a few selectors: code languages, line-number gutters, permalinks,
layout tables, spans in tables. Prose is escaped so that a page's text cannot become markup,
except `_`, because an identifier that is written `foo\\_bar` is not found again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

from geomi.extract.dom import HEADINGS, Axis, Element, Markdown
from geomi.extract.table import straighten
from geomi.model.config import Extraction, Images, Links
from geomi.url.parse import absolute

Targets = Mapping[str, str | None]
Converter = Callable[[Element, str], str]

CUT_MARK = "\n\n[…]\n"
MAX_LANGUAGE_CHARS = 30
MAX_CLASS_CHARS = 1000  # of an attribute that is remembered
MAX_PREPARED = 2000  # of each tag; more are written as they are

_OPTIONS = Markdown(
    escaping=Markdown.Escaping(underscores=False), tables=Markdown.Tables(cell_blocks="text")
)
_FENCE_END = "\n```"
# A no-break space, and how the renderer writes it in some places; searches want a plain one.
_NO_BREAK = "\xa0"
_SPACE_REFERENCE = "&#160;"
# Blank lines after a blank line; in a quotation they are not empty.
_GAP = re.compile(r"(\n[ \t>]*\n)(?:[ \t>]*\n)+")
# The renderer takes `9.8` at a line's start for the first item of a list, which it is not.
_ESCAPED_NUMBER = re.compile(r"(\n\d{1,9})\\\.(?=\d)")
# Either of them: most pages have none, and one search tells.
_UNTIDY = re.compile(r"\n(?:[ \t>]*\n[ \t>]*\n|\d{1,9}\\\.\d)")
_FENCE = re.compile(r"\n[ \t>]*(`{3,})")
_PLAIN_FRAGMENT = re.compile(r"[\w.~!$&*+,;=:@/?%-]+")
_PREPARED = (*HEADINGS, "pre", "table", "img")
_MARKS = frozenset(("#", "¶", "§", "🔗"))
# Rendered once for each level otherwise; and bold in bold is only more asterisks.
_NESTED = ":is(b, strong) :is(b, strong), :is(i, em) :is(i, em), a a"
_LANGUAGE_PREFIXES = ("language-", "lang-", "highlight-source-", "highlight-", "brush:")
_MAX_WRAPPERS = 3  # the class stands on the block, or on one of two elements around it
_NO_LANGUAGE = frozenset(("", "none", "default", "notranslate", "text", "plaintext", "source"))


def to_markdown(content: Element, base: str, targets: Targets, rules: Extraction) -> str:
    """Write the content; the tree is changed on the way.

    Args:
        targets: where each href of the page leads; one that is missing leads nowhere.
    """
    content.strip_tags(_NESTED)
    parts = _by_tag(content)
    _prepare(content, parts)
    converters: dict[str, Converter] = {
        "b": _strong, "strong": _strong, "i": _emphasis, "em": _emphasis,
        "a": _link_writer(base, targets, rules.links),
        "img": _image_writer(parts["img"], base, rules.images),
    }  # fmt: skip
    text = content.to_markdown(replace(_OPTIONS, converters=converters))
    # The first test costs next to nothing and is enough for most pages.
    if "&" in text and _SPACE_REFERENCE in text and _SPACE_REFERENCE not in content.text:
        text = text.replace(_SPACE_REFERENCE, " ")
    return cut(tidy(text), rules.max_markdown_chars)


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
    lines = _ESCAPED_NUMBER.sub(r"\1.", _GAP.sub(r"\1", lines))
    return lines.replace(_NO_BREAK, " ")


def _by_tag(content: Element) -> Mapping[str, list[Element]]:
    """Find everything that needs preparation in one walk over the tree."""
    parts: dict[str, list[Element]] = {tag: [] for tag in _PREPARED}
    for element in content.iter_elements(_PREPARED):
        parts[element.tag].append(element)
    return parts


def _prepare(content: Element, parts: Mapping[str, list[Element]]) -> None:
    for tag in HEADINGS:
        for heading in parts[tag][:MAX_PREPARED]:
            _clean_heading(heading)
    for title in content.select(".admonition-title"):
        title.wrap_children(Element("strong"))
    for block in parts["pre"][:MAX_PREPARED]:
        _name_language(block)
    for table in parts["table"][:MAX_PREPARED]:
        straighten(table)


def _clean_heading(heading: Element) -> None:
    """Take away a permalink that is not named as one, and a heading that says nothing."""
    words = heading.text.split()
    if not words:
        heading.unwrap()
    elif words[-1][-1] in _MARKS or words[0] in _MARKS:
        for anchor in heading.select("a"):
            if anchor.text.strip() in _MARKS:
                anchor.decompose()


def _name_language(block: Element) -> None:
    """Put a code block's language where the renderer looks for it: on a `code` in the `pre`."""
    code = block.find("code", axis=Axis.CHILDREN)
    if code is None:
        code = block.wrap_children(Element("code"))
    language = _language(code)
    holder: object = block
    for _ in range(_MAX_WRAPPERS):
        if language or not isinstance(holder, Element):
            break
        language = _language(holder)
        holder = holder.parent
    block.attrs["class"] = ""
    code.attrs["class"] = f"language-{language}" if language else ""


def _language(element: Element) -> str:
    named = element.attr("data-lang") or element.attr("data-language") or ""
    if named:
        return _clean(named)
    return _language_in((element.attr("class") or "")[:MAX_CLASS_CHARS])


@lru_cache(maxsize=1024)
def _language_in(classes: str) -> str:
    """Read a class attribute; the code blocks of a site have a few different ones."""
    words = classes.replace("brush: ", "brush:").split()
    for prefix in _LANGUAGE_PREFIXES:
        for word in words:
            if word.startswith(prefix):
                return _clean(word[len(prefix) :])
    return ""


def _clean(language: str) -> str:
    language = language.strip().strip(";").lower()[:MAX_LANGUAGE_CHARS]
    plain = language.replace("+", "").replace("#", "").replace("-", "").replace("_", "")
    return language if plain.isalnum() and language not in _NO_LANGUAGE else ""


def _strong(_: Element, text: str) -> str:
    return f"**{text}**" if text else ""


def _emphasis(_: Element, text: str) -> str:
    return f"*{text}*" if text else ""


def _link_writer(base: str, targets: Targets, links: Links) -> Converter:
    """Return how a link is written: absolute, or its text alone (MD-07, MD-08, G-12)."""
    if links is Links.TEXT:
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


def _image_writer(found: list[Element], base: str, images: Images) -> Converter:
    """Return how an image is written; one without words is nothing (MD-06, G-13)."""
    sources: list[str] = []
    for image in found:
        if _alt(image):
            sources.append(image.attr("src") or "")
        else:
            image.decompose()
    if images is Images.ALT:
        return lambda image, _: f"[이미지: {_alt(image)}]"
    targets = dict(zip(sources, absolute(sources, base), strict=True))

    def write(image: Element, _: str) -> str:
        target = targets.get(image.attr("src") or "")
        return f"![{_alt(image)}]({_address(target, '')})" if target else ""

    return write


def _address(url: str, fragment: str) -> str:
    """Join a link's target; a URL with parentheses is bracketed, an odd fragment is left out."""
    if fragment and _PLAIN_FRAGMENT.fullmatch(fragment):
        url = f"{url}#{fragment}"
    return f"<{url}>" if "(" in url or ")" in url else url


def _alt(image: Element) -> str:
    words = " ".join((image.attr("alt") or "").split())
    return words.replace("[", "(").replace("]", ")").replace("<", "\\<")
