"""The log of requests is read again: kept rules are proven, broken ones are found."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomi.app import DATABASE
from geomi.cli.look.audit import audit as command
from geomi.engine.audit import audit as auditing
from geomi.engine.audit.audit import Audit, audit
from geomi.engine.audit.checks import MAX_EXAMPLES, Breach, CapCheck
from geomi.engine.audit.invariants import Invariant
from geomi.engine.audit.replay import HostCheck
from geomi.engine.audit.terms import RequestTerms, RunHistory
from geomi.errors import RuleBroken, StoreError, UnknownName
from geomi.model.config import CrawlConfig, Politeness, RobotsRules
from geomi.model.entry import Batch, HostState, HostUpdate, Lease
from geomi.model.job import CrawlJob
from geomi.model.request_log import RequestPurpose, SentRequest
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.verdict import Outcome
from tests.support.crawl import Ear, home_in, page, robots, to
from tests.support.server import Site
from tests.support.stores import world_with
from tests.support.timed_crawl import Hand, hand_in
from tests.support.waiting import waits

HOST = "a.test:80"
NEAR = "127.0.0.7"
FAR = "93.184.216.34"
START_S = 2_000_000.0
TOOK_S = 0.2
CONFIG = CrawlConfig(politeness=Politeness(delay_s=2.0, per_ip=1))
ROBOTS_TXT = b"User-agent: *\nDisallow: /private\nCrawl-delay: 5\n"


def ask(
    at_s: float, path: str = "/", *, host: str = HOST, job: str = "", **changes: object
) -> SentRequest:
    """Make a row of the log: a page, asked politely, on the robots.txt of the beginning."""
    row = SentRequest(
        host=host,
        job=job,
        owner="w-1",
        ip=NEAR,
        purpose=RequestPurpose.ROBOTS if path == "/robots.txt" else RequestPurpose.PAGE,
        url=f"http://{host.removesuffix(':80')}{path}",
        started_s=START_S + at_s,
        ended_s=START_S + at_s + TOOK_S,
        status=200,
        outcome=Outcome.OK,
        floor_s=2.0,
        robots_at_s=None if path == "/robots.txt" else START_S + TOOK_S,
    )
    return replace(row, **changes)  # type: ignore[arg-type]  # fields of Asked by name


def settling(rows: Sequence[SentRequest]) -> Batch:
    """Make the settlement that brings rows into a log."""
    lease = Lease(HOST, rows[0].job, -1, 0.0, 0.0, HostState(HOST)) if rows else None
    return Batch(hosts=(HostUpdate(lease, lease.state, asked=tuple(rows)),) if lease else ())


@dataclass
class Log:
    """A world with one job whose log is written by hand."""

    hand: Hand
    job: CrawlJob

    async def write(self, *rows: SentRequest) -> None:
        """Write rows; those that name no job get ours."""
        named = [row if row.job else replace(row, job=self.job.id) for row in rows]
        await self.hand.world.store.frontier.settle(settling(named))

    async def copy(self, body: bytes = ROBOTS_TXT, **changes: object) -> None:
        """Store the robots.txt that rows rest on."""
        key = RobotsKey("http", HOST, "geomi")
        copy = RobotsCopy(key, 200, body, START_S + TOOK_S)
        await self.hand.world.store.robots.put(replace(copy, **changes))  # type: ignore[arg-type]

    async def audit(self, host: str = "") -> Audit:
        """Read it."""
        return await audit(self.hand.world, host=host)


@asynccontextmanager
async def log_in(root: Path, config: CrawlConfig = CONFIG) -> AsyncIterator[Log]:
    async with hand_in(root) as hand:
        yield Log(hand, await hand.start(["http://a.test/"], config))


@waits
async def found(
    root: Path, work: Callable[[Log], Awaitable[None]], config: CrawlConfig = CONFIG
) -> Audit:
    """Write a log and return what an audit says."""
    async with log_in(root, config) as log:
        await work(log)
        return await log.audit()


def audited(root: Path, rows: Sequence[SentRequest], config: CrawlConfig = CONFIG) -> Audit:
    return found(root, lambda log: log.write(*rows), config)


def breaches(result: Audit) -> list[Breach]:
    of_hosts = [breach for proof in result.hosts for breach in proof.breaches]
    return of_hosts + [breach for proof in result.addresses for breach in proof.breaches]


def rules(result: Audit) -> list[Invariant]:
    return [breach.rule for breach in breaches(result)]


ROBOTS = ask(0, "/robots.txt", floor_s=0.0)
CLEAN = (ROBOTS, ask(2.2, "/"), ask(4.5, "/b"), ask(8.0, "/c"))


def test_a_clean_log_is_its_own_proof(tmp_path: Path) -> None:
    result = audited(tmp_path, CLEAN)
    assert (result.requests, result.broken, result.is_whole) == (4, 0, True)
    (proof,) = result.hosts
    assert proof.host == HOST
    assert proof.least_gap_s == pytest.approx(2.0)
    assert (proof.owed_s, proof.most_at_once, proof.robots) == (2.0, 1, 1)
    assert [(one.ip, one.most_at_once, one.allowed) for one in result.addresses] == [(NEAR, 1, 1)]


@waits
async def test_what_the_engine_logs_of_a_real_crawl_is_clean(tmp_path: Path) -> None:
    """Robots.txt, sitemaps, redirects and retries: whatever was sent stands in the log, once."""
    with Site({}) as site:
        site.routes = {
            "/robots.txt": robots("User-agent: *", "Crawl-delay: 3", "Disallow: /no"),
            "/": page("home", "/a", "/no", "/gone"),
            "/a": page("a"),
        }
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(CONFIG, site.url("/"))
            result = await audit(hand.world)
        (proof,) = result.hosts
        assert result.broken == 0
        assert proof.requests == len(site.log) == job.stats.requests == 4
        assert proof.least_gap_s == pytest.approx(3.0)
        assert (proof.owed_s, proof.judged, proof.robots) == (3.0, 3, 1)


class TestGaps:
    """Between the end of one and the start of the next."""

    def test_shorter_than_the_log_says_was_owed(self, tmp_path: Path) -> None:
        early = ask(4.3, "/b", floor_s=2.0)
        result = audited(tmp_path, [ROBOTS, ask(2.2), early, ask(9.0, "/c")])
        (breach,) = breaches(result)
        assert (breach.rule, result.broken) == (Invariant.GAP, 1)
        assert [one.url for one in breach.requests] == ["http://a.test/", "http://a.test/b"]
        assert "2.000 s were required, 1.900 s were kept" in breach.detail

    @pytest.mark.parametrize("wanted_s", [2.0, 6.0])
    def test_shorter_than_the_job_asks_for_whatever_the_log_says(
        self, tmp_path: Path, wanted_s: float
    ) -> None:
        hasty = replace(CONFIG, politeness=replace(CONFIG.politeness, delay_s=wanted_s))
        rows = [replace(row, floor_s=0.1) for row in (ROBOTS, ask(1.0), ask(9.0))]
        (breach,) = breaches(audited(tmp_path, rows, hasty))
        assert f"require {wanted_s:.3f} s, 0.800 s were kept" in breach.detail

    def test_crawl_delay_of_the_stored_copy(self, tmp_path: Path) -> None:
        async def work(log: Log) -> None:
            await log.copy()
            await log.write(ROBOTS, ask(2.2), ask(7.4, "/b"))

        (breach,) = breaches(found(tmp_path, work))
        assert "require 5.000 s, 2.000 s were kept" in breach.detail

    def test_another_copy_says_nothing(self, tmp_path: Path) -> None:
        async def work(log: Log) -> None:
            await log.copy(fetched_s=START_S + 99)
            await log.write(*CLEAN)

        assert found(tmp_path, work).broken == 0

    def test_a_public_host_has_its_own_floor(self, tmp_path: Path) -> None:
        config = CrawlConfig(politeness=Politeness(delay_s=0.5, min_delay_s=1.0, burst=2))
        rows = [replace(row, ip=FAR, floor_s=0.0) for row in (ROBOTS, ask(0.9), ask(9.0))]
        (breach,) = breaches(audited(tmp_path, rows, config))
        assert "require 1.000 s, 0.700 s were kept" in breach.detail

    def test_the_job_before_is_owed_too(self, tmp_path: Path) -> None:
        """A patient job's rest is not cut short by a hasty one."""

        async def work(log: Log) -> None:
            hasty = await log.hand.start(
                ["http://a.test/"], CrawlConfig(politeness=Politeness(delay_s=0.1))
            )
            late = replace(ask(1.0, floor_s=0.1), job=hasty.id, owner="w-2")
            await log.write(ROBOTS, late, replace(late, started_s=START_S + 2, ended_s=START_S + 2))

        (breach,) = breaches(found(tmp_path, work))
        assert "require 2.000 s, 0.800 s were kept" in breach.detail

    def test_a_job_that_is_gone_leaves_only_the_log(self, tmp_path: Path) -> None:
        rows = [replace(row, job="gone", floor_s=0.1) for row in CLEAN]
        result = audited(tmp_path, rows)
        assert (result.broken, result.hosts[0].unknown) == (0, 4)


