"""Alarms, and how a crawl was judged, on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import Field

from geomi.api.schema.wire import ResponseModel, moment, moment_or_none
from geomi.chunk.check import check, is_telling
from geomi.engine.inspect.alarms import AlarmRule, CrawlJudgement
from geomi.model.index.chunk import ChunkCounts, ChunkMeasure
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


class ChunkIndicatorResponse(ResponseModel):
    """One measure of a crawl's chunks, and its band; a share is 0 to 1."""

    measure: ChunkMeasure
    value: float | None
    least: float
    most: float | None
    healthy: bool
    advice: str


class ChunkQualityResponse(ResponseModel):
    """The chunks of the pages that a crawl has indexed."""

    pages: int
    chunks: int
    judged: bool = Field(description="Whether there are enough chunks for alarms.")
    indicators: tuple[ChunkIndicatorResponse, ...]

    @classmethod
    def of(cls, counts: ChunkCounts) -> Self:
        """Write counts with their measures."""
        return cls(
            pages=counts.pages,
            chunks=counts.chunks,
            judged=is_telling(counts),
            indicators=tuple(
                ChunkIndicatorResponse.from_fields(one, healthy=one.is_healthy)
                for one in check(counts)
            ),
        )


class CrawlAlarmResponse(ResponseModel):
    """A figure of a crawl that is out of its bounds now."""

    rule: AlarmRule
    subject: str
    value: float
    limit: float
    message: str


class CrawlQualityResponse(ResponseModel):
    """How a crawl is judged now."""

    job_id: str
    requests: int = Field(description="Requests that could succeed or fail: no redirects.")
    judged: bool = Field(description="Whether there are enough requests to judge their shares.")
    remarks: tuple[str, ...] = Field(description="What could not be judged, in words.")
    alarms: tuple[CrawlAlarmResponse, ...]
    chunks: ChunkQualityResponse

    @classmethod
    def of(cls, job: str, judgement: CrawlJudgement) -> Self:
        """Write a judgement."""
        return cls(
            job_id=job,
            requests=judgement.requests,
            judged=judgement.has_enough_requests,
            remarks=judgement.remarks,
            alarms=tuple(CrawlAlarmResponse.from_fields(one) for one in judgement.alarms),
            chunks=ChunkQualityResponse.of(judgement.chunks),
        )


class AlarmListResponse(ResponseModel):
    """Some alarms, those of the newest crawls first."""

    alarms: tuple[AlarmResponse, ...]
    next_cursor: str | None = None
