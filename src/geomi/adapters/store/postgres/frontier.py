"""The frontier: URLs in, leases out, visits closed; each call is one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from geomi.adapters.store.accounting.counters import FoundUrls
from geomi.adapters.store.accounting.hosts import as_lease, prolong
from geomi.adapters.store.postgres.cash import inherit_cash, terms_here
from geomi.adapters.store.postgres.claim import ClaimRequest, claim, reserve
from geomi.adapters.store.postgres.connection import PostgresDatabase
from geomi.adapters.store.postgres.hosts import (
    demands_on,
    is_crowded,
    lock_hosts,
    permit,
    write_hosts,
)
from geomi.adapters.store.postgres.links import LinkBatch, add, reopen
from geomi.adapters.store.postgres.session import PostgresSession
from geomi.adapters.store.postgres.settle import settle
from geomi.adapters.store.tables.jobs import number_of
from geomi.model.entry import Batch, Discovered, Lease, Settled


class PostgresFrontier:
    """`ports.store.Frontier` of one tenant."""

    def __init__(self, database: PostgresDatabase, tenant: str) -> None:
        self._database = database
        self._tenant = tenant
        self.max_queued = 0

    async def add(self, job: str, urls: Sequence[Discovered], *, now_s: float) -> int:
        """Put URLs into a job's frontier; return how many were new."""
        return await self._database.write(partial(self._add, job=job, urls=urls, now_s=now_s))

    async def reopen(self, job: str) -> int:
        """Let every page that a job has kept wait once more, for its links alone."""
        return await self._database.write(partial(self._reopen, job=job))

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
        work = partial(claim, ask=ask, hosts=hosts, urls=urls, wall_s=wall_s)
        return await self._database.write(work)

    async def reserve(
        self, job: str, host: str, *, owner: str, lease_s: float, delay_s: float, now_s: float
    ) -> Lease | float:
        """Lend one named host, or say when it is free."""
        ask = ClaimRequest(job, self._tenant, owner, lease_s, now_s)
        return await self._database.write(partial(reserve, ask=ask, host=host, delay_s=delay_s))

    async def renew(self, leases: Sequence[Lease], *, lease_s: float, now_s: float) -> list[Lease]:
        """Prolong leases that are still live."""
        return await self._database.write(
            partial(_renew, leases=leases, until_s=now_s + lease_s, now_s=now_s)
        )

    async def place(self, lease: Lease, ip: str, *, per_ip: int, now_s: float) -> bool:
        """Record the address behind a host."""
        return await self._database.write(
            partial(_place, lease=lease, ip=ip, per_ip=per_ip, now_s=now_s)
        )

    async def permit(self, *, per_hour: int, per_day: int, now_s: float) -> float:
        """Take one request off the shared caps, or say when to ask again."""
        if not per_hour and not per_day:
            return now_s
        return await self._database.write(
            partial(permit, per_hour=per_hour, per_day=per_day, now_s=now_s)
        )

    async def settle(self, batch: Batch) -> Settled:
        """Close visits and hosts."""
        return await self._database.write(
            partial(settle, batch=batch, tenant=self._tenant, max_queued=self.max_queued)
        )

    def _add(
        self, db: PostgresSession, *, job: str, urls: Sequence[Discovered], now_s: float
    ) -> int:
        terms = terms_here(db, job, self._tenant)
        finds = FoundUrls()
        finds.take(terms.number, urls, now_s)
        links = LinkBatch(db, finds)
        new = add(db, links)
        if terms.share is not None:
            inherit_cash(db, terms, links)
        return new

    def _reopen(self, db: PostgresSession, *, job: str) -> int:
        return reopen(db, number_of(db, job, self._tenant))


def _renew(
    db: PostgresSession, *, leases: Sequence[Lease], until_s: float, now_s: float
) -> list[Lease]:
    rows = lock_hosts(db, [lease.host for lease in leases])
    live = [
        (lease, prolong(row, until_s=until_s))
        for lease in leases
        if (row := rows[lease.host]).token == lease.token and row.is_lent(now_s)
    ]
    if not live:
        return []
    write_hosts(db, [row for _, row in live])
    demands = demands_on(db, [lease.host for lease, _ in live])
    return [as_lease(row, lease.job, demands[lease.host], lease.entries) for lease, row in live]


def _place(db: PostgresSession, *, lease: Lease, ip: str, per_ip: int, now_s: float) -> bool:
    row = lock_hosts(db, [lease.host])[lease.host]
    if row.token != lease.token or not row.is_lent(now_s):
        return False
    write_hosts(db, [replace(row, state=replace(row.state, ip=ip))])
    return not is_crowded(db, lease.host, ip, per_ip=per_ip, now_s=now_s)
