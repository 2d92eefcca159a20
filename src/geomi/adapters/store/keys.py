"""Keys by which pages with much the same text find each other.

A band key is a band of the page's sketch, mixed with its tenant and cut to 32 bits: SQLite writes
it in four bytes, and every byte counts eight times for each page. Among 10 million pages a look-up
meets a stranger by chance once in seven times; comparing the sketches sends it away.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from geomi.dedup.sketch import bands

_KEY_BITS = 32
_MASK = (1 << _KEY_BITS) - 1
_HALF = 1 << _KEY_BITS - 1  # SQLite's integers have a sign


def band_keys(tenant: str, sketch: bytes, duplicate_of: str = "") -> frozenset[int]:
    """Return the keys of a page; none of one that repeats another, which stands for both."""
    if duplicate_of:
        return frozenset()
    mark = _mark(tenant)
    return frozenset(((band ^ mark) & _MASK) - _HALF for band in bands(sketch))


@lru_cache(maxsize=64)
def _mark(tenant: str) -> int:
    digest = hashlib.blake2b(tenant.encode("utf-8", "surrogatepass"), digest_size=_KEY_BITS // 8)
    return int.from_bytes(digest.digest())
