"""Replay how real pages changed, and say how much staler they are under other schedules than ours.

    python -m bench.freshness                      # the traces of the corpus
    python -m bench.freshness --traces FILE --json # others, as one line of JSON

Each trace is a page: when it changed, when it went, and when watching it ended. A schedule may pay
one visit per page and 30 days. Stale is the share of page-time, in the last 30 % of each trace, in
which the stored copy is not what the site has. Ours is the product's own code for rates, pools,
gains and budgets; it learns from the visits it pays for and nothing else, and no page here says
when it was modified. Beside it: a uniform schedule (expected over its phases), one that leaves out
pages it has found gone, and one that is told each page's rate, which no schedule by rates can beat
by much.
"""

from __future__ import annotations

import argparse
import bisect
import gzip
import json
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from geomi.model.config import Recrawl
from geomi.model.history import ChangePool, PageHistory, RevisitPage
from geomi.recrawl.due import RevisitCandidate, consider, spend
from geomi.recrawl.rate import Belief, Gap, believe, change_pattern, learn, pooled

DAY_S = 86_400.0
EVERY_S = 30 * DAY_S  # one visit a page
JUDGED = 0.3
PHASES = 20
CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
TRACES = Path("changes") / "traces.dev.jsonl.gz"
RULES = Recrawl()
NOBODY = ChangePool()


@dataclass(frozen=True, slots=True)
class Trace:
    """One page: the times of its versions, which of them are its absence, and the end."""

    site: str
    url: str
    times: tuple[float, ...]
    is_gone: tuple[bool, ...]
    end_s: float

    @property
    def start_s(self) -> float:
        return self.times[0]

    @property
    def judged_s(self) -> float:
        """When the judged part begins."""
        return self.end_s - JUDGED * (self.end_s - self.start_s)

    def version(self, at_s: float) -> int:
        """Return how many versions there were by then."""
        return bisect.bisect_right(self.times, at_s)

    def stale_s(self, visits: Sequence[float]) -> float:
        """Return for how long of the judged part a copy of the last visit is out of date."""
        stale_s = 0.0
        for last_s, next_s in zip(visits, [*visits[1:], self.end_s], strict=True):
            seen = self.version(last_s)
            if next_s > self.judged_s and seen < len(self.times):
                stale_s += max(next_s - max(self.times[seen], self.judged_s), 0.0)
        return stale_s


class Schedule(Protocol):
    """Chooses which pages are visited, and is told what the visits found."""

    def choose(self, known: Sequence[int], now_s: float, budget: int) -> list[int]: ...

    def see(self, page: int, now_s: float, *, changed: bool, is_gone: bool) -> None: ...


