"""Tenants, keys, usage, costs and the audit log on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from geomi.api.schema.wire import (
    WHOLE,
    Asked,
    Moment,
    Part,
    TenantName,
    Title,
    Told,
    moment,
    moment_or_none,
)
from geomi.model.index.language_model import MICROS, CostLine
from geomi.model.tenant import Quota
from geomi.service.access.audit import AuditEntry
from geomi.service.access.keys import MAX_LABEL_CHARS, ApiKey, CreatedKey, KeyRole, KeyScope, NewKey
from geomi.service.access.tenants import Tenant, UsageReport

MOST = 10**15
Most = Annotated[int, Field(ge=0, le=MOST, description="0: no limit."), WHOLE]


class QuotaAsked(Asked):
    """What a tenant may use."""

    max_concurrent_crawls: Most = 3
    max_waiting: Annotated[int, Field(ge=0, le=1000, description="0: no limit."), WHOLE] = 100
    max_daily_pages: Most = 1000
    max_storage_bytes: Most = 10**9

    def quota(self) -> Quota:
        """Return it as the service has it."""
        return Quota(
            self.max_concurrent_crawls,
            self.max_waiting,
            self.max_daily_pages,
            self.max_storage_bytes,
        )


class TenantRequest(Asked):
    """A tenant to be registered."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "acme", "title": "Acme", "quota": {"maxDailyPages": 5000}}]
        }
    )

    name: TenantName
    title: Title = ""
    quota: QuotaAsked = QuotaAsked()


class TenantChange(Asked):
    """What is to be different about a tenant."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"quota": {"maxConcurrentCrawls": 5}}]}
    )

    title: Title | None = None
    quota: QuotaAsked | None = None


class QuotaTold(Told):
    """What a tenant may use; 0 is no limit."""

    max_concurrent_crawls: int
    max_waiting: int
    max_daily_pages: int
    max_storage_bytes: int

    @classmethod
    def of(cls, quota: Quota) -> QuotaTold:
        """Write a quota."""
        return cls(
            max_concurrent_crawls=quota.max_concurrent_crawls,
            max_waiting=quota.max_waiting,
            max_daily_pages=quota.max_daily_pages,
            max_storage_bytes=quota.max_storage_bytes,
        )


class TenantTold(Told):
    """A tenant."""

    name: str = Field(examples=["acme"])
    title: str
    quota: QuotaTold
    created_at: datetime

    @classmethod
    def of(cls, tenant: Tenant) -> TenantTold:
        """Write a tenant."""
        return cls(
            name=tenant.name,
            title=tenant.title,
            quota=QuotaTold.of(tenant.quota),
            created_at=moment(tenant.created_at_s),
        )


class TenantsTold(Told):
    """Some tenants, by their names."""

    tenants: tuple[TenantTold, ...]
    next_cursor: str | None = None


class KeyRequest(Asked):
    """A key to be made."""

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


class KeyTold(Told):
    """A key, without what opens with it."""

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
    def of(cls, key: ApiKey) -> KeyTold:
        """Write a key."""
        return cls.model_validate(_key(key))


class KeyMinted(KeyTold):
    """A new key, and the text that is sent as `Authorization: Bearer`; it is shown only now."""

    key: str

    @classmethod
    def minted(cls, minted: CreatedKey) -> KeyMinted:
        """Write a new key."""
        return cls.model_validate(_key(minted.key) | {"key": minted.text})


class KeysTold(Told):
    """The keys of a tenant."""

    keys: tuple[KeyTold, ...]


class UsageTold(Told):
    """What a tenant has used of what it may use."""

    quota: QuotaTold
    day: str = Field(description="The day (UTC) that `pagesToday` is of.", examples=["2026-01-31"])
    pages_today: int
    stored_bytes: int
    running_crawls: int
    waiting_crawls: int

    @classmethod
    def of(cls, used: UsageReport) -> UsageTold:
        """Write usage."""
        return cls(
            quota=QuotaTold.of(used.quota),
            day=used.standing.day,
            pages_today=used.standing.pages,
            stored_bytes=used.standing.stored_bytes,
            running_crawls=used.running,
            waiting_crawls=used.waiting,
        )


class CostTold(Told):
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
    def of(cls, line: CostLine) -> CostTold:
        """Write a line of the ledger."""
        return cls(
            job_id=line.job,
            day=line.day,
            purpose=line.purpose,
            provider=line.provider,
            model=line.model,
            calls=line.calls,
            failures=line.failures,
            tokens_in=line.tokens_in,
            tokens_out=line.tokens_out,
            usd=line.micros / MICROS,
        )


class CostsTold(Told):
    """What models were paid for, and how much in all."""

    lines: tuple[CostTold, ...]
    total_usd: float


class AuditTold(Told):
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
    def of(cls, entry: AuditEntry) -> AuditTold:
        """Write an entry of the log."""
        return cls(
            id=entry.id,
            at=moment(entry.at_s),
            tenant=entry.tenant,
            key_id=entry.key,
            operation=entry.operation,
            method=entry.method,
            path=entry.path,
            status=entry.status,
        )


class AuditLogTold(Told):
    """Some changes, newest first."""

    entries: tuple[AuditTold, ...]
    next_cursor: str | None = None


class CostQuery(Asked):
    """Of which crawl; of all where none is named."""

    job_id: Annotated[str, Field(pattern=r"^[0-9A-HJKMNP-TV-Z]{26}$")] | None = None


class AuditQuery(Part):
    """Which part of the log is wanted."""


def _key(key: ApiKey) -> dict[str, object]:
    return {
        "key_id": key.id,
        "tenant": key.tenant,
        "role": key.role,
        "scopes": key.scopes,
        "label": key.label,
        "created_at": moment(key.created_at_s),
        "expires_at": moment_or_none(key.expires_at_s),
        "last_used_at": moment_or_none(key.used_at_s),
        "revoked_at": moment_or_none(key.revoked_at_s),
    }
