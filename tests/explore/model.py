"""Every step that a worker, a fault or the time may take, on the real store.

A worker is modelled as `engine/host/session.py` has it: it makes sure of its lease before each
request, sends nothing that could end after it, and waits for the host's turn. All that is written
goes through the store's own functions, and what they may lend, count and forget is their matter.

- A worker that is stopped does nothing while time passes; the site ends its answer meanwhile. After
  a long silence others take it for dead, and it may yet go on.
- A worker that dies loses what it had not settled; its connection ends with it. Any other, or the
  one that takes its place, may end its leases.
- The database may go away before a commit, or after it: then the worker settles again.
- A settlement may reach the store a second time, at any later moment.
- The machine may start again with its clock set back; every process ends by it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

from geomi.adapters.machine.clock import Readings, open_clock
from geomi.adapters.store.hot import ClaimRequest
from geomi.adapters.store.sqlite import frontier
from geomi.adapters.store.sqlite.connection import SqliteSession
from geomi.adapters.store.tables import facts
from geomi.adapters.store.tables.jobs import JobTable
from geomi.engine.audit import invariants
from geomi.engine.audit.invariants import Invariant, Violation
from geomi.model.entry import Batch, Discovered, HostState, HostUpdate, Lease, Settlement, UrlEntry
from geomi.model.page import Ref
from geomi.model.request_log import RequestPurpose, SentRequest
from geomi.model.verdict import Outcome, State
from geomi.ports.runtime import ClockAnchor
from tests.contracts.suites.material import WALL_S, config, job, page, url
from tests.explore.shelf import PLACE, AnswerLost, Shelf
from tests.explore.state import (
    LEASE_S,
    REQUEST_S,
    RETRY_S,
    SILENCE_S,
    START_S,
    TICK_S,
    Fault,
    Held,
    HostPlan,
    Instant,
    Member,
    Scenario,
    Seen,
)

JOB, TENANT = "job", "local"
SET_BACK_S = 50 * TICK_S
URLS_PER_LEASE = 2
# How long a lone worker may take from any moment to settle everything: by then every lease, rest
# and retry is over.
PATIENCE = 24
Step = tuple[str, ...]


class Broken(Exception):
    """A step led to what must not be."""

    def __init__(self, violations: list[Violation]) -> None:
        super().__init__(violations)
        self.violations = violations


class Model:
    """One scenario on one shelf."""

    def __init__(self, scenario: Scenario, shelf: Shelf) -> None:
        self.scenario = scenario
        self._shelf = shelf
        self._plans = {plan.name: plan for plan in scenario.hosts}
        self._numbers = {plan.name: number for number, plan in enumerate(scenario.hosts)}
        self._token = shelf.column("hosts", "token")
        self._steps: dict[str, Callable[..., Instant]] = {
            "claim": self._claim,
            "renew": self._renew,
            "start": self._start,
            "end": self._end,
            "settle": self._settle,
            "again": self._again,
            "crash": self._crash,
            "stop": self._stop,
            "continue": self._continue,
            "bury": self._bury,
            "presume": self._presume,
            "resume": self._resume,
            "pass": self._pass,
            "reboot": self._reboot,
        }

    def begin(self) -> Instant:
        """Return the first instant: a job with its seeds, and workers that hold nothing."""
        rules = config(delay_s=TICK_S, per_ip=self.scenario.per_ip)
        seeds = [
            _found(plan, number)
            for plan in self.scenario.hosts
            for number in range(self.scenario.seeds)
        ]
        asyncio.run(JobTable(self._shelf, TENANT).create(job(JOB, tenant=TENANT, rules=rules)))
        self._shelf.transact(lambda db: frontier.add(db, JOB, TENANT, seeds, START_S))
        for plan in self.scenario.hosts:
            self._shelf.transact(lambda db, plan=plan: _meet(db, plan))  # type: ignore[misc]  # mypy cannot infer a lambda's default
        open_clock(_Anchors(self._shelf), Readings("this", lambda: 0.0, lambda: START_S))
        crew = tuple(Member(f"w{number}") for number in range(self.scenario.workers))
        seen = tuple(Seen() for _ in self.scenario.hosts)
        left, most = self.scenario.left, self.scenario.most
        moment, born = self._shelf.moment(), self.scenario.workers
        return Instant(moment, START_S, crew, seen, left, most, born=born)

    def steps(self, now: Instant) -> Iterator[Step]:
        """Name every step that may come next."""
        for number, member in enumerate(now.crew):
            yield from self._steps_of(now, str(number), member)
        if now.dead and any(one.is_at_work for one in now.crew):
            yield ("bury",)
        busy = [
            one.flight[1] + REQUEST_S
            for member in now.crew
            if member.is_at_work
            for one in member.held
            if one.flight is not None
        ]
        if min(busy, default=now.now_s + TICK_S) >= now.now_s + TICK_S:
            yield "pass", str(TICK_S)
        if not busy:
            yield "pass", str(LEASE_S)
        if now.may(Fault.REBOOT):
            yield ("reboot",)

    def take(self, now: Instant, step: Step) -> Instant:
        """Take a step; raise `Broken` where it leads to what must not be."""
        name, *told = step
        self._shelf.put_back(now.moment)
        return self._steps[name](now, *told)

    def finishes(self, now: Instant) -> list[str]:
        """Let one new worker end the job alone; return what it cannot reach."""
        self._shelf.put_back(now.moment)
        owners = [*now.dead, *(member.owner for member in now.crew)]
        self._shelf.transact(lambda db: frontier.release_dead(db, owners, now.now_s))
        now_s = now.now_s
        for _ in range(PATIENCE):
            for lease in self._lend("last", now_s, hosts=len(self._plans)):
                visits = tuple(
                    _visit(lease, one, now_s, now_s, "last", is_good=True) for one in lease.entries
                )
                back = HostUpdate(lease, replace(lease.state, last_end_s=now_s), now_s + TICK_S)
                self._write(Batch(visits, (back,), WALL_S))
            now_s += TICK_S
        self._shelf.forget_where()
        place = self._shelf.column("entries", "state")
        rows = self._shelf.moment()[PLACE["entries"]]
        url_at = self._shelf.column("entries", "url")
        return [str(row[url_at]) for row in rows if row[place] == State.PENDING]

    # what a worker does

    def _steps_of(self, now: Instant, number: str, member: Member) -> Iterator[Step]:
        if member.late is not None and now.may(Fault.REPEAT):
            yield "again", number
        if not member.is_alive:
            yield "resume", number
            return
        if now.may(Fault.CRASH) and member.held:
            yield "crash", number
        if member.stopped_s is not None:
            yield "continue", number
            if now.now_s - member.stopped_s >= SILENCE_S and member.held:
                yield "presume", number
            return
        if now.may(Fault.STOP) and member.held:
            yield "stop", number
        if len(member.held) < len(self._plans):
            yield "claim", number, "1"
            if len(self._plans) > 1 and not member.held:
                yield "claim", number, str(len(self._plans))
        for held in member.held:
            yield from self._steps_with(now, number, held)

    def _steps_with(self, now: Instant, number: str, held: Held) -> Iterator[Step]:
        host = held.lease.host
        if held.flight is not None:
            yield "end", number, host, "ok"
            if now.may(Fault.RETRY) and not held.flight[0].attempts:
                yield "end", number, host, "retry"
        elif not held.is_over and held.todo and now.now_s >= held.turn_s:
            yield "start", number, host
        is_waiting = held.flight is not None or now.now_s < held.turn_s
        if not held.is_over and held.heard_s < now.now_s and is_waiting:
            yield "renew", number, host
        ways = ["keep"] if held.done else []
        if held.flight is None and (held.is_over or not held.todo or now.may(Fault.DRAIN)):
            ways.append("release")
        for way in ways:
            yield "settle", number, host, way, "told"
            if now.may(Fault.LOSS):
                yield "settle", number, host, way, "undone"
            if now.may(Fault.LOSS) and way == "keep":  # the other is one that is sent twice
                yield "settle", number, host, way, "unheard"

    def _claim(self, now: Instant, number: str, hosts: str) -> Instant:
        member = now.crew[int(number)]
        for lease in self._lend(member.owner, now.now_s, hosts=int(hosts)):
            place = self._numbers[lease.host]
            urls = frozenset(entry.url for entry in lease.entries)
            seen = now.seen[place]
            if seen.token:  # nobody gave it back
                seen = seen.fault()
            now = now.with_seen(place, replace(seen, token=lease.token, unsettled=urls))
            held = Held(lease, now.now_s, now.now_s, lease.entries)
            member = member.holding(lease.host, held)
        return self._kept(now.with_member(int(number), member))

    def _renew(self, now: Instant, number: str, host: str) -> Instant:
        member = now.crew[int(number)]
        held = member.of(host)
        assert held is not None
        now = now.with_member(int(number), member.holding(host, self._made_sure(held, now.now_s)))
        return self._kept(now)

    def _start(self, now: Instant, number: str, host: str) -> Instant:
        """Make sure of the lease, then ask; as `HostSession._may_send` and `_send` do."""
        member, now_s = now.crew[int(number)], now.now_s
        held = member.of(host)
        assert held is not None
        if held.heard_s < now_s or held.lease.until_s - now_s < REQUEST_S + TICK_S:
            held = self._made_sure(held, now_s)
        if held.is_over or held.lease.until_s - now_s < REQUEST_S:
            lost = replace(held, is_over=True)
            return self._kept(now.with_member(int(number), member.holding(host, lost)))
        entry, *todo = held.todo
        place = self._numbers[host]
        seen = now.seen[place]
        asked = {**seen.asked, entry.url: seen.asked.get(entry.url, 0) + 1}
        self._judge_start(now, self._plans[host], seen, entry.url, asked[entry.url])
        flights = (*seen.flights, (member.owner, now_s + REQUEST_S))
        hot = seen.hot | ({entry.url} & seen.unsettled)
        now = now.with_seen(place, replace(seen, flights=flights, asked=asked, hot=hot))
        held = replace(held, todo=tuple(todo), flight=(entry, now_s))
        return self._kept(now.with_member(int(number), member.holding(host, held)))

    def _end(self, now: Instant, number: str, host: str, how: str) -> Instant:
        member, plan = now.crew[int(number)], self._plans[host]
        held = member.of(host)
        assert held is not None and held.flight is not None
        entry, started_s = held.flight
        ended_s = min(now.now_s, started_s + REQUEST_S)
        visit = _visit(held.lease, entry, started_s, ended_s, member.owner, is_good=how == "ok")
        turn_s = ended_s + plan.rest_s
        held = replace(held, flight=None, done=(*held.done, visit), turn_s=turn_s)
        now = now.with_member(int(number), member.holding(host, held))
        if how == "retry":
            now = now.after(Fault.RETRY)
        place = self._numbers[host]
        return self._kept(now.with_seen(place, _ended(now.seen[place], member.owner, now.now_s)))

    def _settle(self, now: Instant, number: str, host: str, way: str, answer: str) -> Instant:
        member, plan = now.crew[int(number)], self._plans[host]
        held = member.of(host)
        assert held is not None
        changes: tuple[HostUpdate, ...] = ()
        if way == "release" and held.todo and not held.is_over:
            now = now.after(Fault.DRAIN)
        if way == "release":
            ends_s = [one.ended_s for visit in held.done for one in visit.asked]
            last_s = max([held.lease.state.last_end_s, *ends_s])
            state = replace(held.lease.state, last_end_s=last_s, crawl_delay_s=_asked_by(plan))
            next_s = max(held.turn_s, now.now_s)
            changes = (HostUpdate(held.lease, state, next_s),)
        batch = Batch(held.done, changes, WALL_S)
        if answer != "told":
            now = now.after(Fault.LOSS)
        if answer == "undone":
            try:
                self._write(batch, breaks=True)
            except AnswerLost:
                # Who leaves a host asks nothing of it while the answer is missing.
                held = replace(held, is_over=held.is_over or way == "release")
                return self._kept(now.with_member(int(number), member.holding(host, held)))
        now = self._settled(now, batch)
        if answer == "told":
            kept = None if way == "release" else replace(held, done=())
            member = replace(member.holding(host, kept), late=batch)
        return replace(now.with_member(int(number), member))

    def _again(self, now: Instant, number: str) -> Instant:
        member = now.crew[int(number)]
        assert member.late is not None
        now = now.after(Fault.REPEAT)
        now = now.with_member(int(number), replace(member, late=None))
        return self._settled(now, member.late)

    # what happens to it

    def _crash(self, now: Instant, number: str) -> Instant:
        member = now.crew[int(number)]
        now = self._died(now, [member])
        dead = replace(member, is_alive=False, stopped_s=None, held=())
        now = now.after(Fault.CRASH)
        return now.with_member(int(number), dead)

    def _stop(self, now: Instant, number: str) -> Instant:
        stopped = replace(now.crew[int(number)], stopped_s=now.now_s)
        return now.after(Fault.STOP).with_member(int(number), stopped)

    def _continue(self, now: Instant, number: str) -> Instant:
        return now.with_member(int(number), replace(now.crew[int(number)], stopped_s=None))

    def _bury(self, now: Instant) -> Instant:
        """End what the dead held, as every heartbeat and every start does (`app/recovery.py`)."""
        return replace(self._ended_leases(now, now.dead), dead=())

    def _presume(self, now: Instant, number: str) -> Instant:
        """Take a worker for dead that has been silent for long, and is not."""
        return self._ended_leases(now, (now.crew[int(number)].owner,))

    def _ended_leases(self, now: Instant, owners: tuple[str, ...]) -> Instant:
        self._shelf.transact(lambda db: frontier.release_dead(db, owners, now.now_s))
        rows = {row[0]: row for row in now.moment[PLACE["hosts"]]}
        owner = self._shelf.column("hosts", "owner")
        until = self._shelf.column("hosts", "lease_until_s")
        for host, place in self._numbers.items():
            if rows[host][owner] in owners and rows[host][until] > 0:
                now = now.with_seen(place, now.seen[place].fault())
        return self._kept(now)

    def _resume(self, now: Instant, number: str) -> Instant:
        now = self._bury(now) if now.dead else now
        late = now.crew[int(number)].late
        now = now.with_member(int(number), Member(f"w{now.born}", late=late))
        return replace(now, born=now.born + 1)

    def _pass(self, now: Instant, seconds: str) -> Instant:
        now_s = now.now_s + float(seconds)
        for place, seen in enumerate(now.seen):
            over = [end_s for _, end_s in seen.flights if end_s < now_s]
            if over:
                flights = tuple(one for one in seen.flights if one[1] >= now_s)
                end_s = max(seen.end_s, *over)
                now = now.with_seen(place, replace(seen, flights=flights, end_s=end_s))
        return replace(now, now_s=now_s)

    def _reboot(self, now: Instant) -> Instant:
        """Start the machine again with its clock set back; the store's clock is the real one."""
        now = self._died(now, now.crew)
        wall_s = now.now_s - SET_BACK_S
        anchors = _Anchors(self._shelf)
        held = anchors.anchor()
        boot = f"after {held.boot_id}" if held else ""
        clock = open_clock(anchors, Readings(boot, lambda: 0.0, lambda: wall_s))
        now_s = clock.now_s()
        crew = tuple(Member(one.owner, is_alive=False) for one in now.crew)
        # For the sites no time has passed.
        ago_s = now_s - now.now_s
        seen = tuple(replace(one, end_s=one.end_s + ago_s) for one in now.seen)
        now = self._kept(replace(now.after(Fault.REBOOT), now_s=now_s, crew=crew, seen=seen))
        self._judge_log(now, 0)
        return now

    # how it is written and judged

    def _lend(self, owner: str, now_s: float, *, hosts: int) -> list[Lease]:
        ask = ClaimRequest(JOB, TENANT, owner, LEASE_S, now_s)
        return self._shelf.transact(
            lambda db: frontier.claim(db, ask, hosts=hosts, urls=URLS_PER_LEASE, wall_s=WALL_S)
        )

    def _write(self, batch: Batch, *, breaks: bool = False) -> tuple[str, ...]:
        settled = self._shelf.transact(
            lambda db: frontier.settle(db, batch, tenant=TENANT, max_queued=0), breaks=breaks
        )
        return settled.lost

    def _made_sure(self, held: Held, now_s: float) -> Held:
        kept = self._shelf.transact(
            lambda db: frontier.renew(db, [held.lease], until_s=now_s + LEASE_S, now_s=now_s)
        )
        if not kept:
            return replace(held, is_over=True)
        return replace(held, lease=kept[0], heard_s=now_s)

    def _settled(self, now: Instant, batch: Batch) -> Instant:
        """Write a settlement, and see that it changes what it may, and that alone."""
        before = now.moment
        lost = self._write(batch)
        now = self._kept(now)
        visited = [(visit.entry.host, visit.token) for visit in batch.settlements]
        changed = [(change.lease.host, change.lease.token) for change in batch.hosts]
        for host, token in dict.fromkeys(chain(visited, changed)):
            place = self._numbers[host]
            current = next(row for row in before[PLACE["hosts"]] if row[0] == host)[self._token]
            if token != current:
                self._judge_fence(before, now, told_lost=host in lost)
                continue
            seen = now.seen[place]
            ended = {v.entry.url for v in batch.settlements if v.entry.host == host}
            seen = replace(seen, unsettled=seen.unsettled - ended, hot=seen.hot - ended)
            if any(change.lease.host == host for change in batch.hosts):
                seen = replace(seen, token=0, unsettled=frozenset(), hot=frozenset())
            now = now.with_seen(place, seen)
        self._judge_log(now, len(before[PLACE["requests"]]))
        return now

    def _kept(self, now: Instant) -> Instant:
        return replace(now, moment=self._shelf.moment())

    def _died(self, now: Instant, members: tuple[Member, ...] | list[Member]) -> Instant:
        """Let processes end: their connections end with them, and so does what they know."""
        owners = [member.owner for member in members if member.is_alive]
        for place, seen in enumerate(now.seen):
            for owner in owners:
                seen = _ended(seen, owner, now.now_s)
            now = now.with_seen(place, seen)
        return replace(now, dead=tuple(sorted({*now.dead, *owners})))

    def _judge_start(self, now: Instant, plan: HostPlan, seen: Seen, url_: str, asked: int) -> None:
        """Hold a request that begins now against what its site has seen."""
        found = invariants.too_close(
            float("-inf") if seen.flights else now.now_s - seen.end_s, plan.rest_s
        )
        broken = [Violation(*found)] if found else []
        others = [
            one
            for one in self.scenario.hosts
            if one.ip == plan.ip and (one is plan or now.seen[self._numbers[one.name]].flights)
        ]
        crowd = invariants.crowded(plan.ip, len(others), self.scenario.per_ip)
        broken += [Violation(Invariant.PER_ADDRESS, told) for told in crowd]
        place, at = self._shelf.column("entries", "attempts"), self._shelf.column("entries", "url")
        rows = now.moment[PLACE["entries"]]
        attempts = next(row[place] for row in rows if row[at] == url_)
        lent = attempts + seen.borne.get(url_, 0)
        told = invariants.asked_again(asked - 1, lent, url_)
        broken += [Violation(Invariant.REFETCHED, each) for each in told]
        if broken:
            raise Broken(broken)

    def _judge_fence(self, before: object, now: Instant, *, told_lost: bool) -> None:
        assert isinstance(before, tuple)
        wrote = any(
            before[place] is not now.moment[place]
            for name, place in PLACE.items()
            if name != "requests"
        )
        if told := list(invariants.fenced(wrote=wrote, told_lost=told_lost)):
            raise Broken([Violation(Invariant.FENCE, each) for each in told])

    def _judge_log(self, now: Instant, after: int) -> None:
        """See that what the log tells can be true."""
        started, ended = (self._shelf.column("requests", f"{one}ed_s") for one in ("start", "end"))
        for row in now.moment[PLACE["requests"]][after:]:
            sent = _sent(self.scenario.hosts[0].name, "", "", row[started], row[ended])
            if told := invariants.damage(sent, now_s=now.now_s):
                raise Broken([Violation(Invariant.DAMAGED, told)])


