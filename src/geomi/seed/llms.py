"""Read the pages that an `/llms.txt` lists.

The file is markdown: a title, and lists of links with a word about each. Only the links matter
here. They are looked for in one pass, whatever the file is; nothing raises.
"""

from __future__ import annotations

MAX_LINKS = 10_000
MAX_HREF_CHARS = 2048


def read(body: bytes) -> tuple[str, ...]:
    """Return the targets of the links, as written and in order, each once."""
    text = body.decode("utf-8-sig", "replace")
    found: dict[str, None] = {}
    at = text.find(_OPENS)
    while at >= 0 and len(found) < MAX_LINKS:
        start = at + len(_OPENS)
        href = _href(text[start : start + MAX_HREF_CHARS + 1])
        if href:
            found[href] = None
        at = text.find(_OPENS, start)
    return tuple(found)


_OPENS = "]("


def _href(text: str) -> str:
    """Cut a link's target out of what follows its text: up to `)`, a title left out."""
    inside, closes, _ = text.partition(")")
    words = inside.split(maxsplit=1)
    return words[0].strip("<>") if closes and words and "\n" not in inside else ""