class TestResumed:
    """Settings judge what was sent since they hold: the last run of their job."""

    CAPPED = CrawlConfig(politeness=Politeness(delay_s=0.0, max_per_hour=10, max_per_day=99))

    def test_a_longer_delay(self, tmp_path: Path) -> None:
        before = [replace(row, floor_s=0.1) for row in (ROBOTS, ask(1.0), ask(2.0, "/b"))]
        now = [replace(ask(at_s), owner="w-2") for at_s in (9.0, 12.0)]
        result = audited(tmp_path, [*before, *now])
        assert result.broken == 0
        assert result.hosts[0].older == 2

    def test_robots_txt_that_was_ignored(self, tmp_path: Path) -> None:
        async def work(log: Log) -> None:
            await log.copy(b"User-agent: *\nDisallow: /private", fetched_s=START_S + 60.2)
            await log.write(*(ask(at_s, "/private", robots_at_s=None) for at_s in (0, 9, 18)))
            now = ask(60.0, "/robots.txt"), ask(90.0, robots_at_s=START_S + 60.2)
            await log.write(*(replace(row, owner="w-2") for row in now))

        result = found(tmp_path, work)
        assert (result.broken, result.hosts[0].older, result.hosts[0].judged) == (0, 3, 1)

    def test_fewer_hosts_of_an_address(self, tmp_path: Path) -> None:
        rows = [
            replace(
                ask(at_s, "/robots.txt", host=f"{name}.test:80"),
                owner=owner,
                ended_s=START_S + at_s + 1,
            )
            for name, at_s, owner in (
                ("a", 0.0, "w-1"), ("b", 0.5, "w-1"), ("c", 10.0, "w-2"), ("d", 10.5, "w-2"),
            )
        ]  # fmt: skip
        result = audited(tmp_path, rows)
        (address,) = result.addresses
        assert (result.broken, address.broken, address.older) == (1, 1, 1)
        assert [one.host[0] for one in address.breaches[0].requests] == ["c", "d"]

    def test_a_cap_that_was_not_there_before(self, tmp_path: Path) -> None:
        """Permits count requests of jobs that had a cap when they asked; so does the audit."""
        before = [ROBOTS, *(ask(2.0 + number, f"/{number}", floor_s=0.0) for number in range(20))]
        now = [replace(ask(60.0 + at_s, floor_s=0.0), owner="w-2") for at_s in range(3)]
        hour, day = audited(tmp_path, [*before, *now], self.CAPPED).caps
        assert (hour.most, hour.allowed, hour.broken, hour.older) == (3, 10, 0, 21)
        assert (day.most, day.broken, day.older) == (24, 0, 0), "there is room for all"

    def test_a_cap_that_is_broken_now(self, tmp_path: Path) -> None:
        before = [ROBOTS, *(ask(2.0 + number, f"/{number}", floor_s=0.0) for number in range(20))]
        now = [replace(ask(60.0 + at_s, floor_s=0.0), owner="w-2") for at_s in range(12)]
        result = audited(tmp_path, [*before, *now], self.CAPPED)
        assert (result.broken, result.caps[0].first_s) == (2, START_S + 70)

    def test_workers_at_the_same_time_are_of_one_run(self, tmp_path: Path) -> None:
        """What w-2 did before w-3 died, and w-3 before w-4 took its place, is judged too."""
        owners = ("w-1", "w-2", "w-3", "w-2", "w-4", "w-2")
        rows = [replace(row, floor_s=0.1, owner=owner) for row, owner in zip(
            (ROBOTS, *map(ask, (1.0, 2.0, 3.0, 4.0, 5.0))), owners, strict=True
        )]  # fmt: skip
        result = audited(tmp_path, rows)
        assert (result.broken, result.hosts[0].older) == (4, 1)

    @waits
    async def test_one_host_is_judged_by_the_runs_of_all(self, tmp_path: Path) -> None:
        async with log_in(tmp_path) as log:
            await log.write(ROBOTS, ask(1.0, floor_s=0.1))
            assert (await log.audit("a.test")).broken == 1
            await log.write(ask(90.0, "/robots.txt", host="b.test:80", owner="w-2"))
            result = await log.audit("a.test")
            assert (result.broken, result.hosts[0].older, result.is_whole) == (0, 1, False)


