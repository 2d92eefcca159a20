"""How work on a dataset is shown: counts of this run, a view for terminals, and a last word."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from geomi.cli.prepare.seed_run import SeedCounts, SeedPrinter, _view
from geomi.engine.seeds.report import DatasetProgress, judge_seeds
from geomi.model.dataset.queue import QueueDepth, TaskTally
from geomi.model.dataset.seed import ErrorType, OrchestrationReport
from geomi.model.event import (
    RobotsFetched,
    SeedDomainDone,
    SeedFailed,
    SeedFileDone,
    Warned,
)
from tests.support.clock import HandClock

EVENTS = (
    SeedFileDone("raw/x", 2, 1, 5),
    SeedDomainDone("a.test", 1, robots=True, sitemap=False, ms=7),
    SeedFailed("domain", "prod/b.test", ErrorType.NETWORK, "away", is_dead=False),
    SeedFailed("domain", "prod/b.test", ErrorType.NETWORK, "away", is_dead=True),
    RobotsFetched("", "a.test", 200, from_cache=False, age_s=0.0, bytes=1),
    Warned("", "look"),
)
STANDING = DatasetProgress(
    TaskTally(processed=3, failed=1, pending=2),
    TaskTally(processed=1200, pending=45),
    QueueDepth(waiting=2, dead=1),
    QueueDepth(waiting=40, lent=5),
)


def test_a_run_counts_what_it_did() -> None:
    counts = SeedCounts()
    for event in EVENTS:
        counts.emit(event)
    assert counts == SeedCounts(files=1, domains=1, rejected=1, dead=1)


def test_a_terminal_is_shown_files_domains_and_what_waits() -> None:
    assert drawn(None) == []
    assert drawn(STANDING) == [
        "files 3 of 6, 1 failed, 2 waiting",
        "domains 1,200 of 1,245, 45 waiting",
        "messages 42 waiting, 5 borrowed",
        "dead letters 1",
        "time 0:01:00",
    ]


def test_how_long_it_takes_is_told_once_every_domain_is_known() -> None:
    known = replace(STANDING, files=TaskTally(processed=6))
    assert drawn(known)[-1] == "time 0:01:00, about 0:01:30 left"
    assert drawn(known, done=0)[-1] == "time 0:01:00"
    ended = replace(known, domains=TaskTally(processed=1245))
    assert drawn(ended)[-1] == "time 0:01:00"


@pytest.mark.parametrize(
    ("flags", "events"),
    [
        ({"quiet": False, "verbose": False}, ["seed_file", "seed_domain"] + 2 * ["seed_failed"]),
        ({"quiet": True, "verbose": False}, 2 * ["seed_failed"]),
        (
            {"quiet": False, "verbose": True},
            ["seed_file", "seed_domain", *2 * ["seed_failed"], "robots"],
        ),
    ],
)
def test_flags_choose_what_is_told(
    flags: dict[str, bool], events: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    show = SeedPrinter(json=True, **flags)
    sink = show.listen(HandClock(0.0))
    for event in EVENTS:
        sink.emit(event)
    told = [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()]
    assert told == [*events, "warning"]
    assert show.counts.dead == 1


@pytest.mark.req("MON-15")
def test_the_last_word_tells_alarms_even_to_whoever_wants_quiet(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show = SeedPrinter(json=False, quiet=True, verbose=False)
    show.conclude(OrchestrationReport(6, 6, 0), STANDING, judge_seeds(STANDING), 1.0)
    said = capsys.readouterr()
    assert said.out == "" and said.err.splitlines() == [
        "warning: alarm file_failures: 16.7% of raw files failed (1 of 6; limit 5%)"
    ]


def test_the_last_line_has_the_alarms_as_status_has_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show = SeedPrinter(json=True, quiet=False, verbose=False)
    show.conclude(OrchestrationReport(6, 6, 0), STANDING, judge_seeds(STANDING), 1.0)
    (alarm,) = json.loads(capsys.readouterr().out)["alarms"]
    assert (alarm["rule"], alarm["value"], alarm["limit"]) == ("file_failures", 0.1667, 0.05)


def test_whoever_has_rejects_is_told_where_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    show = SeedPrinter(json=False, quiet=False, verbose=False)
    show.conclude(OrchestrationReport(6, 6, 0), STANDING, (), 1.0)
    assert "rejects/" not in capsys.readouterr().err
    show.counts.rejected = 2
    show.conclude(OrchestrationReport(6, 6, 0), STANDING, (), 1.0)
    assert "hint: rejects/ of the dataset says which records" in capsys.readouterr().err


def drawn(standing: DatasetProgress | None, *, done: int = 30) -> list[str]:
    """Return the lines of a view after a minute, with single spaces."""
    screen = Console(file=StringIO(), width=80)
    screen.print(_view(standing, 60.0, done))
    file = screen.file
    assert isinstance(file, StringIO)
    return [" ".join(line.split()) for line in file.getvalue().splitlines() if line.strip()]
