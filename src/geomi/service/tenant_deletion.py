"""Erase a tenant, with everything that geomi collected and stored for it.

The order of the steps makes it safe to interrupt the operation at any point and to repeat it.
First the keys and schedules are deleted, so that no client has access and no crawl starts. Then
the crawls with all their data are erased, then the stored values and queues, and the tenant's own
entry last. The line of the takedown, the system's audit log and the costs of models stay.
"""

from __future__ import annotations

from collections.abc import Sequence

from geomi.app.index import delete_from_index
from geomi.app.use import channels, providers
from geomi.app.use.deletion import MAX_REASON_CHARS, erase_jobs
from geomi.engine.host import sign_in
from geomi.engine.visit import traffic
from geomi.errors import FieldRefused
from geomi.model.index.search import IndexScope
from geomi.model.site import Takedown
from geomi.service import alarms, collections, deliveries, webhooks
from geomi.service.access import audit, idempotency, keys, tenants
from geomi.service.crawling import schedules
from geomi.service.service import Service, TenantService

# Schedules first, so that none of them starts a crawl meanwhile.
TENANT_NAMESPACES: Sequence[str] = (
    schedules.NAMESPACE,
    webhooks.NAMESPACE,
    deliveries.NAMESPACE,
    collections.NAMESPACE,
    alarms.NAMESPACE,
    alarms.FIRING_NAMESPACE,
    collections.CHUNKS_NAMESPACE,
    idempotency.NAMESPACE,
    audit.NAMESPACE,
    channels.FINDINGS_NAMESPACE,
    sign_in.NAMESPACE,
    traffic.NAMESPACE,
)


async def erase_tenant(service: Service, name: str, reason: str) -> Takedown:
    """Erase a tenant; return how many crawls and pages went."""
    if len(reason) > MAX_REASON_CHARS:
        raise FieldRefused(f"a reason has at most {MAX_REASON_CHARS} characters", field="reason")
    await tenants.find(service, name)
    desk = service.desk(name)
    await keys.delete(service, await keys.of_tenant(service, name))
    await _empty(desk, schedules.NAMESPACE)
    jobs = await desk.world.store.jobs.list(limit=providers.EVERY_JOB)
    line = Takedown(f"tenant {name}", name, reason, desk.wall_s, len(jobs), 0)
    if jobs:
        line = await erase_jobs(desk.home, jobs, line)
    await delete_from_index(desk.home, IndexScope.TENANT, [name])
    for namespace in TENANT_NAMESPACES:
        await _empty(desk, namespace)
    await desk.home.store.queues.erase()
    await desk.home.store.scrub()
    await tenants.delete_entry(service, name)
    return line


async def _empty(desk: TenantService, namespace: str) -> None:
    while named_values := await desk.named_values.list(namespace, limit=100):
        for named in named_values:
            await desk.named_values.remove(named)
