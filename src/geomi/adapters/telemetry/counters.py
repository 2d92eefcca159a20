"""What a crawl has done so far, counted from its events and readable at any moment.

The counts are of this process; the durable ones stand in the store. How many URLs wait is known to
the store alone, and comes as an event now and then.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from threading import Lock

from geomi.model.event import Event, JobEnded, JobStarted, PageSettled, Progressed
from geomi.model.verdict import Outcome
from geomi.ports.runtime import Clock

RATE_WINDOW_S = 10
# Enough for any crawl a person watches, and at most some 20 MB; past it, `hosts` stands still.
MAX_HOSTS = 100_000

_PAGES = (Outcome.OK, Outcome.NOT_MODIFIED)
_NO_PROBLEM = frozenset(
    {Outcome.OK, Outcome.NOT_MODIFIED, Outcome.DUPLICATE, Outcome.REDIRECTED}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The counts at one moment.

    Args:
        pages: pages kept; `visits` also counts those that brought none.
        problems: outcomes that brought no page, most frequent first.
        pages_per_s: visits a second over the last ten.
        queue: URLs that wait, as the store last said; None before it was asked.
        eta_s: seconds left at that rate; None while it cannot be told.
    """

    pages: int = 0
    visits: int = 0
    bytes_received: int = 0
    hosts: int = 0
    queue: int | None = None
    problems: tuple[tuple[Outcome, int], ...] = ()
    pages_per_s: float = 0.0
    elapsed_s: float = 0.0
    eta_s: float | None = None
    has_ended: bool = False


class Counters:
    """Count events; a display in another thread may read at the same time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._started_s = clock.now_s()
        self._outcomes: Counter[Outcome] = Counter()
        self._bytes_received = 0
        self._progress: dict[str, Progressed] = {}  # of the jobs that run
        self._running: set[str] = set()
        self._hosts: set[str] = set()
        self._seconds: deque[tuple[int, int]] = deque(maxlen=RATE_WINDOW_S + 1)
        self._has_ended = False

    def emit(self, event: Event) -> None:
        """Count one event."""
        with self._lock:
            match event:
                case PageSettled():
                    self._count(event)
                case JobStarted():
                    self._running.add(event.job)
                    self._has_ended = False
                case Progressed():
                    self._progress[event.job] = event
                case JobEnded():
                    self._end(event.job)
                case _:
                    pass

    def snapshot(self) -> Snapshot:
        """Return the counts as they stand."""
        with self._lock:
            now_s = self._clock.now_s()
            rate = self._rate(now_s)
            visits = self._outcomes.total()
            ranked = self._outcomes.most_common()
            left = sum(one.left for one in self._progress.values())
            return Snapshot(
                pages=sum(self._outcomes[outcome] for outcome in _PAGES),
                visits=visits,
                bytes_received=self._bytes_received,
                hosts=len(self._hosts),
                queue=sum(one.pending for one in self._progress.values())
                if self._progress
                else None,
                problems=tuple(pair for pair in ranked if pair[0] not in _NO_PROBLEM),
                pages_per_s=rate,
                elapsed_s=now_s - self._started_s,
                eta_s=left / rate if self._progress and rate else None,
                has_ended=self._has_ended,
            )

    def _end(self, job: str) -> None:
        """Note the end of a job; the last word about the queue stays for the last view."""
        self._running.discard(job)
        self._has_ended = not self._running
        if self._running:
            self._progress.pop(job, None)

    def _count(self, page: PageSettled) -> None:
        self._outcomes[page.outcome] += 1
        self._bytes_received += page.bytes_received
        if len(self._hosts) < MAX_HOSTS:
            self._hosts.add(_host(page.url))
        second = int(self._clock.now_s())
        if self._seconds and self._seconds[-1][0] == second:
            self._seconds[-1] = (second, self._seconds[-1][1] + 1)
        else:
            self._seconds.append((second, 1))

    def _rate(self, now_s: float) -> float:
        """Return visits a second over the window, or over the whole run while that is shorter."""
        first = int(now_s) - RATE_WINDOW_S
        recent = sum(count for second, count in self._seconds if second > first)
        return recent / min(RATE_WINDOW_S, max(1.0, now_s - self._started_s))


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]
