"""The request log: one value for each request that geomi sent. `geomi audit` reads it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from geomi.model.verdict import Outcome


class RequestPurpose(StrEnum):
    """What a request was for."""

    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    LISTING = "listing"  # /llms.txt, a list of domains
    OWNERSHIP = "ownership"  # the token that proves whose a site is
    SERVER = "server"  # the headers of a host's front page: no byte of its body is kept


@dataclass(frozen=True, slots=True)
class GoneRequests:
    """What the log has no more, because its time was over.

    Args:
        before_s: all of them started before this scheduling time.
    """

    requests: int = 0
    before_s: float = 0.0


@dataclass(frozen=True, slots=True)
class SentRequest:
    """What was asked of a host, when, and by which right.

    Args:
        host: `name:port`, the unit of politeness.
        url: empty where the page was erased: that a host was asked stays, not for what.
        started_s, ended_s: scheduling time, as in `HostState.last_end_s`.
        floor_s: the least rest that the host was owed before this request, jitter left out.
        robots_at_s: when the robots.txt that allowed it was fetched; None where none was read.
        robots_line: the line that allowed it; None where no rule matched.
    """

    host: str
    job: str
    owner: str
    ip: str
    purpose: RequestPurpose
    url: str
    started_s: float
    ended_s: float
    status: int
    outcome: Outcome
    floor_s: float
    robots_at_s: float | None = None
    robots_line: int | None = None

    @property
    def is_erased(self) -> bool:
        """Whether the URL of the request was erased."""
        return not self.url
