"""Dates in a text."""

from __future__ import annotations

import pytest

from geomi.analyse.prices_and_dates import MAX_DATES, find_dates


@pytest.mark.req("ANA-20")
@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("15 January 2025", "2025-01-15"),
        ("January 15th, 2025", "2025-01-15"),
        ("Sept. 3, 2024", "2024-09-03"),
        ("2025-01-15", "2025-01-15"),
        ("2025년 1월 15일", "2025-01-15"),
        ("2025. 1. 15.", "2025-01-15"),
        ("2025.01.15", "2025-01-15"),
    ],
)
def test_a_date_is_found(text: str, iso: str) -> None:
    assert [dated.iso for dated in find_dates(f"Since {text} it holds")] == [iso]


@pytest.mark.parametrize(
    "text", ["03/04/2024", "2025-13-01", "30 February 2025", "May 2025", "2025"]
)
def test_what_is_no_whole_date(text: str) -> None:
    assert list(find_dates(text)) == []


def test_only_so_many_are_read() -> None:
    assert len(list(find_dates("2025-01-15 " * (MAX_DATES + 1)))) == MAX_DATES
