"""Search all interleavings breadth first, so that the first trace found is a shortest one."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from geomi.engine.audit import invariants
from geomi.engine.audit.invariants import Invariant, Recount, Violation
from geomi.model.job import CrawlStats
from geomi.model.verdict import State
from tests.explore.model import Broken, Model, Step
from tests.explore.shelf import COUNTERS, PLACE, Shelf
from tests.explore.state import Instant, Naming, Scenario

STATS = tuple(CrawlStats.__dataclass_fields__)
CHECKED = ("hosts", "queues", "entries", "captures", "jobs")


@dataclass(frozen=True, slots=True)
class Found:
    """What an exploration came to.

    Args:
        trace: a shortest way to what must not be; empty where nothing was found.
        is_whole: whether nothing lay beyond the depth.
    """

    scenario: str
    states: int
    transitions: int
    depth: int
    cpu_s: float
    is_whole: bool
    violations: tuple[Violation, ...] = ()
    trace: tuple[Step, ...] = ()


class Explorer:
    """Explores one scenario.

    Args:
        finish_every: of how many states one has to be led to its end by a lone worker.
    """

    def __init__(self, scenario: Scenario, *, finish_every: int = 16) -> None:
        self._scenario = scenario
        self._shelf = Shelf()
        self._model = Model(scenario, self._shelf)
        self._naming = Naming(scenario, self._shelf)
        self._finish_every = finish_every
        column = self._shelf.column
        names = ("queue", "url", "state", "attempts", "outcome")
        self._entry = [column("entries", name) for name in names]
        self._leased = column("hosts", "leased")
        self._queue = [column("queues", name) for name in ("number", "host", "pending")]
        self._captured = column("captures", "url")
        self._transitions = 0
        self._came: dict[bytes, tuple[bytes, Step]] = {}

    def run(self, *, states: int = 0) -> Found:
        """Explore until the depth, or so many states, or the first thing that is broken."""
        began_s = time.process_time()
        first = self._model.begin()
        name = self._naming.name(first)
        self._came[name] = b"", ()
        layer, depth = [(name, first)], 0
        violations: Sequence[Violation] = ()
        trace: Sequence[Step] = ()
        while layer and not violations and depth < (self._scenario.depth or 10**6):
            depth += 1
            layer, violations, trace = self._next(layer)
            if states and len(self._came) >= states:
                break
        return Found(
            scenario=self._scenario.name,
            states=len(self._came),
            transitions=self._transitions,
            depth=depth,
            cpu_s=time.process_time() - began_s,
            is_whole=not layer and not violations,
            violations=tuple(violations),
            trace=tuple(trace),
        )

    def _next(
        self, layer: Sequence[tuple[bytes, Instant]]
    ) -> tuple[list[tuple[bytes, Instant]], Sequence[Violation], Sequence[Step]]:
        """Return every new instant that is one step away from some."""
        found: list[tuple[bytes, Instant]] = []
        for name, now in layer:
            for step in self._model.steps(now):
                self._transitions += 1
                try:
                    then = self._model.take(now, step)
                except Broken as broken:
                    return found, broken.violations, [*self._way_to(name), step]
                if violations := self._broken(now, then):
                    return found, violations, [*self._way_to(name), step]
                new = self._naming.name(then)
                if new in self._came:
                    continue
                self._came[new] = name, step
                if not new[0] % self._finish_every and (left := self._model.finishes(then)):
                    never = [Violation(Invariant.LOST, f"{url} is never visited") for url in left]
                    return found, never, self._way_to(new)
                found.append((new, then))
        return found, (), ()

    def _way_to(self, name: bytes) -> list[Step]:
        way: list[Step] = []
        while name:
            name, step = self._came[name]
            way.append(step)
        return way[-2::-1]

    def _broken(self, before: Instant, now: Instant) -> list[Violation]:
        """Ask the invariants of an instant what in the store must not be so."""
        if before.seen is now.seen and all(
            before.moment[PLACE[name]] is now.moment[PLACE[name]] for name in CHECKED
        ):
            return []
        moment = now.moment
        queue, url, state, attempts, outcome = self._entry
        entries = moment[PLACE["entries"]]
        captured = [str(row[self._captured]) for row in moment[PLACE["captures"]]]
        states = Counter(State(row[state]) for row in entries)
        ended = sum(states.values()) - states[State.PENDING]
        job = dict(zip(COUNTERS, moment[PLACE["jobs"]][0][1:], strict=True))
        counted = Recount(
            by_state=states,
            duplicates=sum(row[outcome] == "duplicate" for row in entries),
            captures=len(captured),
            urls=len(set(captured)),
            logged=len(moment[PLACE["requests"]]),
            settled=states[State.COMPLETED],
            retries=sum(row[attempts] for row in entries) - ended,
            poisoned=sum(row[outcome] == "poisoned" for row in entries),
        )
        stats = CrawlStats(**{name: job[name] for name in STATS})
        told = [*invariants.miscounted(stats, counted)]
        told += invariants.differ("pending", job["pending"], states[State.PENDING])
        number, host, pending = self._queue
        waiting = Counter(row[queue] for row in entries if row[state] == State.PENDING)
        for row in moment[PLACE["queues"]]:
            told += invariants.differ(f"of {row[host]}", row[pending], waiting[row[number]])
        for row in moment[PLACE["hosts"]]:
            plans = enumerate(self._scenario.hosts)
            seen = next(now.seen[place] for place, plan in plans if plan.name == row[0])
            lent = len(seen.unsettled)
            told += invariants.differ(f"lent of {row[0]}", row[self._leased], lent)
        broken = [Violation(Invariant.COUNTERS, each) for each in told]
        known = {str(row[url]) for row in entries}
        done = {str(row[url]) for row in entries if row[state] == State.COMPLETED}
        wanted = {f"{one[:-1]}9" for one in done if one.endswith("/0")} | self._seeds()
        missing = [*invariants.lost(wanted, known), *invariants.lost(done, set(captured))]
        return broken + [Violation(Invariant.LOST, each) for each in missing]

    def _seeds(self) -> set[str]:
        return {
            f"http://{plan.name.removesuffix(':80')}/{number}"
            for plan in self._scenario.hosts
            for number in range(self._scenario.seeds)
        }