@pytest.mark.req("POL-08")
class TestBursts:
    """Some may follow one another; then all their rests are paid."""

    CONFIG = CrawlConfig(politeness=Politeness(delay_s=2.0, burst=3))

    def test_three_at_once_and_their_rests(self, tmp_path: Path) -> None:
        starts_s = [0.0, 0.2, 0.4, 2.2, 4.2, 10.4, 10.6, 10.8]
        rows = [replace(row, floor_s=0.0) for row in (ROBOTS, *map(ask, starts_s[1:]))]
        assert audited(tmp_path, rows, self.CONFIG).broken == 0

    @pytest.mark.parametrize("starts_s", [[0.0, 0.2, 0.4, 0.6], [0.0, 0.2, 0.4, 2.2, 4.2, 4.4]])
    def test_one_more(self, tmp_path: Path, starts_s: list[float]) -> None:
        rows = [replace(row, floor_s=0.0) for row in (ROBOTS, *map(ask, starts_s[1:]))]
        assert rules(audited(tmp_path, rows, self.CONFIG)) == [Invariant.GAP]

    @given(
        waits_s=st.lists(st.floats(0, 4), min_size=1, max_size=30),
        burst=st.integers(1, 5),
    )
    @settings(max_examples=300)
    def test_what_passes_never_exceeds_the_burst_and_one_each_delay(
        self, waits_s: list[float], burst: int
    ) -> None:
        """In any window: count <= burst + window / delay."""
        terms = RequestTerms(CrawlConfig(politeness=Politeness(delay_s=1.0, burst=burst)))
        check, at_s, rows = HostCheck(HOST, RunHistory()), 0.0, []
        for wait_s in waits_s:
            at_s += wait_s
            row = ask(at_s, floor_s=0.0, ended_s=START_S + at_s)
            check.add(row, terms)
            rows.append(at_s)
        if check.proof().broken:
            return
        for first, start_s in enumerate(rows):
            for last in range(first, len(rows)):
                assert last - first + 1 <= burst + (rows[last] - start_s) + 0.01


