"""The sketch by which similar pages find and judge each other."""

from __future__ import annotations

import random
from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.dedup import sketch as room
from geomi.dedup.shingles import MAX_TEXT_UNITS
from geomi.dedup.sketch import bands, draw, similarity, sketch

TEXTS = st.text(max_size=400)
ROUNDS = 200


def pair(seed: int, size: int, share: float) -> tuple[bytes, bytes]:
    """Draw two sets of `size` numbers altogether, of which they share a part."""
    numbers = np.random.default_rng(seed).integers(0, 2**64, size, np.uint64)
    both = round(size * share)
    middle = both + (size - both) // 2
    return draw(numbers[:middle]), draw(np.concatenate([numbers[:both], numbers[middle:]]))


@given(TEXTS)
def test_a_text_is_like_itself(text: str) -> None:
    made = sketch(text)
    assert similarity(made, sketch(text)) == (1.0 if made else 0.0)
    assert len(made) in (0, room.SKETCH_BYTES)


@given(TEXTS, TEXTS)
def test_likeness_has_no_direction(left: str, right: str) -> None:
    one, other = sketch(left), sketch(right)
    assert similarity(one, other) == similarity(other, one)
    assert 0.0 <= similarity(one, other) <= 1.0


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=50), st.randoms())
def test_order_and_repetition_do_not_count(numbers: list[int], rng: random.Random) -> None:
    again = numbers + rng.choices(numbers, k=5)
    rng.shuffle(again)
    assert draw(np.array(again, np.uint64)) == draw(np.array(numbers, np.uint64))


@pytest.mark.req("DUP-05", "G-23")
@pytest.mark.parametrize("size", [12, 60, 400, 3000])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.75, 0.9])
def test_the_estimate_keeps_its_error(size: int, share: float) -> None:
    truth = round(size * share) / size
    off = [similarity(*pair(seed, size, share)) - truth for seed in range(ROUNDS)]
    stated = ((1 - truth**2) / room.BINS) ** 0.5
    assert pstdev(off) < 1.2 * stated
    if share:  # estimates below nothing are cut off
        assert abs(fmean(off)) < 4 * stated / ROUNDS**0.5


@pytest.mark.parametrize(
    ("share", "least", "most"),
    [(0.9, 0.99, 1.0), (0.8, 0.95, 1.0), (0.5, 0.25, 0.55), (0.1, 0.0, 0.02)],
)
def test_bands_are_shared_as_often_as_stated(share: float, least: float, most: float) -> None:
    pairs = [pair(seed, 600, share) for seed in range(ROUNDS)]
    met = [bool(set(bands(left)) & set(bands(right))) for left, right in pairs]
    assert least <= fmean(met) <= most


@given(st.text(min_size=1))
def test_bands_are_small_numbers_and_keep_apart(text: str) -> None:
    keys = bands(sketch(text))
    assert len(set(keys)) in (0, room.BANDS)
    assert all(0 <= key < 1 << 8 * room.KEY_BYTES for key in keys)


def test_a_text_without_words_meets_nothing() -> None:
    assert sketch(" .,-\n") == b""
    assert bands(b"") == ()
    assert similarity(b"", b"") == 0.0
    assert similarity(sketch("one two three"), b"") == 0.0


def test_a_look_up_is_bounded() -> None:
    assert room.MAX_CANDIDATES <= 50


def test_a_single_shingle_fills_all_bins() -> None:
    numbers = [np.array([value], np.uint64) for value in (0, 1 << 40, 2**64 - 1)]
    made = [draw(number) for number in numbers]
    assert len({bands(each) for each in made}) == len(made)
    assert similarity(made[0], made[0]) == 1.0


@given(st.integers(1, 400))
def test_a_bin_without_an_early_offer_gets_a_late_one(size: int) -> None:
    numbers = np.random.default_rng(size).integers(0, 2**64, size, np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "_OFFERS", 1)
        impatient = draw(numbers)
    assert impatient == draw(numbers)


def test_huge_texts_are_sketched_by_their_beginning() -> None:
    text = " ".join(map(str, range(MAX_TEXT_UNITS)))
    assert sketch(text) == sketch(text[:MAX_TEXT_UNITS])


@pytest.mark.parametrize(
    ("text", "first_key"),
    [("one two three", 243552578737441), ("데비안 설치 안내서를 읽는다", 111847138485521)],
)
def test_values_never_change(text: str, first_key: int) -> None:
    assert bands(sketch(text))[0] == first_key
