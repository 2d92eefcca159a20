"""Save content that pruning would remove: formulas, the boxes of task lists, asides with notes.

The lists of CLN-01 and CLN-02 name layout and machinery, and most elements they name are that.
Before they are applied, an element that is content beyond doubt gets another name: a formula in a
script, the check box of a task list, an `aside` that a documentation generator writes for its
notes. A reference to a footnote that is not raised is raised, so that it is found like the others.
All of them are found by the parser's index of tags, which costs next to nothing on pages that have
none; a list of selectors would be a walk over the page.
"""

from __future__ import annotations

from geomi.extract.dom import Document, Element
from geomi.extract.markdown.formula import mark_formulas
from geomi.extract.markdown.notes import MAX_NOTES, UNRAISED, is_admonition, is_footnote

BOX = "g-box"
MAX_BOXES = 2000
MAX_ASIDES = 500


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
