"""Remember URLs that the store has, within a bound, so that most links cost no look-up (FRN-05).

The memory is exact: for a URL that it does not know, the store is asked, and its unique key
decides. So forgetting costs a look-up and never a URL. There are two generations: the young one
fills up and then becomes the old one. A URL that is found in the old one moves to the young one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

CAPACITY = 100_000  # per generation; about 30 MB for both with URLs of 80 characters

_UNKNOWN = sys.maxsize  # deeper than anything


class SeenUrls:
    """URLs known to the store, with the least depth they are known at."""

    __slots__ = ("_capacity", "_old", "_young")

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = max(1, capacity)
        self._young: dict[str, int] = {}
        self._old: dict[str, int] = {}

    def is_known(self, url: str, depth: int) -> bool:
        """Return whether the store surely has a URL at this depth or a lesser one."""
        known = self._young.get(url)
        if known is None:
            known = self._old.get(url)
            if known is None:
                return False
            self._put(url, known)
        return known <= depth

    def unknown(self, urls: Iterable[str], depth: int) -> list[str]:
        """Return the URLs that the store may not have at this depth or a lesser one.

        A page has about a hundred links: in one pass each costs a look into a dictionary.
        """
        known = self._young.get
        left = [url for url in urls if known(url, _UNKNOWN) > depth]
        return [url for url in left if not self.is_known(url, depth)] if self._old else left

    def remember(self, url: str, depth: int) -> None:
        """Note that the store has a URL; call only once that is committed."""
        known = self._young.get(url)
        if known is None:
            known = self._old.get(url, depth)
        self._put(url, min(known, depth))

    def _put(self, url: str, depth: int) -> None:
        if url not in self._young and len(self._young) >= self._capacity:
            self._old, self._young = self._young, {}
        self._young[url] = depth
