"""How many hosts of an address are lent, and which jobs stand in line for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from geomi.adapters.ledger.host import HostRow
from geomi.adapters.ledger.line import LINE_S, has_to_yield
from geomi.adapters.postgres.hosts import SQL as HOSTS
from geomi.adapters.postgres.hosts import crowds
from geomi.adapters.postgres.session import Session
from geomi.adapters.statements import statements

SQL = statements("postgres", "claim")


class Crowd:
    """The addresses that one claim looks at, for one job.

    Lines change only under the lock of their address, which is kept until the commit.
    """

    def __init__(self, db: Session, now_s: float, job: int, per_ip: int) -> None:
        self._db = db
        self._now_s = now_s
        self._job = job
        self._per_ip = per_ip
        self._here: Counter[str] = Counter()
        self._ours: set[str] = set()
        self._others: dict[str, int] = {}
        self._lines: dict[str, dict[int, float]] = {}
        self._refused: set[str] = set()
        self._left: set[str] = set()

    def look_at(self, rows: Sequence[HostRow]) -> None:
        """Count the leases on the addresses of some hosts, and who waits for them."""
        ips = {row.state.host: row.state.ip for row in rows if row.state.ip}
        if not ips:
            return
        wanted = {"ips": sorted(set(ips.values()))}
        self._ours |= {ip for (ip,) in self._db.rows(HOSTS["try_lock_ips"], wanted)}
        lines = self._db.ask(SQL["lines"], wanted | {"late_s": self._now_s - LINE_S})
        # What this claim has lent in the rounds before is written by now, and counted there.
        self._here.clear()
        self._others |= crowds(self._db, ips, now_s=self._now_s)
        for ip, job, since_s in lines.fetchall():
            # What this claim has changed in a line is written at its end.
            if job != self._job or ip not in self._left | self._refused:
                self._lines.setdefault(ip, {})[job] = since_s

    def is_full(self, row: HostRow) -> bool:
        """Whether a host's address has no place for this job, or somebody else counts it now."""
        ip = row.state.ip
        if not ip:
            return False
        if ip not in self._ours:
            return True
        has_place = self._others[row.state.host] + self._here[ip] < self._per_ip
        line = self._lines.setdefault(ip, {})
        if has_place and not has_to_yield(line, self._job):
            self._refused.discard(ip)
            if line.pop(self._job, None) is not None:
                self._left.add(ip)
            return False
        line.setdefault(self._job, self._now_s)
        self._refused.add(ip)
        return True

    def join(self, row: HostRow) -> None:
        """Count a host that is lent."""
        if row.state.ip:
            self._here[row.state.ip] += 1

    def write_lines(self) -> None:
        """Let the job stand in line where it was turned away, and leave where it got its place."""
        values = {"job": self._job, "now_s": self._now_s, "late_s": self._now_s - LINE_S}
        if self._left:
            self._db.send(SQL["leave"], values | {"ips": sorted(self._left)})
        if self._refused:
            self._db.send(SQL["stand"], values | {"ips": sorted(self._refused)})
