"""Write notes, tips and warnings as quotations, and footnotes in markdown's form.

A note, tip or warning of documentation becomes a quotation that begins with its label in bold. Its
class identifies it, as the generators write it (Sphinx, MkDocs, Docusaurus, VuePress, Asciidoctor,
Starlight, MDN, GitHub). A note with code, a table or a heading is not quoted: code copied out of a
quotation differs from the page, and the bold label is enough.

A footnote is written `[^1]` where the text refers to it and `[^1]: …` at its own place. A
reference is a short link into the page, raised or marked as one, to an existing element that is
not a heading. Both ends must be found, or nothing changes. Arrows that lead back are removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice

from geomi.extract.dom import HEADINGS, Axis, Element, Node, Text

MAX_ADMONITIONS = 500
MAX_CLASS_CHARS = 1000
MAX_LABEL_CHARS = 80
# A longer one is no note beside the text, whatever it is called.
MAX_NOTE_CHARS = 5000
# A paragraph of such a class may be a hint of the page, or a footnote.
BLOCKS = ("div", "aside", "section", "blockquote")
_KINDS = {
    "note": "Note", "warning": "Warning", "tip": "Tip", "caution": "Caution", "danger": "Danger",
    "important": "Important", "hint": "Hint", "attention": "Attention", "error": "Error",
    "info": "Info", "seealso": "See also", "deprecated": "Deprecated",
}  # fmt: skip
_CONTAINERS = frozenset(
    "admonition admonitionblock theme-admonition callout notecard custom-block markdown-alert "
    "starlight-aside note warning caution".split()
)
_TITLES = (
    ".admonition-title, .custom-block-title, .markdown-alert-title, .callout-title, "
    ".starlight-aside__title, .admonitionHeading, [class*=admonitionHeading]"
)
_UNQUOTED = ("pre", "table", *HEADINGS)
MARK = "g-note"
MAX_NOTES = 1000
MAX_MARK_CHARS = 8
MAX_DEPTH = 100
MAX_NOTE_CLASS_CHARS = 1000
# References that generators mark without raising them.
UNRAISED = ("a.footnote-reference", "a[role=doc-noteref]")
_REFERENCES = 'sup a[href^="#"], a:has(> sup)[href^="#"]'
_BACK = (
    ".footnote-backref, .footnote-back, .footnote-return, .reversefootnote, .mw-cite-backlink, "
    '[role="doc-backlink"], a[href^="#fnref"], a[href^="#_ftnref"], a[href^="#cite_ref"], '
    ".fn-bracket, span.label"
)
_NAMES = frozenset(("footnote", "footnotes", "footnote-list"))
_PLACES = ("li", "p", "div", "dd", "aside", "section")


def is_admonition(element: Element) -> bool:
    """Tell by its class whether a block is a note beside the text, and part of it."""
    classes = element.attr("class")
    return classes is not None and _tells(classes[:MAX_CLASS_CHARS])


def write_admonitions(blocks: list[Element]) -> None:
    """Turn those of the blocks that are notes into quotations with a label, in place."""
    notes = [block for block in blocks if is_admonition(block)]
    for note in notes[:MAX_ADMONITIONS]:
        if len(note.text) <= MAX_NOTE_CHARS:
            _write(note)


@lru_cache(maxsize=16_384)
def _tells(classes: str) -> bool:
    """Judge a class attribute; the pages of a site repeat the same few hundred."""
    return not _CONTAINERS.isdisjoint(classes.split())


def _write(element: Element) -> None:
    label = _label(element)
    is_quoted = next(element.iter_elements(_UNQUOTED), None) is None
    if label and not _begins_with(element, label):
        line = Element("p")
        line.append(Text(label))
        line.wrap_children(Element("strong"))
        element.insert(0, line)
    if is_quoted:
        element.tag = "blockquote"


def _label(element: Element) -> str:
    """Return a note's own title, which is taken out of it, or the name of its kind."""
    title = element.select_one(_TITLES)
    if title is None:
        return _kind(element)
    label = " ".join(title.text.split())[:MAX_LABEL_CHARS]
    title.decompose()
    return label[:1].upper() + label[1:]  # some are written small and shown in capitals


def _begins_with(element: Element, label: str) -> bool:
    """Return whether a note says what it is in its own first words, or in a heading."""
    first = element.find(True, axis=Axis.CHILDREN)
    if first is not None and first.tag in HEADINGS:
        return True
    return element.text.strip()[: len(label)].lower() == label.lower()


