"""The hosts' rows: read, written, what jobs ask of a host, and the caps that jobs share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geomi.adapters.store.accounting.hosts import (
    MINUTES_PER_DAY,
    HostDemands,
    HostRow,
    answered_s,
    minute_of,
    oldest_counted,
    permitted_s,
)
from geomi.adapters.store.rows import host_columns, host_row
from geomi.adapters.store.sqlite.connection import SqliteSession
from geomi.adapters.store.statements import statements
from geomi.model.entry import HostState, RequestCap, Settlement

SQL = statements("store.sqlite", "hosts")
WINDOWS = statements("store.sqlite", "windows")


def get_host(db: SqliteSession, host: str) -> HostRow:
    """Read a host; one that was never met is free."""
    row = db.execute(SQL["get"], (host,)).fetchone()
    return host_row(row) if row else HostRow(HostState(host))


def put_host(db: SqliteSession, row: HostRow) -> None:
    """Write a host; a lease that has ended also lets every queue of the host be looked at again."""
    db.execute(SQL["put"], host_columns(row))
    if row.lease_until_s == 0:
        db.execute(SQL["rest"], {"host": row.state.host, "ready_s": row.next_s})


def token_of(db: SqliteSession, host: str) -> int:
    """Return the token that a host was lent with last; 0 of one that was never met."""
    row = db.execute(SQL["token"], (host,)).fetchone()
    return int(row[0]) if row else 0


def close_entries(db: SqliteSession, closed: Mapping[str, Sequence[Settlement]]) -> None:
    """Count settled entries of hosts that stay lent, as `accounting.hosts.close` does."""
    rows = [(len(visits), answered_s(visits), host) for host, visits in closed.items()]
    db.executemany(SQL["close"], rows)


def demands_on(db: SqliteSession, host: str) -> HostDemands:
    """Return what the active jobs of a host ask of everybody."""
    return HostDemands(*db.execute(SQL["demands"], (host,)).fetchone())


def is_crowded(db: SqliteSession, host: str, ip: str | None, *, per_ip: int, now_s: float) -> bool:
    """Whether a host's address has its share of live leases on other hosts."""
    if ip is None:
        return False
    others = db.execute(SQL["crowd"], {"ip": ip, "host": host, "now_s": now_s}).fetchone()[0]
    return bool(others >= per_ip)


def lent_entries(db: SqliteSession, job: str, now_s: float) -> int:
    """Count the entries of a job that are lent and not settled."""
    return int(db.execute(SQL["lent_entries"], {"job": job, "now_s": now_s}).fetchone()[0])


def lent_hosts(db: SqliteSession, job: str, now_s: float) -> int:
    """Count the hosts that a job holds."""
    return int(db.execute(SQL["lent_hosts"], {"job": job, "now_s": now_s}).fetchone()[0])


def permit(db: SqliteSession, caps: Sequence[RequestCap], *, now_s: float) -> float:
    """Count one request if all caps leave room for it; else return when to ask again."""
    minute = minute_of(now_s)
    oldest = oldest_counted(minute, MINUTES_PER_DAY)
    earliest_s = max(
        permitted_s(
            db.execute(WINDOWS["counts"], (cap.domain, oldest)).fetchall(), cap, now_s=now_s
        )
        for cap in caps
    )
    if earliest_s <= now_s:
        db.executemany(WINDOWS["take"], ((cap.domain, minute) for cap in caps))
        db.execute(WINDOWS["forget"], (oldest,))
    return earliest_s
