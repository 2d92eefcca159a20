"""Times as programs write them to one another."""

from __future__ import annotations

from datetime import UTC, datetime


def iso_utc(at_s: float) -> str:
    """Write a time of the wall clock as ISO 8601 in UTC, to the second: `2026-01-28T15:30:00Z`."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
