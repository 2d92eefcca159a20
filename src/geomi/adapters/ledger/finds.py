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
            found = by_queue.setdefault((job, url.host), {})
            first, first_s = found.setdefault(url.url_hash, (url, found_s))
            if url.depth < first.depth:
                priority = max(first.priority, url.priority)
                found[url.url_hash] = (replace(first, depth=url.depth, priority=priority), first_s)

    def many(self, job: int) -> int:
        """Return how many URLs were found in one job."""
        return sum(len(found) for (owner, _), found in self.by_queue.items() if owner == job)
