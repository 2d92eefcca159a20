"""Count which pages of a job are in the index, and what other rules would change (FUT-18).

`report_index` counts the job's documents by state, reason and page type. `compare_rules` reads the
job's pages back from the archive and decides about each of them twice, by two sets of rules.
Nothing is fetched or stored, and no model is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass

from geomi.analyse.page import analyse
from geomi.engine.inspect.export import records
from geomi.engine.visit.record import read_line, subject_of
from geomi.engine.world import World
from geomi.model.index.analysis import AnalysisInput, AnalysisRules, IndexDecision
from geomi.model.index.document import MAX_LISTED, DocumentFilter

MAX_CHANGES = 1000


@dataclass(frozen=True, slots=True)
class IndexReport:
    """The documents of a job, counted; `quality` is their mean, None where nobody looked."""

    job: str
    documents: int
    states: tuple[tuple[str, int], ...]
    reasons: tuple[tuple[str, int], ...]
    types: tuple[tuple[str, int], ...]
    quality: float | None


async def report_index(world: World, job: str) -> IndexReport:
    """Count the documents that a job has now; those of pages that a later one took over are its."""
    states, reasons, types = Counter[str](), Counter[str](), Counter[str]()
    scores, after = list[float](), ""
    while rows := await world.store.documents.list(
        DocumentFilter(job=job), after=after, limit=MAX_LISTED
    ):
        for row in rows:
            states[row.state] += 1
            reasons[row.reason] += 1
            types[row.page_type or "unknown"] += 1
            if row.quality is not None:
                scores.append(row.quality)
        after = rows[-1].id
    return IndexReport(
        job,
        states.total(),
        tuple(states.most_common()),
        tuple(reasons.most_common()),
        tuple(types.most_common()),
        round(sum(scores) / len(scores), 2) if scores else None,
    )


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A page that the two sets of rules decide upon differently."""

    url: str
    first: IndexDecision
    second: IndexDecision


@dataclass(frozen=True, slots=True)
class RulesComparison:
    """How many pages each set of rules takes, by reason, and those that change.

    Args:
        changed: how many there are; of them `changes` lists the first.
    """

    pages: int
    first: tuple[tuple[str, int], ...]
    second: tuple[tuple[str, int], ...]
    changed: int
    changes: tuple[RuleChange, ...]


async def compare_rules(
    world: World, job: str, first: AnalysisRules, second: AnalysisRules
) -> RulesComparison:
    """Decide upon every page of a job by two sets of rules."""
    by_first: Counter[str] = Counter()
    by_second: Counter[str] = Counter()
    changes: list[RuleChange] = []
    changed = 0
    async for subject in _subjects(world, job):
        one, other = (analyse(subject, rules).decision for rules in (first, second))
        by_first[one.reason] += 1
        by_second[other.reason] += 1
        if one.should_index != other.should_index:
            changed += 1
            if len(changes) < MAX_CHANGES:
                changes.append(RuleChange(subject.url, one, other))
    return RulesComparison(
        pages=by_first.total(),
        first=tuple(sorted(by_first.items())),
        second=tuple(sorted(by_second.items())),
        changed=changed,
        changes=tuple(changes),
    )


async def _subjects(world: World, job: str) -> AsyncIterator[AnalysisInput]:
    now_s = world.clock.wall_s()
    async for record in records(world, job):
        yield subject_of(read_line(record), now_s=now_s)
