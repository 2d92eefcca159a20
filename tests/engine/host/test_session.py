"""The one voice that speaks to a host: its turns, its log, its bursts, its caps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count, pairwise
from pathlib import Path
from typing import TypeVar

import pytest

from geomi.engine.host.lease import HOLD_SHARE, lease_s
from geomi.engine.host.session import HostSession, MustRest, RequestCounter
from geomi.engine.visit.privacy import Privacy
from geomi.engine.world import SILENCE_S
from geomi.errors import LeaseLost
from geomi.fetch.request import build
from geomi.frontier.politeness import DOWN_AFTER
from geomi.model.config import CrawlConfig, Politeness, RobotsRules, Safety, Storing
from geomi.model.entry import Batch, HostUpdate, Lease
from geomi.model.job import CrawlJob
from geomi.model.page import Fetched
from geomi.model.request_log import RequestPurpose, SentRequest
from geomi.model.verdict import Outcome
from tests.support.crawl import page
from tests.support.server import End, Raw, Reply, Site
from tests.support.timed_crawl import TICK_S, Hand, hand_in
from tests.support.waiting import waits

T = TypeVar("T")

PAGES = {f"/{number}": page(str(number)) for number in range(30)}
DELAY_S = 2.0


def polite(**changes: object) -> CrawlConfig:
    return CrawlConfig(politeness=replace(Politeness(delay_s=DELAY_S), **changes))  # type: ignore[arg-type]


@dataclass
class Talk:
    """A site, a job of it, and the hand of the clock."""

    hand: Hand
    site: Site
    job: CrawlJob

    @property
    def host(self) -> str:
        return f"{self.site.address}:{self.site.port}"

    @property
    def config(self) -> CrawlConfig:
        return self.job.config

    async def lease(self) -> Lease:
        """Borrow the host as a worker does."""
        (lease,) = await self.hand.world.store.frontier.claim(
            self.job.id,
            owner="w-hand",
            hosts=1,
            urls=10,
            lease_s=lease_s(self.config),
            now_s=self.hand.clock.now_s(),
            wall_s=self.hand.clock.wall_s(),
        )
        return lease

    async def asker(self, lease: Lease | None = None) -> HostSession:
        """Return a voice that is seated."""
        given = lease or await self.lease()
        asker = HostSession(
            self.hand.world, given, self.config, Privacy(Safety()), asyncio.Semaphore(3)
        )
        assert await asker.take_place()
        return asker

    async def ask(
        self, asker: HostSession, path: str, purpose: RequestPurpose = RequestPurpose.PAGE
    ) -> Fetched:
        """Ask while the hand turns by itself."""
        request = build(self.site.url(path), self.config, version="0", purpose=purpose)
        return await self.turning(asker.ask(request))

    async def turning(self, work: Coroutine[None, None, T]) -> T:
        """Wait for something while the hand turns by itself."""
        async with asyncio.TaskGroup() as group:
            working = group.create_task(work)
            while not working.done():
                await asyncio.sleep(TICK_S)
                if self.hand.clock.next_wake_s is not None and not self.hand.fetcher.in_flight:
                    self.hand.clock.advance(self.hand.clock.next_wake_s - self.hand.clock.now_s())
        return working.result()

    async def give_back(self, asker: HostSession) -> float:
        """Give the host back; return for how long it rests."""
        farewell = asker.farewell()
        await self.hand.world.store.frontier.settle(Batch(hosts=(farewell,)))
        assert farewell.next_s is not None
        return farewell.next_s - self.hand.clock.now_s()

    async def log(self) -> list[SentRequest]:
        """Read the host's log."""
        return await self.hand.world.store.requests.of_host(self.host, after_s=0.0, limit=1000)

    @property
    def starts_s(self) -> list[float]:
        return [one.at_s - self.hand.began_s for one in self.hand.fetcher.asked]


@asynccontextmanager
async def talk_in(root: Path, config: CrawlConfig) -> AsyncIterator[Talk]:
    async with hand_in(root) as hand:
        with Site(PAGES) as site:
            yield Talk(hand, site, await hand.start([site.url("/0")], config))