def read(path: Path) -> list[Trace]:
    """Read traces; kind `D` is a version without a page."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Trace(
            site=row["site"],
            url=f"https://{row['site'].replace('/', '.')}/{row['path']}",
            times=tuple(float(at_s) for at_s in row["changes"]),
            is_gone=tuple(kind == "D" for kind in row["kinds"]),
            end_s=float(row["end"]),
        )
        for row in rows
    ]


def staleness(traces: Sequence[Trace], visits: Sequence[Sequence[float]]) -> float:
    """Return the share of judged page-time in which copies are out of date."""
    stale_s = sum(one.stale_s(paid) for one, paid in zip(traces, visits, strict=True))
    return stale_s / (sum(one.end_s - one.judged_s for one in traces) or 1.0)


def uniform(traces: Sequence[Trace]) -> float:
    """Return the staleness of visits in equal intervals, expected over when they begin."""
    rng = random.Random(1)
    return sum(staleness(traces, [_evenly(one, rng) for one in traces]) for _ in range(PHASES)) / (
        PHASES
    )


def replay(traces: Sequence[Trace], schedule: Schedule) -> list[list[float]]:
    """Let a schedule spend its budget day by day; the first visit of a page is free for all."""
    visits: list[list[float]] = [[one.start_s] for one in traces]
    purse = 0.0
    for now_s in _days(traces):
        known = [n for n, one in enumerate(traces) if one.start_s <= now_s < one.end_s]
        # What was not spent is not saved up: a day's budget is for that day.
        purse = min(purse, 1.0) + len(known) * DAY_S / EVERY_S
        for page in schedule.choose(known, now_s, int(purse)):
            one = traces[page]
            version = one.version(now_s)
            changed = version != one.version(visits[page][-1])
            schedule.see(page, now_s, changed=changed, is_gone=one.is_gone[version - 1])
            visits[page].append(now_s)
            purse -= 1
    return visits


class Ours:
    """The product: rates learned from visits, pooled, and a budget spent by gain."""

    def __init__(self, traces: Sequence[Trace]) -> None:
        self._traces = traces
        self._histories = [PageHistory(one.start_s, visits=1) for one in traces]
        self._patterns = [(one.site, change_pattern(one.url)) for one in traces]
        self._pools: dict[tuple[str, str], ChangePool] = {}

    def choose(self, known: Sequence[int], now_s: float, budget: int) -> list[int]:
        chosen = spend(self._candidates(known, now_s), budget)
        return [int.from_bytes(one.page.url_hash, "big") for one in chosen]

    def see(self, page: int, now_s: float, *, changed: bool, is_gone: bool) -> None:
        before = self._histories[page]
        gap = Gap(before.visited_at_s, now_s, changed, is_gone=is_gone)
        self._histories[page], evidence = learn(before, gap, self._belief(page, now_s))
        assert evidence is not None
        site, pattern = self._patterns[page]
        for name in {"", pattern}:
            pool = self._pools.get((site, name), NOBODY)
            self._pools[site, name] = pooled(pool, evidence)

    def _candidates(self, known: Sequence[int], now_s: float) -> Iterator[RevisitCandidate]:
        for page in known:
            one, history = self._traces[page], self._histories[page]
            key = page.to_bytes(16, "big")
            standing = RevisitPage(key, one.url, one.site, 0, history.visited_at_s, 0.0, history)
            found = consider(standing, self._belief(page, now_s), now_s=now_s, rules=RULES)
            if found is not None:
                yield found

    def _belief(self, page: int, now_s: float) -> Belief:
        site, pattern = self._patterns[page]
        kin = self._pools.get((site, pattern), NOBODY)
        host = self._pools.get((site, ""), NOBODY)
        return believe(self._histories[page], kin, host, now_s=now_s, rules=RULES)


class Told(Ours):
    """Is told each page's mean rate, before and in the judged part; nothing is learned."""

    def see(self, page: int, now_s: float, *, changed: bool, is_gone: bool) -> None:
        self._histories[page] = PageHistory(now_s, visits=1)

    def _belief(self, page: int, now_s: float) -> Belief:
        one = self._traces[page]
        is_judged = now_s >= one.judged_s
        from_s, to_s = (one.judged_s, one.end_s) if is_judged else (one.start_s, one.judged_s)
        # Without a change there is half of one, or a page that was stale before stayed so.
        changes = max(sum(from_s < at_s <= to_s for at_s in one.times), 0.5)
        return Belief(1e6, 1e6 * max(to_s - from_s, DAY_S) / changes)


class Present(Ours):
    """Visits the page that was not visited for longest, of those not known to be gone."""

    def _candidates(self, known: Sequence[int], now_s: float) -> Iterator[RevisitCandidate]:
        for found in super()._candidates(known, now_s):
            is_gone = found.page.history.gone_at_s is not None
            since_s = (now_s - found.page.fetched_at_s) * (0.05 if is_gone else 1.0)
            yield RevisitCandidate(found.page, found.belief, since_s)


def measure(traces: Sequence[Trace]) -> dict[str, float]:
    """Return the staleness under each schedule."""
    schedules = {"uniform, gone left out": Present, "ours": Ours, "told the rates": Told}
    return {"uniform": uniform(traces)} | {
        name: staleness(traces, replay(traces, make(traces))) for name, make in schedules.items()
    }


def main() -> None:
    """Print the table, for all sites together and for each alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    corpus = Path(os.environ.get("GEOMI_CORPUS", CORPUS))
    parser.add_argument("--traces", type=Path, default=corpus / TRACES)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    traces = read(asked.traces)
    groups = {"all": traces}
    for one in traces:
        groups.setdefault(one.site, []).append(one)
    results = {name: measure(group) for name, group in groups.items()}
    if asked.json:
        print(json.dumps(results))
        return
    print(f"{'':26}{'pages':>6}" + "".join(f"{name:>26}" for name in results["all"]))
    for name, found in results.items():
        cells = (f"{value:.4f} ({1 - value / found['uniform']:+.1%})" for value in found.values())
        print(f"{name:26}{len(groups[name]):6}" + "".join(f"{cell:>26}" for cell in cells))


def _evenly(trace: Trace, rng: random.Random) -> list[float]:
    visits = [trace.start_s]
    at_s = trace.start_s + rng.random() * EVERY_S
    while at_s < trace.end_s:
        visits.append(at_s)
        at_s += EVERY_S
    return visits


def _days(traces: Sequence[Trace]) -> Iterator[float]:
    now_s = min(one.start_s for one in traces)
    end_s = max(one.end_s for one in traces)
    while now_s < end_s:
        yield now_s
        now_s += DAY_S


if __name__ == "__main__":
    main()
