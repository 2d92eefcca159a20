"""Times as programs write them to one another."""

from __future__ import annotations

import pytest

from geomi.text.encoding import iso_utc


@pytest.mark.parametrize(
    ("at_s", "written"),
    [(0.0, "1970-01-01T00:00:00Z"), (1_769_614_200.9, "2026-01-28T15:30:00Z")],
)
def test_a_time_is_written_in_utc_to_the_second(at_s: float, written: str) -> None:
    assert iso_utc(at_s) == written
