"""Notes, tips and warnings of documentation: a quotation that begins with its label in bold.

They are known by their class, as the generators write it (Sphinx, MkDocs, Docusaurus, VuePress,
Asciidoctor, Starlight, MDN, GitHub). One that holds code, a table or a heading is not quoted: a
copy out of a quotation is not what the page showed, and the label in bold says the same.
"""

from __future__ import annotations

from functools import lru_cache

from geomi.extract.dom import HEADINGS, Axis, Element, Text

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
    """Tell whether a note says what it is in its own first words, or in a heading."""
    first = element.find(True, axis=Axis.CHILDREN)
    if first is not None and first.tag in HEADINGS:
        return True
    return element.text.strip()[: len(label)].lower() == label.lower()


def _kind(element: Element) -> str:
    """Return what kind of note a class attribute tells of, if it tells."""
    words = (element.attr("class") or "")[:MAX_CLASS_CHARS].split()
    parts = (part for word in words for part in (word, word.rpartition("-")[2]))
    return next((_KINDS[part] for part in parts if part in _KINDS), "")
