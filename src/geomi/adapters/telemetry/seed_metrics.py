"""What the seed engine has done, counted from its events, for Prometheus (MON-14)."""

from __future__ import annotations

from geomi.adapters.telemetry.prometheus import Counter, Gauge, Histogram
from geomi.model.event import SeedDomainDone, SeedEvent, SeedFailed, SeedFileDone

# A domain is asked for a few files, each in its host's turn.
BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class SeedMetrics:
    """Counts raw files and domains; how far datasets are is set by whoever answers a scrape."""

    def __init__(self) -> None:
        self._files = Histogram("geomi_seed_file_seconds", "How long raw files took.", BOUNDS)
        self._rejects = Counter("geomi_seed_rejects_total", "Records of raw files not taken.")
        self._domains = Histogram(
            "geomi_seed_domain_seconds", "How long contracts of domains took.", BOUNDS
        )
        self._found = Counter(
            "geomi_seed_found_total",
            "Domains by whether robots.txt and a sitemap were found.",
            ("what", "found"),
        )
        self._failures = Counter(
            "geomi_seed_failures_total",
            "Raw files and domains that failed; the dead are not tried again.",
            ("type", "dead"),
        )
        self.tasks = Gauge(
            "geomi_seed_tasks",
            "Raw files and domains of datasets, by what became of them.",
            ("tenant", "kind", "state"),
        )
        self.dead_letters = Gauge(
            "geomi_seed_dead_letters", "Messages that nobody tries any more.", ("tenant",)
        )

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
