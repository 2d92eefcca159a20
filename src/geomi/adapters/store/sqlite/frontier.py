"""The frontier: URLs in, leases out, visits closed; each call is one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from geomi.adapters.store.accounting.counters import FoundUrls
from geomi.adapters.store.accounting.hosts import as_lease, prolong
from geomi.adapters.store.sqlite.cash import inherit_cash, terms_here
from geomi.adapters.store.sqlite.claim import ClaimRequest, claim, reserve
from geomi.adapters.store.sqlite.connection import SqliteDatabase, SqliteSession
from geomi.adapters.store.sqlite.hosts import demands_on, get_host, is_crowded, permit, put_host
from geomi.adapters.store.sqlite.links import find_queue, insert_finds, new_targets, reopen
from geomi.adapters.store.sqlite.settle import settle
from geomi.adapters.store.tables.jobs import number_of
from geomi.model.entry import Batch, Discovered, Lease, Settled


class SqliteFrontier:
    """`ports.store.Frontier` of one tenant."""

    def __init__(self, database: SqliteDatabase, tenant: str) -> None:
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
        work = partial(reserve, ask=ask, host=host, delay_s=delay_s)
        return await self._database.write(work)

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

    def _add(self, db: SqliteSession, *, job: str, urls: Sequence[Discovered], now_s: float) -> int:
        terms = terms_here(db, job, self._tenant)
        finds = FoundUrls()
        finds.take(terms.number, urls, now_s)
        if terms.share is None:
            return insert_finds(db, finds)[0]
        added = new_targets(db, finds)
        new, _ = insert_finds(db, finds)
        inherit_cash(db, terms, added, partial(find_queue, db, terms.number))
        return new

    def _reopen(self, db: SqliteSession, *, job: str) -> int:
        return reopen(db, number_of(db, job, self._tenant))


def _renew(
    db: SqliteSession, *, leases: Sequence[Lease], until_s: float, now_s: float
) -> list[Lease]:
    renewed = []
    for lease in leases:
        row = get_host(db, lease.host)
        if row.token == lease.token and row.is_lent(now_s):
            row = prolong(row, until_s=until_s)
            put_host(db, row)
            renewed.append(as_lease(row, lease.job, demands_on(db, lease.host), lease.entries))
    return renewed


def _place(db: SqliteSession, *, lease: Lease, ip: str, per_ip: int, now_s: float) -> bool:
    row = get_host(db, lease.host)
    if row.token != lease.token or not row.is_lent(now_s):
        return False
    put_host(db, replace(row, state=replace(row.state, ip=ip)))
    return not is_crowded(db, lease.host, ip, per_ip=per_ip, now_s=now_s)
