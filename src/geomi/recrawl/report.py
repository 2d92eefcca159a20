"""Report a recrawl: new, changed, deleted and unchanged pages, and the rate of change.

Rules kept:
- A page is new if the crawl did not have it, or had it no more. It is deleted if the crawl had it
  and it is gone or cannot be reached now (CHG-02). One report names it; then it is no page of the
  crawl.
- The rate is that of new, changed and deleted pages to all pages that are there now (CHG-03, G-26).
  So it may exceed 100 %.
- The change report of a provider's run has seven lines, as the catalogue has it (RPT-01…RPT-03):
  when and whose it is, then six figures, each after two spaces and a dash.
- Shares have one decimal, response times are whole milliseconds, durations are minutes and seconds.
- A provider's name is written on one line, so that it cannot forge a line of the log.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from geomi.model.entry import EntryKind, UrlEntry
from geomi.model.event import Reported
from geomi.model.history import PageHistory
from geomi.model.verdict import State

MAX_LISTED_CHANGES = 1000  # URLs of each change that are told one by one
MARK = "[CRAWL_REPORT]"
MAX_NAME_CHARS = 200


class PageChange(StrEnum):
    """What became of a page since the last time."""

    NEW = "new"
    CHANGED = "changed"
    DELETED = "deleted"
    UNREACHABLE = "unreachable"
    UNCHANGED = "unchanged"


@dataclass(slots=True)
class Changes:
    """The pages of one recrawl, counted, with the first of each change by name.

    Args:
        total: how many pages are there now, whether they were visited or not.
    """

    total: int = 0
    counts: Counter[PageChange] = field(default_factory=Counter)
    urls: dict[PageChange, list[str]] = field(default_factory=dict)

    def add(self, change: PageChange, url: str) -> None:
        """Count a page."""
        self.counts[change] += 1
        listed = self.urls.setdefault(change, [])
        if change is not PageChange.UNCHANGED and len(listed) < MAX_LISTED_CHANGES:
            listed.append(url)

    @property
    def rate_percent(self) -> float:
        """The change rate of CHG-03; 0 where nothing is left."""
        same = self.counts[PageChange.UNCHANGED]
        return 100 * (self.counts.total() - same) / self.total if self.total else 0.0


def judge(entry: UrlEntry, history: PageHistory | None, *, since_s: float) -> PageChange | None:
    """Return what happened to the page of an entry; None if there is and was none.

    Args:
        history: as this job left it; None for a page that was visited once, or never.
        since_s: when the job began.
    """
    if entry.kind is not EntryKind.PAGE or entry.state is State.PENDING:
        return None
    if history is None or max(history.visited_at_s, history.missed_at_s or 0.0) < since_s:
        return PageChange.NEW if entry.state is State.COMPLETED else None
    left_before = history.left_at_s is not None and history.left_at_s < since_s
    if not history.is_there:
        gone = PageChange.UNREACHABLE if history.gone_at_s is None else PageChange.DELETED
        return None if left_before else gone
    if left_before and (history.returned_at_s or 0.0) >= since_s:
        return PageChange.NEW
    return PageChange.CHANGED if history.streak else PageChange.UNCHANGED


def write_notice(run: Reported, at: datetime) -> tuple[str, ...]:
    """Write what a run of a provider has found.

    Args:
        at: when it was over, in the time that the log is kept in.
    """
    minutes, seconds = divmod(round(run.seconds), 60)
    return (
        f"[{at:%Y-%m-%d %H:%M:%S}] {MARK} Provider: {_one_line(run.provider)}",
        f"  - Total Pages: {run.total}",
        f"  - New: {run.new}, Updated: {run.updated}, Deleted: {run.deleted}",
        f"  - Change Rate: {run.change_percent:.1f}%",
        f"  - Success Rate: {run.success_percent:.1f}%",
        f"  - Avg Response Time: {run.response_ms}ms",
        f"  - Duration: {minutes}m {seconds}s",
    )


def _one_line(name: str) -> str:
    kept = "".join(char if char.isprintable() else " " for char in name)
    return " ".join(kept.split())[:MAX_NAME_CHARS]
