"""When a page is due again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.model.config import Recrawl
from geomi.model.page import Fingerprint, PageRecord, Ref
from geomi.recrawl.due import due_s

DAY_S = 86_400.0
RULES = Recrawl()


def record(fetched_s: float, due: float) -> PageRecord:
    return PageRecord(
        url_hash=b"",
        url="https://a.test/",
        final_url="https://a.test/",
        status=200,
        content_type="text/html",
        fetched_at_s=fetched_s,
        due_s=due,
        fingerprint=Fingerprint("", "", b"", 0),
        record=Ref("", 0, 0),
        response=None,
    )


@pytest.mark.parametrize(
    ("planned_s", "changed", "expected_s"),
    [
        (None, True, 7 * DAY_S),
        (None, False, 7 * DAY_S),
        (0.0, True, 7 * DAY_S),
        (-5.0, True, 7 * DAY_S),
        (8 * DAY_S, True, 4 * DAY_S),
        (8 * DAY_S, False, 12 * DAY_S),
        (3600.0, True, 3600.0),
        (30 * DAY_S, False, 30 * DAY_S),
        (900 * DAY_S, True, 30 * DAY_S),
    ],
)
def test_interval_c38(planned_s: float | None, changed: bool, expected_s: float) -> None:
    previous = None if planned_s is None else record(1000.0, 1000.0 + planned_s)
    assert due_s(5000.0, previous=previous, changed=changed, rules=RULES) == 5000.0 + expected_s


def test_a_page_that_never_changes_ends_at_a_month_and_one_that_always_does_at_an_hour() -> None:
    for changed, expected_s in ((False, 30 * DAY_S), (True, 3600.0)):
        now_s, previous = 0.0, None
        for _ in range(20):
            due = due_s(now_s, previous=previous, changed=changed, rules=RULES)
            previous, now_s = record(now_s, due), due
        assert previous is not None
        assert previous.due_s - previous.fetched_at_s == pytest.approx(expected_s)


@pytest.mark.parametrize(
    ("age_s", "expected_s"),
    [
        (None, 7 * DAY_S),
        (20 * DAY_S, 2 * DAY_S),
        (10.0, 3600.0),
        (0.0, 3600.0),
        (5000 * DAY_S, 30 * DAY_S),
        (-1.0, 7 * DAY_S),
    ],
)
def test_a_sitemaps_date_hints_at_the_first_interval_c82(
    age_s: float | None, expected_s: float
) -> None:
    now_s = 1e9
    lastmod_s = None if age_s is None else now_s - age_s
    found = due_s(now_s, previous=None, changed=True, rules=RULES, lastmod_s=lastmod_s)
    assert found - now_s == pytest.approx(expected_s)


def test_what_was_learned_counts_more_than_a_sitemap_says() -> None:
    previous = record(1000.0, 1000.0 + 8 * DAY_S)
    found = due_s(9e6, previous=previous, changed=False, rules=RULES, lastmod_s=8.9e6)
    assert found - 9e6 == pytest.approx(12 * DAY_S)


TIMES = st.floats(0, 1e10)


@given(TIMES, TIMES, TIMES, st.none() | TIMES, st.booleans())
def test_always_inside_the_bounds(
    now: float, fetched: float, due: float, lastmod: float | None, changed: bool
) -> None:
    previous = record(fetched, due)
    found = due_s(now, previous=previous, changed=changed, rules=RULES, lastmod_s=lastmod)
    assert now + RULES.min_interval_s <= found <= now + RULES.max_interval_s
