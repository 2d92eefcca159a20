"""The figures of a dataset: the dashboard's arithmetic, and which of them are alarms."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from geomi.engine.inspect.alarms import AlarmRule
from geomi.engine.seeds.report import DatasetProgress, judge_seeds, make_report
from geomi.model.dataset.queue import QueueDepth, TaskTally

NOTHING = DatasetProgress(TaskTally(), TaskTally(), QueueDepth(), QueueDepth())
# The seed document's own example (002 §10.2).
EXAMPLE = DatasetProgress(
    TaskTally(processed=142, failed=3, pending=5, duration_ms=80.0),
    TaskTally(processed=1180, failed=25, pending=45, robots=1050, sitemaps=890, duration_ms=1250.4),
    QueueDepth(waiting=4, lent=1, dead=3),
    QueueDepth(waiting=40, lent=5, dead=25),
)


@pytest.mark.req("RPT-04", "RPT-05", "MON-14")
def test_the_report_is_the_documents_example() -> None:
    assert asdict(make_report(EXAMPLE)) == {
        "processing_stats": {
            "files_total": 150,
            "files_processed": 142,
            "files_failed": 3,
            "files_pending": 5,
            "domains_total": 1250,
            "domains_processed": 1180,
            "domains_failed": 25,
            "domains_pending": 45,
        },
        "collection_stats": {
            "robots_txt_found": 1050,
            "robots_txt_rate": 0.84,
            "sitemap_xml_found": 890,
            "sitemap_xml_rate": 0.71,
            "avg_processing_time_ms": 1250,
        },
    }
    assert (EXAMPLE.dead_letters, EXAMPLE.waiting) == (28, 50)


@pytest.mark.req("RPT-05")
def test_of_nothing_every_rate_is_zero() -> None:
    told = make_report(NOTHING)
    assert set(asdict(told.processing_stats).values()) == {0}
    assert set(asdict(told.collection_stats).values()) == {0}


def test_within_bounds_nothing_is_said() -> None:
    assert judge_seeds(NOTHING) == ()
    assert judge_seeds(EXAMPLE) == ()


@pytest.mark.req("MON-15")
@pytest.mark.parametrize(
    ("within", "beyond", "rule", "limit"),
    [
        (
            replace(NOTHING, files=TaskTally(processed=9400, failed=500, pending=100)),
            replace(NOTHING, files=TaskTally(processed=9399, failed=501, pending=100)),
            AlarmRule.FILE_FAILURES,
            0.05,
        ),
        (
            replace(NOTHING, domains=TaskTally(processed=8900, failed=1000, pending=100)),
            replace(NOTHING, domains=TaskTally(processed=8899, failed=1001, pending=100)),
            AlarmRule.DOMAIN_FAILURES,
            0.1,
        ),
        (
            replace(NOTHING, files=TaskTally(processed=1, duration_ms=5000.0)),
            replace(NOTHING, files=TaskTally(processed=1, duration_ms=5001.0)),
            AlarmRule.PROCESSING,
            5.0,
        ),
        (
            replace(NOTHING, domains=TaskTally(processed=1, duration_ms=5000.0)),
            replace(NOTHING, domains=TaskTally(processed=1, duration_ms=5001.0)),
            AlarmRule.PROCESSING,
            5.0,
        ),
        (
            replace(NOTHING, seed_queue=QueueDepth(dead=1), domain_queue=QueueDepth(dead=99)),
            replace(NOTHING, seed_queue=QueueDepth(dead=1), domain_queue=QueueDepth(dead=100)),
            AlarmRule.DEAD_LETTERS,
            100,
        ),
    ],
)
def test_a_figure_beyond_its_bound_is_an_alarm(
    within: DatasetProgress, beyond: DatasetProgress, rule: AlarmRule, limit: float
) -> None:
    assert judge_seeds(within) == ()
    (alarm,) = judge_seeds(beyond)
    assert (alarm.rule, alarm.limit) == (rule, limit) and alarm.value > limit
    assert f"{alarm.limit:g}" in alarm.message or f"{alarm.limit:.0%}" in alarm.message


def test_raw_files_and_domains_are_slow_each_by_itself() -> None:
    slow = TaskTally(processed=1, duration_ms=6000.0)
    found = judge_seeds(replace(NOTHING, files=slow, domains=slow))
    assert [one.subject for one in found] == ["raw file", "domain"]
