"""Which page of a job another one repeats: in the store, or on its way there."""

from __future__ import annotations

from dataclasses import dataclass

from geomi.dedup.decide import nearest
from geomi.engine.world import World
from geomi.model.entry import UrlEntry
from geomi.model.page import Fingerprint

# Pages on their way to a commit that the store cannot yet name as twins; about eight full batches.
FRESH_KEYS = 1024


@dataclass(frozen=True, slots=True)
class Twin:
    """The page that another one repeats, `near` telling whether only nearly; no URL for none."""

    url: str = ""
    near: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether text and outlinks are the same (C-41)."""
        return bool(self.url) and not self.near


class Twins:
    """The pages one worker has kept for one job."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._fresh: dict[bytes, str] = {}  # exact keys of the last pages, and their URLs

    async def find(self, entry: UrlEntry, print_: Fingerprint) -> Twin:
        """Find the page that one with this fingerprint repeats."""
        if not print_.exact_key:
            return Twin()
        twins = await self._world.pages.twins(entry.job, [print_.exact_key])
        fresh = self._fresh.get(print_.exact_key, "")
        if (twin := twins.get(print_.exact_key, fresh)) and twin != entry.url:
            return Twin(twin)
        candidates = await self._world.pages.near(entry.job, print_.simhash)
        found = nearest(print_.simhash, [pair for pair in candidates if pair[0] != entry.url])
        return Twin(found or "", found is not None)

    def remember(self, exact_key: bytes, url: str) -> None:
        """Note a page that is kept but not yet committed: the next that comes may be its twin."""
        self._fresh.setdefault(exact_key, url)
        if len(self._fresh) > FRESH_KEYS:
            del self._fresh[next(iter(self._fresh))]
