"""What a recrawl found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.model.entry import EntryKind, Source, UrlEntry
from geomi.model.history import PageHistory
from geomi.model.verdict import State
from geomi.recrawl.report import MAX_LISTED_CHANGES, Changes, PageChange, judge

SINCE_S = 1000.0
ENTRY = UrlEntry(
    job="job",
    url_hash=b"",
    url="http://a.test/",
    host="a.test:80",
    depth=1,
    priority=1,
    source=Source.REVISIT,
    kind=EntryKind.PAGE,
    parent=None,
    origin=None,
    hops=0,
    state=State.COMPLETED,
    attempts=1,
    due_s=0.0,
    discovered_s=0.0,
)
NOW = PageHistory(visited_at_s=1500.0, visits=3, changes=1)
MISSED = replace(NOW, visited_at_s=500.0, missed_at_s=1500.0)
LINK = replace(ENTRY, source=Source.LINK)


@pytest.mark.req("CHG-01", "CHG-02")
@pytest.mark.parametrize(
    ("entry", "history", "expected"),
    [
        (ENTRY, NOW, PageChange.UNCHANGED),
        (ENTRY, replace(NOW, streak=1), PageChange.CHANGED),
        (LINK, None, PageChange.NEW),
        (replace(LINK, state=State.FAILED), None, None),
        (ENTRY, replace(NOW, gone_at_s=1500.0, left_at_s=1500.0), PageChange.DELETED),
        # It was told before that it is gone, or out of reach.
        (ENTRY, replace(NOW, gone_at_s=900.0, left_at_s=900.0), None),
        (ENTRY, replace(NOW, gone_at_s=1500.0, left_at_s=900.0), None),
        (ENTRY, replace(MISSED, left_at_s=900.0), None),
        (ENTRY, replace(MISSED, left_at_s=1500.0), PageChange.UNREACHABLE),
        (ENTRY, replace(NOW, left_at_s=900.0, returned_at_s=1500.0), PageChange.NEW),
        (ENTRY, replace(NOW, left_at_s=1200.0, returned_at_s=1500.0), PageChange.UNCHANGED),
        (ENTRY, replace(NOW, left_at_s=800.0, returned_at_s=900.0), PageChange.UNCHANGED),
        (replace(ENTRY, state=State.SKIPPED), None, None),
        (replace(ENTRY, state=State.PENDING), NOW, None),
        (replace(ENTRY, kind=EntryKind.SITEMAP), None, None),
    ],
)
def test_what_became_of_a_page(
    entry: UrlEntry, history: PageHistory | None, expected: PageChange | None
) -> None:
    assert judge(entry, history, since_s=SINCE_S) is expected


@pytest.mark.req("CHG-03")
def test_the_rate_is_new_changed_and_deleted_over_all() -> None:
    changes = Changes(total=13)
    assert changes.rate_percent == 0.0
    for change, many in zip(PageChange, (1, 2, 3, 4, 10), strict=True):
        for number in range(many):
            changes.add(change, f"http://a.test/{number}")
    assert changes.rate_percent == pytest.approx(100 * 10 / 13)
    assert changes.urls[PageChange.UNCHANGED] == []


@pytest.mark.req("CHG-03")
@pytest.mark.parametrize(("total", "rate"), [(1, 300.0), (0, 0.0)])
def test_more_may_be_deleted_than_is_left(total: int, rate: float) -> None:
    changes = Changes(total)
    for number in range(3):
        changes.add(PageChange.DELETED, f"http://a.test/{number}")
    assert changes.rate_percent == rate


def test_only_so_many_are_listed() -> None:
    changes = Changes()
    for number in range(MAX_LISTED_CHANGES + 1):
        changes.add(PageChange.NEW, str(number))
    assert len(changes.urls[PageChange.NEW]) == MAX_LISTED_CHANGES
    assert changes.counts[PageChange.NEW] == MAX_LISTED_CHANGES + 1
