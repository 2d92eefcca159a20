"""The hosts' rows: locked, read, written, what jobs ask of a host, and the caps that jobs share.

Rows are locked in the order of their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from geomi.adapters.store.accounting.hosts import (
    MINUTES_PER_DAY,
    HostDemands,
    HostRow,
    answered_s,
    minute_of,
    oldest_counted,
    permitted_s,
)
from geomi.adapters.store.postgres.session import Answer, PostgresSession, columns
from geomi.adapters.store.rows import host_columns, host_row
from geomi.adapters.store.statements import statements
from geomi.model.entry import HostState, RequestCap, Settlement

SQL = statements("store.postgres", "hosts")
WINDOWS = statements("store.postgres", "windows")
_NAMES = (
    "host", "last_end_s", "crawl_delay_s", "backoff_s", "errors", "latency_s", "ip", "template",
    "next_s", "token", "owner", "job", "leased", "lease_until_s",
)  # fmt: skip


def lock_hosts(db: PostgresSession, hosts: Iterable[str]) -> dict[str, HostRow]:
    """Read hosts and keep them for this transaction; one that was never met is free."""
    names = list(dict.fromkeys(hosts))
    return read_hosts(ask_hosts(db, names), names)


def ask_hosts(db: PostgresSession, hosts: Sequence[str]) -> Answer:
    """Keep hosts for this transaction; `read_hosts` reads the answer, others may be asked before.

    Whatever is asked after this sees what was committed before the locks were got.
    """
    return db.ask(SQL["lock"], {"hosts": list(hosts)})


def read_hosts(answer: Answer, hosts: Iterable[str]) -> dict[str, HostRow]:
    """Read hosts that are kept; one that was never met is free."""
    rows = {name: HostRow(HostState(name)) for name in hosts}
    for row in answer.fetchall():
        rows[row[0]] = host_row(row)
    return rows


def lock_host(db: PostgresSession, host: str) -> HostRow:
    """Read one host and keep it for this transaction, also one that is met for the first time."""
    db.send(SQL["meet"], {"hosts": [host]})
    return lock_hosts(db, [host])[host]


def write_hosts(db: PostgresSession, rows: Sequence[HostRow]) -> None:
    """Write hosts whose rows are locked; `rest_hosts` has to follow."""
    if rows:
        db.send(SQL["put"], columns([_columns(row) for row in rows], _NAMES))


def close_entries(db: PostgresSession, closed: Mapping[str, Sequence[Settlement]]) -> None:
    """Count settled entries of hosts that stay lent, as `accounting.hosts.close` does.

    All are locked. Little else of them changes, and most of a host's row is what its pages repeat.
    """
    rows = [(host, len(visits), answered_s(visits)) for host, visits in closed.items()]
    if rows:
        db.send(SQL["close"], columns(rows, ("hosts", "closed", "answered_s")))


def lock_queues(db: PostgresSession, queues: Iterable[int], rows: Iterable[HostRow] = ()) -> None:
    """Keep queues for this transaction, with every queue of hosts that were given back.

    Whoever changes queues locks all of them first, in one order, so that nobody waits in a ring.
    """
    ended = [row.state.host for row in rows if row.lease_until_s == 0]
    db.send(SQL["lock_queues"], {"queues": list(queues), "hosts": ended})


def rest_hosts(db: PostgresSession, rows: Iterable[HostRow]) -> None:
    """Let every queue of hosts that were given back be looked at when they are free."""
    ended = [(row.state.host, float(row.next_s)) for row in rows if row.lease_until_s == 0]
    if ended:
        db.send(SQL["rest"], columns(ended, ("hosts", "next_s")))


def demands_on(db: PostgresSession, hosts: Sequence[str]) -> Mapping[str, HostDemands]:
    """Return what the active jobs of each host ask of everybody."""
    rows = db.rows(SQL["demands"], {"hosts": list(hosts)})
    return {host: HostDemands(floor_s, cap_s) for host, floor_s, cap_s in rows}


def is_crowded(
    db: PostgresSession, host: str, ip: str | None, *, per_ip: int, now_s: float
) -> bool:
    """Whether a host's address has its share of live leases on other hosts.

    Until the commit nobody else counts this address.
    """
    if ip is None:
        return False
    db.row(SQL["lock_ip"], {"ip": ip})
    return crowds(db, {host: ip}, now_s=now_s)[host] >= per_ip


def crowds(db: PostgresSession, ips: Mapping[str, str], *, now_s: float) -> dict[str, int]:
    """Count the live leases on other hosts of each host's address."""
    values = {"hosts": list(ips), "ips": list(ips.values()), "now_s": now_s}
    return {host: int(others) for host, others in db.rows(SQL["crowds"], values)}


def lent(db: PostgresSession, job: str, now_s: float) -> tuple[int, int, float | None]:
    """Return what a job holds: entries, hosts, and when the first lease runs out."""
    row = db.row(SQL["lent"], {"job": job, "now_s": now_s})
    assert row is not None
    return row[0], row[1], row[2]


def permit(db: PostgresSession, caps: Sequence[RequestCap], *, now_s: float) -> float:
    """Count one request if all caps leave room for it; else return when to ask again."""
    minute = minute_of(now_s)
    oldest = oldest_counted(minute, MINUTES_PER_DAY)
    earliest_s = now_s
    # All requests together come before those of a domain: everybody locks in this order.
    for cap in sorted(caps, key=lambda cap: cap.domain):
        db.row(WINDOWS["lock"], {"domain": cap.domain})  # to see what the others took
        rows = db.rows(WINDOWS["counts"], {"domain": cap.domain, "oldest": oldest})
        counts = [(row[0], row[1]) for row in rows]
        earliest_s = max(earliest_s, permitted_s(counts, cap, now_s=now_s))
    if earliest_s <= now_s:
        for cap in caps:
            db.run(WINDOWS["take"], {"domain": cap.domain, "minute": minute})
        db.run(WINDOWS["forget"], {"oldest": oldest})
    return earliest_s


def _columns(row: HostRow) -> tuple[object, ...]:
    """Write a host; arrays hold numbers of one kind."""
    host, last_end_s, crawl_delay_s, backoff_s, errors, latency_s, ip, *right = host_columns(row)
    template, next_s, token, owner, job, leased, lease_until_s = right
    return (
        host, float(last_end_s), None if crawl_delay_s is None else float(crawl_delay_s),
        float(backoff_s), errors, float(latency_s), ip, template, float(next_s), token, owner, job,
        leased, float(lease_until_s),
    )  # fmt: skip
