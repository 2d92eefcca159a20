"""What a lease has cost its host so far: requests, bytes, and a row of the log for each request."""

from __future__ import annotations

from dataclasses import dataclass

from geomi.engine.visit.privacy import Privacy
from geomi.fetch.respond import respond
from geomi.model.asked import Asked, Purpose
from geomi.model.entry import Lease
from geomi.model.page import Fetched, Request


@dataclass(frozen=True, slots=True)
class Spent:
    """What was asked since the last settlement."""

    requests: int
    bytes: int
    asked: tuple[Asked, ...]


class Spending:
    """Counts the requests of one lease.

    Args:
        keeps_rows: whether the job keeps a log of its requests.
        slack_s: how long after its deadline a request may have ended. An answer that was read later
            came to a process that was stopped; by then its lease may be another's.
    """

    def __init__(
        self, lease: Lease, owner: str, privacy: Privacy, *, keeps_rows: bool, slack_s: float
    ) -> None:
        self.robots: tuple[float | None, int | None] = (None, None)  # what the next rest on
        self._lease = lease
        self._owner = owner
        self._privacy = privacy
        self._keeps_rows = keeps_rows
        self._slack_s = slack_s
        self._requests = self._bytes = 0
        self._asked: list[Asked] = []

    def add(self, request: Request, fetched: Fetched, *, ip: str, owed_s: float) -> None:
        """Count one request that was sent.

        Args:
            ip: the address that was meant, where no connection came about.
            owed_s: the least rest that the host was owed before it.
        """
        self._requests += 1
        self._bytes += fetched.wire_bytes
        if not self._keeps_rows:
            return
        latest_s = fetched.started_s + request.total_timeout_s + self._slack_s
        at_s, line = (None, None) if request.purpose is Purpose.ROBOTS else self.robots
        self._asked.append(
            Asked(
                host=self._lease.host,
                job=self._lease.job,
                owner=self._owner,
                ip=fetched.ip or ip,
                purpose=request.purpose,
                url=self._privacy.told(request.url),
                started_s=fetched.started_s,
                ended_s=min(fetched.ended_s, latest_s),
                status=fetched.status,
                outcome=respond(fetched),
                floor_s=owed_s,
                robots_at_s=at_s,
                robots_line=line,
            )
        )

    def take_over(self, spent: Spent) -> None:
        """Count what a guest has spent for us; its rows go their own way."""
        self._requests += spent.requests
        self._bytes += spent.bytes

    def take(self) -> Spent:
        """Return what was counted, and start anew."""
        spent = Spent(self._requests, self._bytes, self.take_rows())
        self._requests = self._bytes = 0
        return spent

    def take_rows(self) -> tuple[Asked, ...]:
        """Return the rows alone, and start anew."""
        rows = tuple(self._asked)
        self._asked.clear()
        return rows
