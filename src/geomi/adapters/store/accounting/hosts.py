"""A host's row: lent, prolonged, given back, and when it is free again.

`next_s` is the politeness timer and the lease at once: a live lease pushes it to its own end. The
token rises with every lease and is the fence: a settlement with an older token writes nothing. A
lease that ran out still holds its token while nobody else was lent the host, and may settle.

A lease that was never given back may have had a request in flight until its last moment, so the
host rests from there. The same holds for leases of owners found dead, counted from now.

An address is lent to few at a time. A job that finds it crowded stands in line, and jobs that came
later leave a free place to it. A job that has not asked for `LINE_S` has left the line.

Caps per hour and day are counted by the minute, for all requests together (POL-03) and for each
domain (POL-11). A count knows its minute only, and a permit is used within the next one. So no
window, wherever it starts, holds more than its cap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf

from geomi.frontier.politeness import base_floor_s
from geomi.model.config import CrawlConfig
from geomi.model.entry import HostState, HostUpdate, Lease, RequestCap, Settlement, UrlEntry
from geomi.model.site import RequestWindow

# A job that was served last leaves a free host to the others this long. Bounded, because the others
# may have no worker at all; two seconds let a worker that polls each second come first.
YIELD_S = 2.0
# How soon a host is looked at again whose address has its share of live leases. Without the wait
# ten thousand hosts of one hoster would be looked at in every claim.
CROWDED_S = 1.0
# A job that was turned away is looked at again after `CROWDED_S`, by a worker that polls every two
# seconds at the latest.
LINE_S = 3.0
MINUTE_S = 60
MINUTES_PER_HOUR, MINUTES_PER_DAY = 60, 24 * 60  # in minutes
SENT_WITHIN = 1  # minutes between a permit and its request
Counts = Sequence[tuple[int, int]]  # (minute, requests), the newest first


@dataclass(frozen=True, slots=True)
class HostRow:
    """A host as every store keeps it, for all jobs and tenants.

    Args:
        leased: entries lent and not yet settled.
        lease_until_s: end of the lease, also after it ran out; 0 once it was given back.
    """

    state: HostState
    next_s: float = 0.0
    token: int = 0
    owner: str | None = None
    job: str | None = None
    leased: int = 0
    lease_until_s: float = 0.0

    def is_lent(self, now_s: float) -> bool:
        """Whether somebody holds a live lease."""
        return self.lease_until_s > now_s


@dataclass(frozen=True, slots=True)
class HostDemands:
    """What the active jobs of one host ask of everybody who visits it.

    Args:
        floor_s: the longest delay among them.
        cap_s: the longest Crawl-delay that any of them obeys.
    """

    floor_s: float = 0.0
    cap_s: float = 0.0


def demands_of(config: CrawlConfig) -> HostDemands:
    """Return what one job asks: the least delay it may use, and how long a Crawl-delay it obeys.

    A store does not know which hosts are public; their own floor is added by whoever asks them.
    """
    robots = config.robots
    return HostDemands(
        floor_s=base_floor_s(config, is_public=False),
        cap_s=robots.max_crawl_delay_s if robots.respect_crawl_delay else 0.0,
    )


def free_s(row: HostRow, demands: HostDemands) -> float:
    """Return the earliest time at which the host may be lent."""
    if row.lease_until_s > 0:
        return _last_end_s(row) + _rest_s(row.state, demands)
    if row.state.last_end_s > 0:
        return max(row.next_s, row.state.last_end_s + demands.floor_s)
    return row.next_s


def lend(row: HostRow, *, owner: str, job: str, entries: int, until_s: float) -> HostRow:
    """Lend a free host."""
    return HostRow(
        state=replace(row.state, last_end_s=_last_end_s(row)),
        next_s=until_s,
        token=row.token + 1,
        owner=owner,
        job=job,
        leased=entries,
        lease_until_s=until_s,
    )


def as_lease(
    row: HostRow, job: str, demands: HostDemands, entries: tuple[UrlEntry, ...] = ()
) -> Lease:
    """Return a lent row as the worker sees it."""
    return Lease(
        host=row.state.host,
        job=job,
        token=row.token,
        until_s=row.lease_until_s,
        floor_s=demands.floor_s,
        state=row.state,
        entries=entries,
    )


def prolong(row: HostRow, *, until_s: float) -> HostRow:
    """Move the end of a live lease."""
    return replace(row, next_s=until_s, lease_until_s=until_s)


def close(row: HostRow, visits: Sequence[Settlement]) -> HostRow:
    """Count lent entries as settled, so that a page limit counts none of them twice.

    When their responses ended is kept at once: whoever goes on after this worker's death, perhaps
    on a clock that was set back, must not begin before the log's last row.
    """
    last_end_s = max(row.state.last_end_s, answered_s(visits))
    state = replace(row.state, last_end_s=last_end_s)
    return replace(row, state=state, leased=max(0, row.leased - len(visits)))


def answered_s(visits: Sequence[Settlement]) -> float:
    """Return when the last response of some visits ended; 0 where nothing was asked."""
    return max((asked.ended_s for visit in visits for asked in visit.asked), default=0.0)


def update(row: HostRow, change: HostUpdate) -> HostRow:
    """Write a host's politeness after some visits; with `next_s` the lease ends."""
    state = replace(
        change.state,
        last_end_s=max(row.state.last_end_s, change.state.last_end_s),
        ip=change.state.ip or row.state.ip,
    )
    updated = replace(row, state=state)
    if change.next_s is None:
        return updated
    # A host that was given back before may have been told to rest longer.
    next_s = change.next_s if row.lease_until_s > 0 else max(row.next_s, change.next_s)
    return _given_back(updated, next_s)


