"""Does the static page look unfinished, so that a browser would show more?

Cheap facts only: how little text there is, and what stands beside it. A page with enough text is
finished, whatever scripts it loads. The engine decides whether a browser is worth its price.
"""

from __future__ import annotations

from geomi.extract.dom import Document

# Less text than this and a page is suspected: the shells of single-page applications have none, or
# a line that asks for JavaScript.
MIN_CHARS = 200
MIN_SCRIPTS = 3

_APP_ROOTS = (
    "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #q-app, app-root, [ng-app], "
    "[data-reactroot], [data-v-app], [ng-version]"
)


def is_suspect(text: str) -> bool:
    """Tell whether a page shows so little that `unfinished` should look at it."""
    return len(text) < MIN_CHARS


def unfinished(document: Document) -> str:
    """Return why a page that shows little needs a browser, or the empty string when it does not."""
    if any("javascript" in note.text.lower() for note in document.select("noscript")):
        return "noscript asks for JavaScript"
    root = document.select_one(_APP_ROOTS)
    if root is not None and is_suspect(root.text.strip()):
        return "empty application root"
    if len(document.select("script")) >= MIN_SCRIPTS:
        return "scripts without text"
    return ""
