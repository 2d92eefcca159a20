"""Runs of digits in a text: the only places where a number of any kind can be.

A page has many figures and hardly any run of seven digits or more, so one search in C finds the
runs, and everything that reads numbers looks at them alone, in a form that is the same for all
scripts: wide digits, dashes and spaces of every sort become plain ones, character by character, so
that places stay what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MIN_DIGITS = 7  # the shortest local telephone number
BEFORE_CHARS = 32  # what stands before a number and may say what it is
AFTER_CHARS = 16  # an extension may follow

# What may stand around any number: neither a digit, a letter, nor the rest of a longer number.
START = r"(?<![0-9A-Za-z_])(?<![0-9A-Za-z][-.])(?<![#$€£¥₩])"
END = r"(?![0-9A-Za-z_])(?!-[0-9A-Za-z])(?!\.[0-9a-z])(?!,[0-9]{3})"


class Run(NamedTuple):
    """A run with what stands around it.

    Args:
        text: the run and its surroundings, in plain characters.
        offset: where `text` begins in the whole text.
        start: where the run begins in `text`.
    """

    text: str
    offset: int
    start: int


def runs(text: str) -> Iterator[Run]:
    """Yield the runs of a text with enough digits for a number."""
    for found in (_ASCII_RUN if text.isascii() else _RUN).finditer(text):
        if len(found[0].translate(_ONLY_DIGITS)) < MIN_DIGITS:
            continue
        offset = max(0, found.start() - BEFORE_CHARS)
        around = text[offset : found.end() + AFTER_CHARS]
        plain = around if around.isascii() else around.translate(_PLAIN)
        yield Run(plain, offset, found.start() - offset)


def before(text: str, at: int) -> str:
    """Return what stands right before a place of a run, no more than can tell what follows."""
    return text[max(0, at - BEFORE_CHARS) : at]


def only_digits(text: str) -> str:
    """Return the digits of a number, in plain characters."""
    return _NOT_DIGITS.sub("", text.translate(_PLAIN))


_WIDE = "０１２３４５６７８９"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u30fc\uff0d\u00ad"
_SPACES = "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"
_PLAIN = (
    dict(zip(map(ord, _WIDE), "0123456789", strict=True))
    | dict.fromkeys(map(ord, _DASHES), "-")
    | dict.fromkeys(map(ord, _SPACES), " ")
    | {ord("＋"): "+", ord("（"): "(", ord("）"): ")", ord("．"): ".", ord("／"): "/"}
)
_AMONG = rf" ().\-/\\（）．／{_DASHES}{_SPACES}"
# One class and no choice: however long the run, it is read once.
_ASCII_RUN = re.compile(r"[0-9][0-9 ().\-/\\]{6,}+")
_RUN = re.compile(rf"[0-9{_WIDE}][0-9{_WIDE}{_AMONG}]{{6,}}+")
_ONLY_DIGITS = {ord(sign): None for sign in f" ().-/\\（）．／{_DASHES}{_SPACES}"}
_NOT_DIGITS = re.compile(r"[^0-9]+")