def _kind(element: Element) -> str:
    """Return what kind of note a class attribute tells of, if it tells."""
    words = (element.attr("class") or "")[:MAX_CLASS_CHARS].split()
    parts = (part for word in words for part in (word, word.rpartition("-")[2]))
    return next((_KINDS[part] for part in parts if part in _KINDS), "")


def mark_footnotes(content: Element, raised: list[Element]) -> None:
    """Mark references and the notes they lead to.

    Args:
        raised: the `sup` elements of the content; without one there is nothing to look for.
    """
    if not raised:
        return
    references = content.select(_REFERENCES)[:MAX_NOTES]
    places = _places(content) if references else {}
    labels: dict[Element, str] = {}
    for anchor in references:
        place = places.get((anchor.attr("href") or "")[1:])
        label = _mark_label(anchor)
        if place is None or not _is_label(label) or place in set(_around(anchor)):
            continue
        if place in labels or label not in labels.values():
            _refer(anchor, labels.setdefault(place, label))
    for place, label in labels.items():
        _open(place, label)


def is_footnote(element: Element) -> bool:
    """Tell by its class or role whether a block is a note, or a list of them."""
    classes = (element.attr("class") or "")[:MAX_NOTE_CLASS_CHARS].split()
    is_named = not _NAMES.isdisjoint(classes)
    return is_named or element.attr("role") in ("doc-footnote", "doc-endnotes")


def write_mark(mark: Element, _: str) -> str:
    """Write one end of a footnote; the label is a word, so that it cannot become markup."""
    label = mark.attr("label") or ""
    if not _is_label(label):
        return label
    return f"[^{label}]: " if mark.attr("note") is not None else f"[^{label}]"


def _places(content: Element) -> Mapping[str, Element]:
    """Find what can be a note, by its id or by that of a mark at its beginning."""
    places: dict[str, Element] = {}
    for element in content.select("[id]"):
        place = element if element.tag in _PLACES else _holder(element)
        if isinstance(place, Element) and place.tag in _PLACES and element.tag not in HEADINGS:
            places.setdefault(element.attr("id") or "", place)
    return places


def _holder(element: Element) -> Node | None:
    """Return what a mark with an id belongs to: the block around it; of a term its meaning."""
    if element.tag != "dt":
        return element.parent
    following = element.next_sibling
    return following.next_sibling if isinstance(following, Text) else following


def _around(anchor: Element) -> Iterator[Node]:
    return islice(anchor.ancestors, MAX_DEPTH)


def _mark_label(element: Element) -> str:
    return element.text.strip().strip("[]() ")


def _is_label(label: str) -> bool:
    return len(label) <= MAX_MARK_CHARS and label.isalnum()


def _refer(anchor: Element, label: str) -> None:
    """Put a mark in the place of a reference, and of the raised element that holds nothing else."""
    raised = anchor.closest("sup")
    is_alone = raised is not None and len(raised.text.strip()) == len(anchor.text.strip())
    holder = raised if raised is not None and is_alone else anchor
    if holder.parent is not None:  # else it went with the reference around it
        holder.replace_with(_mark(label))


def _open(place: Element, label: str) -> None:
    """Begin a note with its mark; a list of notes is a list no more, they bring their numbers."""
    place.remove(_BACK)
    mark = _mark(label)
    mark.attrs["note"] = ""
    first = next(place.iter_elements("p"), None)
    (place if first is None else first).insert(0, mark)
    if isinstance(words := mark.next_sibling, Text):
        words.replace_with(Text(words.data.lstrip()))
    holder = place.parent
    if place.tag == "li" and isinstance(holder, Element):
        holder.tag = "div"
        for item in holder.select(":scope > li"):
            item.tag = "div"
    elif place.tag == "dd":
        _drop_term(place, label)


def _drop_term(place: Element, label: str) -> None:
    """Take away the number that a note is the meaning of."""
    before = place.previous_sibling
    term = before.previous_sibling if isinstance(before, Text) else before
    if isinstance(term, Element) and term.tag == "dt" and _mark_label(term) == label:
        term.decompose()
    place.tag = "div"


def _mark(label: str) -> Element:
    mark = Element(MARK)
    mark.attrs["label"] = label
    mark.append(Text(label))
    return mark
