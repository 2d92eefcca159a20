"""Names that sort by time."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from geomi.text.identifiers import ULID_CHARS, new_ulid

ALPHABET = frozenset("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
TIMES = st.floats(min_value=0, max_value=4e9)


def test_known_time() -> None:
    """The first ten characters are the milliseconds."""
    assert new_ulid(1469918176.385, random.Random(1)).startswith("01ARYZ6S41")


@given(TIMES, TIMES, st.integers())
def test_sorts_by_time(a_s: float, b_s: float, seed: int) -> None:
    """A later millisecond sorts later, whatever was drawn."""
    rng = random.Random(seed)
    a, b = new_ulid(a_s, rng), new_ulid(b_s, rng)
    assert len(a) == ULID_CHARS and ALPHABET.issuperset(a + b)
    if int(a_s * 1000) < int(b_s * 1000):
        assert a < b


def test_edges() -> None:
    """The generator decides alone; times out of range still give a name."""
    assert new_ulid(1.0, random.Random(7)) == new_ulid(1.0, random.Random(7))
    assert new_ulid(-1.0, random.Random(1)).startswith("0000000000")
    assert new_ulid(1e300, random.Random(1)).startswith("7ZZZZZZZZZ")
