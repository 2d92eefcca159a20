"""Whose turn it is at an address that several jobs want, and that is lent to few at a time.

A job that finds an address crowded stands in its line, and whoever came later leaves a free place
to it. Without a line the job that gives a place back would have it again at once, each time, and
one with a single host there would wait for all hosts of the other. A job that does not ask any more
has left the line: its worker may be gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

# A job that was turned away is looked at again after `CROWDED_S`, by a worker that polls every two
# seconds at the latest.
LINE_S = 3.0


def has_to_yield(line: Mapping[int, float], job: int) -> bool:
    """Whether others came before a job to an address.

    Args:
        line: since when each job waits there, of those that have asked of late.
    """
    own = (line.get(job, inf), job)
    return any((since_s, other) < own for other, since_s in line.items() if other != job)
