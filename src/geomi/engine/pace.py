"""When a leased host may be asked next: what its holder remembers from one request to the next.

A burst puts rests off. They are all paid before the host is given back: `over_s` is when nothing is
owed any more, and the next turn comes at most one credit before it (`frontier/politeness.py`).
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TypedDict

from geomi.fetch.respond import respond
from geomi.fetch.retry import parse_retry_after
from geomi.frontier import politeness
from geomi.model.config import CrawlConfig
from geomi.model.entry import HostState, Lease
from geomi.model.page import Fetched
from geomi.model.verdict import Outcome

NEVER_SENT = frozenset({Outcome.DNS_ERROR, Outcome.ADDRESS_REFUSED})


class _Floors(TypedDict):
    floor_s: float
    is_public: bool
    extra_s: float


class Pace:
    """The politeness of one host under one lease.

    Args:
        floor_s: the longest delay among the active jobs of the host, as far as it was heard.
    """

    def __init__(self, lease: Lease, config: CrawlConfig, rng: random.Random) -> None:
        self.state: HostState = lease.state
        self.floor_s = lease.floor_s
        self.is_public = True
        self.over_s = 0.0
        self._config = config
        self._rng = rng
        self._ready_s = 0.0  # the claim already saw to it that the host is due
        self._extra_s = 0.0  # what the robots policy adds to the delay

    @property
    def turn_s(self) -> float:
        """When the host may be asked next, as far as is known by now."""
        return max(self._ready_s, self.state.last_end_s + self.owed_s)

    @property
    def owed_s(self) -> float:
        """The least rest before the next request, jitter left out; a burst has to keep less."""
        owed = politeness.least_s if self._config.politeness.burst == 1 else politeness.firm_s
        return owed(self.state, self._config, **self._floors())

    @property
    def mean_s(self) -> float:
        """How long the host rests after a request, on average."""
        return politeness.mean_s(self.state, self._config, **self._floors())

    def learn(self, crawl_delay_s: float | None, extra_s: float) -> None:
        """Take over what robots.txt asks for; it holds for the rest under way too."""
        if crawl_delay_s != self.state.crawl_delay_s:
            self.state = replace(self.state, crawl_delay_s=crawl_delay_s)
        self._extra_s = extra_s

    def wait_until(self, when_s: float) -> None:
        """Ask nothing before a time."""
        self._ready_s = max(self._ready_s, when_s)

    def account(self, fetched: Fetched, *, wall_s: float) -> None:
        """Let the host rest after a request; one that never left us costs it nothing."""
        after = politeness.after(
            self.state,
            outcome=respond(fetched),
            started_s=fetched.started_s,
            ended_s=fetched.ended_s,
            retry_after_s=parse_retry_after(fetched.header("retry-after"), wall_s=wall_s),
            config=self._config,
        )
        if fetched.failure in NEVER_SENT:
            self.state = replace(after, last_end_s=self.state.last_end_s)
            return
        self.state = after
        self.rest(fetched.ended_s)
        # An outage is waited for once; if the host does not answer then, `is_down` gives it up.
        if after.errors == politeness.DOWN_AFTER:
            self.wait_until(fetched.ended_s + politeness.DOWN_REST_S)

    def rest(self, ended_s: float) -> None:
        """Owe the host its delay from the end of a request; in a burst it is given later."""
        self.state = replace(self.state, last_end_s=max(self.state.last_end_s, ended_s))
        least_s = politeness.least_s(self.state, self._config, **self._floors())
        self.over_s = max(self.over_s, ended_s) + least_s
        self._ready_s = self.over_s - politeness.credit_s(self._config)
        if self._ready_s > ended_s:
            self._ready_s += self._delay_s() - least_s

    def in_debt(self) -> HostState:
        """Return the host as a burst may leave it, with all that is put off as a back-off."""
        debt_s = politeness.credit_s(self._config) + self._delay_s()
        return replace(self.state, backoff_s=max(self.state.backoff_s, debt_s))

    def _delay_s(self) -> float:
        return politeness.delay_s(self.state, self._config, rng=self._rng, **self._floors())

    def _floors(self) -> _Floors:
        return {"floor_s": self.floor_s, "is_public": self.is_public, "extra_s": self._extra_s}
