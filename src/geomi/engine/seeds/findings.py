"""What a check of a dataset has found so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from geomi.model.checked import MAX_PROBLEMS, Checked, Problem
from geomi.model.seed import Checksum
from geomi.seed.partition import RAW, RAW_FORM


@dataclass(slots=True)
class Findings:
    """Counts by the names of `Checked`, problems, and what each raw file is."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    sums: dict[str, Checksum | None] = field(default_factory=dict)  # None: it cannot be read

    def add(self, key: str, what: str, remedy: str) -> None:
        """Note a problem."""
        self.counts["found"] += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(key, what, remedy))

    def foreign(self, key: str) -> None:
        """Note that something is no part of a dataset."""
        remedy = "remove it, or give it the name it should have"
        if key.startswith(RAW):
            remedy = f"nobody reads it: raw files are {RAW_FORM}, all in small letters"
        self.add(key, "it is no part of a dataset", remedy)

    def report(self) -> Checked:
        """Return all of it."""
        return Checked(**self.counts, problems=tuple(self.problems))
