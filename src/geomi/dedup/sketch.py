"""Sketch a text in 112 bytes, to find similar texts and to estimate how similar they are.

It is a one-permutation MinHash of the text's shingles. Their numbers fall into `BINS` bins by their
highest bits, and each bin keeps the smallest number. An empty bin takes the number of the first
filled bin along a fixed order of its own (optimal densification). So for two texts the chance of
the same number in a bin is their Jaccard similarity, whatever their lengths.

The second part of the sketch judges: one bit of each bin. Where texts of similarity J differ,
half of the bits agree by chance; the estimate has no bias and a standard error of
sqrt((1 - J * J) / BINS): 0.027 at 0.8 and at most 0.044.

The first part finds: `BANDS` keys, each made of `BAND_ROWS` smallest numbers of wider bins. Two
texts share at least one of them with the chance 1 - (1 - J^4)^8: .985 at 0.8, .997 at 0.85, .40 at
0.5 and .001 at 0.1. Four rows and eight bands because each band is a row that the store writes for
every page; twelve of five rows found no more copies among 60,000 generated
pages, half of them on sites with much boilerplate.

The 64-bit simhash at the end is for programs that compare pages elsewhere. geomi finds duplicates
by sketches, which are more exact (docs/adr/0009-sketches.md). The features of the simhash are
pairs of neighbouring words. Single words find more revisions of a page within distance 3, but
where pages share one vocabulary they take half of them for copies of one another (405 of 800
generated pages; pairs: none).
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from geomi.dedup.shingles import Numbers, Places, mix, shingles

BINS = 512
BANDS = 8
BAND_ROWS = 4
KEY_BYTES = 6  # keys of 48 bits: a chance meeting of two needs far more than 10 million pages
# What one look-up reads of a band, the newest first, so that it reads 48 pages at most: a band
# that holds more is boilerplate, and copies of a page share other bands.
PAGES_PER_BAND = 6
MAX_CANDIDATES = BANDS * PAGES_PER_BAND
_KEYS_BYTES = BANDS * KEY_BYTES
SKETCH_BYTES = _KEYS_BYTES + BINS // 8
_WIDE_BINS = BANDS * BAND_ROWS
_BIN_SHIFT: Final = np.uint64(64 - BINS.bit_length() + 1)
_NOTHING: Final = np.uint64(2**64 - 1)
_LARGEST: Final = np.uint64(2**64 - 2)
_ROW_FACTORS: Final = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x27D4EB2F165667C5, 0x165667B19E3779F9], np.uint64
)
_BAND_NUMBERS: Final = np.arange(BANDS, dtype=np.uint64)
_BIT_FACTOR: Final = np.uint64(0x165667B19E3779F9)
_TOP: Final = np.uint64(63)
_KEY_SHIFT: Final = np.uint64(64 - 8 * KEY_BYTES)
# The filled bins walk until each bin has had four offers on average. The few that had none by then
# look for themselves; the outcome is the same.
_OFFERS = 4
_NOBODY = -1
_NEXT_FACTOR: Final = np.uint64(0x27D4EB2F165667C5)  # odd; the order of two words counts
_EIGHT: Final = np.arange(8, dtype=np.uint64)
_LANES: Final = np.uint64(0x0101010101010101)
_LANE_MAX = 255  # as many ones fit into one byte-wide lane
# Counting takes 64 bytes a feature, so a text of very many is counted in blocks of 2 MiB; a table
# of half a million cells would take 32 MiB.
_BLOCK = 128 * _LANE_MAX


def sketch(text: str) -> bytes:
    """Return the sketch of a text; one without words has none, the empty string."""
    return draw(shingles(text))


def draw(numbers: Numbers) -> bytes:
    """Return the sketch of a set of shingles."""
    if not numbers.size:
        return b""
    least = np.full(BINS, _NOTHING)
    # A page could be written so that its shingle is the very number that marks an empty bin.
    numbers = np.minimum(numbers, _LARGEST)
    np.minimum.at(least, (numbers >> _BIN_SHIFT).astype(np.intp), numbers)
    wide = least.reshape(_WIDE_BINS, -1).min(axis=1)
    return _keys(_filled(wide)) + _bits(_filled(least))


def bands(sketch: bytes) -> tuple[int, ...]:
    """Return the index keys of a sketch, none of an empty one.

    A key has 48 bits and carries its band's number, so that one index holds all bands.
    """
    keys = sketch[:_KEYS_BYTES]
    return tuple(
        int.from_bytes(keys[start : start + KEY_BYTES], "little")
        for start in range(0, len(keys), KEY_BYTES)
    )


def similarity(left: bytes, right: bytes) -> float:
    """Estimate the Jaccard similarity of two sketched texts; nothing is like an empty sketch."""
    if len(left) != SKETCH_BYTES or len(right) != SKETCH_BYTES:
        return 0.0
    apart = int.from_bytes(left[_KEYS_BYTES:]) ^ int.from_bytes(right[_KEYS_BYTES:])
    return max(0.0, 1 - 2 * apart.bit_count() / BINS)


def _filled(least: Numbers) -> Numbers:
    """Give every empty bin the number of the first filled one in its order.

    The order of a bin is its own number XOR each step of one fixed permutation. The filled bins
    walk it, since a short text has few of them.
    """
    is_filled = least != _NOTHING
    bins = np.flatnonzero(is_filled)
    if bins.size == least.size:
        return least
    givers = _givers(bins, least.size, rounds=-(-_OFFERS * least.size // bins.size))
    left = np.flatnonzero(givers == _NOBODY)
    if left.size:
        orders = left[:, None] ^ _steps(least.size)
        givers[left] = orders[np.arange(left.size), is_filled[orders].argmax(axis=1)]
    return least[givers]


def _givers(bins: Places, size: int, rounds: int) -> Places:
    """Return for every bin the filled one that offers first in these rounds, or `_NOBODY`."""
    steps = _steps(size)[:rounds]
    givers = np.full(size, _NOBODY)
    # Of several offers the one written last stays, so the first step is written last.
    givers[bins ^ steps[::-1, None]] = bins
    givers[bins] = bins
    return givers


def _keys(wide: Numbers) -> bytes:
    rows = np.add.reduce(wide.reshape(BANDS, BAND_ROWS) * _ROW_FACTORS, axis=1)
    keys = mix(mix(rows) + _BAND_NUMBERS) >> _KEY_SHIFT
    return keys.astype("<u8").view(np.uint8).reshape(BANDS, 8)[:, :KEY_BYTES].tobytes()


def _bits(least: Numbers) -> bytes:
    """Return one bit of every bin; what a bin was given gets another bit than where it is from."""
    return np.packbits(((least ^ _bin_marks()) * _BIT_FACTOR >> _TOP).astype(np.bool_)).tobytes()


@cache
def _bin_marks() -> Numbers:
    """Return a fixed number for each bin."""
    return mix(np.arange(1, BINS + 1, dtype=np.uint64))


@cache
def _steps(bins: int) -> Places:
    """Return 1 to bins - 1 in an order that is fixed and has no pattern."""
    return np.argsort(mix(np.arange(1, bins, dtype=np.uint64))) + 1


def simhash(words: Numbers) -> int:
    """Return the simhash of a text whose words have these numbers; one without words has 0."""
    return _majority(mix(_pairs(words))) if words.size else 0


def _pairs(words: Numbers) -> Numbers:
    """Join each word with the next one; a single word stands for itself."""
    return words[:-1] + words[1:] * _NEXT_FACTOR if words.size > 1 else words


def _majority(features: Numbers) -> int:
    """Return the bits that more than half of the features have set."""
    ones = _ones(features[:_BLOCK])
    for start in range(_BLOCK, features.size, _BLOCK):
        ones += _ones(features[start : start + _BLOCK])
    return int.from_bytes(np.packbits(2 * ones > features.size, bitorder="little"), "little")


def _ones(features: Numbers) -> Numbers:
    """Count for each bit, the lowest first, how many features have it set."""
    groups = -(-features.size // _LANE_MAX)
    padded = np.zeros(groups * _LANE_MAX, np.uint64)
    padded[: features.size] = features
    # Eight bits of each feature are counted at once, every one in its own byte of the sum.
    eighths = padded.reshape(groups, _LANE_MAX) >> _EIGHT[:, None, None]
    eighths &= _LANES
    sums = np.add.reduce(eighths, axis=2).astype("<u8").view(np.uint8).reshape(8, groups, 8)
    ones: Numbers = np.add.reduce(sums, axis=1, dtype=np.uint64).T.ravel()
    return ones