class TestLog:
    """Every request that was sent leaves one row."""

    @waits
    async def test_a_row_says_what_was_asked_and_by_which_right(self, tmp_path: Path) -> None:
        async with talk_in(tmp_path, polite()) as talk:
            asker = await talk.asker()
            asker.allowed_by(None, None)
            await talk.ask(asker, "/robots.txt", RequestPurpose.ROBOTS)
            began_s = talk.hand.clock.now_s()
            asker.allowed_by(began_s, 7)
            await talk.ask(asker, "/1")
            robots, first = asker.spend().asked
            assert (robots.purpose, robots.status, robots.outcome) == (
                RequestPurpose.ROBOTS, 404, Outcome.GONE,
            )  # fmt: skip
            assert (robots.robots_at_s, robots.robots_line) == (None, None)
            assert first == SentRequest(
                host=talk.host,
                job=talk.job.id,
                owner="w-hand",
                ip="127.0.0.1",
                purpose=RequestPurpose.PAGE,
                url=talk.site.url("/1"),
                started_s=first.started_s,
                ended_s=first.started_s,
                status=200,
                outcome=Outcome.OK,
                floor_s=DELAY_S,
                robots_at_s=began_s,
                robots_line=7,
            )
            assert first.started_s - robots.ended_s >= DELAY_S

    @waits
    async def test_no_row_claims_a_host_for_longer_than_a_request_lasts(
        self, tmp_path: Path
    ) -> None:
        """A worker that was stopped finds an answer when its host is lent to another."""
        async with talk_in(tmp_path, polite()) as talk:
            lease, privacy = await talk.lease(), Privacy(Safety())
            spending = RequestCounter(lease, "w-hand", privacy, keeps_rows=True, slack_s=0.0)
            request = build(
                talk.site.url("/1"), talk.config, version="0", purpose=RequestPurpose.PAGE
            )
            late = Fetched(request.url, started_s=100.0, ended_s=9000.0, status=200)
            spending.add(request, late, ip="127.0.0.1", owed_s=DELAY_S)
            (row,) = spending.take_rows()
            assert row.ended_s == 100.0 + request.total_timeout_s

    @waits
    async def test_what_no_settlement_took_goes_with_the_farewell(self, tmp_path: Path) -> None:
        async with talk_in(tmp_path, polite()) as talk:
            asker = await talk.asker()
            await talk.ask(asker, "/1")
            spent = asker.spend()
            assert (spent.requests, len(spent.asked)) == (1, 1)
            assert spent.bytes > 0
            await talk.ask(asker, "/2")
            await talk.give_back(asker)
            assert [one.url for one in await talk.log()] == [talk.site.url("/2")]
            assert asker.spend().asked == ()

    @waits
    async def test_a_job_may_keep_none(self, tmp_path: Path) -> None:
        config = replace(polite(), store=Storing(request_log=False))
        async with talk_in(tmp_path, config) as talk:
            asker = await talk.asker()
            await talk.ask(asker, "/1")
            spent = asker.spend()
            assert (spent.requests, spent.asked) == (1, ())

    @waits
    async def test_what_never_left_us_is_not_in_it(self, tmp_path: Path) -> None:
        async with talk_in(tmp_path, polite()) as talk:
            asker = await talk.asker()
            request = build("http://name.invalid/", talk.config, version="0")
            fetched = await asker.ask(request)
            assert fetched.failure in (Outcome.DNS_ERROR, Outcome.ADDRESS_REFUSED)
            assert asker.spend() == replace(asker.spend(), requests=0, asked=())

    @waits
    async def test_a_request_that_is_cut_off_was_sent(self, tmp_path: Path) -> None:
        async with talk_in(tmp_path, polite()) as talk:
            talk.site.routes = {"/1": Raw((b"HTTP/1.1 200",), End.SILENCE)}
            asker = await talk.asker()
            request = build(talk.site.url("/1"), talk.config, version="0")
            asking = asyncio.ensure_future(asker.ask(request))
            while not talk.site.log:  # noqa: ASYNC110  # the site runs in a thread of its own
                await asyncio.sleep(TICK_S)
            talk.hand.clock.advance(5)
            asking.cancel()
            await asyncio.wait({asking})
            assert await talk.give_back(asker) >= DELAY_S
            (row,) = await talk.log()
            assert row.ended_s - row.started_s == 5
            assert row.outcome is Outcome.TIMEOUT


