"""Schedules and webhooks on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict, JsonValue

from geomi.api.schema.crawl import CrawlRequest
from geomi.api.schema.wire import (
    WHOLE,
    Flag,
    HttpUrl,
    ListQuery,
    RequestModel,
    ResponseModel,
    Title,
    moment,
    moment_or_none,
)
from geomi.service.crawling.schedules import (
    MAX_CRON_CHARS,
    MAX_INTERVAL_S,
    MIN_INTERVAL_S,
    Schedule,
    ScheduleTiming,
)
from geomi.service.deliveries import Delivery, DeliveryState
from geomi.service.webhooks import ENDS, MAX_METADATA, HookEvent, Webhook

CronLine = Annotated[
    str,
    Field(
        max_length=MAX_CRON_CHARS,
        pattern=r"^[A-Za-z0-9@*/, -]+$",
        description="Minute, hour, day, month, weekday, in UTC.",
        examples=["0 3 * * 1"],
    ),
]
Interval = Annotated[
    int,
    Field(ge=MIN_INTERVAL_S, le=MAX_INTERVAL_S, description="Seconds from one run to the next."),
    WHOLE,
]
Metadata = Annotated[
    dict[
        Annotated[str, Field(max_length=100)],
        Annotated[str, Field(max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")],
    ],
    Field(max_length=MAX_METADATA),
]
Events = Annotated[tuple[HookEvent, ...], Field(min_length=1, max_length=len(HookEvent))]


_BOTH_TIMES: JsonDict = {
    "required": ["cron", "intervalSeconds"],
    "properties": {"cron": {"type": "string"}, "intervalSeconds": {"type": "integer"}},
}
_ONE_TIME: list[JsonValue] = [
    {"required": ["cron"], "properties": {"cron": {"type": "string"}}},
    {"required": ["intervalSeconds"], "properties": {"intervalSeconds": {"type": "integer"}}},
]


class ScheduleRequest(RequestModel):
    """A crawl to start again and again, by either `cron` or `intervalSeconds`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "title": "every Monday",
                    "cron": "0 3 * * 1",
                    "crawl": {
                        "collectionId": "handbook",
                        "seedUrls": ["https://docs.example.com/"],
                    },
                }
            ],
            "oneOf": _ONE_TIME,
        }
    )

    crawl: CrawlRequest
    cron: CronLine | None = None
    interval_seconds: Interval | None = None
    title: Title = ""
    enabled: Flag = True

    def timing(self) -> ScheduleTiming:
        """Return when it is due."""
        return ScheduleTiming(self.cron or "", self.interval_seconds or 0)


class ScheduleChange(RequestModel):
    """Changes of a schedule."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"enabled": False}], "not": _BOTH_TIMES}
    )

    cron: CronLine | None = None
    interval_seconds: Interval | None = None
    title: Title | None = None
    enabled: Flag | None = None

    def timing(self) -> ScheduleTiming | None:
        """Return when it is due from now on; None where that stays."""
        if self.cron is None and self.interval_seconds is None:
            return None
        return ScheduleTiming(self.cron or "", self.interval_seconds or 0)


class ScheduleResponse(ResponseModel):
    """A schedule."""

    schedule_id: str
    title: str
    collection_id: str
    seed_urls: tuple[str, ...]
    cron: str | None
    interval_seconds: int | None
    enabled: bool
    created_at: datetime
    next_run_at: datetime | None
    last_run_at: datetime | None
    last_job_id: str | None
    problem: str | None = Field(description="Why the last run did not start.")

    @classmethod
    def of(cls, one: Schedule) -> ScheduleResponse:
        """Write a schedule."""
        return cls(
            schedule_id=one.id,
            title=one.title,
            collection_id=one.order.collection,
            seed_urls=one.order.seeds,
            cron=one.timing.cron or None,
            interval_seconds=one.timing.interval_s or None,
            enabled=one.is_enabled,
            created_at=moment(one.created_at_s),
            next_run_at=moment_or_none(one.next_at_s),
            last_run_at=moment_or_none(one.last_at_s),
            last_job_id=one.last_job or None,
            problem=one.problem or None,
        )


class ScheduleListResponse(ResponseModel):
    """Some schedules, in the order of their creation."""

    schedules: tuple[ScheduleResponse, ...]
    next_cursor: str | None = None


class WebhookRequest(RequestModel):
    """A URL that the service calls about crawls."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"url": "https://hooks.example.com/geomi", "events": ["crawl.completed"]}]
        }
    )

    url: HttpUrl
    events: Events = ENDS
    metadata: Metadata = Field(default={}, description="An extra value in every delivery.")


class WebhookChange(RequestModel):
    """Changes of a webhook."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"enabled": False}]})

    url: HttpUrl | None = None
    events: Events | None = None
    metadata: Metadata | None = None
    enabled: Flag | None = None


class WebhookResponse(ResponseModel):
    """A webhook, without its secret."""

    webhook_id: str
    url: str
    events: tuple[HookEvent, ...]
    metadata: dict[str, str]
    enabled: bool
    created_at: datetime

    @classmethod
    def of(cls, hook: Webhook, **more: str) -> Self:
        """Write a webhook."""
        return cls.from_fields(
            hook,
            webhook_id=hook.id,
            enabled=hook.is_enabled,
            created_at=moment(hook.created_at_s),
            **more,
        )


class WebhookCreatedResponse(WebhookResponse):
    """A new webhook, and the secret that signs its deliveries; the service shows it only now."""

    secret: str

    @classmethod
    def made(cls, hook: Webhook) -> Self:
        """Write a new webhook."""
        return cls.of(hook, secret=hook.secret)


class WebhookListResponse(ResponseModel):
    """Some webhooks, in the order of their creation."""

    webhooks: tuple[WebhookResponse, ...]
    next_cursor: str | None = None


class DeliveryListQuery(ListQuery):
    """The deliveries to list; those without tries left are `dead`."""

    state: DeliveryState | None = None


class DeliveryResponse(ResponseModel):
    """One event that is sent to a webhook."""

    delivery_id: str
    event: HookEvent
    job_id: str
    state: DeliveryState
    attempts: int
    created_at: datetime
    next_attempt_at: datetime | None
    last_attempt_at: datetime | None
    last_status: int | None
    last_error: str | None

    @classmethod
    def of(cls, one: Delivery) -> DeliveryResponse:
        """Write a delivery."""
        return cls.from_fields(
            one,
            delivery_id=one.id,
            job_id=one.job,
            created_at=moment(one.created_at_s),
            next_attempt_at=moment_or_none(one.next_at_s),
            last_attempt_at=moment_or_none(one.last_at_s),
            last_error=one.last_error or None,
        )


class DeliveryListResponse(ResponseModel):
    """Some deliveries, newest first; a part may be shorter than `limit`."""

    deliveries: tuple[DeliveryResponse, ...]
    next_cursor: str | None = None
