"""Who claims a page: its copyright notice, as it stands at its end (LEG-13).

Main content has none: notices stand in the frame, which is taken out. So it is looked for before:
in the meta tags that name one, then in the last `footer`, then in the last elements with little in
them. A sign is looked for as a plain string, and expressions see its surroundings alone: over whole
footers they took a twentieth of the time of an extraction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from geomi.extract.dom import Document

MAX_NOTICE_CHARS = 200
MAX_FOOTERS = 5
MAX_FOOTER_CHARS = 20_000
MAX_LAST = 25  # elements of each name
MAX_LAST_CHARS = 600
BEFORE_CHARS = 60  # what may stand before a sign and belong to it

_NAMES = ("copyright", "dcterms.rights", "dc.rights", "rights")
_LAST_TAGS = ("small", "p", "div")
# In the spellings that there are: to lower a footer costs as much as all the rest.
_SIGNS = ("©", "(c)", "(C)", "Copyright", "copyright", "COPYRIGHT", "저작권자")
_RESERVED_SIGNS = (
    "All rights reserved", "All Rights Reserved", "all rights reserved", "ALL RIGHTS RESERVED",
    "무단",
)  # fmt: skip
# A year, a holder or a sign makes a notice of a word that is often a link's text.
_NOTICE = re.compile(
    r"(?:©|\(c\) ?(?=(?:19|20)\d\d)|copyrights?(?= ?(?:©|\(c\)|by |\d))|저작권자)[^\n]{2,200}",
    re.IGNORECASE,
)
_END = re.compile(r"(?<=[a-z가-힣])[.!?] |\s[|•·]\s| {3,}")
_RESERVED = re.compile(r"[^.|\n]{0,60}(?:all rights reserved|무단[^.|\n]{0,40}금지)", re.IGNORECASE)


def read_notice(document: Document, tags: Mapping[str, str]) -> str:
    """Return a page's copyright notice in one line; empty where it has none."""
    for name in _NAMES:
        if said := tags.get(name, ""):
            return said[:MAX_NOTICE_CHARS]
    return next(filter(None, map(find_notice, _endings(document))), "")


def find_notice(text: str) -> str:
    """Return the last notice in a text."""
    for part in _around(text, _SIGNS):
        if notices := _NOTICE.findall(part):
            return _whole(notices[-1])
    for part in _around(text, _RESERVED_SIGNS):
        if (alone := _RESERVED.search(part)) is not None:
            return _line(alone[0])
    return ""


def _endings(document: Document) -> Iterator[str]:
    """Yield the texts that may hold a notice, the last one first."""
    for footer in reversed(document.select("footer")[-MAX_FOOTERS:]):
        yield footer.text[-MAX_FOOTER_CHARS:]
    for tag in _LAST_TAGS:
        texts = (element.text for element in document.select(tag)[-MAX_LAST:])
        yield "\n".join(text for text in texts if len(text) <= MAX_LAST_CHARS)


def _around(text: str, signs: tuple[str, ...]) -> Iterator[str]:
    """Yield what stands around the last of each sign."""
    for sign in signs:
        if (at := text.rfind(sign)) >= 0:
            yield text[max(0, at - BEFORE_CHARS) : at + MAX_NOTICE_CHARS]


def _whole(notice: str) -> str:
    """Return a notice up to the end of its sentence, and the one that reserves all rights."""
    end = _END.search(notice, 2)
    if end is None:
        return _line(notice)
    rest = notice[end.start() :].lstrip(" .|•·")
    reserved = _RESERVED.match(rest)
    return _line(f"{notice[: end.start() + 1].strip()} {reserved[0] if reserved else ''}")


def _line(text: str) -> str:
    return " ".join(text.split())[:MAX_NOTICE_CHARS].rstrip(" |•·")
