"""Write and read the audit log; each tenant reads its own changes, an administrator all."""

from __future__ import annotations

from dataclasses import dataclass

from geomi.service.access.keys import Caller
from geomi.service.service import Service, TenantService, ValueNamespace, delete_expired_values

MAX_PATH_CHARS = 300
KEPT_S = 365 * 86_400.0
NAMESPACE = "audit"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change that was made.

    Args:
        operation: what was asked for, by the name that the API's document has for it.
        path: of what; never a body, which may hold secrets.
    """

    id: str
    at_s: float
    tenant: str
    key: str
    operation: str
    method: str
    path: str
    status: int


async def record(
    service: Service, caller: Caller, *, operation: str, method: str, path: str, status: int
) -> None:
    """Write down that a caller has changed something, for its tenant and for the system."""
    await delete_expired_values(service, NAMESPACE)
    for desk in (caller.desk, service.office):
        entry = AuditEntry(
            desk.new_id(),
            desk.wall_s,
            caller.tenant,
            caller.key.id,
            operation,
            method,
            path[:MAX_PATH_CHARS],
            status,
        )
        await _values(desk).add(entry.id, entry, due_at_s=entry.at_s + KEPT_S)


async def page(desk: TenantService, *, before: str, limit: int) -> list[AuditEntry]:
    """List what was changed, newest first."""
    found = await _values(desk).list(after=before, limit=limit, is_backwards=True)
    return [kept.value for kept in found]


def _values(desk: TenantService) -> ValueNamespace[AuditEntry]:
    return ValueNamespace(desk.named_values, NAMESPACE, AuditEntry)