class _Anchors:
    """The anchor of time, as the store keeps it."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def anchor(self) -> ClockAnchor | None:
        """Return the anchor that holds."""
        return self._shelf.read_now(facts.get_anchor)

    def set_anchor(self, anchor: ClockAnchor, *, instead_of: ClockAnchor | None) -> ClockAnchor:
        """Replace it."""
        return self._shelf.write_now(lambda db: facts.set_anchor(db, anchor, instead_of))

    def greatest_end_s(self) -> float:
        """Return the latest end of an answer that the store knows of."""
        return self._shelf.read_now(facts.greatest_end_s)


def _meet(db: SqliteSession, plan: HostPlan) -> None:
    """Let a host be known: where it is, and what its robots.txt asks for."""
    ask = ClaimRequest(JOB, TENANT, "setup", LEASE_S, START_S - 2 * LEASE_S)
    lease = frontier.reserve(db, ask, host=plan.name, delay_s=0.0)
    assert isinstance(lease, Lease)
    state = HostState(plan.name, ip=plan.ip, crawl_delay_s=_asked_by(plan))
    back = Batch(hosts=(HostUpdate(lease, state, START_S),))
    frontier.settle(db, back, tenant=TENANT, max_queued=0)


def _asked_by(plan: HostPlan) -> float | None:
    return plan.rest_s if plan.rest_s > TICK_S else None


def _ended(seen: Seen, owner: str, now_s: float) -> Seen:
    """Return a host after the answer to somebody has ended, if one was under way."""
    flights = tuple(one for one in seen.flights if one[0] != owner)
    if len(flights) == len(seen.flights):
        return seen
    return replace(seen, flights=flights, end_s=max(seen.end_s, now_s))


def _found(plan: HostPlan, number: int) -> Discovered:
    found = url(f"/{number}", plan.name.removesuffix(":80"), priority=100 - number)
    assert found.host == plan.name
    return found


def _visit(
    lease: Lease, entry: UrlEntry, started_s: float, ended_s: float, owner: str, *, is_good: bool
) -> Settlement:
    """End a visit: its page is kept and the first leads to one more, or it is tried again."""
    name = entry.host.removesuffix(":80")
    found = url(entry.url.removeprefix(f"http://{name}"), name)
    record = Ref(f"jobs/{lease.job}/warc/s-1.warc.gz", 0, 10)
    more = (url("/9", name),) if entry.url.endswith("/0") else ()
    return Settlement(
        entry=entry,
        token=lease.token,
        outcome=Outcome.OK if is_good else Outcome.TIMEOUT,
        state=State.COMPLETED if is_good else State.PENDING,
        settled_s=ended_s,
        due_s=0.0 if is_good else ended_s + RETRY_S,
        status=200 if is_good else None,
        counts=is_good,
        discovered=more if is_good else (),
        page=replace(page(found), record=record, response=None) if is_good else None,
        asked=(_sent(entry.host, entry.url, owner, started_s, ended_s),),
    )


def _sent(host: str, address: str, owner: str, started_s: float, ended_s: float) -> SentRequest:
    return SentRequest(
        host=host,
        job=JOB,
        owner=owner,
        ip="192.0.2.1",
        purpose=RequestPurpose.PAGE,
        url=address,
        started_s=started_s,
        ended_s=ended_s,
        status=200,
        outcome=Outcome.OK,
        floor_s=0.0,
    )
