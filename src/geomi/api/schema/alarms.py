"""Alarms on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from geomi.api.schema.wire import ResponseModel, moment, moment_or_none
from geomi.engine.inspect.alarms import AlarmRule
from geomi.service.alarms import KeptAlarm


class AlarmResponse(ResponseModel):
    """One figure of a crawl, or of a dataset, that is out of its bounds.

    An alarm of a dataset has a `dataset` and no `jobId`, and a `clearedAt` when it is over.
    """

    id: str
    at: datetime
    job_id: str
    collection_id: str
    rule: AlarmRule
    subject: str
    value: float
    limit: float
    message: str
    dataset: str = ""
    cleared_at: datetime | None = None

    @classmethod
    def of(cls, kept: KeptAlarm) -> Self:
        """Write an alarm as the wire has it."""
        return cls.from_fields(
            kept.alarm,
            id=kept.id,
            at=moment(kept.at_s),
            job_id=kept.job,
            collection_id=kept.collection,
            dataset=kept.dataset,
            cleared_at=moment_or_none(kept.cleared_at_s),
        )


class AlarmListResponse(ResponseModel):
    """Some alarms, those of the newest crawls first."""

    alarms: tuple[AlarmResponse, ...]
    next_cursor: str | None = None
