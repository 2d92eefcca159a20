"""The change report of a provider, to the letter."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from geomi.model.event import Reported
from geomi.recrawl.report import MAX_NAME_CHARS, write_notice

AT = datetime(2026, 2, 23, 3, 0, 0, tzinfo=UTC)
RUN = Reported(
    job="01J",
    provider="OpenAI",
    total=187,
    new=5,
    updated=12,
    deleted=2,
    change_percent=100 * 19 / 187,
    success_percent=98.42,
    response_ms=340,
    seconds=272.3,
)


@pytest.mark.req("RPT-01", "RPT-02")
def test_the_report_is_written_as_the_catalogue_has_it() -> None:
    assert "\n".join(write_notice(RUN, AT)) == (
        "[2026-02-23 03:00:00] [CRAWL_REPORT] Provider: OpenAI\n"
        "  - Total Pages: 187\n"
        "  - New: 5, Updated: 12, Deleted: 2\n"
        "  - Change Rate: 10.2%\n"
        "  - Success Rate: 98.4%\n"
        "  - Avg Response Time: 340ms\n"
        "  - Duration: 4m 32s"
    )


@pytest.mark.req("RPT-03")
@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.0, "0m 0s"), (59.6, "1m 0s"), (60.0, "1m 0s"), (4500.0, "75m 0s"), (3661.0, "61m 1s")],
)
def test_a_duration_has_minutes_and_seconds(seconds: float, told: str) -> None:
    assert write_notice(replace(RUN, seconds=seconds), AT)[6] == f"  - Duration: {told}"


@pytest.mark.req("RPT-03")
@pytest.mark.parametrize(
    ("percent", "told"), [(0.0, "0.0%"), (100.0, "100.0%"), (10.16, "10.2%"), (99.94, "99.9%")]
)
def test_a_share_has_one_decimal(percent: float, told: str) -> None:
    lines = write_notice(replace(RUN, change_percent=percent, success_percent=percent), AT)
    assert lines[3:5] == (f"  - Change Rate: {told}", f"  - Success Rate: {told}")


@pytest.mark.parametrize("name", ["A\n[CRAWL_REPORT] B", "A\r\x1b[31mB", "A\u2028B", "A" * 5000])
def test_a_name_forges_no_line(name: str) -> None:
    lines = write_notice(replace(RUN, provider=name), AT)
    assert len("\n".join(lines).splitlines()) == 7
    assert "\x1b" not in lines[0]
    assert len(lines[0].partition("Provider: ")[2]) <= MAX_NAME_CHARS
