"""How values are shown."""

from __future__ import annotations

import pytest

from geomi.dashboard import chart, formatting
from geomi.dashboard.translations import translations_of
from geomi.service.crawling.progress import MAX_PARTS, timeline_of


@pytest.mark.parametrize(
    ("seconds", "told", "in_korean"),
    [
        (0.0, "0.0 s", "0.0초"),
        (9.94, "9.9 s", "9.9초"),
        (12.4, "12 s", "12초"),
        (60, "1 min", "1분"),
        (61, "1 min 1 s", "1분 1초"),
        (3600, "1 h", "1시간"),
        (5430, "1 h 30 min", "1시간 30분"),
        (90_000, "1 d 1 h", "1일 1시간"),
    ],
)
def test_a_time_span_has_two_units_at_most(seconds: float, told: str, in_korean: str) -> None:
    assert formatting.duration(seconds, translations_of("en")) == told
    assert formatting.duration(seconds, translations_of("ko")) == in_korean


@pytest.mark.parametrize(
    ("many", "told"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (123_456, "123 kB"), (10**15, "1000 TB")],
)
def test_bytes_are_told_in_the_largest_unit(many: int, told: str) -> None:
    assert formatting.size(many) == told


def test_a_url_is_shown_with_an_end() -> None:
    assert formatting.short_url("https://a.test/b") == "a.test/b"
    assert len(formatting.short_url("http://a.test/" + "x" * 500)) == formatting.MAX_URL_CHARS


def test_a_query_has_what_there_is() -> None:
    assert formatting.query(state="failed", cursor=None, prefix="") == "?state=failed"
    assert formatting.query(q="a&b=c") == "?q=a%26b%3Dc"
    assert formatting.query() == ""


def test_bars_are_drawn_by_the_longest() -> None:
    drawn = chart.bars([("a", 4), ("b", 1), ("c", 0)])
    assert [bar.share for bar in drawn] == [100, 25, 0]
    assert [bar.share for bar in chart.bars([("a", 0)])] == [0]
    assert chart.bars([]) == ()


def test_a_line_needs_two_points() -> None:
    assert chart.curve([]) is None and chart.curve([3]) is None and chart.curve([0, 0]) is None
    drawn = chart.curve([0, 2])
    assert drawn is not None and drawn.top == 2
    assert drawn.path == "M0.0 96.0 L480.0 4.0"


def test_a_course_counts_every_visit_in_parts_of_time() -> None:
    assert timeline_of([]).counts == () and timeline_of([5.0]).counts == (1,)
    assert timeline_of([5.0, 5.0]).counts == (2,)
    short = timeline_of([0.0, 1.0, 3.0, 10.0])
    assert sum(short.counts) == 4 and short.part_s == 0.5
    long = timeline_of([float(second) for second in range(100_000)])
    assert len(long.counts) == MAX_PARTS and sum(long.counts) == 100_000
