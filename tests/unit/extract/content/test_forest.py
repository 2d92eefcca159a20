"""Trees that ask the same questions on each level."""

from __future__ import annotations

import numpy as np
import pytest

from geomi.extract.content.weights import DEPTH, LEAVES, Forest, predict


def test_the_yes_and_no_of_a_column_are_the_bits_of_its_answer() -> None:
    answers = np.arange(LEAVES, dtype=np.float32)
    forest = Forest(-8.0, np.arange(DEPTH), np.zeros(DEPTH, np.float32), answers)
    rows = np.array([[0, 0, 0, 0, 0], [0, 0, 0, 1, 0], [1, 1, 0, 1, 0]], np.float32)
    logits = [-8.0, 0.0, 3.0]
    assert predict(forest, rows.T) == pytest.approx([1 / (1 + np.exp(-value)) for value in logits])


def test_trees_add_up_and_no_columns_give_nothing() -> None:
    forest = Forest(
        0.0,
        np.zeros(DEPTH * 2, np.intp),
        np.zeros(DEPTH * 2, np.float32),
        np.full(2 * LEAVES, 1.0, np.float32),
    )
    assert predict(forest, np.zeros((1, 1), np.float32)) == pytest.approx([1 / (1 + np.exp(-2.0))])
    assert predict(forest, np.zeros((1, 0), np.float32)).shape == (0,)
