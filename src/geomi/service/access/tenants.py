"""Register tenants, and set and show what each may use and has used."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from geomi.app import TENANT as COMMAND_LINE
from geomi.errors import FieldRefused, NameTaken, QuotaReached, UnknownName
from geomi.model.index.language_model import CostLine
from geomi.model.job import BEGUN, JobState
from geomi.model.tenant import Quota, TenantUsage
from geomi.service.access import keys
from geomi.service.access.keys import ALL_SCOPES, CreatedKey, KeyRole, NewKey
from geomi.service.service import Service, TenantService, ValueNamespace

DEFAULT = "default"
MAX_TENANTS = 10_000
MAX_TITLE_CHARS = 200
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


@dataclass(frozen=True, slots=True)
class Tenant:
    """A customer of the service."""

    name: str
    created_at_s: float
    title: str = ""
    quota: Quota = field(default_factory=Quota)


async def create(
    service: Service, name: str, *, title: str = "", quota: Quota | None = None
) -> Tenant:
    """Register a tenant."""
    if not NAME.fullmatch(name):
        raise FieldRefused(
            f"`{name[:80]}` cannot be a tenant's name",
            field="name",
            hint="use lower-case letters, digits and hyphens, at most 63",
        )
    if name == COMMAND_LINE:
        raise FieldRefused(
            f"`{name}` is the tenant of the command line", field="name", hint="choose another name"
        )
    tenant = Tenant(name, service.office.wall_s, title, quota or Quota())
    async with service.office.door:
        if await _values(service).count() >= MAX_TENANTS:
            raise QuotaReached(f"there are {MAX_TENANTS} tenants, which is the limit")
        if not await _values(service).add(name, tenant):
            raise NameTaken(f"tenant `{name}` exists already")
    await _allow(service, tenant)
    return tenant


async def find(service: Service, name: str) -> Tenant:
    """Find a tenant by its name."""
    kept = await _values(service).get(name) if NAME.fullmatch(name) else None
    if kept is None:
        raise UnknownName(f"there is no tenant `{name[:80]}`")
    return kept.value


async def page(service: Service, *, after: str, limit: int) -> list[Tenant]:
    """List tenants in the order of their names, for paging."""
    return [kept.value for kept in await _values(service).list(after=after, limit=limit)]


async def every(service: Service) -> list[Tenant]:
    """List all tenants."""
    return [kept.value for kept in await _values(service).every()]


async def all_names(service: Service) -> list[str]:
    """Return all tenants, the command line's and others with a job included."""
    known = {tenant.name for tenant in await every(service)}
    return sorted({COMMAND_LINE, *known, *await service.home.store.roster.tenants()})


async def change(
    service: Service, name: str, *, title: str | None = None, quota: Quota | None = None
) -> Tenant:
    """Give a tenant another title or other limits."""
    await find(service, name)
    changed = await _values(service).amend(
        name,
        lambda old: replace(
            old,
            title=old.title if title is None else title,
            quota=old.quota if quota is None else quota,
        ),
    )
    if changed is None:
        raise UnknownName(f"there is no tenant `{name}`")
    await _allow(service, changed)
    return changed


async def delete_entry(service: Service, name: str) -> None:
    """Take a tenant's entry away, of which nothing else is left."""
    await _values(service).remove(name)


async def first_key(service: Service) -> CreatedKey | None:
    """Create the first tenant and its administrator's key, if there is no key yet."""
    if await keys.of_tenant(service, None):
        return None
    if await _values(service).get(DEFAULT) is None:
        await create(service, DEFAULT)
    return await keys.create(
        service, NewKey(DEFAULT, KeyRole.ADMIN, ALL_SCOPES, label="made at the first start")
    )


async def _allow(service: Service, tenant: Tenant) -> None:
    """Let the store keep to what a tenant may use."""
    await service.desk(tenant.name).home.store.quotas.allow(tenant.quota)


def _values(service: Service) -> ValueNamespace[Tenant]:
    return ValueNamespace(service.office.named_values, "tenants", Tenant)


@dataclass(frozen=True, slots=True)
class UsageReport:
    """How a tenant stands today."""

    quota: Quota
    standing: TenantUsage
    running: int
    waiting: int


async def usage(desk: TenantService) -> UsageReport:
    """Return what a tenant has used."""
    tenant = await find(desk.service, desk.tenant)
    standing = await desk.home.store.quotas.standing(wall_s=desk.wall_s)
    counts = await desk.world.store.jobs.counts()
    running = sum(counts.get(state, 0) for state in BEGUN)
    return UsageReport(tenant.quota, standing, running, counts.get(JobState.PENDING, 0))


async def costs(desk: TenantService, job: str = "") -> list[CostLine]:
    """List what models were paid for, of a job or of all."""
    return await desk.world.store.costs.list(job)
