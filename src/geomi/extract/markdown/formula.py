"""Write formulas as TeX: `$…$` in a line, `$$…$$` on lines of their own.

A page has a formula in several forms: as MathML, as letters that a style sheet places, as an
image. The TeX is in an annotation, in a script or in the page's own text. A found formula becomes
one element `FORMULA` before pruning, which removes scripts and hidden elements. MathML without TeX
stays as it is: its letters are still the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geomi.extract.dom import Document, Element, Node, Text

FORMULA = "g-formula"
MAX_FORMULAS = 5000
MAX_FORMULA_CHARS = 5000
MAX_TEXTS = 20_000  # pieces of a page that are looked through

_DISPLAY = "display"
# MathJax and KaTeX read the page's text only where they are loaded, or where a generator says so.
_READERS = ("mathjax", "katex")
_MARKED = ("span.math", "div.math")
_TEX_SCRIPT = "math/tex"
_SHOWN = ".MathJax, .MathJax_Display, .MathJax_Preview, .MathJax_SVG, .mjx-chtml"
_TEX = "application/x-tex"
_OPENINGS = ("\\(", "\\[", "$$")
_CLOSING = {"\\(": "\\)", "\\[": "\\]", "$$": "$$"}
_SIGN = re.compile(r"\\[()\[\]]|\$\$")
_UNTOUCHED = frozenset(("pre", "code", "script", "style", "textarea", "kbd", "samp", "a"))
_BLANKS = re.compile(r"\s+")


def mark_formulas(document: Document) -> None:
    """Put an element `FORMULA` in the place of each formula whose TeX is known."""
    for math in document.select("math")[:MAX_FORMULAS]:
        _mark_mathml(math)
    scripts = document.select("script")[:MAX_FORMULAS]
    written = [script for script in scripts if _type(script).startswith(_TEX_SCRIPT)]
    for script in written:
        _replace(script, script.text, is_display="display" in _type(script))
    if written:
        document.remove(_SHOWN)
    if any(map(_is_reader, scripts)) or any(document.select_one(mark) for mark in _MARKED):
        _mark_text(document)


def write_formula(formula: Element, _: str) -> str:
    """Write a formula as markdown; its text can end neither the formula nor a line of the page."""
    tex = formula.text.replace("<", "\\lt ").replace("](", "] (")
    tex = _BLANKS.sub(" ", tex).strip().replace("$", "\\$")
    if not tex:
        return ""
    return f"\n\n$$\n{tex}\n$$\n\n" if formula.attr(_DISPLAY) else f"${tex}$"


def _type(script: Element) -> str:
    return (script.attr("type") or "").lower()


def _is_reader(script: Element) -> bool:
    source = (script.attr("src") or "").lower()
    return any(name in source for name in _READERS)


def _mark_mathml(math: Element) -> None:
    tex = next((a.text for a in math.select("annotation") if a.attr("encoding") == _TEX), "")
    tex = tex or math.attr("alttext") or ""
    if tex.strip():
        holder = math.closest(".katex, .mwe-math-element, mjx-container") or math
        is_display = math.attr(_DISPLAY) == "block" or holder.closest(".katex-display") is not None
        _replace(holder, tex, is_display=is_display)


def _mark_text(document: Document) -> None:
    """Find the delimiters that MathJax and KaTeX look for in a page's text."""
    body = document.select_one("body")
    found = 0
    for text in list(_texts(body, MAX_TEXTS)) if body is not None else ():
        parts = _split(text.data)
        found += len(parts)
        if len(parts) > 1 and not _is_untouched(text):
            text.replace_with(*parts)
        if found > MAX_FORMULAS:
            return


def _texts(body: Element, most: int) -> Iterator[Text]:
    for node in body.descendants:
        if isinstance(node, Text):
            most -= 1
            if most < 0:
                return
            if any(opening in node.data for opening in _OPENINGS):
                yield node


def _split(data: str) -> list[Node]:
    """Cut a text at its formulas: an opening sign, and the closing one that is the next."""
    parts: list[Node] = []
    at, opening = 0, None
    for sign in _SIGN.finditer(data):
        if opening is None or sign[0] != _CLOSING[opening[0]]:
            opening = sign if sign[0] in _CLOSING else None
            continue
        tex = data[opening.end() : sign.start()]
        if tex.strip() and len(tex) <= MAX_FORMULA_CHARS and len(parts) < 2 * MAX_FORMULAS:
            parts.append(Text(data[at : opening.start()]))
            parts.append(_formula(tex, is_display=opening[0] != "\\("))
            at = sign.end()
        opening = None
    return [*parts, Text(data[at:])]


def _is_untouched(text: Text) -> bool:
    parent = text.parent
    return isinstance(parent, Element) and (
        parent.tag in _UNTOUCHED or parent.closest("pre, code") is not None
    )


def _replace(element: Element, tex: str, *, is_display: bool) -> None:
    if element.parent is not None:  # else it went with the formula around it
        element.replace_with(_formula(tex, is_display=is_display))


def _formula(tex: str, *, is_display: bool) -> Element:
    formula = Element(FORMULA)
    formula.append(Text(_bare(tex)[:MAX_FORMULA_CHARS]))
    if is_display:
        formula.attrs[_DISPLAY] = "1"
    return formula


def _bare(tex: str) -> str:
    """Take away the signs around a formula, and the wrapper that MediaWiki adds."""
    tex = tex.strip().removeprefix("% <![CDATA[").removesuffix("%]]>").strip()
    if tex.startswith("{\\displaystyle ") and tex.endswith("}"):
        tex = tex[len("{\\displaystyle ") : -1].strip()
    return tex
