"""A 64-bit simhash of a text: texts that share most of their sentences differ in few bits.

It stands in the record for whoever compares pages elsewhere; geomi itself finds duplicates by their
sketches, which tell more (docs/adr/0009-sketches.md), and reads the words once for both. The
features are pairs of neighbouring words. Single words find more revisions of a page within distance
3, but where pages share one vocabulary they take half of them for copies of one another (405 of 800
generated pages; pairs: none), and calling a page a copy that is none does more harm. Only unsigned
64-bit arithmetic with a fixed byte order is used, so the value is the same on every machine and in
every process.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from geomi.dedup.hashing import Numbers, mix

_NEXT_FACTOR: Final = np.uint64(0x27D4EB2F165667C5)  # odd; the order of two words counts
_EIGHT: Final = np.arange(8, dtype=np.uint64)
_LANES: Final = np.uint64(0x0101010101010101)
_LANE_MAX = 255  # as many ones fit into one byte-wide lane
# Counting takes 64 bytes a feature, so a text of very many is counted in blocks of 2 MiB; a table
# of half a million cells would take 32 MiB.
_BLOCK = 128 * _LANE_MAX


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
