"""What the explorer knows at one moment: the store's rows, the workers, and what the sites saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import blake2b
from itertools import permutations, product

from geomi.model.entry import Batch, Lease, Settlement, UrlEntry
from geomi.model.verdict import State
from tests.explore.shelf import PLACE, Moment, Shelf

TICK_S = 10.0
START_S = 1000.0
DELAY_S = TICK_S
# What the robots.txt of a slow host asks for: more than a lease lasts after a request.
SLOW_S = 4 * TICK_S
REQUEST_S = TICK_S  # the longest that a request may take
LEASE_S = 4 * TICK_S
RETRY_S = 2 * TICK_S
# How long a worker may be silent before others take it for dead: every request is over by then.
SILENCE_S = 2 * TICK_S
# What lies further back makes no difference any more: no rest is longer.
HORIZON_S = SLOW_S + TICK_S
NEVER_S = float("-inf")


class Fault(StrEnum):
    """What may go wrong, each only so often in one run."""

    CRASH = "crash"
    STOP = "stop"
    LOSS = "database loss"
    REPEAT = "settlement sent twice"
    REBOOT = "clock jump"
    RETRY = "retry"
    DRAIN = "drain"


FAULTS = tuple(Fault)


@dataclass(frozen=True, slots=True)
class HostPlan:
    """One host: its address, and the rest that it is owed after each answer."""

    name: str
    ip: str
    rest_s: float = DELAY_S


@dataclass(frozen=True, slots=True)
class Scenario:
    """How many of what, and how deep.

    Args:
        seeds: URLs of each host in the beginning; the first leads to one more.
        per_ip: how many hosts of one address may be lent at once.
        depth: the longest trace; 0 is no limit.
        most: how many faults may come in one run, whichever they are.
    """

    name: str
    workers: int
    hosts: tuple[HostPlan, ...]
    depth: int
    faults: Mapping[Fault, int]
    most: int = 2
    seeds: int = 2
    per_ip: int = 1

    @property
    def left(self) -> tuple[int, ...]:
        """How often each fault may still come."""
        return tuple(min(self.most, self.faults.get(fault, 0)) for fault in FAULTS)


@dataclass(frozen=True, slots=True)
class Held:
    """A lease in the hands of a worker, and what it has done with it.

    Args:
        heard_s: when the store last confirmed it.
        turn_s: before when the worker asks nothing.
        flight: what is asked, and since when.
        done: visits that have ended and are not settled, as far as the worker knows.
        is_over: whether the worker asks nothing more under it: it was lost, or is given back.
    """

    lease: Lease
    heard_s: float
    turn_s: float
    todo: tuple[UrlEntry, ...]
    flight: tuple[UrlEntry, float] | None = None
    done: tuple[Settlement, ...] = ()
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """One worker process.

    Args:
        stopped_s: since when it stands still; None while it works.
        late: a settlement that may reach the store a second time.
    """

    owner: str
    is_alive: bool = True
    stopped_s: float | None = None
    held: tuple[Held, ...] = ()
    late: Batch | None = None

    @property
    def is_at_work(self) -> bool:
        """Whether it does anything."""
        return self.is_alive and self.stopped_s is None

    def of(self, host: str) -> Held | None:
        """Return what it holds of a host."""
        return next((one for one in self.held if one.lease.host == host), None)

    def holding(self, host: str, held: Held | None) -> Member:
        """Return it with something else of one host."""
        kept = [one for one in self.held if one.lease.host != host]
        both = [*kept, held] if held is not None else kept
        return replace(self, held=tuple(sorted(both, key=lambda one: one.lease.host)))


@dataclass(frozen=True, slots=True)
class Seen:
    """One host as a careful observer sees it.

    Args:
        token: of the lease that is open; 0 where none is.
        unsettled: URLs that this lease has and that are not settled.
        hot: those of them that were asked for under it.
        flights: who asks now, and when the site has ended the answer at the latest.
        end_s: when the last answer ended.
        asked: how often each URL was asked for.
        borne: how often its lease was open at a fault after it had been asked for.
    """

    token: int = 0
    unsettled: frozenset[str] = frozenset()
    hot: frozenset[str] = frozenset()
    flights: tuple[tuple[str, float], ...] = ()
    end_s: float = NEVER_S
    asked: Mapping[str, int] = field(default_factory=dict)
    borne: Mapping[str, int] = field(default_factory=dict)

    def fault(self) -> Seen:
        """Return it when its lease has ended without being given back."""
        borne = dict(self.borne)
        for url in self.hot:
            borne[url] = borne.get(url, 0) + 1
        return replace(self, token=0, unsettled=frozenset(), hot=frozenset(), borne=borne)


@dataclass(frozen=True, slots=True)
class Instant:
    """Everything at one moment of a run.

    Args:
        left: how often each fault may still come, and `most` how many of them all.
        dead: owners that died and whose leases nobody has ended yet.
        born: how many workers there have been.
    """

    moment: Moment
    now_s: float
    crew: tuple[Member, ...]
    seen: tuple[Seen, ...]
    left: tuple[int, ...]
    most: int
    dead: tuple[str, ...] = ()
    born: int = 0

    def may(self, fault: Fault) -> bool:
        """Whether a fault may still come."""
        return self.left[FAULTS.index(fault)] > 0

    def after(self, fault: Fault) -> Instant:
        """Return it with one fault less to come."""
        most = self.most - 1
        left = tuple(
            min(most, many - (fault is which))
            for which, many in zip(FAULTS, self.left, strict=True)
        )
        return replace(self, left=left, most=most)

    def with_member(self, number: int, member: Member) -> Instant:
        """Return it with one worker changed."""
        return replace(self, crew=(*self.crew[:number], member, *self.crew[number + 1 :]))

    def with_seen(self, number: int, seen: Seen) -> Instant:
        """Return it with one host seen anew."""
        return replace(self, seen=(*self.seen[:number], seen, *self.seen[number + 1 :]))


class Naming:
    """Names instants: two that differ only in who is who, or in when it is, have one name.

    Workers are alike, and so are hosts of the same plan. Times count from now; names of jobs and
    of the log's rows, and numbers of leases, count only where something is compared with them.
    """

    def __init__(self, scenario: Scenario, shelf: Shelf) -> None:
        self._plans = scenario.hosts
        self._orders = _orders(scenario.hosts)
        hosts = ("last_end_s", "next_s", "token", "leased", "lease_until_s", "crawl_delay_s")
        self._host = [shelf.column("hosts", name) for name in hosts]
        self._owner = shelf.column("hosts", "owner")
        self._queue = [shelf.column("queues", name) for name in ("host", "number")]
        self._ready = [shelf.column("queues", name) for name in ("pending", "ready_s")]
        entry = ("queue", "url", "state", "attempts", "due_s")
        self._entry = [shelf.column("entries", name) for name in entry]

    def name(self, instant: Instant) -> bytes:
        """Return what tells an instant from all others."""
        hosts = self._hosts(instant)
        crew = [self._member(member, instant) for member in instant.crew]
        least = b""
        for order in self._orders:
            places = {self._plans[number].name: place for place, number in enumerate(order)}
            members = sorted(
                repr((head, sorted(repr((places[host], told)) for host, told in held)))
                for head, held in crew
            )
            whole = repr((instant.left, [hosts[number] for number in order], members))
            digest = blake2b(whole.encode(), digest_size=12).digest()
            least = min(least, digest) if least else digest
        return least

    def _hosts(self, instant: Instant) -> list[object]:
        now_s = instant.now_s
        queues = {
            row[self._queue[0]]: (row[self._queue[1]], row[self._ready[0]], row[self._ready[1]])
            for row in instant.moment[PLACE["queues"]]
        }
        entries: dict[int, list[object]] = {}
        attempts: dict[str, int] = {}
        queue, url, state, tries, due_s = self._entry
        for row in instant.moment[PLACE["entries"]]:
            told = (_path(row[url]), row[state], row[tries], _since(row[due_s], now_s))
            entries.setdefault(row[queue], []).append(told)
            attempts[row[url]] = row[tries]
        rows = {row[0]: row for row in instant.moment[PLACE["hosts"]]}
        lines = len(instant.moment[PLACE["lines"]])
        hosts: list[object] = []
        for plan, seen in zip(self._plans, instant.seen, strict=True):
            row = rows[plan.name]
            last_s, next_s, _, leased, until_s, crawl_s = (row[place] for place in self._host)
            number, pending, ready_s = queues[plan.name]
            times = [_since(one, now_s) for one in (last_s, next_s, until_s, ready_s, seen.end_s)]
            slack = sorted(
                (_path(each), attempts.get(each, 0) + seen.borne.get(each, 0) - many)
                for each, many in seen.asked.items()
            )
            flights = sorted(round(end_s - now_s) for _, end_s in seen.flights)
            sets = (sorted(map(_path, seen.unsettled)), sorted(map(_path, seen.hot)))
            is_dead = row[self._owner] in instant.dead
            rest = (leased, crawl_s, is_dead, bool(seen.token), pending, lines)
            hosts.append((times, rest, sorted(map(repr, entries[number])), slack, flights, sets))
        return hosts

    def _member(self, member: Member, instant: Instant) -> tuple[object, list[tuple[str, object]]]:
        now_s = instant.now_s
        tokens = {row[0]: row[self._host[2]] for row in instant.moment[PLACE["hosts"]]}
        held: list[tuple[str, object]] = []
        for one in member.held:
            behind = min(2, tokens[one.lease.host] - one.lease.token)
            flight = (_path(one.flight[0].url), one.flight[1] - now_s) if one.flight else ()
            times = [_since(at, now_s) for at in (one.lease.until_s, one.heard_s, one.turn_s)]
            done = [_visit(visit, now_s) for visit in one.done]
            todo = [(_path(entry.url), entry.attempts) for entry in one.todo]
            held.append((one.lease.host, (behind, times, flight, done, todo, one.is_over)))
        stopped_s = None if member.stopped_s is None else max(-SILENCE_S, member.stopped_s - now_s)
        head: object = (member.is_alive, stopped_s)
        if member.late is not None and instant.may(Fault.REPEAT):
            for change in member.late.hosts:
                behind = min(2, tokens[change.lease.host] - change.lease.token)
                told = ("late", behind, change.next_s and _since(change.next_s, now_s))
                held.append((change.lease.host, told))
            for visit in member.late.settlements:
                behind = min(2, tokens[visit.entry.host] - visit.token)
                held.append((visit.entry.host, ("late", behind, _visit(visit, now_s))))
        return head, held


def _orders(plans: tuple[HostPlan, ...]) -> list[tuple[int, ...]]:
    """Return every order of the hosts that keeps each plan in its place."""
    alike: dict[tuple[str, float], list[int]] = {}
    for number, plan in enumerate(plans):
        alike.setdefault((plan.ip, plan.rest_s), []).append(number)
    orders = []
    for orderings in product(*(permutations(group) for group in alike.values())):
        order = list(range(len(plans)))
        for group, ordering in zip(alike.values(), orderings, strict=True):
            for place, number in zip(group, ordering, strict=True):
                order[place] = number
        orders.append(tuple(order))
    return orders


def _since(at_s: float, now_s: float) -> float:
    return max(-HORIZON_S, round(at_s - now_s, 3))


def _path(url: str) -> str:
    return url[-2:]


def _visit(visit: Settlement, now_s: float) -> tuple[object, ...]:
    ends_s = [_since(one.ended_s, now_s) for one in visit.asked]
    is_retry = visit.state is State.PENDING
    return _path(visit.entry.url), visit.entry.attempts, is_retry, ends_s