def end_dead_lease(row: HostRow, demands: HostDemands, *, now_s: float) -> HostRow:
    """End the lease of a dead owner: a request may have been in flight until now."""
    state = replace(row.state, last_end_s=max(row.state.last_end_s, now_s))
    return _given_back(replace(row, state=state), now_s + _rest_s(state, demands))


def has_to_yield(line: Mapping[int, float], job: int) -> bool:
    """Whether others came before a job to an address.

    Args:
        line: since when each job waits there, of those that have asked of late.
    """
    own = (line.get(job, inf), job)
    return any((since_s, other) < own for other, since_s in line.items() if other != job)


def minute_of(now_s: float) -> int:
    """Return the minute that a moment belongs to."""
    return int(now_s // MINUTE_S)


def oldest_counted(minute: int, length: int) -> int:
    """Return the first minute that may reach into a window of this length ending in `minute`."""
    return minute - length - SENT_WITHIN


def request_window(domain: str, minute: int, many: int) -> RequestWindow:
    """Return the count of one minute; it expires when it reaches into no day any more."""
    expires_s = float((minute + MINUTES_PER_DAY + SENT_WITHIN + 1) * MINUTE_S)
    return RequestWindow(domain, float(minute * MINUTE_S), many, expires_s)


def permitted_s(counts: Counts, cap: RequestCap, *, now_s: float) -> float:
    """Return `now_s` when one more request may be sent, else when to ask again."""
    return max(
        _permitted_s(counts, MINUTES_PER_HOUR, cap.per_hour, now_s),
        _permitted_s(counts, MINUTES_PER_DAY, cap.per_day, now_s),
    )


def _last_end_s(row: HostRow) -> float:
    """Until when a request may have been in flight; a late worker may have told of one since."""
    return max(row.state.last_end_s, row.lease_until_s)


def _rest_s(state: HostState, demands: HostDemands) -> float:
    """How long a host rests when nobody was left to say it."""
    crawl_delay_s = min(state.crawl_delay_s or 0.0, demands.cap_s)
    return max(demands.floor_s, crawl_delay_s, state.backoff_s)


def _given_back(row: HostRow, next_s: float) -> HostRow:
    return replace(row, next_s=next_s, owner=None, job=None, leased=0, lease_until_s=0.0)


def _permitted_s(counts: Counts, length: int, cap: int, now_s: float) -> float:
    if not cap:
        return now_s
    oldest = oldest_counted(minute_of(now_s), length)
    for (minute, _), total in zip(counts, accumulate(many for _, many in counts), strict=True):
        if minute < oldest:
            return now_s
        if total >= cap:  # this minute has to leave the window before one more fits
            return float((minute + length + SENT_WITHIN + 1) * MINUTE_S)
    return now_s