class TestConcurrency:
    """One at a time for a host, so many hosts for an address."""

    def test_two_at_once(self, tmp_path: Path) -> None:
        second = replace(ask(2.3, "/b"), owner="w-2")
        result = audited(tmp_path, [ROBOTS, ask(2.2), second, ask(9.0)])
        (breach,) = breaches(result)
        assert breach.rule is Invariant.AT_ONCE
        assert [one.owner for one in breach.requests] == ["w-1", "w-2"]
        assert result.hosts[0].most_at_once == 2

    def test_one_inside_another(self, tmp_path: Path) -> None:
        """What ended last counts, not what started last."""
        long = replace(ask(2.2), ended_s=START_S + 30)
        result = audited(tmp_path, [ROBOTS, long, ask(9.0, "/b"), ask(31.0, "/c")])
        assert rules(result) == [Invariant.AT_ONCE, Invariant.GAP]

    @pytest.mark.parametrize(("per_ip", "broken"), [(1, 2), (2, 1), (3, 0)])
    def test_more_hosts_of_an_address_than_allowed(
        self, tmp_path: Path, per_ip: int, broken: int
    ) -> None:
        config = replace(CONFIG, politeness=replace(CONFIG.politeness, per_ip=per_ip))
        rows = [
            replace(ask(0.1 * number, "/robots.txt", host=f"{name}.test:80"), ended_s=START_S + 1)
            for number, name in enumerate("abc")
        ]
        result = audited(tmp_path, rows, config)
        assert rules(result) == [Invariant.PER_ADDRESS] * broken
        assert result.broken == broken
        (address,) = result.addresses
        assert (address.hosts, address.most_at_once, address.allowed) == (3, 3, per_ip)


