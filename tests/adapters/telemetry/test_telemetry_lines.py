"""One JSON line an event, which no site can forge."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.adapters.telemetry.log_lines import EventLines
from geomi.model.dataset.seed import ErrorType
from geomi.model.event import (
    Event,
    JobEnded,
    JobStarted,
    PageSettled,
    RobotsFetched,
    RobotsJudged,
    SeedDomainDone,
    SeedEvent,
    SeedFailed,
    SeedFileDone,
    SeedSendFailed,
    SeedSkipped,
    Warned,
)
from geomi.model.verdict import Outcome, State


class StoppedClock:
    """A clock that shows one moment."""

    def now_s(self) -> float:
        return 5.0

    def wall_s(self) -> float:
        return 1_700_000_000.25

    async def sleep_until(self, when_s: float) -> None:
        raise AssertionError("nothing here waits")


def page(outcome: Outcome, state: State, *, detail: str = "") -> PageSettled:
    return PageSettled(
        job="01J",
        url="https://a.test/",
        outcome=outcome,
        state=state,
        status=200,
        depth=1,
        bytes_received=10,
        fetch_ms=3,
        links=2,
        detail=detail,
    )


def lines_of(event: Event) -> str:
    stream = io.StringIO()
    EventLines(stream, StoppedClock()).emit(event)
    return stream.getvalue()


def line_of(event: Event) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(lines_of(event))
    return read


def test_a_page_is_one_line() -> None:
    assert line_of(page(Outcome.OK, State.COMPLETED)) == {
        "event": "page",
        "ts": "2023-11-14T22:13:20.250Z",
        "level": "info",
        "job": "01J",
        "url": "https://a.test/",
        "outcome": "ok",
        "state": "completed",
        "status": 200,
        "depth": 1,
        "bytes_received": 10,
        "fetch_ms": 3,
        "links": 2,
        "detail": "",
    }


@pytest.mark.req("ROB-29")
def test_a_robots_line_has_the_fields_of_the_catalogue() -> None:
    line = line_of(RobotsFetched("01J", "a.test:443", 200, True, 12.5, 99))
    assert line["event"] == "robots"
    expected = {"host": "a.test:443", "status": 200, "fromCache": True, "ageSec": 12.5, "bytes": 99}
    assert line.items() >= expected.items()


@pytest.mark.req("ROB-30", "ROB-31", "MON-16")
def test_a_match_line_has_the_fields_of_the_catalogue() -> None:
    line = line_of(RobotsJudged("01J", "a.test:443", "/x?y", "DISALLOW", "/x", 2))
    assert (line["event"], line["level"]) == ("robots_match", "debug")
    expected = {"path": "/x?y", "decision": "DISALLOW", "winnerPattern": "/x", "matchLen": 2}
    assert line.items() >= expected.items()


@pytest.mark.req("ROB-31")
@pytest.mark.parametrize(
    ("event", "name", "level"),
    [
        (JobStarted("01J", ("https://a.test/",), False), "job_started", "info"),
        (page(Outcome.OK, State.COMPLETED), "page", "info"),
        (page(Outcome.ROBOTS, State.BLOCKED), "page", "info"),
        (page(Outcome.TIMEOUT, State.PENDING), "page", "info"),
        (page(Outcome.TIMEOUT, State.FAILED), "page", "warning"),
        (RobotsFetched("01J", "h", 200, False, 0.0, 1), "robots", "info"),
        (RobotsFetched("01J", "h", 404, False, 0.0, 1), "robots", "info"),
        (RobotsFetched("01J", "h", 429, False, 0.0, 1), "robots", "warning"),
        (RobotsFetched("01J", "h", 500, False, 0.0, 1), "robots", "warning"),
        (RobotsFetched("01J", "h", 0, False, 0.0, 0, "timeout"), "robots", "warning"),
        (Warned("01J", "look"), "warning", "warning"),
        (JobEnded("01J", "completed", "done", 1, 0, 2.0), "job_ended", "info"),
        (JobEnded("01J", "failed", "failed", 1, 0, 2.0), "job_ended", "error"),
    ],
)
def test_every_event_has_a_name_and_a_level(event: Event, name: str, level: str) -> None:
    line = line_of(event)
    assert (line["event"], line["level"]) == (name, level)


RAW = "raw/country=sg/category=news/date=2026-01-28/raw_0001.json"
PROD = "prod/country=sg/category=news/date=2026-01-28/mom.gov.sg"


@pytest.mark.req("SED-20", "SED-23")
@pytest.mark.parametrize(
    ("event", "name", "level", "sentence"),
    [
        (SeedFileDone(RAW, 3, 0, 9), "seed_file", "info", f"Processed {RAW}: 3 domains"),
        (SeedFileDone(RAW, 3, 1, 9), "seed_file", "warning", f"Processed {RAW}: 3 domains"),
        (SeedSkipped(RAW), "seed_skipped", "info", f"Already processed, skipping: {RAW}"),
        (
            SeedDomainDone("mom.gov.sg", 2, True, False, 9),
            "seed_domain",
            "info",
            "Domain processed: mom.gov.sg (2 URLs)",
        ),
        (
            SeedFailed("seed", RAW, ErrorType.PARSE, "no JSON", is_dead=False),
            "seed_failed",
            "warning",
            f"Seed processing failed: {RAW}",
        ),
        (
            SeedFailed("domain", PROD, ErrorType.NETWORK, "away", is_dead=True),
            "seed_failed",
            "error",
            "Domain processing failed: mom.gov.sg",
        ),
        (SeedSendFailed(RAW, "away"), "seed_send_failed", "error", f"Queue send failed: {RAW}"),
    ],
)
def test_the_seed_engine_is_told_in_the_words_of_the_catalogue(
    event: SeedEvent, name: str, level: str, sentence: str
) -> None:
    line = line_of(event)
    assert (line["event"], line["level"], line["sentence"]) == (name, level, sentence)


@given(st.text())
def test_no_text_forges_a_line_or_moves_a_cursor(text: str) -> None:
    written = lines_of(page(Outcome.OK, State.FAILED, detail=text))
    assert written.endswith("\n")
    assert written.isascii()
    assert written[:-1].isprintable()
    assert json.loads(written)["detail"] == text