class TestTurns:
    """Nothing is asked before its turn, whoever held the host before."""

    @waits
    async def test_our_own_floors_hold_for_the_first_request_of_a_lease(
        self, tmp_path: Path
    ) -> None:
        """Another job obeyed less of a Crawl-delay, and gave the host back sooner."""
        config = replace(polite(), robots=RobotsRules(max_crawl_delay_s=60))
        async with talk_in(tmp_path, config) as talk:
            lease = await talk.lease()
            now_s = talk.hand.clock.now_s()
            state = replace(lease.state, crawl_delay_s=20.0, last_end_s=now_s - 9)
            asker = await talk.asker(replace(lease, state=state))
            await talk.ask(asker, "/1")
            assert talk.starts_s == [pytest.approx(11.0)]

    @waits
    async def test_a_patient_job_that_joins_is_heard(self, tmp_path: Path) -> None:
        """Its delay holds for the next request of a lease that is held already."""
        async with talk_in(tmp_path, polite()) as talk:
            asker = await talk.asker()
            await talk.ask(asker, "/1")
            await talk.hand.start([talk.site.url("/2")], polite(delay_s=9.0))
            for path in ("/3", "/4", "/5", "/6"):
                await talk.ask(asker, path)
            gaps_s = [later - sooner for sooner, later in pairwise(talk.starts_s)]
            assert len(gaps_s) == 4 and min(gaps_s) >= 9

    @waits
    async def test_a_lease_that_was_lost_asks_nothing(self, tmp_path: Path) -> None:
        async with talk_in(tmp_path, polite()) as talk:
            asker = await talk.asker()
            talk.hand.clock.advance(1000)
            with pytest.raises(LeaseLost):
                await asker.ask(build(talk.site.url("/1"), talk.config, version="0"))
            assert talk.site.log == []

    @waits
    async def test_something_slow_keeps_the_lease(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("geomi.engine.host.lease.HEARD_S", 0.01)
        async with talk_in(tmp_path, polite()) as talk:
            asker = await talk.asker()
            until_s = asker.lease.until_s
            assert await asker.hold(asyncio.sleep(0, "done")) == "done"
            assert asker.lease.until_s == until_s
            talk.hand.clock.advance(lease_s(talk.config) - 1)
            assert await asker.hold(asyncio.sleep(0.05, "done")) == "done"
            assert asker.lease.until_s > until_s
            talk.hand.clock.advance(1000)
            slow = asyncio.ensure_future(asyncio.sleep(60))
            with pytest.raises(LeaseLost):
                await asker.hold(slow)
            assert slow.cancelled()

    @waits
    async def test_a_host_without_answers_rests_and_is_given_up(self, tmp_path: Path) -> None:
        async with talk_in(tmp_path, polite(delay_s=0.0)) as talk:
            talk.site.routes = {"/1": Raw((), End.RESET)}
            asker = await talk.asker()
            while asker.state.errors < DOWN_AFTER:
                assert not asker.is_down()
                await talk.ask(asker, "/1")
            assert asker.is_down()
            assert asker.must_rest()
            assert await talk.give_back(asker) == pytest.approx(300.0)


@pytest.mark.req("POL-08")
class TestBursts:
    """Rests are put off, never dropped."""

    @waits
    async def test_some_follow_one_another_and_then_pay(self, tmp_path: Path) -> None:
        async with talk_in(tmp_path, polite(burst=3)) as talk:
            asker = await talk.asker()
            for number in range(8):
                await talk.ask(asker, f"/{number}")
            starts_s = talk.starts_s
            assert starts_s[2] == 0.0
            assert starts_s[3] >= DELAY_S
            assert starts_s[7] >= 5 * DELAY_S
            for first, start_s in enumerate(starts_s):
                for last in range(first, len(starts_s)):
                    window_s = starts_s[last] - start_s
                    assert last - first + 1 <= 3 + window_s / DELAY_S
            assert await talk.give_back(asker) >= 8 * DELAY_S - starts_s[7] - 1e-6

    @pytest.mark.req("POL-14")
    @waits
    async def test_what_the_host_asked_for_is_not_put_off(self, tmp_path: Path) -> None:
        async with talk_in(tmp_path, polite(burst=3)) as talk:
            talk.site.routes = PAGES | {"/busy": Reply(status=503)}
            asker = await talk.asker()
            await talk.ask(asker, "/1")
            asker.learn(7.0, 0.0)
            await talk.ask(asker, "/2")
            assert talk.starts_s[-1] >= 7.0
            asker.learn(None, 0.0)
            await talk.ask(asker, "/busy")
            await talk.ask(asker, "/3")
            assert talk.starts_s[-1] - talk.starts_s[-2] >= 1.0

    @waits
    async def test_a_worker_that_dies_in_a_burst_leaves_its_debt(self, tmp_path: Path) -> None:
        async with talk_in(tmp_path, polite(burst=3)) as talk:
            asker = await talk.asker()
            for number in range(3):
                await talk.ask(asker, f"/{number}")
            now_s = talk.hand.clock.now_s()
            await talk.hand.world.store.census.release_dead(["w-hand"], now_s=now_s)
            outlook = await talk.hand.world.store.census.outlook(talk.job.id, now_s=now_s)
            assert outlook.next_s is not None
            assert outlook.next_s - now_s >= 3 * DELAY_S


@pytest.mark.req("POL-03")
class TestCaps:
    """A cap is shared by all jobs that have one, and outlives every lease."""

    @waits
    async def test_no_hour_holds_more(self, tmp_path: Path) -> None:
        async with talk_in(tmp_path, polite(max_per_hour=3)) as talk:
            asker = await talk.asker()
            for number in range(3):
                await talk.ask(asker, f"/{number}")
            with pytest.raises(ExceptionGroup) as raised:
                await talk.ask(asker, "/3")
            assert raised.group_contains(MustRest)
            rests_s = await talk.give_back(asker)
            assert SILENCE_S * HOLD_SHARE < rests_s <= 3600 + 180
            talk.hand.clock.advance(rests_s)
            await talk.ask(await talk.asker(), "/3")
            assert talk.starts_s[3] - talk.starts_s[0] >= 3600

    @waits
    async def test_a_short_wait_is_waited_for(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("geomi.engine.host.lease.HOLD_SHARE", 9999.0 / SILENCE_S)
        async with talk_in(tmp_path, polite(max_per_hour=1)) as talk:
            asker = await talk.asker()
            await talk.ask(asker, "/0")
            await talk.ask(asker, "/1")
            assert talk.starts_s[1] >= 3600
            assert not asker.is_waiting

    @waits
    async def test_a_guest_that_must_rest_lets_its_host_rest(self, tmp_path: Path) -> None:
        async with talk_in(tmp_path, polite(max_per_hour=1)) as talk:
            with Site(PAGES, address="127.0.0.2") as other:
                asker = await talk.asker()
                await talk.ask(asker, "/1")
                request = build(other.url("/1"), talk.config, version="0")
                with pytest.raises(MustRest):
                    await asker.ask_elsewhere(f"127.0.0.2:{other.port}", request)
                assert other.log == []
                assert asker.must_rest()


class TestGuests:
    """A hop of robots.txt to another host stands in that host's line."""

    @waits
    async def test_what_was_asked_elsewhere_is_paid_here_and_logged_there(
        self, tmp_path: Path
    ) -> None:
        async with talk_in(tmp_path, polite()) as talk:
            with Site(PAGES, address="127.0.0.2") as other:
                asker = await talk.asker()
                request = build(other.url("/1"), talk.config, version="0")
                assert await asker.ask_elsewhere(f"127.0.0.2:{other.port}", request)
                spent = asker.spend()
                assert (spent.requests, spent.asked) == (1, ())
                world = talk.hand.world
                (row,) = await world.store.requests.of_host(
                    f"127.0.0.2:{other.port}", after_s=0.0, limit=9
                )
                assert (row.url, row.job) == (other.url("/1"), talk.job.id)

    @pytest.mark.req("ROB-08")
    @waits
    async def test_nobody_is_asked_for_what_has_come_meanwhile(self, tmp_path: Path) -> None:
        """A host that is waited for may have given its robots.txt to whoever holds it."""
        looks = count(1)

        async def has_come() -> bool:
            return next(looks) > 2

        async with talk_in(tmp_path, polite()) as talk:
            with Site(PAGES, address="127.0.0.2") as other:
                host = f"127.0.0.2:{other.port}"
                now_s = talk.hand.clock.now_s()
                held = await talk.hand.world.store.frontier.reserve(
                    talk.job.id, host, owner="w-other", lease_s=600, delay_s=0, now_s=now_s
                )
                assert isinstance(held, Lease)
                asker = await talk.asker()
                request = build(other.url("/1"), talk.config, version="0")
                asking = asker.ask_elsewhere(host, request, has_come)
                assert await talk.turning(asking) is None
                assert other.log == []
                assert next(looks) == 4

    @pytest.mark.parametrize(("address", "comes"), [("127.0.0.1", True), ("127.0.0.2", False)])
    @waits
    async def test_an_address_has_its_share_of_guests_too(
        self, tmp_path: Path, address: str, comes: bool
    ) -> None:
        """A guest at our own address shares our place: we ask nothing meanwhile."""
        async with talk_in(tmp_path, polite(per_ip=1)) as talk:
            with Site(PAGES, address=address) as other, Site({}, address=address) as third:
                asker = await talk.asker()
                world, now_s = talk.hand.world, talk.hand.clock.now_s()
                if not comes:
                    await _occupy(talk, f"{address}:{third.port}", address)
                request = build(other.url("/1"), talk.config, version="0")
                fetched = await asker.ask_elsewhere(f"{address}:{other.port}", request)
                assert (fetched is not None) is comes
                assert len(other.log) == comes
                assert world.clock.now_s() == now_s


async def _occupy(talk: Talk, host: str, ip: str) -> None:
    frontier, now_s = talk.hand.world.store.frontier, talk.hand.clock.now_s()
    lease = await frontier.reserve(
        talk.job.id, host, owner="w-other", lease_s=500, delay_s=0.0, now_s=now_s
    )
    assert isinstance(lease, Lease)
    assert await frontier.place(lease, ip, per_ip=1, now_s=now_s)
    update = HostUpdate(lease, replace(lease.state, ip=ip))
    await frontier.settle(Batch(hosts=(update,)))
