"""Facts about a site's wishes: its robots.txt as fetched, and its signals about use.

Nothing here is a decision. The configuration of each job says how long a copy is used, how it is
parsed and what a failure means. So two jobs with different profiles can share one copy. geomi
passes signals on to the readers of the page.
"""

from __future__ import annotations

from dataclasses import dataclass

from geomi.model.verdict import Outcome

Signal = str | int  # `True` for a word that stands alone


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


@dataclass(frozen=True, slots=True)
class Signals:
    """Reservations and permissions of one page; docs/reference/output.md has the list of names."""

    pairs: tuple[tuple[str, Signal], ...] = ()


NO_SIGNALS = Signals()  # most pages say nothing
