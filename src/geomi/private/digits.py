"""Find runs of digits in a text: only there can a number of any kind be.

A page has many digits, but rarely seven of them near each other. So the first pass looks only for
that, over all characters at once. The tests for numbers read the remaining runs in one form for
all scripts: wide digits, dashes and spaces of every sort become plain ones, character by
character, so that all places stay the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.intp]

MIN_DIGITS = 7  # the shortest local telephone number
MAX_GAP_CHARS = 4  # between two digits of one number: `) - `
BEFORE_CHARS = 32  # what stands before a number and may say what it is
SIGN_CHARS = 4  # before the first digit: `+ (`, `%2B`
# So many characters are looked at at once: each takes up to 30 bytes meanwhile.
SLAB_CHARS = 1 << 17
AFTER_CHARS = 20  # an extension may follow: ` (extension 12345)`

# What may stand around any number: neither a digit, a letter, nor the rest of a longer number.
APART = r"(?<![0-9A-Za-z_])(?<![0-9A-Za-z][-.])(?<![$€£¥₩])"
START = APART + "(?<!#)"
END = r"(?![0-9A-Za-z_])(?!-[0-9A-Za-z])(?!\.[0-9a-z])(?!,[0-9]{3})"


class Run(NamedTuple):
    """A run with what stands around it.

    Args:
        text: the run and its surroundings, in plain characters.
        offset: where `text` begins in the whole text.
        start, end: where the run is in `text`; a sign or a bracket may stand before it.
        digits: how many it has.
    """

    text: str
    offset: int
    start: int
    end: int
    digits: int

    @property
    def body(self) -> int:
        """Where a number of this run can begin."""
        return max(0, self.start - SIGN_CHARS)


def runs(text: str) -> Iterator[Run]:
    """Yield the runs of a text with enough digits for a number."""
    for start, end in _dense(text):
        for found in _RUN.finditer(text, start, end):
            digits = len(found[0].translate(_ONLY_DIGITS))
            if digits < MIN_DIGITS:
                continue
            offset = max(0, found.start() - BEFORE_CHARS)
            around = text[offset : found.end() + AFTER_CHARS]
            plain = around if around.isascii() else around.translate(_PLAIN)
            yield Run(plain, offset, found.start() - offset, found.end() - offset, digits)


def before(text: str, at: int) -> str:
    """Return what stands right before a place of a run, no more than can tell what follows."""
    return text[max(0, at - BEFORE_CHARS) : at]


def only_digits(text: str) -> str:
    """Return the digits of a number, in plain characters."""
    return _NOT_DIGITS.sub("", text.translate(_PLAIN))


def _dense(text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches whose digits lie near each other, from the first to behind the last.

    A stretch that reaches the end of a slab may go on in the next one.
    """
    held: tuple[int, int, int] | None = None
    for offset in range(0, len(text), SLAB_CHARS):
        firsts, lasts, digits = _stretches(text[offset : offset + SLAB_CHARS], offset)
        if not len(firsts):
            continue
        if held is not None and firsts[0] - held[1] <= MAX_GAP_CHARS + 1:
            firsts[0] = held[0]
            digits[0] += held[2]
        elif held is not None and held[2] >= MIN_DIGITS:
            yield held[0], held[1] + 1
        enough = np.flatnonzero(digits[:-1] >= MIN_DIGITS)
        for first, last in zip(firsts[enough].tolist(), lasts[enough].tolist(), strict=True):
            yield first, last + 1
        held = int(firsts[-1]), int(lasts[-1]), int(digits[-1])
    if held is not None and held[2] >= MIN_DIGITS:
        yield held[0], held[1] + 1


def _stretches(slab: str, offset: int) -> tuple[Places, Places, Places]:
    """Return where stretches begin and end, and how many digits each has."""
    at = np.flatnonzero(_are_digits(slab))
    breaks = np.flatnonzero(np.diff(at) > MAX_GAP_CHARS + 1)
    begins = np.concatenate(([0], breaks + 1)) if len(at) else at
    ends = np.concatenate((breaks, [len(at) - 1])) if len(at) else at
    return at[begins] + offset, at[ends] + offset, ends - begins + 1


def _are_digits(text: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell for each character; what is not ASCII may have wide ones too."""
    if text.isascii():
        letters = np.frombuffer(text.encode(), np.uint8)
        return letters - np.uint8(ord("0")) < 10
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return (points - np.uint32(ord("0")) < 10) | (points - np.uint32(ord("０")) < 10)


_WIDE = "０１２３４５６７８９"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u30fc\uff0d\u00ad"
_SPACES = "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"
_DOTS = "\u2022\u2027\u30fb\u318d"
_TILDES = "\u301c\uff5e"
_PLAIN = (
    dict(zip(map(ord, _WIDE), "0123456789", strict=True))
    | dict.fromkeys(map(ord, _DASHES), "-")
    | dict.fromkeys(map(ord, _SPACES), " ")
    | dict.fromkeys(map(ord, _DOTS), "·")
    | dict.fromkeys(map(ord, _TILDES), "~")
    | dict(zip(map(ord, "＋（）．／＿"), "+()./_", strict=True))
)
_AMONG = f" ().-/\\_·~（）．／＿{_DASHES}{_SPACES}{_DOTS}{_TILDES}"
# One class and no choice: however long the run, it is read once.
_RUN = re.compile(rf"[0-9{_WIDE}][0-9{_WIDE}{re.escape(_AMONG)}]{{6,}}+")
_ONLY_DIGITS = dict.fromkeys(map(ord, _AMONG))
_NOT_DIGITS = re.compile(r"[^0-9]+")
