"""Two sets of rules on the same pages: which are indexed under one of them alone (FUT-18).

Nothing is fetched, stored or asked of a model: the pages of a job are read back from the archive
and decided upon twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass

from geomi.analyse.page import analyse
from geomi.engine.inspect.export import records
from geomi.engine.kept import subject_of
from geomi.engine.visit.record import read_line
from geomi.engine.world import World
from geomi.model.analysis import Decision, Subject
from geomi.model.indexing import AnalysisRules

MAX_CHANGES = 1000


@dataclass(frozen=True, slots=True)
class Change:
    """A page that the two sets of rules decide upon differently."""

    url: str
    first: Decision
    second: Decision


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many pages each set of rules takes, by reason, and those that change.

    Args:
        changed: how many there are; of them `changes` lists the first.
    """

    pages: int
    first: tuple[tuple[str, int], ...]
    second: tuple[tuple[str, int], ...]
    changed: int
    changes: tuple[Change, ...]


async def compare(
    world: World, job: str, first: AnalysisRules, second: AnalysisRules
) -> Comparison:
    """Decide upon every page of a job by two sets of rules."""
    by_first: Counter[str] = Counter()
    by_second: Counter[str] = Counter()
    changes: list[Change] = []
    changed = 0
    async for subject in _subjects(world, job):
        one, other = (analyse(subject, rules).decision for rules in (first, second))
        by_first[one.reason] += 1
        by_second[other.reason] += 1
        if one.should_index != other.should_index:
            changed += 1
            if len(changes) < MAX_CHANGES:
                changes.append(Change(subject.url, one, other))
    return Comparison(
        pages=by_first.total(),
        first=tuple(sorted(by_first.items())),
        second=tuple(sorted(by_second.items())),
        changed=changed,
        changes=tuple(changes),
    )


async def _subjects(world: World, job: str) -> AsyncIterator[Subject]:
    now_s = world.clock.wall_s()
    async for record in records(world, job):
        yield subject_of(read_line(record), now_s=now_s)
