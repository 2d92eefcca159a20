"""A bounded memory of what the pages of each pattern have said, for spaces that repeat in turns.

A calendar that says one thing on weekdays and another on Sundays says nothing new either. The store
keeps the last mark of a pattern; this worker remembers some more. Forgetting costs a few fetches
and never a page.
"""

from __future__ import annotations

PATTERNS = 1024
MARKS_PER_PATTERN = 64


class Marks:
    """The marks of texts by host and pattern."""

    __slots__ = ("_by_pattern",)

    def __init__(self) -> None:
        self._by_pattern: dict[tuple[str, str], dict[bytes, None]] = {}

    def is_told(self, host: str, pattern: str, mark: bytes) -> bool:
        """Say whether a page of this pattern had this mark before, and remember it."""
        place = host, pattern
        marks = self._by_pattern.pop(place, {})
        is_told = mark in marks
        marks.pop(mark, None)
        marks[mark] = None
        self._by_pattern[place] = marks  # the one that was used last is the last to go
        if len(marks) > MARKS_PER_PATTERN:
            del marks[next(iter(marks))]
        if len(self._by_pattern) > PATTERNS:
            del self._by_pattern[next(iter(self._by_pattern))]
        return is_told
