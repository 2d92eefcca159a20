"""Remove what is never part of a page's main content (CLN-01…CLN-08).

The lists are those of the seed, with three repairs for rules that do harm. A `header` inside the
content stays, because it has an article's own title. An element with most of the page's text stays,
because some sites deliver the page itself inside `noscript`, `aside` or a hidden block. Class names
are judged word by word: `site-footer` is removed like `footer`, but `content-with-sidebar-left` is
not removed like `sidebar`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, islice

from geomi.extract.dom import Element, Node, SelectorSyntaxError

# Above this share of the page's text an element is the page, whatever it is called.
MAX_PRUNED_SHARE = 0.5
# … unless it is mostly links: a menu can be longer than the page it leads around.
MAX_LINKED_SHARE = 0.5
# So many elements are measured before they go, the rest goes unmeasured: of a thousand nested in
# one another, the innermost text would be read a thousand times.
MAX_MEASURED = 200
# Anchors that are nested in one another are measured again and again, too.
MAX_ANCHORS = 5000
MAX_TITLES = 2000
MAX_MAIN_ELEMENTS = 20
MAX_DEPTH = 1000
MAX_CLASS_CHARS = 1000  # of an attribute that is remembered

_MACHINERY = (
    "script", "style", "iframe", "object", "embed", "template", "svg", "canvas", "video",
    "audio", "link", "meta", "button", "input", "select", "textarea",
)  # fmt: skip
_FRAME = ("nav", "footer")
_LAYOUT = ("nav", "header", "footer", "aside", "noscript", "dialog")
_CONTENT = "article, main, [role=main]"
# React streams parts of a page as hidden blocks `S:0`, `S:1`, … and shows them by script; of tabs
# all but one are hidden, and all are content.
_HIDDEN = (
    ':is([hidden]:not([id^="S:"]), [aria-hidden="true"], [style*="display:none"], '
    '[style*="display: none"]):not([role="tabpanel"]), [data-ad], [data-adunit]'
)
_ROLES = frozenset(
    "navigation banner contentinfo complementary search dialog alertdialog menu menubar "
    "toolbar".split()
)
_IDS = frozenset("toc sidebar breadcrumbs footer nav navigation menu page-header".split())
# What holds one of these is not beside the page but around it.
_MAIN_TAGS = ("h1", "main")
_NAMES = frozenset(
    "ad ads advertisement sidebar toc table-of-contents breadcrumb breadcrumbs pagination pager "
    "cta banner announcement alert-banner promo feedback feedback-widget thumbs-up-down "
    "was-helpful cookie-banner cookie-consent gdpr-banner".split()
)
# What tools put into the content itself: line numbers, permalinks, copy buttons.
_TOOLING = frozenset(
    "linenos lineno linenodiv line-number linenumber line-numbers-rows line-numbers-wrapper "
    "gutter rouge-gutter lnt ln hljs-ln-numbers blob-num headerlink hash-link header-anchor "
    "heading-anchor anchorjs-link permalink copybtn copy-button clipboard-copy btn-copy".split()
)
# Words that condemn a class name when they end it (`site-footer`) or begin it (`share-bar`).
_LAST_WORDS = frozenset(
    "footer nav navbar navheader navfooter navigation sidebar breadcrumb breadcrumbs pagination "
    "pager toc menu share sharing social newsletter subscribe signup form related comments "
    "respond cookie cookies consent gdpr ads advert advertisement promo popup modal feedback "
    "copyright".split()
)
_FIRST_WORDS = frozenset(
    "share social cookie gdpr newsletter related comment comments breadcrumb breadcrumbs footer "
    "nav sidebar".split()
)
# A name of one word is its first and its last.
_CONDEMNED = _NAMES | _TOOLING | _LAST_WORDS | _FIRST_WORDS
_BESIDE = _CONDEMNED | _IDS | _ROLES
_KEPT_TAGS = frozenset(("html", "body", "main", "article", "pre", "code", "h1"))


def clear(body: Element, remove: tuple[str, ...]) -> None:
    """Take out what no reader sees as text, and what the job's own selectors name (CLN-08)."""
    for element in list(body.iter_elements(_MACHINERY)):
        element.decompose()
    for selector in remove:
        try:
            body.remove(selector)
        except SelectorSyntaxError:
            continue  # refused when the job was configured; a stage has nobody to tell


