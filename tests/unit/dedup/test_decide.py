"""How a page is recognised again."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.dedup.decide import EXACT_KEY_BYTES, MIN_EXACT_CHARS, fingerprint, nearest

TEXT = (
    "Some text that is long enough to be told apart from every other text by its hash alone. " * 2
)


@pytest.mark.req("DUP-02")
def test_exact_means_the_same_text_and_the_same_outlinks() -> None:
    first = fingerprint(TEXT, b"<p>", ["http://a.test/1", "http://a.test/2"])
    again = fingerprint(TEXT, b"<div>", ["http://a.test/2", "http://a.test/1", "http://a.test/1"])
    assert again.exact_key == first.exact_key
    assert len(first.exact_key) == EXACT_KEY_BYTES
    assert fingerprint(TEXT, b"<p>", ["http://a.test/1"]).exact_key != first.exact_key
    assert fingerprint(TEXT + "x", b"<p>", ["http://a.test/1"]).exact_key != first.exact_key


def test_a_short_text_is_never_a_duplicate() -> None:
    assert fingerprint("x" * (MIN_EXACT_CHARS - 1), b"", []).exact_key == b""
    assert fingerprint("x" * MIN_EXACT_CHARS, b"", []).exact_key != b""


def test_the_text_decides_change_and_the_body_is_kept_beside_it() -> None:
    first, again = fingerprint(TEXT, b"<p>", []), fingerprint(TEXT, b"<p >", [])
    assert again.content_hash == first.content_hash
    assert again.html_hash != first.html_hash
    assert first.html_hash == hashlib.sha256(b"<p>").hexdigest()


def test_white_space_does_not_count() -> None:
    first = fingerprint("one two\nthree", b"", [])
    assert fingerprint(" one  two\t three\n", b"", []).content_hash == first.content_hash
    assert fingerprint("one two four", b"", []).content_hash != first.content_hash


@given(st.text(), st.binary(), st.lists(st.text()))
def test_anything_has_a_fingerprint(text: str, body: bytes, outlinks: list[str]) -> None:
    assert len(fingerprint(text, body, outlinks).content_hash) == 64


@pytest.mark.parametrize(
    ("candidates", "max_distance", "expected"),
    [
        ([], 3, None),
        ([("far", 0b11111)], 3, None),
        ([("far", 0b111), ("near", 0b1), ("as near", 0b10)], 3, "near"),
        ([("at the limit", 0b111)], 3, "at the limit"),
        ([("beyond it", 0b1111)], 3, None),
        ([("same", 0)], 0, "same"),
    ],
)
def test_the_nearest_candidate_within_reach(
    candidates: list[tuple[str, int]], max_distance: int, expected: str | None
) -> None:
    assert nearest(0, candidates, max_distance) == expected
