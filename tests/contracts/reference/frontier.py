"""The frontier: URLs in, leases out, visits closed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from geomi.adapters.store.accounting.hosts import as_lease, prolong
from geomi.model.entry import Batch, Discovered, Lease, RequestCap, Settled
from tests.contracts.reference.claim import Ask, claim, reserve
from tests.contracts.reference.settle import add, reopen, settle
from tests.contracts.reference.windows import permit
from tests.contracts.reference.world import World


class MemoryFrontier:
    """`ports.frontier.Frontier` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant
        self.max_queued = 0

    async def add(self, job: str, urls: Sequence[Discovered], *, now_s: float) -> int:
        """Put URLs into a job's frontier; return how many were new."""
        return add(self._world, self._world.book(job, self._tenant), urls, now_s=now_s)

    async def reopen(self, job: str) -> int:
        """Let every page that a job has kept wait once more, for its links alone."""
        return reopen(self._world, self._world.book(job, self._tenant))

    async def claim(
        self,
        job: str,
        *,
        owner: str,
        hosts: int,
        urls: int,
        lease_s: float,
        now_s: float,
        wall_s: float,
    ) -> list[Lease]:
        """Lend due hosts with their best entries."""
        ask = Ask(job, self._tenant, owner, lease_s, now_s)
        return claim(self._world, ask, hosts=hosts, urls=urls, wall_s=wall_s)

    async def reserve(
        self, job: str, host: str, *, owner: str, lease_s: float, delay_s: float, now_s: float
    ) -> Lease | float:
        """Lend one named host, or say when it is free."""
        ask = Ask(job, self._tenant, owner, lease_s, now_s)
        return reserve(self._world, ask, host=host, delay_s=delay_s)

    async def renew(self, leases: Sequence[Lease], *, lease_s: float, now_s: float) -> list[Lease]:
        """Prolong leases that are still live."""
        world, renewed = self._world, []
        for lease in leases:
            row = world.host(lease.host)
            if row.token == lease.token and row.is_lent(now_s):
                row = prolong(row, until_s=now_s + lease_s)
                world.put_host(row)
                demands = world.demands_on(lease.host)
                renewed.append(as_lease(row, lease.job, demands, lease.entries))
        return renewed

    async def place(self, lease: Lease, ip: str, *, per_ip: int, now_s: float) -> bool:
        """Record the address behind a host."""
        world = self._world
        row = world.host(lease.host)
        if row.token != lease.token or not row.is_lent(now_s):
            return False
        world.put_host(replace(row, state=replace(row.state, ip=ip)))
        return not world.is_crowded(lease.host, ip, per_ip=per_ip, now_s=now_s)

    async def permit(self, caps: Sequence[RequestCap], *, now_s: float) -> float:
        """Take one request off the shared caps, or say when to ask again."""
        binding = [cap for cap in caps if cap.is_binding]
        return permit(self._world.minutes, binding, now_s=now_s) if binding else now_s

    async def settle(self, batch: Batch) -> Settled:
        """Close visits and hosts."""
        return settle(self._world, batch, tenant=self._tenant, max_queued=self.max_queued)