def drop_frame(body: Element) -> tuple[list[Element], int]:
    """Take out every `nav` and `footer` but one that is the page (CLN-02).

    Returns:
        each `article` and `main`, because every walk over a page costs; and how long the text of
        the body was before, 0 if it was not measured.
    """
    found = list(body.iter_elements((*_FRAME, "article", "main")))
    frame = [element for element in found if element.tag in _FRAME]
    return [e for e in found if e.tag not in _FRAME], _drop(body, frame)


def drop_named(body: Element) -> None:
    """Take out what its names tell to stand beside the content, or to be a tool of it."""
    _drop(body, _boilerplate(body))


def drop_tooling(content: Element) -> None:
    """Take out line numbers, permalinks and the like, which stand inside the content."""
    for element in content.select("[class]"):
        if not _TOOLING.isdisjoint((element.attr("class") or "")[:MAX_CLASS_CHARS].split()):
            element.decompose()


def drop_boilerplate(body: Element) -> None:
    """Take out what stands beside the content or is hidden, in what has been cleared."""
    layout = list(body.iter_elements(_LAYOUT))
    titles = {element for element in layout[:MAX_TITLES] if _is_title(element)}
    _drop(body, [element for element in layout if element not in titles])
    _drop(body, body.select(_HIDDEN) + _boilerplate(body))


@lru_cache(maxsize=16_384)
def is_boilerplate(names: str) -> bool:
    """Return whether the class, id and role of an element place it beside the content."""
    words = names.lower().split()
    return not _BESIDE.isdisjoint(words) or any(map(_is_compound_condemned, words))


def _boilerplate(body: Element) -> list[Element]:
    """Return what its role, id or class tells to stand beside the content."""
    named = [e for e in body.select("[id]") if (e.attr("id") or "").lower() in _IDS]
    named += [e for e in body.select("[role]") if e.attr("role") in _ROLES]
    named += _condemned(body.select("[class]"))
    around = _around(islice(body.iter_elements(_MAIN_TAGS), MAX_MAIN_ELEMENTS))
    return [e for e in named if e.tag not in _KEPT_TAGS and e not in around]


def _condemned(elements: list[Element]) -> list[Element]:
    """Return those whose class tells; a page repeats its classes, so each is judged once."""
    classes = [element.attr("class") or "" for element in elements]
    telling = {name for name in set(classes) if _is_condemned(name[:MAX_CLASS_CHARS])}
    pairs = zip(elements, classes, strict=True)
    return [element for element, name in pairs if name in telling] if telling else []


def _around(elements: Iterable[Element]) -> set[Node]:
    return set(chain.from_iterable(islice(e.ancestors, MAX_DEPTH) for e in elements))


def _is_title(element: Element) -> bool:
    return element.tag == "header" and element.closest(_CONTENT) is not None


def _drop(body: Element, elements: list[Element]) -> int:
    """Take elements out of a body, and return how long its text was before."""
    if not elements:
        return 0
    chars = len(body.text)
    most = chars * MAX_PRUNED_SHARE
    for element in elements[:MAX_MEASURED]:
        if len(element.text) <= most or _is_menu(element):
            element.decompose()
    for element in elements[MAX_MEASURED:]:
        element.decompose()
    return chars


def _is_menu(element: Element) -> bool:
    # A table of contents that is most of its page is what the page is for: a chapter's index.
    linked = sum(map(_letters, element.select("a")[:MAX_ANCHORS]))
    return linked > _letters(element) * MAX_LINKED_SHARE and not element.has_class("toc")


def _letters(element: Element) -> int:
    """Count text without the blanks that indent its source."""
    return sum(map(len, element.text.split()))


@lru_cache(maxsize=16_384)  # 3 MB with classes of 50 characters, 20 MB at the worst
def _is_condemned(classes: str) -> bool:
    """Judge a class attribute; the pages of a site repeat the same few hundred."""
    names = classes.lower().split()
    return not _CONDEMNED.isdisjoint(names) or any(map(_is_compound_condemned, names))


def _is_compound_condemned(name: str) -> bool:
    if "_" in name:
        name = name.replace("_", "-")
    first, dash, rest = name.partition("-")
    return bool(dash) and (first in _FIRST_WORDS or rest.rpartition("-")[2] in _LAST_WORDS)
