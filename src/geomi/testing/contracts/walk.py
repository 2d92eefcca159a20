"""A random walk over several stores at once: the same script, the same answers, and five laws.

(a) no host is lent before its last response plus the delay; (b) no host is lent twice at once;
(c) no entry is lost; (d) the counters equal a recount; (e) what comes under a stale token changes
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from geomi.model.config import CrawlConfig
from geomi.model.entry import Discovered, HostState, HostUpdate, Lease
from geomi.model.job import CrawlJob, CrawlStats
from geomi.model.verdict import Outcome, State
from geomi.testing.contracts.material import (
    START_S,
    Store,
    batch,
    config,
    job,
    page,
    url,
    visit,
)

T = TypeVar("T")

JOBS = {"quick": config(delay_s=2.0, per_ip=1), "slow": config(delay_s=5.0, max_pages=6)}
HOSTS = ("a.test", "b.test", "c.test")
URLS = [
    url(f"/{number}", host, depth=number % 3, priority=100 - 10 * (number % 4))
    for host in HOSTS
    for number in range(6)
]
LEASE_S = 20.0

names = st.sampled_from(sorted(JOBS))
owners = st.sampled_from(["one", "two", "three"])
urls = st.lists(st.sampled_from(URLS), max_size=5)
endings = st.sampled_from(
    [
        (Outcome.OK, State.COMPLETED),
        (Outcome.OK, State.COMPLETED),
        (Outcome.DUPLICATE, State.COMPLETED),
        (Outcome.GONE, State.FAILED),
        (Outcome.TIMEOUT, State.PENDING),
        (Outcome.ROBOTS, State.BLOCKED),
        (Outcome.WRONG_TYPE, State.SKIPPED),
    ]
)


@dataclass(slots=True)
class Seen:
    """What a careful observer knows of one host: its newest lease and its last response."""

    token: int = 0
    until_s: float = 0.0
    end_s: float | None = None


class Walk(RuleBasedStateMachine):
    """The script; a subclass says which stores walk along."""

    openers: Sequence[Callable[[], Store]] = ()
    close: Callable[[Store], None] = staticmethod(lambda store: None)

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stores = [opener() for opener in self.openers]
        self.now_s = START_S
        self.jobs: dict[str, CrawlJob] = {}
        self.leases: list[Lease] = []
        self.seen: dict[str, Seen] = {}
        self.added: set[tuple[str, bytes]] = set()

    def all(self, ask: Callable[[Store], Awaitable[T]]) -> T:
        """Ask every store the same and return the one answer."""

        async def answer() -> list[T]:
            return [await ask(store) for store in self.stores]

        first, *others = self.runner.run(answer())
        for other in others:
            assert other == first
        return first

    @initialize()
    def begin(self) -> None:
        """Create the jobs."""
        for name, rules in JOBS.items():
            self.jobs[name] = job(name, rules=rules)
            self.all(lambda store, made=self.jobs[name]: store.jobs.create(made))  # type: ignore[misc]  # mypy cannot infer a lambda's default

    @rule(seconds=st.sampled_from([0.5, 1.0, 2.0, 5.0, 25.0]))
    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now_s += seconds

    @rule(name=names, found=urls)
    def add(self, name: str, found: list[Discovered]) -> None:
        """Add URLs."""
        new = self.all(lambda store: store.frontier.add(name, found, now_s=self.now_s))
        assert new == self._count_new(name, found)

    @rule(name=names, owner=owners, hosts=st.integers(1, 3), many=st.integers(1, 3))
    def claim(self, name: str, owner: str, hosts: int, many: int) -> None:
        """Claim hosts."""
        leases = self.all(
            lambda store: store.frontier.claim(
                name, owner=owner, hosts=hosts, urls=many, lease_s=LEASE_S, now_s=self.now_s
            )
        )
        assert len(leases) <= hosts
        for lease in leases:
            assert 1 <= len(lease.entries) <= many
            assert not self.jobs[name].paused
            self._lent(lease, JOBS[name])

    @rule(owner=owners, host=st.sampled_from(HOSTS))
    def reserve(self, owner: str, host: str) -> None:
        """Reserve a host."""
        answer = self.all(
            lambda store: store.frontier.reserve(
                "slow", f"{host}:80", owner=owner, lease_s=LEASE_S, delay_s=5.0, now_s=self.now_s
            )
        )
        if isinstance(answer, Lease):
            self._lent(answer, JOBS["slow"])
        else:
            assert answer > self.now_s

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), ending=endings, found=urls, gives_back=st.booleans())
    def settle(
        self,
        data: st.DataObject,
        ending: tuple[Outcome, State],
        found: list[Discovered],
        gives_back: bool,
    ) -> None:
        """Close some visits of any lease ever lent, stale ones too."""
        lease = data.draw(st.sampled_from(self.leases))
        entries = data.draw(st.sets(st.sampled_from(lease.entries))) if lease.entries else ()
        outcome, state = ending
        visits = [
            replace(
                visit(lease, entry, now_s=self.now_s, outcome=outcome, state=state),
                due_s=self.now_s + 7 if state is State.PENDING else 0.0,
                discovered=tuple(found),
                page=page(url(), simhash=77) if state is State.COMPLETED else None,
            )
            for entry in sorted(entries, key=lambda entry: entry.url)
        ]
        host = HostState(lease.host, last_end_s=self.now_s, backoff_s=1.0)
        change = HostUpdate(lease, host, self.now_s + lease.floor_s if gives_back else None)
        seen = self.seen[lease.host]
        before = self._counted() if seen.token != lease.token else None
        settled = self.all(lambda store: store.frontier.settle(batch(*visits, change)))
        if before is not None:
            assert settled.lost == (lease.host,) and before == self._counted()
            return
        assert settled.lost == ()
        seen.end_s = self.now_s
        if gives_back:
            seen.until_s = 0.0
        self._learn(lease, found, settled.new_urls)

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        """Renew any lease ever lent."""
        lease = data.draw(st.sampled_from(self.leases))
        renewed = self.all(
            lambda store: store.frontier.renew([lease], lease_s=LEASE_S, now_s=self.now_s)
        )
        seen = self.seen[lease.host]
        is_live = seen.token == lease.token and seen.until_s > self.now_s
        assert bool(renewed) == is_live
        if is_live:
            seen.until_s = renewed[0].until_s

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), ip=st.sampled_from(["192.0.2.1", "192.0.2.2"]))
    def place(self, data: st.DataObject, ip: str) -> None:
        """Place any lease ever lent."""
        lease = data.draw(st.sampled_from(self.leases))
        self.all(lambda store: store.frontier.place(lease, ip, per_ip=1, now_s=self.now_s))

    @rule(owner=owners)
    def bury(self, owner: str) -> None:
        """Declare an owner dead."""
        self.all(lambda store: store.census.release_dead([owner], now_s=self.now_s))
        self._learn_ends()

    @rule(name=names)
    def pause_or_resume(self, name: str) -> None:
        """Turn a job's pause round."""
        self.jobs[name] = replace(self.jobs[name], paused=not self.jobs[name].paused)
        self.all(lambda store: store.jobs.update(self.jobs[name]))

    @invariant()
    def counters_equal_a_recount(self) -> None:
        """Nothing is lost, and every counter is what a recount says."""
        for name, (stats, by_state) in self._counted().items():
            known = sum(added == name for added, _ in self.added)
            assert stats.discovered == sum(by_state.values()) == known
            assert (stats.failed, stats.skipped, stats.blocked) == tuple(
                by_state.get(state, 0) for state in (State.FAILED, State.SKIPPED, State.BLOCKED)
            )
            assert stats.settled == by_state.get(State.COMPLETED, 0)

    def teardown(self) -> None:
        """Close what was opened."""
        for store in self.stores:
            self.close(store)
        self.runner.close()

    def _count_new(self, name: str, found: Sequence[Discovered]) -> int:
        new = {(name, one.url_hash) for one in found} - self.added
        self.added |= new
        return len(new)

    def _lent(self, lease: Lease, rules: CrawlConfig) -> None:
        """Check a lease against what the observer knows, and remember it."""
        seen = self.seen.setdefault(lease.host, Seen())
        delay_s = rules.politeness.delay_s or 0.0
        assert lease.floor_s >= delay_s
        assert lease.token == seen.token + 1
        assert seen.until_s <= self.now_s, "lent twice at once"
        ends_s = [end_s for end_s in (seen.end_s, seen.until_s or None) if end_s is not None]
        assert all(end_s + lease.floor_s <= self.now_s for end_s in ends_s), "lent too early"
        self.seen[lease.host] = Seen(lease.token, lease.until_s, seen.end_s)
        self.leases.append(lease)

    def _learn(self, lease: Lease, found: Sequence[Discovered], new_urls: int) -> None:
        """Take over what a settlement discovered, if it was written."""
        if new_urls:
            assert new_urls == self._count_new(lease.job, found)

    def _learn_ends(self) -> None:
        """Find out which leases a burial has ended."""
        for lease in self.leases:
            seen = self.seen[lease.host]
            if seen.token == lease.token and seen.until_s:
                free_s = self.all(
                    lambda store, host=lease.host: store.frontier.reserve(  # type: ignore[misc]  # as above
                        "slow", host, owner="x", lease_s=LEASE_S, delay_s=1e6, now_s=self.now_s
                    )
                )
                assert isinstance(free_s, float)
                if free_s == self.now_s + 1e6:
                    seen.until_s, seen.end_s = 0.0, self.now_s

    def _counted(self) -> dict[str, tuple[CrawlStats, dict[State, int]]]:
        """Recount both jobs from their entries, and compare with what the store says itself."""
        counted = {}
        for name in JOBS:
            found = self.all(lambda store, name=name: store.jobs.get(name))  # type: ignore[misc]  # as above
            assert found is not None
            entries = self.all(
                lambda store, name=name: store.census.entries(  # type: ignore[misc]  # as above
                    name, state=None, after=b"", limit=1000
                )
            )
            by_state: dict[State, int] = {}
            for entry in entries:
                by_state[entry.state] = by_state.get(entry.state, 0) + 1
            outlook = self.all(
                lambda store, name=name: store.census.outlook(name, now_s=self.now_s)  # type: ignore[misc]  # as above
            )
            assert outlook.by_state == by_state
            counted[name] = (found.stats, by_state)
        return counted
