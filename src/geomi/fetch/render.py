"""Whether a static page is only the shell of an application for a browser to fill (C-34, JS-01).

Conservative: a page is called a shell only if it has next to no text *and* shows why. A false alarm
costs a browser visit, a missed one a page.
"""

from __future__ import annotations

import re

MAX_SHELL_CHARS = 200  # a page with more text than a cookie notice is worth keeping as it is
MAX_NOTE_BYTES = 2000  # read of one <noscript>
SCAN_BYTES = 262_144  # shells are small; the mark of a large page stands in its first part


def needs_browser(text_chars: int, html: bytes, *, scripts: int) -> str:
    """Say why a page looks unfinished without JavaScript; empty when it does not.

    Args:
        text_chars: length of its visible text.
        scripts: how many script elements it has.
    """
    if text_chars > MAX_SHELL_CHARS or scripts == 0:
        return ""
    head = html[:SCAN_BYTES]
    for reason, mark in _MARKS:
        if mark.search(head):
            return reason
    return "a note that JavaScript is needed" if _asks_for_scripts(head.lower()) else ""


_MARKS = (
    (
        "an empty application root",
        re.compile(
            rb"""<(?:div|main|section)\s[^<>]{0,200}?\bid=["']?"""
            rb"""(?:root|app|__next|__nuxt|___gatsby|svelte|main-app|app-root)(?=["'\s>])"""
            rb"""[^<>]{0,200}>\s{0,200}</""",
            re.I,
        ),
    ),
    ("an empty application root", re.compile(rb"<app-root[^<>]{0,200}>\s{0,200}</app-root", re.I)),
    ("page data for a script to show", re.compile(rb"__NEXT_DATA__|__NUXT__|__INITIAL_STATE__")),
)
_NAMES = (b"javascript", "자바스크립트".encode())
_NEEDED = (b"enable", b"turn on", b"require", b"need", b"without", b"activ", "켜".encode())


def _asks_for_scripts(head: bytes) -> bool:
    """Say whether a page without scripts tells its reader to turn them on."""
    start = head.find(b"<noscript")
    while start >= 0 and (end := head.find(b"</noscript", start)) >= 0:
        note = head[start : min(end, start + MAX_NOTE_BYTES)]
        if any(name in note for name in _NAMES) and any(word in note for word in _NEEDED):
            return True
        start = head.find(b"<noscript", end)
    return False
