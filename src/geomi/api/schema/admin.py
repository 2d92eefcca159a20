"""Tenants, keys, usage, costs and the audit log on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from pydantic import ConfigDict, Field

from geomi.api.schema.wire import (
    WHOLE,
    ListQuery,
    Moment,
    RequestModel,
    ResponseModel,
    TenantName,
    Title,
    moment,
    moment_or_none,
)
from geomi.model.index.language_model import MICROS, CostLine
from geomi.model.site import Takedown
from geomi.model.tenant import Quota
from geomi.service.access.audit import AuditEntry
from geomi.service.access.keys import MAX_LABEL_CHARS, ApiKey, CreatedKey, KeyRole, KeyScope, NewKey
from geomi.service.access.tenants import Tenant, UsageReport

MOST = 10**15
DEFAULT_QUOTA = Quota()
Most = Annotated[int, Field(ge=0, le=MOST, description="0: no limit."), WHOLE]


class QuotaRequest(RequestModel):
    """What a tenant may use."""

    max_concurrent_crawls: Most = DEFAULT_QUOTA.max_concurrent_crawls
    max_waiting: Annotated[int, Field(ge=0, le=1000, description="0: no limit."), WHOLE] = (
        DEFAULT_QUOTA.max_waiting
    )
    max_daily_pages: Most = DEFAULT_QUOTA.max_daily_pages
    max_storage_bytes: Most = DEFAULT_QUOTA.max_storage_bytes

    def quota(self) -> Quota:
        """Return it as the service has it."""
        return Quota(**self.model_dump())


class TenantRequest(RequestModel):
    """A tenant to register."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "acme", "title": "Acme", "quota": {"maxDailyPages": 5000}}]
        }
    )

    name: TenantName
    title: Title = ""
    quota: QuotaRequest = QuotaRequest()


class TenantChange(RequestModel):
    """Changes of a tenant."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"quota": {"maxConcurrentCrawls": 5}}]}
    )

    title: Title | None = None
    quota: QuotaRequest | None = None


class QuotaResponse(ResponseModel):
    """What a tenant may use; 0 is no limit."""

    max_concurrent_crawls: int
    max_waiting: int
    max_daily_pages: int
    max_storage_bytes: int


class TenantResponse(ResponseModel):
    """A tenant."""

    name: str = Field(examples=["acme"])
    title: str
    quota: QuotaResponse
    created_at: datetime

    @classmethod
    def of(cls, tenant: Tenant) -> TenantResponse:
        """Write a tenant."""
        return cls.from_fields(
            tenant,
            quota=QuotaResponse.from_fields(tenant.quota),
            created_at=moment(tenant.created_at_s),
        )


class TenantListResponse(ResponseModel):
    """Some tenants, by their names."""

    tenants: tuple[TenantResponse, ...]
    next_cursor: str | None = None


class KeyRequest(RequestModel):
    """A key to create."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"label": "reader of the wiki", "scopes": ["read"]}]}
    )

    scopes: Annotated[tuple[KeyScope, ...], Field(min_length=1, max_length=len(KeyScope))] = (
        KeyScope.READ,
        KeyScope.WRITE,
    )
    label: Annotated[str, Field(max_length=MAX_LABEL_CHARS, pattern=r"^[^\x00-\x1f\x7f]*$")] = ""
    expires_at: Moment | None = None

    def wish(self, tenant: str) -> NewKey:
        """Return it as the service takes it: a key that the API makes is a tenant's."""
        expires_at_s = self.expires_at.timestamp() if self.expires_at else None
        scopes = tuple(dict.fromkeys(self.scopes))
        return NewKey(tenant, KeyRole.TENANT, scopes, self.label, expires_at_s)


class KeyResponse(ResponseModel):
    """A key, without its secret."""

    key_id: str = Field(examples=["0a1b2c3d4e5f"])
    tenant: str
    role: KeyRole
    scopes: tuple[KeyScope, ...]
    label: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None = Field(description="To the hour.")
    revoked_at: datetime | None

    @classmethod
    def of(cls, key: ApiKey, /, **more: str) -> Self:
        """Write a key."""
        return cls.from_fields(
            key,
            key_id=key.id,
            created_at=moment(key.created_at_s),
            expires_at=moment_or_none(key.expires_at_s),
            last_used_at=moment_or_none(key.used_at_s),
            revoked_at=moment_or_none(key.revoked_at_s),
            **more,
        )


class KeyCreatedResponse(KeyResponse):
    """A new key, and its text for `Authorization: Bearer`; the service shows it only now."""

    key: str

    @classmethod
    def minted(cls, minted: CreatedKey) -> Self:
        """Write a new key."""
        return cls.of(minted.key, key=minted.text)


class KeyListResponse(ResponseModel):
    """The keys of a tenant."""

    keys: tuple[KeyResponse, ...]


class UsageResponse(ResponseModel):
    """What a tenant may use, and has used."""

    quota: QuotaResponse
    day: str = Field(description="The day (UTC) of `pagesToday`.", examples=["2026-01-31"])
    pages_today: int
    stored_bytes: int
    running_crawls: int
    waiting_crawls: int

    @classmethod
    def of(cls, used: UsageReport) -> UsageResponse:
        """Write usage."""
        return cls(
            quota=QuotaResponse.from_fields(used.quota),
            day=used.standing.day,
            pages_today=used.standing.pages,
            stored_bytes=used.standing.stored_bytes,
            running_crawls=used.running,
            waiting_crawls=used.waiting,
        )


class CostLineResponse(ResponseModel):
    """What one model did for one crawl and one purpose on one day."""

    job_id: str
    day: str
    purpose: str
    provider: str
    model: str
    calls: int
    failures: int
    tokens_in: int
    tokens_out: int
    usd: float

    @classmethod
    def of(cls, line: CostLine) -> CostLineResponse:
        """Write a line of the ledger."""
        return cls.from_fields(line, job_id=line.job, usd=line.micros / MICROS)


class CostListResponse(ResponseModel):
    """The costs of models, and their sum."""

    lines: tuple[CostLineResponse, ...]
    total_usd: float


class AuditEntryResponse(ResponseModel):
    """One change that was made through the API."""

    id: str
    at: datetime
    tenant: str
    key_id: str
    operation: str = Field(examples=["startCrawl"])
    method: str
    path: str
    status: int

    @classmethod
    def of(cls, entry: AuditEntry) -> AuditEntryResponse:
        """Write an entry of the log."""
        return cls.from_fields(entry, at=moment(entry.at_s), key_id=entry.key)


class AuditLogResponse(ResponseModel):
    """Some changes, newest first."""

    entries: tuple[AuditEntryResponse, ...]
    next_cursor: str | None = None


class CostQuery(RequestModel):
    """The crawl; without one, all crawls."""

    job_id: Annotated[str, Field(pattern=r"^[0-9A-HJKMNP-TV-Z]{26}$")] | None = None


class AuditQuery(ListQuery):
    """The part of the log to return."""


class TenantErasedResponse(ResponseModel):
    """What was erased with a tenant."""

    name: str
    reason: str
    crawls: int
    pages: int

    @classmethod
    def of(cls, line: Takedown) -> TenantErasedResponse:
        """Write the line that is left."""
        return cls(name=line.name, reason=line.reason, crawls=line.jobs, pages=line.pages)
