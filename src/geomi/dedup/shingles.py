"""Turn a text into a set of shingles: each run of three words becomes one 64-bit number.

A word is a run of letters, digits, marks and underscores, in lower case. Chinese, Japanese, Thai
and the other scripts without spaces have no such runs, so there each character counts as a word.
Korean has spaces and is read like English. Case, punctuation and layout do not count. The
share of shingles that two texts have in common (their Jaccard similarity) is what `sketch.py`
estimates; on the revisions set the numbers made here give the very similarity of its labels.

A word's number is a polynomial of all of its characters. One running sum over the text gives the
sums of all words: the difference between a word's ends, scaled to a common power. The arithmetic is
the same on every machine and in every process.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint64]
SHINGLE_WORDS = 3
# Texts are cut here, in UTF-16 units: a longer page is recognised by its beginning. One unit of
# space on either side closes the first and the last word.
MAX_TEXT_UNITS = (1 << 17) - 2
Units = NDArray[np.uint16] | NDArray[np.uint8]
Places = NDArray[np.intp]
_UNITS = 1 << 16
_SURROGATES = range(0xD800, 0xE000)
# Thai and Lao, Burmese, Khmer, kana, ideographs (also compatible ones), half-width kana.
_WITHOUT_GAPS = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
)
_FIRST_WITHOUT_GAPS = 0x0E00
_BASE: Final = np.uint64(0x9E3779B97F4A7C15)  # odd, from the golden ratio
_POWERS: Final = np.cumprod(
    np.concatenate([np.ones(1, np.uint64), np.full(MAX_TEXT_UNITS + 2, _BASE)]), dtype=np.uint64
)
_SECOND_FACTOR: Final = np.uint64(0xC2B2AE3D27D4EB4F)  # odd, two of xxHash's primes:
_THIRD_FACTOR: Final = np.uint64(0x27D4EB2F165667C5)  # the order of the words counts


def mix(values: Numbers) -> Numbers:
    """Spread every bit over all others: the finaliser of splitmix64."""
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return values ^ values >> np.uint64(31)


def shingles(text: str) -> Numbers:
    """Return the numbers of a text's shingles, repeated ones too; a text without words has none."""
    return join(words(text))


def words(text: str) -> Numbers:
    """Return a number for every word, in order."""
    units = _folded(text)
    starts, ends = _edges(units)
    sums = np.cumsum(units * _POWERS[: units.size], dtype=np.uint64)
    # A word that began later holds higher powers; the factor makes up for where it stands.
    return (sums[ends - 1] - sums[starts - 1]) * _POWERS[_POWERS.size - 1 - starts]


def join(numbers: Numbers) -> Numbers:
    """Join each word with the two after it; fewer than three words make one shingle."""
    if numbers.size < SHINGLE_WORDS:
        return mix(numbers[:1] + numbers[-1:] * _SECOND_FACTOR + np.uint64(numbers.size))
    return mix(numbers[:-2] + numbers[1:-1] * _SECOND_FACTOR + numbers[2:] * _THIRD_FACTOR)


def _folded(text: str) -> Units:
    """Return lower-case UTF-16 units with 0 for all that is no part of a word, and at both ends."""
    if text.isascii():  # as bytes, at a third of the cost
        letters = text[:MAX_TEXT_UNITS].encode("ascii").translate(_ascii_folds())
        return np.frombuffer(b"\0" + letters + b"\0", np.uint8)
    octets = text[:MAX_TEXT_UNITS].encode("utf-16-le", "surrogatepass")
    units = np.frombuffer(octets, "<u2")[:MAX_TEXT_UNITS]
    folded = np.zeros(units.size + 2, np.uint16)
    folded[1:-1] = _folds().take(units)
    return folded


def _edges(units: Units) -> tuple[Places, Places]:
    """Return where words start, and where the first unit after each is."""
    is_word = units != 0
    if units.max() < _FIRST_WITHOUT_GAPS:
        edges = np.flatnonzero(is_word[1:] != is_word[:-1]) + 1
        return edges[::2], edges[1::2]
    alone = _stands_alone().take(units)
    left, right = is_word[:-1], is_word[1:]
    between = alone[:-1] | alone[1:]  # never within a run of ordinary letters
    starts = np.flatnonzero(right & (~left | between)) + 1
    return starts, np.flatnonzero(left & (~right | between)) + 1


@cache
def _ascii_folds() -> bytes:
    """Return every ASCII character in lower case, 0 where it is no part of a word."""
    return bytes(_fold(unit) for unit in range(128)).ljust(256, b"\0")


@cache
def _folds() -> Units:
    """Return every UTF-16 unit in lower case, 0 where it is no part of a word.

    Characters beyond the first 65,536 come as two units, which count as letters.
    """
    return np.array([_fold(unit) for unit in range(_UNITS)], np.uint16)


def _fold(unit: int) -> int:
    letter = chr(unit)
    if unit in _SURROGATES:
        return unit
    # Vowel signs of Indic scripts and Thai are marks: without them their words would fall apart.
    if not (letter.isalnum() or letter == "_" or unicodedata.category(letter).startswith("M")):
        return 0
    lower = letter.lower()
    return ord(lower) if len(lower) == 1 else unit


@cache
def _stands_alone() -> NDArray[np.bool_]:
    """Return for every UTF-16 unit whether it is a word by itself."""
    alone = np.zeros(_UNITS, np.bool_)
    for first, last in _WITHOUT_GAPS:
        alone[first : last + 1] = True
    return alone
