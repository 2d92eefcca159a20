"""What a recrawl found: new, changed, deleted and unchanged pages, and the rate of change.

Rules kept:
- New is what the crawl did not have; deleted is what it had and is gone or cannot be reached now
  (CHG-02).
- The rate is new, changed and deleted pages over all that were looked at (CHG-03).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from geomi.model.entry import EntryKind, Source, UrlEntry
from geomi.model.history import History
from geomi.model.verdict import State

LISTED = 1000  # URLs of each change that are told one by one


class Change(StrEnum):
    """What became of a page since the last time."""

    NEW = "new"
    CHANGED = "changed"
    DELETED = "deleted"
    UNREACHABLE = "unreachable"
    UNCHANGED = "unchanged"


@dataclass(slots=True)
class Changes:
    """The pages of one recrawl, counted, with the first of each change by name."""

    counts: Counter[Change] = field(default_factory=Counter)
    urls: dict[Change, list[str]] = field(default_factory=dict)

    def add(self, change: Change, url: str) -> None:
        """Count a page."""
        self.counts[change] += 1
        listed = self.urls.setdefault(change, [])
        if change is not Change.UNCHANGED and len(listed) < LISTED:
            listed.append(url)

    @property
    def total(self) -> int:
        """How many pages were looked at."""
        return self.counts.total()

    @property
    def rate_percent(self) -> float:
        """The change rate of CHG-03; 0 where nothing was looked at."""
        same = self.counts[Change.UNCHANGED]
        return 100 * (self.total - same) / self.total if self.total else 0.0


def judge(entry: UrlEntry, history: History | None, *, since_s: float) -> Change | None:
    """Say what became of the page behind an entry; None where there is and was none.

    Args:
        history: as this job left it; None for a page that was visited once, or never.
        since_s: when the job began.
    """
    if entry.kind is not EntryKind.PAGE or entry.state is State.PENDING:
        return None
    if history is None or max(history.visited_at_s, history.missed_at_s or 0.0) < since_s:
        return _unlearned(entry)
    if history.visited_at_s < since_s:
        return Change.UNREACHABLE
    if history.gone_at_s is not None:
        return Change.DELETED if history.gone_at_s >= since_s else Change.UNCHANGED
    return Change.CHANGED if history.streak else Change.UNCHANGED


def _unlearned(entry: UrlEntry) -> Change | None:
    """Judge an entry that taught nothing about a page that was known."""
    if entry.source is Source.REVISIT:  # its host was given up before its turn came
        return Change.UNREACHABLE if entry.state is State.FAILED else None
    return Change.NEW if entry.state is State.COMPLETED else None
