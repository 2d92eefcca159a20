"""What was fetched as a site's robots.txt: bytes and facts, never a decision.

How long a copy holds, how it is parsed and what a failure means is the reader's configuration, so
that two jobs with different profiles can share one copy.
"""

from __future__ import annotations

from dataclasses import dataclass

from geomi.model.verdict import Outcome


@dataclass(frozen=True, slots=True)
class RobotsKey:
    """The authority a robots.txt speaks for, and the product token it was fetched with (C-13)."""

    scheme: str
    host: str  # name:port
    token: str


@dataclass(frozen=True, slots=True)
class RobotsCopy:
    """One fetch of a robots.txt; `failure` is None when a server answered with `status`."""

    key: RobotsKey
    status: int
    body: bytes
    fetched_s: float
    failure: Outcome | None = None
    detail: str = ""
    max_age_s: float | None = None
    redirects: int = 0
