"""Leave out of a text what nobody sees: a model would read it, and so would a search.

Zero-width spaces, tags, bidirectional marks and overrides, soft hyphens, fillers, controls and
characters that are none are left out. Two kinds are kept where a writing system needs them, one at
a time: a joiner or non-joiner between letters that join and inside an emoji (UTS #51 §2.3), and a
variation selector behind a character that has variations.
"""

from __future__ import annotations

import re
from unicodedata import category, east_asian_width

_JOINERS = "\u200c\u200d"
_VARIATIONS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_KEYCAP = "\u20e3"
_BREAKS = "\r\v\f\x85"  # they end a line, as a line feed does
_CONTROLS = "\0-\x08\x0b-\x1f\x7f-\x9f"
# Spaces between words (U+00A0, U+3000) are seen; private characters are the icons of a font.
_UNSEEN = re.compile(
    f"[{_CONTROLS}\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\ufffe\uffff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_ASCII_CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n"))
_VARIATION = re.compile(f"[{_VARIATIONS}]")
_LETTERS, _SYMBOLS = ("Lo", "Mn", "Mc"), ("So", "Sm", "Sk")


def seen(text: str) -> str:
    """Return what is seen of a text; line feeds and tabs stay, other breaks become line feeds."""
    if text.isascii() and (text.isprintable() or _is_plain(text.encode("ascii"))):
        return text
    return _UNSEEN.sub(_needed, text)


def _is_plain(text: bytes) -> bool:
    """Whether an ASCII text has no controls but those that stay, ten times faster than a search."""
    return len(text.translate(None, _ASCII_CONTROLS)) == len(text)


def _needed(match: re.Match[str]) -> str:
    """Return what a writing system needs of some characters that nobody sees."""
    text, kept = match.string, ""
    before = text[match.start() - 1 : match.start()]
    for place, letter in enumerate(match[0], match.start() + 1):
        after = text[place : place + 1]
        if _joins(letter, before, after) or _varies(letter, before, after):
            kept, before = kept + letter, letter
        elif letter in _BREAKS and after != "\n":
            kept, before = kept + "\n", "\n"
    return kept


def _joins(letter: str, before: str, after: str) -> bool:
    """Return whether a joiner stands where an emoji, or a script whose letters join, has it."""
    if letter not in _JOINERS or not before:
        return False
    if before == "\ufe0f" or category(before) in _SYMBOLS:
        return letter == "\u200d" and after != "" and category(after) in _SYMBOLS
    return category(before) in _LETTERS and not _is_wide(before)


def _varies(letter: str, before: str, after: str) -> bool:
    """Return whether a variation selector stands behind what can vary."""
    if not before or not _VARIATION.match(letter) or _VARIATION.match(before):
        return False
    return category(before) in ("Lo", "Po", "Pd", *_SYMBOLS) or after == _KEYCAP


def _is_wide(letter: str) -> bool:
    """Return whether a letter fills a square, as Han, Kana and Hangul do: these never join."""
    return east_asian_width(letter) in ("W", "F")
