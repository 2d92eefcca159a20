"""Quote at most 200 characters that show why a search found a chunk (IDX-02).

The snippet is the window of the chunk's text, without markup, that has the most different words of
the query. Between equal windows their number decides, then the earlier place. The snippet begins
and ends at words, and an ellipsis marks what is left out.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Sequence, Set

from geomi.model.index.search import Snippet
from geomi.search.tokens import Word, words

MAX_SNIPPET_CHARS = 200  # IDX-02
ELLIPSIS = "…"
# Before the first match so much is shown, so that it does not stand without its beginning.
LEAD_CHARS = 40

_MARKUP = (
    (re.compile(r"^[ \t>]*(?:`{3,}|~{3,}).*$", re.MULTILINE), ""),
    (re.compile(r"!?\[([^\[\]]*)\]\((?:<[^<>]*>|[^()\s]*)\)"), r"\1"),
    (re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\Z"), r"\1"),  # the chunk ends inside of it
    (re.compile(r"^[ \t>]*(?:#{1,6} |[-*+] |\|[ \t:|-]+$)", re.MULTILINE), ""),
    (re.compile(r"\|"), " "),
    (re.compile(r"\*\*|`"), ""),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
)


def snippet(text: str, wanted: Set[str]) -> Snippet:
    """Quote the part of a text that holds most of the tokens looked for."""
    plain = plain_text(text)
    if len(plain) <= MAX_SNIPPET_CHARS:
        return Snippet(plain, _marks(_matching(plain, wanted), 0, len(plain)))
    found = _matching(plain, wanted)
    start, end = _window(plain, found)
    before = ELLIPSIS if start else ""
    after = ELLIPSIS if end < len(plain) else ""
    quoted = f"{before}{plain[start:end]}{after}"
    return Snippet(quoted, _marks(found, start - len(before), end))


def plain_text(markdown: str) -> str:
    """Return a text on one line, without what only a renderer needs."""
    for pattern, replacement in _MARKUP:
        markdown = pattern.sub(replacement, markdown)
    return " ".join(markdown.split())


def _matching(text: str, wanted: Set[str]) -> list[Word]:
    return [word for word in words(text) if not wanted.isdisjoint(word.tokens)]


def _window(text: str, found: Sequence[Word]) -> tuple[int, int]:
    """Return the best place for a quotation, with room for two ellipses."""
    room = MAX_SNIPPET_CHARS - 2 * len(ELLIPSIS)
    first = _best(found, room)
    start = _word_start(text, max(0, first - LEAD_CHARS), first)
    end = min(len(text), start + room)
    if end == len(text):
        return _word_start(text, max(0, end - room), end), end
    cut = text.rfind(" ", end - LEAD_CHARS, end + 1)
    return start, cut if cut > 0 else end


def _best(found: Sequence[Word], room: int) -> int:
    """Return where the window begins that holds most."""
    best, place = (0, 0), found[0].start if found else 0
    inside: deque[Word] = deque()
    held: Counter[tuple[str, ...]] = Counter()
    for word in found:
        inside.append(word)
        held[word.tokens] += 1
        while word.end - inside[0].start > room - LEAD_CHARS and len(inside) > 1:
            gone = inside.popleft().tokens
            held[gone] -= 1
            if not held[gone]:
                del held[gone]
        if (worth := (len(held), len(inside))) > best:
            best, place = worth, inside[0].start
    return place


def _word_start(text: str, at: int, latest: int) -> int:
    """Return where the next word begins, unless that is too late."""
    if at == 0 or text[at - 1] == " ":
        return at
    space = text.find(" ", at, latest)
    return space + 1 if space >= 0 else at


def _marks(found: Sequence[Word], start: int, end: int) -> tuple[tuple[int, int], ...]:
    """Return the places of matches inside a quotation; those that touch are one."""
    marks: list[tuple[int, int]] = []
    for word in found:
        if word.start < start or word.end > end:
            continue
        place = (word.start - start, word.end - start)
        if marks and place[0] <= marks[-1][1]:
            marks[-1] = (marks[-1][0], max(place[1], marks[-1][1]))
        else:
            marks.append(place)
    return tuple(marks)
