"""Dates of sitemaps and feeds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.seed.sitemap import MAX_LASTMOD_CHARS, lastmod_s

NOW_S = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "year", "month", "day", "hour"),
    [
        ("2024-05-06", 2024, 5, 6, 0),
        ("2024-05", 2024, 5, 1, 0),
        ("2024", 2024, 1, 1, 0),
        ("2024-05-06T07:00:00Z", 2024, 5, 6, 7),
        ("2024-05-06T07:00+09:00", 2024, 5, 5, 22),
        ("2024-05-06T07:00:00.123Z", 2024, 5, 6, 7),
        ("Mon, 06 May 2024 07:00:00 GMT", 2024, 5, 6, 7),
        ("Mon, 06 May 2024 07:00:00 +0900", 2024, 5, 5, 22),
    ],
)
def test_dates_c82(text: str, year: int, month: int, day: int, hour: int) -> None:
    found = lastmod_s(text, wall_s=NOW_S)
    assert found is not None
    assert int(found) == datetime(year, month, day, hour, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2024-13-01", "20", "2027-01-01", "1969", "9" * (MAX_LASTMOD_CHARS + 1)],
)
def test_what_tells_nothing(text: str) -> None:
    assert lastmod_s(text, wall_s=NOW_S) is None


@given(st.text(max_size=40))
def test_no_text_raises(text: str) -> None:
    lastmod_s(text, wall_s=NOW_S)
