"""Count which pages of a job are in the index, and what other rules would change (FUT-18).

`report_index` counts the job's documents by state, reason and page type. `compare_rules` reads the
job's pages back from the archive and decides about each of them twice, by two sets of rules.
Nothing is fetched or stored, and no model is asked.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from geomi.engine.world import World
from geomi.model.document import MAX_LISTED, DocumentFilter


@dataclass(frozen=True, slots=True)
class Judged:
    """The documents of a job, counted; `quality` is their mean, None where nobody looked."""

    job: str
    documents: int
    states: tuple[tuple[str, int], ...]
    reasons: tuple[tuple[str, int], ...]
    types: tuple[tuple[str, int], ...]
    quality: float | None


async def judged(world: World, job: str) -> Judged:
    """Count the documents that a job has now; those of pages that a later one took over are its."""
    states, reasons, types = Counter[str](), Counter[str](), Counter[str]()
    scores, after = list[float](), ""
    while rows := await world.documents.list(
        DocumentFilter(job=job), after=after, limit=MAX_LISTED
    ):
        for row in rows:
            states[row.state] += 1
            reasons[row.reason] += 1
            types[row.page_type or "unknown"] += 1
            if row.quality is not None:
                scores.append(row.quality)
        after = rows[-1].id
    return Judged(
        job,
        states.total(),
        tuple(states.most_common()),
        tuple(reasons.most_common()),
        tuple(types.most_common()),
        round(sum(scores) / len(scores), 2) if scores else None,
    )
