"""Change histories: what the visits of a page, and of pages like it, showed about changes.

Times are of the wall clock, as those of the pages are.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

PageCursor = tuple[int, bytes]  # of a page in a walk over a job's pages

FIRST_CURSOR: PageCursor = (0, b"")


class Stage(StrEnum):
    """How far a page's rate of change is learned (CHG-06)."""

    SHARED = "shared"  # visited once: it has the interval that all pages begin with
    RECORDED = "recorded"  # a few visits are written down: pages like it still weigh more
    ESTIMATED = "estimated"  # its own visits give an estimate, which pages like it correct
    OWN = "own"  # its own visits decide


@dataclass(frozen=True, slots=True)
class PageHistory:
    """The visits of one page that could tell whether it had changed.

    Args:
        visited_at_s: when the last of them was; 0 where there is none.
        changes: visits that found another content than the one before, also none at all.
        streak: how many of the last visits in a row did.
        changed_at_s: when it changed last, as far as that is known.
        watched_s: for how long it was seen not to change: the exposure that `changes` belong to.
        gone_at_s: when it was first found gone; None while it is there.
        missed_at_s: when it was last asked for without an answer that tells anything.
        left_at_s: when the last time began in which it was gone or out of reach.
        returned_at_s: when such a time last ended.
    """

    visited_at_s: float = 0.0
    visits: int = 0
    changes: int = 0
    streak: int = 0
    watched_s: float = 0.0
    changed_at_s: float | None = None
    gone_at_s: float | None = None
    missed_at_s: float | None = None
    left_at_s: float | None = None
    returned_at_s: float | None = None

    @property
    def is_there(self) -> bool:
        """Whether its last visit found the page."""
        return self.left_at_s is None or (self.returned_at_s or 0.0) >= self.left_at_s


@dataclass(frozen=True, slots=True)
class ChangePool:
    """The changes of many pages, counted together: of a host, or of one pattern on it.

    Args:
        found, expected: changes of late, and how many were to be expected; both fade.
        at_s: up to when they have faded.
    """

    changes: float = 0.0
    watched_s: float = 0.0
    found: float = 0.0
    expected: float = 0.0
    at_s: float = 0.0


@dataclass(frozen=True, slots=True)
class VisitEvidence:
    """What one visit adds to the pools of its page.

    Args:
        expected: how likely a change was before the visit.
    """

    at_s: float
    changed: bool
    watched_s: float
    expected: float


@dataclass(frozen=True, slots=True)
class Version:
    """A content that a page had before; `seen_s` is when it was there last (DAT-07)."""

    content_hash: str
    seen_s: float


@dataclass(frozen=True, slots=True)
class HistoryUpdate:
    """Everything that a visit of a known page changes about its history.

    Args:
        due_s: when it is due again.
        pattern: the pages that it counts with, beside all of its host.
        evidence: None where the visit told nothing.
        before: the version that has just been replaced.
    """

    history: PageHistory
    due_s: float
    pattern: str
    evidence: VisitEvidence | None = None
    before: Version | None = None


@dataclass(frozen=True, slots=True)
class RevisitPage:
    """A page of a crawl, for the choice of pages to visit again.

    Args:
        fetched_at_s: when it was last there.
        place: where the walk over the pages goes on.
    """

    url_hash: bytes
    url: str
    host: str
    depth: int
    fetched_at_s: float
    due_s: float
    history: PageHistory = PageHistory()
    place: PageCursor = FIRST_CURSOR