class TestRobots:
    """Everything rests on a robots.txt that was read, is not too old, and allows it."""

    @pytest.mark.parametrize(
        ("row", "complaint"),
        [
            (replace(ask(9.0), robots_at_s=None), "no robots.txt was read before it"),
            (replace(ask(9.0), robots_at_s=START_S + 10), "was fetched after it"),
            (ask(86_400 + 1000), "had expired"),
            (ask(9.0, "/x", purpose=RequestPurpose.ROBOTS), "logged as one for robots.txt"),
            (
                ask(9.0, "/robots.txt?x", purpose=RequestPurpose.ROBOTS),
                "logged as one for robots.txt",
            ),
        ],
    )
    @pytest.mark.parametrize("before", [(), (ROBOTS,)])
    def test_a_right_that_was_none(
        self, tmp_path: Path, before: tuple[SentRequest, ...], row: SentRequest, complaint: str
    ) -> None:
        (breach,) = breaches(audited(tmp_path, [*before, row]))
        assert breach.rule is Invariant.ROBOTS
        assert complaint in breach.detail

    def test_a_forbidden_page(self, tmp_path: Path) -> None:
        async def work(log: Log) -> None:
            await log.copy()
            await log.write(ROBOTS, ask(9.0), ask(20.0, "/private/x"))

        result = found(tmp_path, work)
        (breach,) = breaches(result)
        assert breach.detail.startswith("robots.txt forbids it: line 2: Disallow: /private")
        assert result.hosts[0].judged == 1

    def test_a_copy_that_the_site_wanted_renewed_sooner(self, tmp_path: Path) -> None:
        async def work(log: Log) -> None:
            await log.copy(max_age_s=600.0)
            await log.write(ROBOTS, ask(500.0), ask(2000.0))

        (breach,) = breaches(found(tmp_path, work))
        assert "had expired" in breach.detail

    def test_a_copy_that_nobody_fetched(self, tmp_path: Path) -> None:
        (breach,) = breaches(audited(tmp_path, [ask(9.0)]))
        assert (breach.rule, breach.detail) == (
            Invariant.ROBOTS,
            "its robots.txt was never fetched",
        )

    def test_a_stored_copy_whose_fetch_is_not_in_the_log(self, tmp_path: Path) -> None:
        """Its worker was killed, or keeps no log: the copy itself says when it was fetched."""

        async def work(log: Log) -> None:
            await log.copy()
            await log.write(ask(9.0), ask(20.0, "/b"))

        result = found(tmp_path, work)
        (proof,) = result.hosts
        assert (result.broken, proof.robots, proof.unlogged, proof.judged) == (0, 0, 2, 2)

    def test_a_copy_that_was_replaced_since(self, tmp_path: Path) -> None:
        """A killed worker takes its row along; the copy goes when the next one is fetched."""

        async def work(log: Log) -> None:
            await log.copy(fetched_s=START_S + 900.2)
            await log.write(ask(9.0), ask(900.0, "/robots.txt"))

        result = found(tmp_path, work)
        assert (result.broken, result.hosts[0].unlogged) == (0, 1)

    @pytest.mark.parametrize(
        ("change", "broken"),
        [
            ({}, 0),
            ({"job": "other"}, 1),
            ({"owner": "w-2"}, 1),
            ({"outcome": Outcome.OK}, 1),
            ({"purpose": RequestPurpose.PAGE, "robots_at_s": START_S}, 1),
            ({"started_s": START_S - 700, "ended_s": START_S - 700}, 1),
            ({"started_s": START_S + 9, "ended_s": START_S + 9}, 1),
        ],
    )
    def test_a_robots_txt_elsewhere_that_led_here(
        self, tmp_path: Path, change: dict[str, object], broken: int
    ) -> None:
        origin = ask(0, "/robots.txt", host="b.test:80", outcome=Outcome.REDIRECTED, ip="")
        hop = ask(2.2, "/rules.txt", purpose=RequestPurpose.ROBOTS, robots_at_s=None, ip="")
        fetched = ask(-1000, "/robots.txt", host="b.test:80", ip="")
        result = audited(tmp_path, [fetched, replace(origin, **change), hop])  # type: ignore[arg-type]  # fields by name
        assert rules(result) == [Invariant.ROBOTS] * broken

    @waits
    async def test_redirects_of_a_real_robots_txt(self, tmp_path: Path) -> None:
        """From one host to another, and on there to a path of any name."""
        with Site({}, address="127.0.0.2") as there, Site({}) as site:
            there.routes = {
                "/robots.txt": to("/rules.txt"),
                "/rules.txt": robots("User-agent: *", "Disallow: /no"),
            }
            site.routes = {
                "/robots.txt": to("/moved"),
                "/moved": to(there.url("/robots.txt")),
                "/": page("home", "/no"),
            }
            async with hand_in(tmp_path) as hand:
                await hand.crawl(CONFIG, site.url("/"))
                result = await audit(hand.world)
            assert [one.path for one in there.log] == ["/robots.txt", "/rules.txt"]
            assert [one.path for one in site.log] == ["/robots.txt", "/moved", "/"]
            assert (result.requests, result.broken) == (5, 0)

    def test_a_job_that_ignores_robots_txt_is_told_of(self, tmp_path: Path) -> None:
        config = replace(CONFIG, robots=RobotsRules(respect=False))
        result = audited(tmp_path, [replace(ask(9.0), robots_at_s=None)], config)
        assert (result.broken, result.hosts[0].unread) == (0, 1)


