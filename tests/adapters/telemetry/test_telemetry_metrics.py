"""What Prometheus is told: every event counted once, in its own format."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from geomi.adapters.telemetry.metrics import (
    MAX_SERIES,
    Counter,
    Gauge,
    Histogram,
    Metrics,
    write_text,
)
from geomi.model.dataset.seed import ErrorType
from geomi.model.event import (
    Enriched,
    JobEnded,
    JobStarted,
    Measured,
    PageSettled,
    Progressed,
    RobotsFetched,
    SeedDomainDone,
    SeedFailed,
    SeedFileDone,
    Warned,
)
from geomi.model.verdict import Outcome, State

BOARD = Path(__file__).parents[3] / "deploy" / "grafana" / "geomi.json"
# One line of the text format (its own page calls it "exposition").
LINE = re.compile(
    r'[a-z_]+(\{[a-z]+="(?:[^"\\\n]|\\["\\n])*"(,[a-z]+="(?:[^"\\\n]|\\["\\n])*")*\})? \S+'
)


def settled(
    outcome: Outcome = Outcome.OK, state: State = State.COMPLETED, status: int | None = 200
) -> PageSettled:
    """Return a visit that took a fifth of a second."""
    return PageSettled("job", "http://a.test/x", outcome, state, status, 1, 1000, 200, 7)


def numbers(metrics: Metrics) -> dict[str, float]:
    """Read the text back."""
    lines = [line for line in metrics.text().splitlines() if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in lines)
    return {name: float(number) for name, number in (line.rsplit(" ", 1) for line in lines)}


@pytest.mark.req("MON-01", "MON-03", "MON-04", "MON-07")
def test_visits_are_counted_by_what_became_of_them() -> None:
    metrics = Metrics()
    metrics.emit(settled())
    metrics.emit(settled())
    metrics.emit(settled(Outcome.GONE, State.FAILED, 404))
    metrics.emit(settled(Outcome.TIMEOUT, State.PENDING, None))
    metrics.emit(settled(Outcome.EMPTY, State.SKIPPED))
    found = numbers(metrics)
    assert found['geomi_visits_total{outcome="ok",state="completed"}'] == 2
    assert found['geomi_responses_total{class="2xx"}'] == 3
    assert found['geomi_responses_total{class="4xx"}'] == 1
    assert found["geomi_retries_total"] == 1
    assert found["geomi_empty_pages_total"] == 1
    assert found["geomi_received_bytes_total"] == 5000
    assert found['geomi_host_fetch_seconds_total{host="a.test"}'] == pytest.approx(0.8)
    assert found['geomi_host_fetches_total{host="a.test"}'] == 4
    assert found['geomi_fetch_seconds_bucket{le="0.1"}'] == 0
    assert found['geomi_fetch_seconds_bucket{le="0.25"}'] == 4
    assert found["geomi_fetch_seconds_count"] == 4


def test_every_other_event_is_counted_too() -> None:
    metrics = Metrics()
    metrics.emit(JobStarted("job", (), resumed=False))
    metrics.emit(JobEnded("job", "completed", "done", 3, 0, 1.0))
    metrics.emit(Enriched("job", indexed=3, skipped=2, failed=1))
    metrics.emit(RobotsFetched("job", "a.test", 404, from_cache=True, age_s=1.0, bytes=0))
    metrics.emit(Warned("job", "look"))
    metrics.emit(Progressed("job", 3, 3))
    metrics.emit(Measured("", (0.002, 0.02), (0.3,), 4.5, (("extract", 0.25),)))
    found = numbers(metrics)
    assert found["geomi_jobs_taken_up_total"] == 1
    assert found['geomi_jobs_ended_total{state="completed",stop="done"}'] == 1
    assert found['geomi_documents_total{state="skipped"}'] == 2
    assert found['geomi_robots_total{class="4xx",cached="true"}'] == 1
    assert found["geomi_warnings_total"] == 1
    assert found["geomi_claim_seconds_count"] == 2
    assert found['geomi_settle_seconds_bucket{le="0.25"}'] == 0
    assert found["geomi_politeness_wait_seconds_total"] == 4.5
    assert found['geomi_stage_cpu_seconds_total{stage="extract"}'] == 0.25


@pytest.mark.req("MON-14")
def test_the_seed_engine_is_counted_too() -> None:
    metrics = Metrics()
    metrics.emit(SeedFileDone("raw/x", domains=3, rejected=2, ms=5))
    metrics.emit(SeedDomainDone("a.test", urls=1, robots=True, sitemap=False, ms=200))
    metrics.emit(SeedFailed("domain", "prod/a.test", ErrorType.TIMEOUT, "no answer", is_dead=True))
    found = numbers(metrics)
    assert found["geomi_seed_file_seconds_count"] == 1
    assert found["geomi_seed_file_seconds_sum"] == 0.005
    assert found['geomi_seed_found_total{what="robots",found="true"}'] == 1
    assert found['geomi_seed_found_total{what="sitemap",found="false"}'] == 1
    assert found["geomi_seed_rejects_total"] == 2
    assert found['geomi_seed_domain_seconds_bucket{le="0.1"}'] == 0
    assert found['geomi_seed_domain_seconds_bucket{le="0.25"}'] == 1
    assert found['geomi_seed_failures_total{type="timeout_error",dead="true"}'] == 1


def test_a_label_cannot_forge_a_line() -> None:
    gauge = Gauge("geomi_x", "X.", ("tenant",))
    gauge.set({('a"} 1\ngeomi_y 2\\',): 3.0})
    text = write_text([gauge])
    assert text.splitlines()[2:] == ['geomi_x{tenant="a\\"} 1\\ngeomi_y 2\\\\"} 3']


def test_labels_have_a_limit() -> None:
    counter = Counter("geomi_x", "X.", ("host",))
    histogram = Histogram("geomi_y", "Y.", (1.0,), ("host",))
    for number in range(MAX_SERIES + 5):
        counter.add(1, f"h{number}")
        histogram.observe(1, f"h{number}")
    for metric in (counter, histogram):
        hosts = {values[0] for _, _, values, _ in metric.samples()}
        assert len(hosts) == MAX_SERIES + 1 and "other" in hosts


def test_the_dashboard_of_grafana_asks_for_what_there_is() -> None:
    metrics = Metrics()
    names = set(re.findall(r"# TYPE (\S+)", metrics.text()))
    board = json.loads(BOARD.read_text())
    asked = {
        name.removesuffix("_bucket")
        for panel in board["panels"]
        for target in panel["targets"]
        for name in re.findall(r"geomi_\w+", target["expr"])
    }
    assert asked and asked <= names
