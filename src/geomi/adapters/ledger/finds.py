"""The URLs found in one transaction, before the unique key decides which of them are new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from geomi.model.entry import Discovered, UrlHash

Found = dict[UrlHash, tuple[Discovered, float]]  # with the time it was found at


class Finds:
    """What was found, by job and host; a URL found twice is one find."""

    def __init__(self) -> None:
        self.by_queue: dict[tuple[int, str], Found] = {}

    def take(self, job: int, urls: Sequence[Discovered], found_s: float) -> None:
        """Remember what one page held."""
        by_queue = self.by_queue
        for url in urls:
            place = (job, url.host)
            found = by_queue.get(place)
            if found is None:
                found = by_queue[place] = {}
            first = found.get(url.url_hash)
            if first is None:
                found[url.url_hash] = (url, found_s)
            elif url.depth < first[0].depth:
                found[url.url_hash] = (_nearer(first[0], url), first[1])

    def many(self, job: int) -> int:
        """Return how many URLs were found in one job."""
        return sum(len(found) for (owner, _), found in self.by_queue.items() if owner == job)


def _nearer(first: Discovered, again: Discovered) -> Discovered:
    return replace(first, depth=again.depth, priority=max(first.priority, again.priority))