@pytest.mark.req("POL-03")
class TestCaps:
    """So many an hour and a day, over all hosts."""

    @pytest.mark.parametrize(("per_hour", "broken"), [(3, 0), (2, 1), (0, 0)])
    def test_a_rolling_hour(self, tmp_path: Path, per_hour: int, broken: int) -> None:
        own = Politeness(delay_s=0.0, max_per_hour=per_hour, max_per_day=100)
        rows = [
            ask(at_s, "/robots.txt", host=f"{name}.test:80", floor_s=0.0, ip="")
            for name, at_s in (("a", 0.0), ("b", 1800.0), ("c", 3550.0), ("d", 5450.0))
        ]
        result = audited(tmp_path, rows, CrawlConfig(politeness=own))
        assert result.broken == broken
        told = {cap.window: (cap.most, cap.allowed) for cap in result.caps}
        assert told == ({"hour": (3, per_hour)} if per_hour else {}) | {"day": (4, 100)}
        if broken:
            assert result.caps[0].first_s == START_S + 3550

    def test_each_job_has_its_own_cap_on_what_all_of_them_send(self) -> None:
        check = CapCheck()
        for at_s in (5.0, 1.0, 3.0):
            check.add(ask(at_s), Politeness(max_per_hour=9), is_present=True)
        check.add(ask(4.0), Politeness(max_per_hour=2), is_present=True)
        check.add(ask(4.5), Politeness(), is_present=True)
        check.add(ask(4.7), Politeness(max_per_day=1), is_present=True)
        hour, day = check.proofs()
        assert (hour.most, hour.allowed, hour.broken) == (5, 9, 1)
        assert hour.first_s == START_S + 4
        assert (day.most, day.allowed, day.broken) == (4, 1, 1)


