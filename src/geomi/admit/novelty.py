"""Decide whether a text says anything that another page of the same pattern did not say.

Pages of an endless space differ in what the URL differs in: the day, the number, the filter. So the
mark of a text leaves out digits, punctuation, white space and whatever stands in the URL itself,
and for calendars the names of months and days. Two texts with one mark tell the same.
"""

from __future__ import annotations

import hashlib
import string

from geomi.admit.shape import kind_of
from geomi.url.parse import Url

MARK_BYTES = 8
MAX_TEXT_CHARS = 100_000  # what is read of a text
MAX_PARTS = 8  # of the URL
MIN_PART_CHARS = 2  # a single letter says nothing about the URL


def text_mark(text: str, url: Url, pattern: str) -> bytes:
    """Return the mark of a page's text."""
    text = text[:MAX_TEXT_CHARS]
    for part in _own_words(url):
        text = text.replace(part, "")
    plain = text.encode("utf-8", "replace").translate(None, _UNTOLD)
    if kind_of(pattern) == "calendar":
        plain = b" ".join(word for word in plain.lower().split() if word not in _DAYS)
    told = plain.translate(None, _BLANKS)
    return hashlib.blake2b(told, digest_size=MARK_BYTES).digest()


_UNTOLD = (string.digits + string.punctuation).encode()
_BLANKS = string.whitespace.encode()
_DAYS = frozenset(
    word.encode()
    for word in (
        "january february march april may june july august september october november december "
        "jan feb mar apr jun jul aug sep sept oct nov dec st nd rd th "
        "monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun "
        "월요일 화요일 수요일 목요일 금요일 토요일 일요일 월 화 수 목 금 토 일 년 "
        "月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日"
    ).split()
)


def _own_words(url: Url) -> list[str]:
    """Return what a page may repeat of its own URL, the longest first."""
    values = [one.partition("=")[2] for one in url.query.split("&", MAX_PARTS)]
    parts = {url.path, *url.path.split("/")[-MAX_PARTS:], *values[:MAX_PARTS]}
    telling = (part for part in parts if len(part) >= MIN_PART_CHARS and not part.isdigit())
    return sorted(telling, key=lambda part: (-len(part), part))[:MAX_PARTS]
