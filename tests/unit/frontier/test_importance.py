"""OPIC, computed while crawling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.frontier.importance import (
    LIFT,
    distribute,
    dividend,
    importance,
    lease_length,
    points,
)
from geomi.frontier.priority import WHOLE
from geomi.model.entry import Target

A, B, C = (("a.test:80", bytes([number]) * 16) for number in range(3))
cash = st.floats(0, 1)


@pytest.mark.req("PRI-04")
@pytest.mark.parametrize(
    ("held", "expected"), [(1.0, 1.0), (1e-5, 0.5), (1e-10, 0.0), (1e-11, 0.0), (0.0, 0.0)]
)
def test_importance_is_the_logarithm_of_cash(held: float, expected: float) -> None:
    assert importance(held) == pytest.approx(expected)


@given(cash, cash)
def test_more_cash_is_never_less_important(one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert 0 <= importance(less) <= importance(more) <= 1
    assert 0 <= points(1 / 3, less) <= points(1 / 3, more) <= WHOLE < LIFT


@pytest.mark.req("PRI-04")
def test_a_page_gives_equal_parts() -> None:
    gifts, rest = distribute([(0.6, [A, B]), (0.4, [B]), (0.2, [])])
    assert gifts == pytest.approx({A: 0.3, B: 0.7})
    assert rest == 0.2


@given(st.lists(st.tuples(cash, st.lists(st.sampled_from([A, B, C]), unique=True))))
def test_nothing_is_lost(payers: list[tuple[float, list[Target]]]) -> None:
    gifts, rest = distribute(payers)
    assert sum(gifts.values()) + rest == pytest.approx(sum(held for held, _ in payers))


@pytest.mark.parametrize(
    ("root", "waiting", "paid"), [(1.0, 4, 0.25), (1.0, 1, 1.0), (1.0, 0, 1.0), (-1e-18, 3, 0.0)]
)
def test_the_root_pays_equal_parts(root: float, waiting: int, paid: float) -> None:
    assert dividend(root, waiting) == paid


@pytest.mark.parametrize(
    ("settled", "length"), [(0, 1), (9, 1), (10, 2), (89, 9), (90, 10), (100_000, 10)]
)
def test_leases_grow_with_what_is_known(settled: int, length: int) -> None:
    assert lease_length(10, settled) == length
