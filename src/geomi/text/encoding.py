"""Make texts and times safe for databases, files and other programs.

A Python string may have half of a character that needs two units of UTF-16. Broken pages have such
halves, and so have texts that were typed in another encoding. No database, file or server accepts
them.
"""

from __future__ import annotations

from datetime import UTC, datetime


def replace_surrogates(text: str) -> str:
    """Return a text with a question mark in place of each half of a sign."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def iso_utc(at_s: float) -> str:
    """Write a time of the wall clock as ISO 8601 in UTC, to the second: `2026-01-28T15:30:00Z`."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
