"""The bounded memory of known URLs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.frontier.seen import SeenUrls


@pytest.mark.req("FRN-05")
def test_known_at_the_same_depth_or_deeper() -> None:
    seen = SeenUrls()
    assert not seen.is_known("a", 3)
    seen.remember("a", 2)
    assert seen.is_known("a", 2)
    assert seen.is_known("a", 3)
    assert not seen.is_known("a", 1)  # the store has to learn the lesser depth
    seen.remember("a", 1)
    seen.remember("a", 9)
    assert seen.is_known("a", 1)


def test_two_generations_are_remembered_and_no_more() -> None:
    seen = SeenUrls(capacity=2)
    for url in "abcde":
        seen.remember(url, 0)
    assert [seen.is_known(url, 0) for url in "ab"] == [False, False]
    assert [seen.is_known(url, 0) for url in "cde"] == [True, True, True]


def test_what_is_met_again_is_kept() -> None:
    seen = SeenUrls(capacity=2)
    for url in "abc":
        seen.remember(url, 0)
        assert seen.is_known("a", 0)
    for url in "de":
        assert seen.is_known("a", 0)
        seen.remember(url, 0)
    assert seen.is_known("a", 0)


@pytest.mark.req("C-83")
@given(
    st.integers(-1, 3),
    st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 3), st.booleans())),
)
def test_it_may_forget_but_never_invents(capacity: int, steps: list[tuple[str, int, bool]]) -> None:
    seen, truth = SeenUrls(capacity), dict[str, int]()
    for url, depth, remembers in steps:
        if remembers:
            seen.remember(url, depth)
            truth[url] = min(depth, truth.get(url, depth))
            assert seen.is_known(url, depth)
        elif seen.is_known(url, depth):
            assert truth[url] <= depth


@pytest.mark.req("FRN-05")
@given(
    known=st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 3))),
    asked=st.lists(st.sampled_from("abcdefgh")),
    depth=st.integers(0, 3),
    capacity=st.integers(1, 8),
)
def test_many_are_asked_for_as_one_is(
    known: list[tuple[str, int]], asked: list[str], depth: int, capacity: int
) -> None:
    at_once, one_by_one = SeenUrls(capacity), SeenUrls(capacity)
    for url, known_at in known:
        at_once.remember(url, known_at)
        one_by_one.remember(url, known_at)
    unknown = at_once.unknown(asked, depth)
    really_known = {url for url, known_at in known if known_at <= depth}
    assert set(asked) - set(unknown) <= really_known  # it may forget, and never drops a URL
    if len(dict(known)) <= capacity:
        assert unknown == [url for url in asked if not one_by_one.is_known(url, depth)]
