"""Counts of what a service and its seed engine have done, from their events, for Prometheus.

The counts are of this process and begin with it (MON-14 names those of the seed engine). What only
the store knows, such as how many URLs wait, is read at each scrape and set by the code that
answers it. Prometheus's text format is small and stable, so it is written here and not by a
library: names and help are ours, label values may come from outside and are escaped.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from geomi.model.event import (
    Enriched,
    Event,
    JobEnded,
    JobStarted,
    Measured,
    PageSettled,
    RobotsFetched,
    SeedDomainDone,
    SeedEvent,
    SeedFailed,
    SeedFileDone,
    Warned,
)
from geomi.model.verdict import Outcome, State

# A page answers in a tenth of a second or two; past 30 s it timed out.
FETCH_BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
# A claim or a settlement takes some milliseconds; a second is a store that is stuck.
STORE_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
# A domain is asked for a few files, each in its host's turn.
SEED_BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# What labels come to, however many hosts or names there are: past it, `other` stands for the rest.
MAX_SERIES = 1000
OTHER = "other"

Labels = tuple[str, ...]


class Metrics:
    """An `EventSink` that counts."""

    def __init__(self) -> None:
        self._pages = Counter("geomi_visits_total", "Visits by outcome.", ("outcome", "state"))
        self._answers = Counter(
            "geomi_responses_total", "Answers by the first digit of their status.", ("class",)
        )
        self._retries = Counter("geomi_retries_total", "Visits that will be tried again.")
        self._empty = Counter("geomi_empty_pages_total", "Pages without text.")
        self._bytes = Counter("geomi_received_bytes_total", "Bytes received.")
        self._links = Counter("geomi_links_total", "Links found on pages.")
        self._fetches = Histogram(
            "geomi_fetch_seconds", "How long pages took to answer.", FETCH_BOUNDS
        )
        self._host_seconds = Counter(
            "geomi_host_fetch_seconds_total", "The same by host; divide by the count.", ("host",)
        )
        self._host_fetches = Counter(
            "geomi_host_fetches_total", "Requests for pages, by host.", ("host",)
        )
        self._robots = Counter(
            "geomi_robots_total", "Requests for robots.txt.", ("class", "cached")
        )
        self._claims = Histogram("geomi_claim_seconds", "How long claims took.", STORE_BOUNDS)
        self._settlements = Histogram(
            "geomi_settle_seconds", "How long settlements took.", STORE_BOUNDS
        )
        self._waited = Counter(
            "geomi_politeness_wait_seconds_total", "Time spent waiting for hosts' turns."
        )
        self._stages = Counter(
            "geomi_stage_cpu_seconds_total", "CPU that each stage of a page took.", ("stage",)
        )
        self._started = Counter("geomi_jobs_taken_up_total", "How often jobs started or resumed.")
        self._ended = Counter("geomi_jobs_ended_total", "Jobs that ended.", ("state", "stop"))
        self._documents = Counter(
            "geomi_documents_total",
            "Analysed pages, by result.",
            ("state",),
        )
        self._warnings = Counter("geomi_warnings_total", "Warnings.")
        self.waiting = Gauge("geomi_waiting_urls", "Waiting URLs, by tenant.", ("tenant",))
        self.jobs = Gauge("geomi_jobs", "Jobs that are not over, by state.", ("state",))
        self.workers = Gauge(
            "geomi_workers", "Processes that work on the store, by role.", ("role",)
        )
        self.deliveries = Gauge("geomi_deliveries_waiting", "Waiting webhook deliveries.")
        self.chunks = Gauge(
            "geomi_chunk_measure",
            "Chunks of each collection's newest finished crawl, by measure.",
            ("tenant", "collection", "measure"),
        )
        self.seeds = SeedMetrics()

    def emit(self, event: Event) -> None:
        """Count one event."""
        if isinstance(event, SeedEvent):
            self.seeds.emit(event)
            return
        match event:
            case PageSettled():
                self._count_page(event)
            case RobotsFetched():
                self._robots.add(1, _class(event.status), str(event.from_cache).lower())
            case Measured():
                self._count_spent(event)
            case JobStarted():
                self._started.add()
            case JobEnded():
                self._ended.add(1, event.state, event.stop)
            case Enriched():
                for state in ("indexed", "skipped", "failed"):
                    self._documents.add(getattr(event, state), state)
            case Warned():
                self._warnings.add()
            case _:
                pass

    def text(self) -> str:
        """Return what a scrape is answered with."""
        own = {name: value for name, value in vars(self).items() if value is not self.seeds}
        return write_text([*own.values(), *vars(self.seeds).values()])

    def _count_page(self, page: PageSettled) -> None:
        self._pages.add(1, page.outcome, page.state)
        self._bytes.add(page.bytes_received)
        self._links.add(page.links)
        if page.state is State.PENDING:
            self._retries.add()
        if page.outcome is Outcome.EMPTY:
            self._empty.add()
        if page.status is None:
            return
        self._answers.add(1, _class(page.status))
        self._fetches.observe(page.fetch_ms / 1000)
        host = page.url.partition("://")[2].partition("/")[0]
        self._host_seconds.add(page.fetch_ms / 1000, host)
        self._host_fetches.add(1, host)

    def _count_spent(self, spent: Measured) -> None:
        for seconds in spent.claims:
            self._claims.observe(seconds)
        for seconds in spent.settlements:
            self._settlements.observe(seconds)
        self._waited.add(spent.waited_s)
        for stage, seconds in spent.stages:
            self._stages.add(seconds, stage)


def _class(status: int) -> str:
    return f"{status // 100}xx" if status else "none"


class SeedMetrics:
    """Counts raw files and domains; the scrape handler sets the progress of datasets."""

    def __init__(self) -> None:
        self._files = Histogram("geomi_seed_file_seconds", "How long raw files took.", SEED_BOUNDS)
        self._rejects = Counter("geomi_seed_rejects_total", "Rejected records of raw files.")
        self._domains = Histogram(
            "geomi_seed_domain_seconds", "How long contracts took.", SEED_BOUNDS
        )
        self._found = Counter(
            "geomi_seed_found_total",
            "Domains, by whether geomi found robots.txt and a sitemap.",
            ("what", "found"),
        )
        self._failures = Counter(
            "geomi_seed_failures_total",
            "Failed raw files and domains; geomi does not try dead ones again.",
            ("type", "dead"),
        )
        self.tasks = Gauge(
            "geomi_seed_tasks",
            "Raw files and domains of datasets, by state.",
            ("tenant", "kind", "state"),
        )
        self.dead_letters = Gauge("geomi_seed_dead_letters", "Dead letters.", ("tenant",))

    def emit(self, event: SeedEvent) -> None:
        """Count one event."""
        match event:
            case SeedFileDone():
                self._files.observe(event.ms / 1000)
                self._rejects.add(event.rejected)
            case SeedDomainDone():
                self._domains.observe(event.ms / 1000)
                self._found.add(1, "robots", str(event.robots).lower())
                self._found.add(1, "sitemap", str(event.sitemap).lower())
            case SeedFailed():
                self._failures.add(1, event.error_type, str(event.is_dead).lower())
            case _:
                pass


class Counter:
    """A number that grows, for each value of its labels."""

    kind = "counter"

    def __init__(self, name: str, text: str, labels: tuple[str, ...] = ()) -> None:
        self.name, self.text, self.labels = name, text, labels
        self._values: dict[Labels, float] = {}

    def add(self, amount: float = 1.0, *labels: str) -> None:
        """Add to one of its numbers."""
        key = _bounded(self._values, labels)
        self._values[key] = self._values.get(key, 0.0) + amount

    def samples(self) -> Iterator[tuple[str, Labels, Labels, float]]:
        """Yield name, labels, their values and the number of each line."""
        for values, number in sorted(self._values.items()):
            yield self.name, self.labels, values, number


class Gauge:
    """A number that is what it is when it is looked at."""

    kind = "gauge"

    def __init__(self, name: str, text: str, labels: tuple[str, ...] = ()) -> None:
        self.name, self.text, self.labels = name, text, labels
        self._values: dict[Labels, float] = {}

    def set(self, values: Mapping[Labels, float]) -> None:
        """Set all of its numbers."""
        self._values = dict(sorted(values.items())[:MAX_SERIES])

    def samples(self) -> Iterator[tuple[str, Labels, Labels, float]]:
        """Yield name, labels, their values and the number of each line."""
        for values, number in self._values.items():
            yield self.name, self.labels, values, number


class Histogram:
    """How many of some measurements were at most so large."""

    kind = "histogram"

    def __init__(
        self, name: str, text: str, bounds: tuple[float, ...], labels: tuple[str, ...] = ()
    ) -> None:
        self.name, self.text, self.labels = name, text, labels
        self._bounds = bounds
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, value: float, *labels: str) -> None:
        """Count one measurement."""
        key = _bounded(self._counts, labels)
        counts = self._counts.setdefault(key, [0] * (len(self._bounds) + 1))
        counts[bisect_left(self._bounds, value)] += 1
        self._sums[key] = self._sums.get(key, 0.0) + value

    def samples(self) -> Iterator[tuple[str, Labels, Labels, float]]:
        """Yield name, labels, their values and the number of each line."""
        edges = (*(f"{bound:g}" for bound in self._bounds), "+Inf")
        for values, counts in sorted(self._counts.items()):
            for edge, below in zip(edges, accumulate(counts), strict=True):
                yield f"{self.name}_bucket", (*self.labels, "le"), (*values, edge), below
            yield f"{self.name}_sum", self.labels, values, self._sums[values]
            yield f"{self.name}_count", self.labels, values, sum(counts)


Metric = Counter | Gauge | Histogram


def write_text(metrics: Iterable[Metric]) -> str:
    """Return what a scrape is answered with."""
    lines: list[str] = []
    for metric in metrics:
        lines.append(f"# HELP {metric.name} {metric.text}")
        lines.append(f"# TYPE {metric.name} {metric.kind}")
        for name, labels, values, number in metric.samples():
            pairs = ",".join(
                f'{label}="{_escaped(value)}"' for label, value in zip(labels, values, strict=True)
            )
            told = f"{{{pairs}}}" if pairs else ""
            lines.append(f"{name}{told} {number:.15g}")
    return "\n".join(lines) + "\n"


def _bounded(known: Mapping[Labels, object], labels: Labels) -> Labels:
    """Return the labels, or what stands for all that there is no room for."""
    if labels in known or len(known) < MAX_SERIES:
        return labels
    return tuple(OTHER for _ in labels)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
