"""The log of requests, and what the visits of a pattern add up to."""

from __future__ import annotations

from dataclasses import replace

from geomi.model.entry import Novelty, Tally
from geomi.model.request_log import GoneRequests, RequestPurpose, SentRequest
from geomi.model.verdict import Outcome, State
from geomi.ports.store import Store
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    DELAY_S,
    LEASE_S,
    START_S,
    asked,
    batch,
    begin,
    claim,
    claim_one,
    give_back,
    url,
    visit,
)
from tests.support.waiting import waits

__all__ = ["TestPatterns", "TestRequestLog"]


async def logged(store: Store, host: str = "a.test:80") -> list[SentRequest]:
    """Return all that is known of a host."""
    return await store.requests.of_host(host, after_s=0.0, limit=1000)


class TestRequestLog:
    """What was asked was asked: every request is there once, whoever sent it."""

    @waits
    async def test_a_request_comes_back_as_it_went_in(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        page, robots = (
            asked(at_s=START_S + 9),
            replace(
                asked("/robots.txt"),
                ip="",
                purpose=RequestPurpose.ROBOTS,
                status=503,
                outcome=Outcome.SERVER_ERROR,
                robots_at_s=None,
                robots_line=None,
            ),
        )
        await store.frontier.settle(
            batch(replace(visit(lease), asked=(page,)), replace(give_back(lease), asked=(robots,)))
        )
        assert await logged(stores("stranger")) == [robots, page]
        assert await store.requests.hosts() == ["a.test:80"]
        assert await store.requests.ips() == ["192.0.2.1"]
        assert await store.requests.of_ip("192.0.2.1", after_s=0.0, limit=9) == [page]
        assert await store.requests.of_ip("", after_s=0.0, limit=9) == []
        assert await logged(store, "nobody.test:80") == []

    @waits
    async def test_old_requests_are_forgotten_and_that_is_known(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        sent = tuple(asked(f"/{number}", at_s=START_S + number) for number in range(5))
        await store.frontier.settle(batch(replace(visit(await claim_one(store)), asked=sent)))
        log = stores("stranger").requests
        assert await log.gone() == GoneRequests()
        assert await log.forget(before_s=START_S, limit=9) == 0
        assert await log.forget(before_s=START_S + 3, limit=2) == 2
        assert await log.forget(before_s=START_S + 3, limit=2) == 1
        assert await log.forget(before_s=START_S + 3, limit=2) == 0
        assert await logged(store) == list(sent[3:])
        assert await log.gone() == GoneRequests(3, START_S + 3)
        assert await log.forget(before_s=START_S + 4, limit=9) == 1
        assert await log.gone() == GoneRequests(4, START_S + 4)

    @waits
    async def test_a_lost_lease_and_a_deleted_job_are_logged_too(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        zombie = await claim_one(store)
        later_s = START_S + LEASE_S + DELAY_S
        owner = await claim_one(store, now_s=later_s)
        lost = replace(visit(zombie), asked=(asked("/1"),))
        settled = await store.frontier.settle(batch(lost))
        assert settled.lost == ("a.test:80",)
        await store.jobs.delete("job")
        farewell = replace(give_back(owner), asked=(asked("/2", at_s=later_s),))
        await store.frontier.settle(batch(farewell))
        assert [one.url[-2:] for one in await logged(store)] == ["/1", "/2"]
        assert {one.job for one in await logged(store)} == {"job"}

    @waits
    async def test_a_batch_sent_twice_is_logged_once(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        lease = await claim_one(store)
        twice = (asked(), replace(asked(), url="http://a.test/other"))
        sent = batch(
            replace(visit(lease), asked=twice), replace(give_back(lease), asked=(asked("/r"),))
        )
        await store.frontier.settle(sent)
        await store.frontier.settle(sent)
        assert len(await logged(store)) == 3

    @waits
    async def test_it_is_read_in_parts_by_time_and_no_moment_is_torn(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        times_s = [5.0, 1.0, 3.0, 3.0, 3.0, 2.0]
        rows = tuple(asked(f"/{n}", at_s=START_S + t) for n, t in enumerate(times_s))
        other = asked("/", "b.test", at_s=START_S + 4)
        sent = replace(visit(await claim_one(store)), asked=(*rows, other))
        await store.frontier.settle(batch(sent))
        read: list[str] = []
        last_s = 0.0
        while part := await store.requests.of_host("a.test:80", after_s=last_s, limit=3):
            read += [one.url[-1] for one in part]
            last_s = part[-1].started_s
        assert read == ["1", "5", "2", "3", "4", "0"]
        both = await store.requests.of_ip("192.0.2.1", after_s=START_S + 3, limit=9)
        assert [one.host for one in both] == ["b.test:80", "a.test:80"]


class TestPatterns:
    """A pattern's tally rises with each visit that ended, and comes with its entries."""

    @waits
    async def test_visits_of_a_pattern_add_up(self, stores: Stores) -> None:
        store = stores("local")
        pages = [replace(url(f"/{n}"), pattern="page") for n in range(5)]
        await begin(store, *pages, url("/plain"))
        brought = [
            Novelty(links=True, text=True, text_mark=b"1"),
            Novelty(links=False, text=True, text_mark=b"2"),
            Novelty(links=False, text=False, text_mark=b""),
        ]
        lease = await claim_one(store)
        assert all(entry.tally == Tally() for entry in lease.entries)
        visits = [
            replace(visit(lease, entry), novelty=novelty)
            for entry, novelty in zip(lease.entries, brought, strict=False)
        ]
        await store.frontier.settle(batch(*visits[:2]))
        await store.frontier.settle(batch(visits[2], give_back(lease)))
        tally = Tally(visited=3, stale_links=2, stale_text=1, text_mark=b"2", stale_growth=3)
        assert await store.census.patterns("job") == [("a.test:80", "page", tally)]
        left = (await claim_one(store, now_s=START_S + DELAY_S)).entries
        assert [entry.tally for entry in left] == [tally, tally, Tally()]
        found = await store.census.entry("job", pages[4].url_hash)
        assert found is not None and found.tally == tally

    @waits
    async def test_a_place_outside_may_take_back_a_few_visits(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, *(replace(url(f"/{n}"), pattern="page") for n in range(7)))
        inside = Novelty(links=False, text=True, text_mark=b"")
        outside = replace(inside, links=True, setback=3)
        lease = await claim_one(store)
        brought = (inside,) * 4, (outside,), (outside,), (inside,)
        seen, left = [], list(lease.entries)
        for novelties in brought:
            visits = [replace(visit(lease, left.pop()), novelty=each) for each in novelties]
            await store.frontier.settle(batch(*visits))
            ((_, _, tally),) = await store.census.patterns("job")
            seen.append(tally.stale_links)
        assert seen == [4, 1, 0, 1]

    @waits
    async def test_what_is_tried_again_repeated_or_lost_adds_nothing(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, replace(url("/1"), pattern="p"), replace(url("/2"), pattern="p"))
        lease = await claim_one(store)
        nothing = Novelty(links=False, text=False, text_mark=b"")
        retry = visit(lease, state=State.PENDING, outcome=Outcome.TIMEOUT)
        stale = visit(replace(lease, token=lease.token - 1), lease.entries[1])
        for missed in (retry, stale):
            await store.frontier.settle(batch(replace(missed, novelty=nothing)))
        assert await store.census.patterns("job") == []
        sent = batch(replace(visit(lease, lease.entries[1]), novelty=nothing))
        await store.frontier.settle(sent)
        await store.frontier.settle(sent)
        assert await store.census.patterns("job") == [("a.test:80", "p", Tally(1, 1, 1, b"", 1))]

    @waits
    async def test_a_pattern_grows_by_what_is_new_and_of_its_kind(self, stores: Stores) -> None:
        store = stores("local")
        known, *new = [replace(url(f"/d{n}"), pattern="day") for n in range(4)]
        elsewhere = replace(url("/d9", "b.test"), pattern="day")
        month = replace(url("/m"), pattern="month")
        await begin(store, *(replace(url(f"/{n}"), pattern="day") for n in range(4)), known, month)
        lease = await claim_one(store)
        entries = {entry.url[-2:]: entry for entry in lease.entries}
        days = frozenset({"day"})
        # Since how many visits the days have not grown, after visits that found something.
        for name, found, kin, expected in (
            ("/0", (known,), days, {"day": 1}),
            ("/1", (elsewhere,), days, {"day": 2}),
            ("/2", (known, new[0]), days, {"day": 0}),
            ("/3", (new[1],), frozenset[str](), {"day": 1}),
            ("/m", (new[2],), days, {"day": 0, "month": 1}),
        ):
            brought = Novelty(links=False, text=False, text_mark=b"", kin=kin)
            sent = visit(lease, entries[name], discovered=found)
            await store.frontier.settle(batch(replace(sent, novelty=brought)))
            counted = await store.census.patterns("job")
            assert {pattern: tally.stale_growth for _, pattern, tally in counted} == expected

    @waits
    async def test_patterns_belong_to_a_host_and_a_job(self, stores: Stores) -> None:
        store = stores("local")
        many = [replace(url(f"/{n}", h), pattern="p") for h in ("b.test", "a.test") for n in (1, 2)]
        await begin(store, *many, replace(url("/x"), pattern="q"))
        new = Novelty(links=True, text=True, text_mark=b"m")
        leases = await claim(store)
        visits = [
            replace(visit(lease, entry), novelty=new) for lease in leases for entry in lease.entries
        ]
        await store.frontier.settle(batch(*visits))
        twice, once = Tally(2, 0, 0, b"m", 2), Tally(1, 0, 0, b"m", 1)
        assert await store.census.patterns("job") == [
            ("a.test:80", "p", twice),
            ("b.test:80", "p", twice),
            ("a.test:80", "q", once),
        ]
        assert await stores("stranger").census.patterns("job") == []
        await store.jobs.delete("job")
        assert await store.census.patterns("job") == []
