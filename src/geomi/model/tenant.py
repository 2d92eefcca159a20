"""What a tenant may use, and what it has used."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quota:
    """What a tenant may use at most (JOB-05); 0 is no limit.

    Args:
        max_concurrent_crawls: jobs that have begun and are not over.
        max_waiting: jobs that wait for a place.
        max_daily_pages: visits that count for a job's `max_pages`, on one day (UTC).
        max_storage_bytes: what the archive keeps of its pages.
    """

    max_concurrent_crawls: int = 3
    max_waiting: int = 100
    max_daily_pages: int = 1000
    max_storage_bytes: int = 10**9


@dataclass(frozen=True, slots=True)
class TenantUsage:
    """What a tenant has used.

    Args:
        day: the day (UTC) that its pages are of, such as `2026-01-31`.
        quota: what it may use; None where nobody has limited it, and nothing is counted.
    """

    day: str
    pages: int = 0
    stored_bytes: int = 0
    quota: Quota | None = None

    @property
    def has_pages_left(self) -> bool:
        """Whether it may take another page on this day."""
        most = self.quota.max_daily_pages if self.quota else 0
        return not most or self.pages < most

    @property
    def has_room(self) -> bool:
        """Whether it may keep another page."""
        most = self.quota.max_storage_bytes if self.quota else 0
        return not most or self.stored_bytes < most
