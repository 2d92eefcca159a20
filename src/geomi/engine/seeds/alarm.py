"""What of a dataset's figures a person has to know (MON-15).

A failure is a task that nobody tries any more; its share is of all tasks, as every rate of the
report (RPT-05), so that the first failure of a long run is no alarm.
"""

from __future__ import annotations

from geomi.engine.inspect.alarms import Alarm, Rule
from geomi.engine.seeds.report import Standing, share
from geomi.model.message import TaskTally

MAX_FILE_FAILURES = 0.05
MAX_DOMAIN_FAILURES = 0.10
MAX_PROCESSING_S = 5.0
MAX_DEAD_LETTERS = 100


def judge_seeds(standing: Standing) -> tuple[Alarm, ...]:
    """Return every figure that is out of its bounds."""
    files, domains = standing.files, standing.domains
    found = [
        _failures(Rule.FILE_FAILURES, files, MAX_FILE_FAILURES, "raw files"),
        _failures(Rule.DOMAIN_FAILURES, domains, MAX_DOMAIN_FAILURES, "domains"),
        _slowness(files, "raw file"),
        _slowness(domains, "domain"),
        _backlog(standing.dead_letters),
    ]
    return tuple(alarm for alarm in found if alarm is not None)


def _failures(rule: Rule, tally: TaskTally, limit: float, what: str) -> Alarm | None:
    value = share(tally.failed, tally.total)
    if value <= limit:
        return None
    told = f"{value:.1%} of {what} failed ({tally.failed:,} of {tally.total:,}; limit {limit:.0%})"
    return Alarm(rule, round(value, 4), limit, told)


def _slowness(tally: TaskTally, what: str) -> Alarm | None:
    seconds = tally.duration_ms / 1000
    if seconds <= MAX_PROCESSING_S:
        return None
    told = f"a {what} takes {seconds:,.1f} s on average (limit {MAX_PROCESSING_S:g})"
    return Alarm(Rule.PROCESSING, round(seconds, 3), MAX_PROCESSING_S, told, subject=what)


def _backlog(dead: int) -> Alarm | None:
    if dead <= MAX_DEAD_LETTERS:
        return None
    told = f"{dead:,} dead letters wait for somebody (limit {MAX_DEAD_LETTERS})"
    return Alarm(Rule.DEAD_LETTERS, dead, MAX_DEAD_LETTERS, told)
