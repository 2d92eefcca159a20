"""What every embedder does alike."""

from __future__ import annotations

import numpy as np
import pytest

from geomi.adapters.models.embedding import in_batches, read_vectors, unit
from geomi.errors import ModelError
from geomi.ports.models import BATCH


def test_vectors_have_a_length_of_one() -> None:
    """One without a direction stays nothing."""
    np.testing.assert_allclose(unit(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0.0, 0.0]])


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_is_refused(number: float) -> None:
    """It would be near to everything, or to nothing."""
    with pytest.raises(ModelError, match="other than a number"):
        read_vectors([[1.0, number]], dimensions=2, source="a model")


@pytest.mark.parametrize(
    ("items", "sizes"),
    [(0, []), (1, [1]), (BATCH, [BATCH]), (BATCH + 1, [BATCH, 1])],
)
def test_batches(items: int, sizes: list[int]) -> None:
    """None is larger than the most."""
    assert [len(batch) for batch in in_batches(range(items))] == sizes
