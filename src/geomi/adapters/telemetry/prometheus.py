"""Numbers as Prometheus reads them: counters, gauges and histograms, and their text.

The text format is small and stable, so that it is written here and not by a library: names and
help are ours, label values may come from outside and are escaped.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# What labels come to, however many hosts or names there are: past it, `other` stands for the rest.
MAX_SERIES = 1000
OTHER = "other"

Labels = tuple[str, ...]


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
        """Say what all of its numbers are."""
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