class TestErased:
    """A row without its URL proves what its times prove."""

    def test_it_is_counted_and_no_breach(self, tmp_path: Path) -> None:
        rows = [CLEAN[0], *(replace(row, url="") for row in CLEAN[1:3]), CLEAN[3]]
        result = audited(tmp_path, rows)
        assert (result.broken, result.requests, result.hosts[0].erased) == (0, 4, 2)

    def test_a_robots_txt_among_them_is_none_of_another_path(self, tmp_path: Path) -> None:
        rows = [CLEAN[0], replace(CLEAN[1], url="", purpose=RequestPurpose.ROBOTS), *CLEAN[2:]]
        assert audited(tmp_path, rows).broken == 0

    @pytest.mark.parametrize(
        ("change", "rule"),
        [
            ({"started_s": START_S + 3.0}, Invariant.GAP),
            ({"robots_at_s": None}, Invariant.ROBOTS),
            ({"robots_at_s": START_S + 5.0}, Invariant.ROBOTS),
            ({"ended_s": START_S}, Invariant.DAMAGED),
        ],
    )
    def test_its_times_are_judged(
        self, tmp_path: Path, change: dict[str, object], rule: Invariant
    ) -> None:
        early = replace(CLEAN[2], url="", **change)  # type: ignore[arg-type]  # fields by name
        assert rules(audited(tmp_path, [*CLEAN[:2], early])) == [rule]


class TestOtherTenants:
    """The log is everybody's, and so are the settings that judge it."""

    @waits
    async def test_their_requests_are_held_against_their_jobs(self, tmp_path: Path) -> None:
        async with log_in(tmp_path) as log:
            rows = [replace(row, floor_s=0.1) for row in (ROBOTS, ask(1.0), ask(9.0))]
            await log.write(*rows)
            store = log.hand.store
            stranger = world_with(log.hand.world, jobs=store.open_for("b").jobs)
            alone = await audit(stranger)
            assert (alone.broken, alone.hosts[0].unknown) == (0, 3)
            whole = await audit(stranger, jobs_of=lambda name: store.open_for(name).jobs)
            assert (rules(whole), whole.hosts[0].unknown) == ([Invariant.GAP], 0)


