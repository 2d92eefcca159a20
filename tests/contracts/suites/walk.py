"""A random walk over several stores at once: the same script, the same answers, and eight laws.

(a) no host is lent before its last response plus the delay; (b) no host is lent twice at once;
(c) no entry is lost; (d) counters and quotas equal a recount, and a page opened again counts once;
(e) what comes under a stale token changes nothing; (f) but its requests are logged, each once;
(g) no job holds more hosts than it may; (h) similar pages that repeat none are found once each.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from geomi.model.config import CrawlConfig
from geomi.model.entry import Discovered, HostState, HostUpdate, Lease, UrlEntry
from geomi.model.job import CrawlJob, CrawlStats
from geomi.model.request_log import SentRequest
from geomi.model.verdict import Outcome, State
from geomi.ports.store import Store
from tests.contracts.suites.material import START_S, batch, job
from tests.contracts.suites.scene import (
    HOSTS,
    JOBS,
    LEASE_S,
    QUOTA,
    SEEDS,
    Seen,
    end_visit,
    endings,
    is_complete,
    lend,
    likeness,
    names,
    owners,
    told,
    urls,
    usage,
    wall_of,
    without_urls,
)
from tests.contracts.suites.sites import TAKEDOWN

T = TypeVar("T")


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
        self.asked: set[SentRequest] = set()

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
        """Create the jobs, each with a URL on every host."""
        self.all(lambda store: store.quotas.allow(QUOTA))
        for name, rules in JOBS.items():
            self.jobs[name] = job(name, rules=rules)
            self.all(lambda store, made=self.jobs[name]: store.jobs.create(made))  # type: ignore[misc]  # mypy cannot infer a lambda's default
            self.add(name, SEEDS)

    @rule(seconds=st.sampled_from([0.5, 1.0, 2.0, 5.0, 25.0]))
    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now_s += seconds

    @rule(name=names, found=urls)
    def add(self, name: str, found: Sequence[Discovered]) -> None:
        """Add URLs."""
        new = self.all(lambda store: store.frontier.add(name, found, now_s=self.now_s))
        assert new == self._count_new(name, found)

    @rule(name=names, owner=owners, hosts=st.integers(1, 3), many=st.integers(1, 3))
    def claim(self, name: str, owner: str, hosts: int, many: int) -> None:
        """Claim hosts."""
        leases = self.all(
            lambda store: lend(store, name, owner, hosts=hosts, urls=many, now_s=self.now_s)
        )
        assert len(leases) <= hosts
        for lease in leases:
            assert 1 <= len(lease.entries) <= many
            assert not self.jobs[name].paused
            self._lent(lease, JOBS[name])
        most = JOBS[name].politeness.max_hosts
        held = sum(one.until_s > self.now_s and one.job == name for one in self.seen.values())
        assert not (leases and most) or held <= most

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
        in_order = sorted(entries, key=lambda entry: entry.url)
        self._settle(lease, in_order, ending, found, gives_back=gives_back)

    @rule(name=names, ending=endings, found=urls, rest=st.booleans())
    def work(
        self, name: str, ending: tuple[Outcome, State], found: list[Discovered], rest: bool
    ) -> None:
        """Do as a worker does: claim, visit everything, give the hosts back."""
        self.now_s += 6.0 if rest else 0.0
        known = len(self.leases)
        self.claim(name, "one", 2, 3)
        for lease in self.leases[known:]:
            self._settle(lease, lease.entries, ending, found, gives_back=True)

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

    @rule(found=st.sampled_from(SEEDS))
    def erase(self, found: Discovered) -> None:
        """Erase a page wherever it is."""
        self.all(lambda store: store.providers.erase(TAKEDOWN, [found.url_hash]))

    @invariant()
    def similar_pages_are_found(self) -> None:
        """Whoever asks finds the same pages, each once, and none that repeats another."""
        near, _ = self.all(likeness)
        for found in near:
            assert len({page.url_hash for page in found}) == len(found)
            assert all(page.sketch and not page.duplicate_of for page in found)

    @invariant()
    def counters_equal_a_recount(self) -> None:
        """Nothing is lost, and every counter is what a recount says; of quotas, too."""
        used, captures = self.all(lambda store: usage(store, self.now_s))
        assert used.stored_bytes == sum(ref.length for ref in captures)
        for name, (stats, by_state, kept) in self._counted().items():
            known = sum(added == name for added, _ in self.added)
            assert stats.discovered == sum(by_state.values()) == known
            assert (stats.failed, stats.skipped, stats.blocked) == tuple(
                by_state.get(state, 0) for state in (State.FAILED, State.SKIPPED, State.BLOCKED)
            )
            assert stats.settled == stats.collected == kept

    def teardown(self) -> None:
        """Read the log, and close what was opened."""
        try:
            self._check_log()
        finally:
            for store in self.stores:
                self.close(store)
            self.runner.close()

    def _check_log(self) -> None:
        """Nothing that was asked is forgotten, whoever lost the host meanwhile."""
        for host in self.all(lambda store: store.requests.hosts()):
            log = self.all(
                lambda store, host=host: store.requests.of_host(host, after_s=0.0, limit=1000)  # type: ignore[misc]  # as above
            )
            sent = [one for one in self.asked if one.host == host]
            assert without_urls(log) == without_urls(sent)

    def _settle(
        self,
        lease: Lease,
        entries: Sequence[UrlEntry],
        ending: tuple[Outcome, State],
        found: Sequence[Discovered],
        *,
        gives_back: bool,
    ) -> None:
        """Close visits, and see what may change by it."""
        visits = [
            end_visit(lease, entry, ending, tuple(found), now_s=self.now_s) for entry in entries
        ]
        self.asked |= {one for each in visits for one in each.asked}
        host = HostState(lease.host, last_end_s=self.now_s, backoff_s=1.0)
        change = HostUpdate(lease, host, self.now_s + lease.floor_s if gives_back else None)
        seen = self.seen[lease.host]
        before = self._counted() if seen.token != lease.token else None
        closed = batch(*visits, change, wall_s=wall_of(self.now_s))
        settled = self.all(lambda store: store.frontier.settle(closed))
        if before is not None:
            assert settled.lost == (lease.host,) and before == self._counted()
            return
        assert settled.lost == ()
        seen.end_s = self.now_s
        if gives_back:
            seen.until_s = 0.0
        self._learn(lease, found, settled.new_urls)

    def _count_new(self, name: str, found: Sequence[Discovered]) -> int:
        new = {(name, one.url_hash) for one in found} - self.added
        self.added |= new
        return len(new)

    def _lent(self, lease: Lease, rules: CrawlConfig) -> None:
        """Check a lease against what the observer knows, and remember it."""
        seen, delay_s = self.seen.get(lease.host, Seen()), rules.politeness.delay_s or 0.0
        self.seen[lease.host] = seen.lent(lease, delay_s=delay_s, now_s=self.now_s)
        self.leases.append(lease)

    def _learn(self, lease: Lease, found: Sequence[Discovered], new_urls: int) -> None:
        """Take over what a settlement discovered, if it was written."""
        assert not new_urls or new_urls == self._count_new(lease.job, found)

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
                # A response may have ended a moment from now; a live lease would end later.
                if free_s == self.now_s + 1e6 or free_s - 1e6 < seen.until_s:
                    seen.until_s, seen.end_s = 0.0, self.now_s

    def _counted(self) -> dict[str, tuple[CrawlStats, dict[State, int], int]]:
        """Recount both jobs from their entries, and compare with what the store says itself."""
        counted = {}
        answer = self.all(lambda store: told(store, self.now_s))
        for name, (found, entries, outlook) in answer.items():
            assert found is not None
            by_state = dict(Counter(entry.state for entry in entries))
            assert outlook.by_state == by_state
            kept = sum(is_complete(entry.outcome) for entry in entries)
            counted[name] = (found.stats, by_state, kept)
        return counted
