"""Make one ranking of several, by reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009).

Scores of different kinds cannot be added, but ranks can. An item near the top of both lists comes
first, and one list alone keeps its order. Lists have weights: if one of them is more reliable,
equal weights would make its order worse.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)

# The smaller, the more the first places count. The paper's 60 was found for rankings that are about
# as good as each other, and put answers of a weaker list among the best of a stronger one.
RRF_K = 10


def fuse(
    rankings: Mapping[str, Sequence[K]], weights: Mapping[str, float], *, k: int = RRF_K
) -> dict[K, float]:
    """Return all keys with their fused scores, best first; of equals the one found first."""
    scores: dict[K, float] = {}
    for name, ranking in rankings.items():
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            scores[key] = scores.get(key, 0.0) + weights[name] / (k + rank)
    return dict(sorted(scores.items(), key=lambda scored: -scored[1]))


def places(rankings: Mapping[str, Sequence[K]], key: K) -> dict[str, int]:
    """Return the rank of a key, from 1, in each ranking that has it."""
    return {name: list(found).index(key) + 1 for name, found in rankings.items() if key in found}