class TestDamage:
    """A row that cannot be true is no proof of anything."""

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            ({"ended_s": START_S - 90}, "it ended before it began"),
            ({"ended_s": math.inf}, "its times are not finite"),
            ({"started_s": math.inf, "ended_s": math.inf}, "its times are not finite"),
            ({"robots_at_s": -math.inf}, "its times are not finite"),
            ({"floor_s": -1.0}, "below zero"),
            ({"url": "nowhere"}, "its URL is not on `a.test:80`"),
            ({"url": "http://b.test/"}, "its URL is not on `a.test:80`"),
        ],
    )
    def test_it_is_named_and_nothing_else_is_concluded(
        self, tmp_path: Path, change: dict[str, object], complaint: str
    ) -> None:
        config = CrawlConfig(politeness=replace(CONFIG.politeness, max_per_hour=9))
        damaged = replace(CLEAN[1], **change)  # type: ignore[arg-type]  # fields of Asked by name
        result = audited(tmp_path, [CLEAN[0], damaged, *CLEAN[2:]], config)
        (breach,) = breaches(result)
        assert (breach.rule, result.broken, result.requests) == (Invariant.DAMAGED, 1, 4)
        assert complaint in breach.detail
        assert breach.requests == (replace(damaged, job=breach.requests[0].job),)

    @pytest.mark.parametrize("rows_per_read", [1, 2000])
    @pytest.mark.parametrize(
        "change",
        ["started_s = 'abc'", "started_s = X'00'", "ended_s = 'abc'", "robots_at_s = 'abc'"],
    )
    def test_a_time_that_is_no_number_cannot_be_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_per_read: int, change: str
    ) -> None:
        monkeypatch.setattr(auditing, "ROWS_PER_READ", rows_per_read)
        stored(tmp_path, CLEAN, change)
        with pytest.raises(
            StoreError, match="is no time, and a log with such a row proves nothing"
        ):
            command(output=tmp_path)

    def test_a_time_beyond_all_calendars_is_told(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        stored(tmp_path, CLEAN, "started_s = 1e20, ended_s = 1")
        with pytest.raises(RuleBroken):
            command(output=tmp_path)
        told = capsys.readouterr().out
        assert "damaged_row: it ended before it began" in told
        assert "1e+20 s to 1970-01-01T00:00:01.000+00:00  page http://a.test/b" in told

    def test_a_log_that_is_in_order_is_told_as_before(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        stored(tmp_path, CLEAN, "number = 3")
        command(output=tmp_path)
        told = capsys.readouterr().out
        assert "✓ a.test:80  4 requests; shortest gap 2.000 s, owed 2.000 s; at most 1" in told
        assert "4 requests, no breach" in told


@waits
async def stored(root: Path, rows: Sequence[SentRequest], change: str) -> None:
    """Keep a log in a data directory, and change its third row by hand."""
    async with home_in(root, Ear()) as home:
        named = [replace(row, job="gone") for row in rows]
        await home.world.store.frontier.settle(settling(named))
    with closing(sqlite3.connect(root / DATABASE)) as db, db:
        db.execute(f"UPDATE requests SET {change} WHERE number = 3")


class TestReading:
    """A log of any length, and a part of one."""

    def test_it_is_read_in_parts(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(auditing, "ROWS_PER_READ", 3)
        rows = [ROBOTS, *(ask(3.0 * number, f"/{number}") for number in range(1, 20))]
        result = audited(tmp_path, [*rows, ask(21.0, "/again")])
        assert result.requests == 21
        assert rules(result) == [Invariant.AT_ONCE]

    def test_examples_have_a_limit_and_counts_have_none(self, tmp_path: Path) -> None:
        rows = [ROBOTS, *(ask(0.3 * number, f"/{number}") for number in range(1, 20))]
        result = audited(tmp_path, rows)
        assert result.broken == 19
        assert len(breaches(result)) == MAX_EXAMPLES

    def test_hosts_beyond_the_limit_are_counted_and_breaches_shown_first(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(auditing, "MAX_LISTED", 2)
        rows = [
            ask(10.0 * number, "/robots.txt", host=f"{name}.test:80", floor_s=0.0)
            for number, name in enumerate("abcd")
        ]
        early = ask(31.0, "/robots.txt", host="d.test:80", floor_s=2.0)
        result = audited(tmp_path, [*rows, early])
        assert [proof.host[0] for proof in result.hosts] == ["d", "a", "b"]
        assert (result.more_hosts, result.broken) == (1, 1)

    @pytest.mark.parametrize("name", ["a.test", "A.test:80"])
    @waits
    async def test_one_host(self, tmp_path: Path, name: str) -> None:
        async with log_in(tmp_path) as log:
            other = ask(0.0, "/robots.txt", host="b.test:80", ip="127.0.0.8")
            await log.write(*CLEAN, other)
            result = await log.audit(name)
            assert [proof.host for proof in result.hosts] == [HOST]
            assert [proof.ip for proof in result.addresses] == [NEAR]
            with pytest.raises(UnknownName, match=r"no request to `c\.test` is in the log"):
                await log.audit("c.test")

    def test_an_empty_log_proves_nothing_and_accuses_nobody(self, tmp_path: Path) -> None:
        result = audited(tmp_path, [])
        assert (result.requests, result.broken, result.hosts, result.caps) == (0, 0, (), ())
