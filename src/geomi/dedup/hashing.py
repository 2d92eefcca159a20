"""Arithmetic on many 64-bit numbers at once, the same on every machine and in every process."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint64]


def mix(values: Numbers) -> Numbers:
    """Spread every bit over all others: the finaliser of splitmix64."""
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return values ^ values >> np.uint64(31)
