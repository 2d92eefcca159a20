"""What a page that was read brought, on its way to its fate."""

from __future__ import annotations

from dataclasses import dataclass, replace

from geomi.dedup.decide import Duplicate
from geomi.engine.visit.links import Found
from geomi.model.entry import Discovered


@dataclass(frozen=True, slots=True)
class Brought:
    """Links after the rules, a text, and whose it repeats.

    Args:
        found: what may count as new. That every page of a calendar names its front page as
            canonical does not make the calendar worth going on with.
        named: what the page names as canonical, if that is followed.
    """

    found: Found
    text: str
    duplicate: Duplicate | None
    named: Discovered | None

    @property
    def all_found(self) -> Found:
        """Everything the page leads to."""
        if self.named is None:
            return self.found
        return replace(self.found, discovered=(*self.found.discovered, self.named))
