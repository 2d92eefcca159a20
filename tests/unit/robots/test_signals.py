"""What is said about the use of one page, from every place that can say it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.model.robots import NO_SIGNALS, Signals
from geomi.robots.signals import MAX_POLICY_CHARS, read_signals, still_said

Pairs = list[tuple[str, str]]


@pytest.mark.parametrize(
    ("headers", "wishes", "tags", "expected"),
    [
        ([], [], [], {}),
        ([("content-type", "text/html")], ["nofollow"], [], {}),
        ([("tdm-reservation", "1")], [], [], {"tdm-reservation": 1}),
        ([("tdm-reservation", " 0 ")], [], [], {"tdm-reservation": 0}),
        ([("tdm-reservation", "yes")], [], [], {}),
        ([("tdm-reservation", "1")], [], [("tdm-reservation", "0")], {"tdm-reservation": 0}),
        (
            [("tdm-policy", "https://a.test/p.json")],
            [],
            [("tdm-reservation", "1")],
            {"tdm-policy": "https://a.test/p.json", "tdm-reservation": 1},
        ),
        ([], ["noai", "nofollow", "noimageai"], [], {"noai": True, "noimageai": True}),
        ([("content-usage", "train-ai=n")], [], [], {"train-ai": "no"}),
        ([("content-signal", "ai-train=yes, search=yes")], [], [], {"search": "yes"}),
    ],
)
def test_answers_and_tags(
    headers: Pairs, wishes: list[str], tags: Pairs, expected: dict[str, object]
) -> None:
    found = dict(read_signals((), headers, frozenset(wishes), tags).pairs)
    found.pop("ai-train", None)
    assert found == expected


def test_the_stricter_answer_of_site_and_page_counts() -> None:
    site = (("search", "yes"), ("ai-train", "no"), ("license", "https://a.test/l.xml"))
    headers = [("content-signal", "ai-train=yes, search=no")]
    assert dict(read_signals(site, headers, frozenset(), ()).pairs) == {
        "search": "no",
        "ai-train": "no",
        "license": "https://a.test/l.xml",
    }


def test_a_policy_has_a_limit() -> None:
    fits = "x" * MAX_POLICY_CHARS
    assert read_signals((), [("tdm-policy", fits)], frozenset(), ()).pairs
    assert read_signals((), [("tdm-policy", fits + "x")], frozenset(), ()) == NO_SIGNALS


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({}, (), {}),
        ({"noai": True}, (), {"noai": True}),
        ({"ai-train": "no"}, (("ai-train", "yes"),), {"ai-train": "no"}),
        ({"ai-train": "yes"}, (("ai-train", "no"),), {"ai-train": "no"}),
        ({"tdm-reservation": 1}, (("tdm-reservation", 0),), {"tdm-reservation": 1}),
        ({"tdm-reservation": 0}, (("tdm-reservation", 1),), {"tdm-reservation": 1}),
        ({"license": "a"}, (("license", "b"), ("noml", True)), {"license": "b", "noml": True}),
    ],
)
def test_a_reservation_outlives_a_visit_without_content(
    before: dict[str, str | int],
    now: tuple[tuple[str, str | int], ...],
    expected: dict[str, str | int],
) -> None:
    assert dict(still_said(before, Signals(now)).pairs) == expected


NAMES = st.sampled_from(["tdm-reservation", "tdm-policy", "content-usage", "content-signal", "x"])
PAIRS = st.lists(st.tuples(NAMES, st.text(max_size=30)), max_size=4)


@given(PAIRS, st.frozensets(st.sampled_from(["noai", "noml", "x"])), PAIRS)
def test_nothing_raises(headers: Pairs, wishes: frozenset[str], tags: Pairs) -> None:
    found = read_signals((), headers, wishes, tags)
    assert dict(still_said(dict(found.pairs), found).pairs) == dict(found.pairs)
