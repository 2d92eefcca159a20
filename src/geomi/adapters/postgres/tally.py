"""What visits add to patterns and to the rules that kept links out."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import astuple

from geomi.adapters.ledger.count import with_examples
from geomi.adapters.ledger.pattern import after, grown, kin
from geomi.adapters.ledger.rows import examples_of
from geomi.adapters.postgres.links import Key
from geomi.adapters.postgres.session import Session, columns
from geomi.adapters.statements import statements
from geomi.model.entry import Settlement, Tally
from geomi.model.verdict import Exclusion, State

SQL = statements("postgres", "settle")

_TALLY = (
    "queue", "pattern", "visited", "stale_links", "stale_text", "text_mark", "stale_growth",
)  # fmt: skip


def write_tallies(
    db: Session, closed: Sequence[tuple[Settlement, int, str]], new: Collection[Key]
) -> None:
    """Add visits to the tallies of their patterns; of what a visit found, `new` was not known.

    Patterns belong to one host, which is locked.
    """
    counted = [
        (visit, queue)
        for visit, queue, _ in closed
        if visit.novelty is not None and visit.state is not State.PENDING and visit.entry.pattern
    ]
    if not counted:
        return
    places = {(queue, visit.entry.pattern) for visit, queue in counted}
    places |= {(queue, pattern) for visit, queue in counted for pattern in kin(visit).values()}
    rows = db.rows(SQL["tallies"], columns(list(places), ("queues", "patterns")))
    tallies = {(queue, pattern): Tally(*tally) for queue, pattern, *tally in rows}
    for visit, queue in counted:
        assert visit.novelty is not None
        own = visit.entry.pattern
        found = kin(visit)
        larger = {found[url_hash] for url_hash in found if (queue, url_hash) in new}
        for pattern in larger:
            if (queue, pattern) in tallies:
                tallies[queue, pattern] = grown(tallies[queue, pattern])
        tally = tallies.get((queue, own), Tally())
        tallies[queue, own] = after(tally, visit.novelty, grew=own in larger)
    written = [(*place, *astuple(tally)) for place, tally in sorted(tallies.items(), key=_place)]
    db.send(SQL["put_tallies"], columns(written, _TALLY))


def write_exclusions(db: Session, found: Sequence[tuple[int, Sequence[Exclusion]]]) -> None:
    """Add what rules have kept out of jobs, with the first few examples of each."""
    excluded: dict[tuple[int, str], list[str]] = {}
    for job, exclusions in found:
        for exclusion in exclusions:
            excluded.setdefault((job, exclusion.rule), []).append(exclusion.url)
    if not excluded:
        return
    rows = [(*place, len(urls)) for place, urls in sorted(excluded.items())]
    so_far = db.rows(SQL["exclude"], columns(rows, ("jobs", "rules", "counts")))
    changed = []
    for job, rule, examples in so_far:
        before = examples_of(rule, examples)
        kept = with_examples(before, excluded[job, rule])
        if kept != before:
            changed.append((job, rule, json.dumps(kept, ensure_ascii=False)))
    if changed:
        db.send(SQL["exemplify"], columns(changed, ("jobs", "rules", "examples")))


def _place(item: tuple[tuple[int, str], Tally]) -> tuple[int, str]:
    return item[0]
