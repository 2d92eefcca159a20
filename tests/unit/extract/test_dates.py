"""Dates as pages write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.extract import dates as room
from geomi.extract.dates import iso_date


@pytest.mark.req("META-01")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024", "2024"),
        ("2024-05", "2024-05"),
        ("2024-05-06", "2024-05-06"),
        ("2024/5/6", "2024-05-06"),
        ("2024.05.06.", "2024-05-06"),
        ("2024년 5월 6일", "2024-05-06"),
        ("2024-05-06T07:08:09Z", "2024-05-06T07:08:09Z"),
        ("2024-05-06T07:08:09.123456+0900", "2024-05-06T07:08:09+09:00"),
        ("2024-05-06 07:08", "2024-05-06T07:08:00"),
        ("2024-05-06T07:08:09 UTC", "2024-05-06T07:08:09Z"),
        ("20240506", "2024-05-06"),
        ("20240506T070809Z", "2024-05-06T07:08:09Z"),
        ("Mon, 06 May 2024 07:08:09 GMT", "2024-05-06T07:08:09Z"),
        ("6 May 2024", "2024-05-06"),
        ("May 6th, 2024", "2024-05-06"),
        ("Sept. 6, 2024 3:04 pm", "2024-09-06T15:04:00"),
        ("2024-05-06 and more words", "2024-05-06"),
        ("2024-05-06T99:00", "2024-05-06"),
        ("03/04/2024", ""),
        ("2024-13-01", ""),
        ("2024-02-30", ""),
        ("1024-01-01", ""),
        ("1024", ""),
        ("6 Foo 2024", ""),
        ("yesterday", ""),
        ("", ""),
        (" " * 100 + "2024", ""),
    ],
)
def test_a_date_is_as_exact_as_it_was_written(text: str, expected: str) -> None:
    assert iso_date(text) == expected


@given(st.text(alphabet="0123456789-/:.TZ+ abcMay년", max_size=room.MAX_DATE_CHARS + 5))
def test_reading_twice_is_reading_once(text: str) -> None:
    date = iso_date(text)
    assert iso_date(date) == date
