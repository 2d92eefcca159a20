"""What is written apart for its speed in each database: claims, settlements, and what they touch.

Everything else of a store is a table that is written once for both. `FrontierTable` gives each call
of the port its transaction; the database's own `HotPath` does the work in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from geomi.adapters.store.session import Database
from geomi.adapters.store.tables.jobs import number_of
from geomi.frontier.state import check_visit
from geomi.model.entry import Batch, Discovered, Lease, RemainingWork, RequestCap, Settled
from geomi.model.verdict import State

STATES = (State.PENDING, State.COMPLETED, State.FAILED, State.SKIPPED, State.BLOCKED)
HotSession = Any  # the database's own: a hot statement is no `Statement`


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """Who asks for hosts, for which job, and for how long."""

    job: str
    tenant: str
    owner: str
    lease_s: float
    now_s: float

    @property
    def until_s(self) -> float:
        """When the lease would end."""
        return self.now_s + self.lease_s


class HotPath(Protocol):
    """The work of `ports.frontier.Frontier`, each in a transaction that is open."""

    def add(
        self, db: HotSession, job: str, tenant: str, urls: Sequence[Discovered], now_s: float
    ) -> int:
        """Put URLs into a job's frontier; return how many were new."""
        ...

    def reopen(self, db: HotSession, number: int) -> int:
        """Let every page that a job has kept wait once more, for its links alone."""
        ...

    def claim(
        self, db: HotSession, ask: ClaimRequest, *, hosts: int, urls: int, wall_s: float
    ) -> list[Lease]:
        """Lend due hosts with their best entries."""
        ...

    def reserve(
        self, db: HotSession, ask: ClaimRequest, *, host: str, delay_s: float
    ) -> Lease | float:
        """Lend one named host, or say when it is free."""
        ...

    def renew(
        self, db: HotSession, leases: Sequence[Lease], *, until_s: float, now_s: float
    ) -> list[Lease]:
        """Prolong leases that are still live."""
        ...

    def place(self, db: HotSession, lease: Lease, ip: str, *, per_ip: int, now_s: float) -> bool:
        """Record the address behind a host."""
        ...

    def permit(self, db: HotSession, caps: Sequence[RequestCap], *, now_s: float) -> float:
        """Take one request off the shared caps, or say when to ask again."""
        ...

    def settle(self, db: HotSession, batch: Batch, *, tenant: str, max_queued: int) -> Settled:
        """Close visits and hosts."""
        ...

    def outlook(self, db: HotSession, job: str, tenant: str, now_s: float) -> RemainingWork:
        """Say what is left of a job and when the next of it is due."""
        ...

    def release_dead(self, db: HotSession, owners: Sequence[str], now_s: float) -> int:
        """End the leases of owners known to be dead."""
        ...


def remaining_work(counts: Sequence[int], leased: int, next_s: float | None) -> RemainingWork:
    """Return what is left of a job whose entries are counted in the order of `STATES`."""
    by_state = {state: many for state, many in zip(STATES, counts, strict=True) if many}
    return RemainingWork(pending=counts[0], leased=leased, next_s=next_s, by_state=by_state)


class FrontierTable:
    """`ports.frontier.Frontier` of one tenant."""

    def __init__(self, database: Database, hot: HotPath, tenant: str) -> None:
        self._database = database
        self._hot = hot
        self._tenant = tenant
        self.max_queued = 0

    async def add(self, job: str, urls: Sequence[Discovered], *, now_s: float) -> int:
        """Put URLs into a job's frontier; return how many were new."""
        return await self._database.write(
            lambda db: self._hot.add(db, job, self._tenant, urls, now_s)
        )

    async def reopen(self, job: str) -> int:
        """Let every page that a job has kept wait once more, for its links alone."""
        return await self._database.write(
            lambda db: self._hot.reopen(db, number_of(db, job, self._tenant))
        )

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
        ask = ClaimRequest(job, self._tenant, owner, lease_s, now_s)
        return await self._database.write(
            lambda db: self._hot.claim(db, ask, hosts=hosts, urls=urls, wall_s=wall_s)
        )

    async def reserve(
        self, job: str, host: str, *, owner: str, lease_s: float, delay_s: float, now_s: float
    ) -> Lease | float:
        """Lend one named host, or say when it is free."""
        ask = ClaimRequest(job, self._tenant, owner, lease_s, now_s)
        return await self._database.write(
            lambda db: self._hot.reserve(db, ask, host=host, delay_s=delay_s)
        )

    async def renew(self, leases: Sequence[Lease], *, lease_s: float, now_s: float) -> list[Lease]:
        """Prolong leases that are still live."""
        return await self._database.write(
            lambda db: self._hot.renew(db, leases, until_s=now_s + lease_s, now_s=now_s)
        )

    async def place(self, lease: Lease, ip: str, *, per_ip: int, now_s: float) -> bool:
        """Record the address behind a host."""
        return await self._database.write(
            lambda db: self._hot.place(db, lease, ip, per_ip=per_ip, now_s=now_s)
        )

    async def permit(self, caps: Sequence[RequestCap], *, now_s: float) -> float:
        """Take one request off the shared caps, or say when to ask again."""
        binding = [cap for cap in caps if cap.is_binding]
        if not binding:
            return now_s
        return await self._database.write(lambda db: self._hot.permit(db, binding, now_s=now_s))

    async def settle(self, batch: Batch) -> Settled:
        """Close visits and hosts; ValueError for a visit that the table of states forbids."""
        for visit in batch.settlements:
            check_visit(visit.entry.state, visit.outcome, visit.state)
        return await self._database.write(
            lambda db: self._hot.settle(db, batch, tenant=self._tenant, max_queued=self.max_queued)
        )
