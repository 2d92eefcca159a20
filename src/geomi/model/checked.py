"""What a check of a dataset found."""

from __future__ import annotations

from dataclasses import dataclass

MAX_PROBLEMS = 100  # that are told one by one; the others are counted


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a dataset that is not as it should be.

    Args:
        remedy: what to do about it.
    """

    key: str
    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Checked:
    """A dataset's state in numbers, and the first of its problems.

    Args:
        files, processed: raw files, and those of them that have a checkpoint which holds.
        domains: that raw files name, each once for each partition.
        contracts, unfinished: domains in `prod/`, and those of them that do not hold.
        found: problems, those counted in that are not told.
    """

    files: int = 0
    processed: int = 0
    records: int = 0
    rejected: int = 0
    duplicates: int = 0
    domains: int = 0
    contracts: int = 0
    unfinished: int = 0
    urls: int = 0
    found: int = 0
    problems: tuple[Problem, ...] = ()
