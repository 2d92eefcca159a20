"""Events as text in a log: one JSON object a line, and the change reports of providers.

Event lines are pure ASCII, so that no page can forge a line or a colour. Field names are those of
`model/event.py`, except where the catalogue names them (ROB-29, ROB-30). `level` follows ROB-31:
matches are `debug`, summaries `info`, failures `warning`. A failed job and what the seed engine
gives up are `error`. Change reports have exactly the catalogue's form (RPT-02); their times are
UTC.
"""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime
from typing import TextIO, assert_never

from geomi.model.event import (
    Enriched,
    Event,
    JobEnded,
    JobStarted,
    Measured,
    PageSettled,
    Progressed,
    Reported,
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
from geomi.model.job import JobState
from geomi.model.verdict import State
from geomi.ports.runtime import Clock
from geomi.recrawl.report import write_notice

WRITTEN_AS = {
    "from_cache": "fromCache",  # ROB-29
    "age_s": "ageSec",
    "winner_pattern": "winnerPattern",  # ROB-30
    "match_len": "matchLen",
}
_COMPACT = (",", ":")


class EventLines:
    """Write each event to a stream as it happens."""

    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._stream = stream
        self._clock = clock

    def emit(self, event: Event) -> None:
        """Write one line and flush it at once: a person may follow the log."""
        name, level = _described(event)
        at = datetime.fromtimestamp(self._clock.wall_s(), UTC).isoformat(timespec="milliseconds")
        line = {"event": name, "ts": at.replace("+00:00", "Z"), "level": level}
        for field in fields(event):
            line[WRITTEN_AS.get(field.name, field.name)] = getattr(event, field.name)
        if isinstance(event, SeedEvent):
            line["sentence"] = event.sentence
        self._stream.write(json.dumps(line, separators=_COMPACT) + "\n")
        self._stream.flush()


def _described(event: Event) -> tuple[str, str]:
    """Return an event's name and level."""
    match event:
        case JobStarted():
            return "job_started", "info"
        case PageSettled(state=State.FAILED):
            return "page", "warning"
        case PageSettled():
            return "page", "info"
        case RobotsFetched(status=status):
            is_answer = 0 < status < 500 and status != 429  # a 404 is an answer: all is allowed
            return "robots", "info" if is_answer else "warning"
        case RobotsJudged():
            return "robots_match", "debug"
        case Progressed():
            return "progress", "info"
        case Warned():
            return "warning", "warning"
        case JobEnded(state=JobState.FAILED):
            return "job_ended", "error"
        case JobEnded():
            return "job_ended", "info"
        case Enriched(failed=failed):
            return "enriched", "warning" if failed else "info"
        case Measured():
            return "measured", "debug"
        case Reported():
            return "crawl_report", "info"
        case SeedFileDone(rejected=rejected):
            return "seed_file", "warning" if rejected else "info"
        case SeedSkipped():
            return "seed_skipped", "info"
        case SeedFailed(is_dead=is_dead):
            return "seed_failed", "error" if is_dead else "warning"
        case SeedDomainDone():
            return "seed_domain", "info"
        case SeedSendFailed():
            return "seed_send_failed", "error"
        case _:
            assert_never(event)


class ChangeReportLines:
    """Write the report of each provider's run to a stream; times are UTC."""

    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._stream = stream
        self._clock = clock

    def emit(self, event: Event) -> None:
        """Write a report; ignore every other event."""
        if isinstance(event, Reported):
            at = datetime.fromtimestamp(self._clock.wall_s(), UTC)
            self._stream.write("\n".join(write_notice(event, at)) + "\n")
            self._stream.flush()
