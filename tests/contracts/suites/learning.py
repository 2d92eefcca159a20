"""How pages changed, which pages a crawl has, who sweeps: the same in every store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.adapters.store.tables.histories import KEPT_VERSIONS
from geomi.model.entry import Source
from geomi.model.history import (
    FIRST_CURSOR,
    ChangePool,
    HistoryUpdate,
    PageHistory,
    RevisitPage,
    Version,
    VisitEvidence,
)
from geomi.model.site import Takedown
from geomi.model.verdict import Outcome, State
from geomi.ports.store import Store
from geomi.recrawl.rate import pooled
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    DELAY_S,
    START_S,
    batch,
    begin,
    claim,
    give_back,
    job,
    page,
    url,
    visit,
)
from tests.support.waiting import waits

__all__ = ["TestHistories", "TestStandings", "TestSweeps"]

HOST = "a.test:80"
HISTORY = PageHistory(
    visited_at_s=2000.0,
    visits=3,
    changes=1,
    streak=1,
    watched_s=500.5,
    changed_at_s=1900.0,
    gone_at_s=None,
    missed_at_s=None,
)
CHANGE = VisitEvidence(at_s=2000.0, changed=True, watched_s=250.0, expected=0.25)
REST = VisitEvidence(at_s=2500.0, changed=False, watched_s=500.0, expected=0.5)
LEARNED = HistoryUpdate(HISTORY, due_s=9000.0, pattern="/docs/*", evidence=CHANGE)


async def teach(store: Store, path: str, *lessons: HistoryUpdate, is_kept: bool = True) -> None:
    """Visit a page once for each lesson, each time in a job of its own."""
    for learned in lessons:
        many = len(await store.jobs.list(limit=1000))
        name, now_s = f"job{many}", START_S + many * DELAY_S
        await store.jobs.create(job(name))
        await store.frontier.add(name, [url(path)], now_s=now_s)
        (lease,) = await claim(store, name, now_s=now_s)
        told = visit(lease, now_s=now_s, page=page(url(path)))
        if not is_kept:
            told = replace(told, page=None, outcome=Outcome.GONE, state=State.FAILED)
        done = give_back(lease, end_s=now_s)
        await store.frontier.settle(batch(replace(told, learned=learned), done))


class TestHistories:
    """What a visit has taught is there after it, by page and by kind."""

    @pytest.mark.req("CHG-06", "DAT-07")
    @waits
    async def test_a_history_is_what_the_last_visit_left(self, stores: Stores) -> None:
        store = stores("local")
        gone = replace(HISTORY, visits=4, gone_at_s=3000.0, missed_at_s=2900.0, changed_at_s=None)
        gone = replace(gone, left_at_s=2900.0, returned_at_s=1000.0)
        await teach(store, "/1", LEARNED, replace(LEARNED, history=gone))
        await teach(store, "/2", LEARNED)
        keys = [url(path).url_hash for path in ("/1", "/2", "/3")]
        assert await store.histories.of(keys) == {keys[0]: gone, keys[1]: HISTORY}
        assert await store.histories.of([]) == {}
        assert await stores("stranger").histories.of(keys) == {}

    @waits
    async def test_a_first_visit_leaves_none(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"))
        (lease,) = await claim(store)
        await store.frontier.settle(batch(visit(lease, page=page(url("/1")))))
        assert await store.histories.of([url("/1").url_hash]) == {}
        assert await store.histories.pools(HOST, ["", "/*"]) == {}

    @waits
    async def test_a_lost_lease_teaches_nothing(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/1"))
        (lease,) = await claim(store)
        late = replace(visit(lease), token=lease.token + 1, learned=LEARNED)
        await store.frontier.settle(batch(late))
        assert await store.histories.of([url("/1").url_hash]) == {}

    @pytest.mark.req("CHG-06")
    @waits
    async def test_pools_add_up_by_pattern_and_by_host(self, stores: Stores) -> None:
        store = stores("local")
        other = replace(LEARNED, pattern="/blog/*", evidence=REST)
        nothing = replace(LEARNED, evidence=None)
        await teach(store, "/1", LEARNED, other, nothing)
        found = await store.histories.pools(HOST, ["", "/docs/*", "/blog/*", "/none/*"])
        assert found == {
            "": pooled(pooled(ChangePool(), CHANGE), REST),
            "/docs/*": pooled(ChangePool(), CHANGE),
            "/blog/*": pooled(ChangePool(), REST),
        }
        assert await store.histories.pools("b.test:80", [""]) == {}
        assert await stores("stranger").histories.pools(HOST, [""]) == {}

    @waits
    async def test_a_page_without_a_pattern_counts_once(self, stores: Stores) -> None:
        store = stores("local")
        await teach(store, "/1", replace(LEARNED, pattern=""))
        assert await store.histories.pools(HOST, [""]) == {"": pooled(ChangePool(), CHANGE)}

    @waits
    async def test_one_batch_teaches_of_many_pages(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, *(url(f"/{number}") for number in range(5)))
        (lease,) = await claim(store)
        visits = [
            replace(visit(lease, entry, page=page(url(entry.url[13:]))), learned=LEARNED)
            for entry in lease.entries
        ]
        await store.frontier.settle(batch(*visits))
        keys = [url(f"/{number}").url_hash for number in range(5)]
        assert await store.histories.of(keys) == dict.fromkeys(keys, HISTORY)
        pools = await store.histories.pools(HOST, ["", "/docs/*"])
        assert [pool.changes for pool in pools.values()] == [5.0, 5.0]

    @pytest.mark.req("DAT-07")
    @waits
    async def test_versions_are_kept_the_newest_first_up_to_a_limit(self, stores: Stores) -> None:
        store, key = stores("local"), url("/1").url_hash
        made = [Version(f"{number:064x}", float(number)) for number in range(KEPT_VERSIONS + 2)]
        await teach(store, "/1", *(replace(LEARNED, before=version) for version in made))
        newest = made[::-1][:KEPT_VERSIONS]
        assert await store.histories.versions(key, limit=KEPT_VERSIONS + 9) == newest
        assert await store.histories.versions(key, limit=2) == newest[:2]
        assert await stores("stranger").histories.versions(key, limit=2) == []

    @waits
    async def test_what_is_erased_has_no_history(self, stores: Stores) -> None:
        store, key = stores("local"), url("/1").url_hash
        await teach(store, "/1", replace(LEARNED, before=Version("c" * 64, 1.0)))
        await store.providers.erase(Takedown("k", "n", "r", START_S, 0, 1), [key])
        assert await store.histories.of([key]) == {}
        assert await store.histories.versions(key, limit=9) == []

    @pytest.mark.req("CHG-04")
    @waits
    async def test_a_page_that_is_gone_is_due_later(self, stores: Stores) -> None:
        store = stores("local")
        await teach(store, "/1", LEARNED)
        before = await store.pages.get(url("/1").url_hash)
        assert before is not None and before.due_s == page(url("/1")).due_s  # its own word
        gone = replace(LEARNED, due_s=77_000.0, history=replace(HISTORY, visits=9))
        await teach(store, "/1", gone, is_kept=False)
        after = await store.pages.get(url("/1").url_hash)
        assert after == replace(before, due_s=77_000.0)


class TestStandings:
    """The pages of a crawl, job by job."""

    @waits
    async def test_the_runs_of_a_crawl_in_their_order(self, stores: Stores) -> None:
        store = stores("local")
        for name, crawl in (("one", ""), ("other", ""), ("two", "one"), ("three", "one")):
            await store.jobs.create(replace(job(name), crawl=crawl))
        assert await store.histories.runs("one") == ["one", "two", "three"]
        assert await store.histories.runs("none") == []
        assert await stores("stranger").histories.runs("one") == []
        found = await store.jobs.get("two")
        assert found is not None and found.crawl == "one"

    @pytest.mark.req("CHG-04")
    @waits
    async def test_each_page_stands_once_with_its_history(self, stores: Stores) -> None:
        store = stores("local")
        paths = [f"/{number}" for number in range(5)]
        hosts = ["a.test", "b.test"]
        await begin(store, *(url(path, host, depth=2) for host in hosts for path in paths))
        for lease in await claim(store):
            for entry in lease.entries:
                host, number = entry.url[7:13], entry.url[-1]
                kept = page(url(f"/{number}", host)) if number != "4" else None
                told = visit(lease, entry, page=kept)
                if kept is None:
                    told = replace(told, outcome=Outcome.EMPTY, state=State.SKIPPED)
                elif number == "1":
                    told = replace(told, learned=LEARNED)
                await store.frontier.settle(batch(told))
        found: list[RevisitPage] = []
        after = FIRST_CURSOR
        while some := await store.histories.standings("job", after=after, limit=3):
            found += some
            after = some[-1].place
        kept_urls = {url(path, host).url for host in hosts for path in paths[:4]}
        assert sorted(one.url for one in found) == sorted(kept_urls)
        first = page(url("/1"))
        (one,) = [one for one in found if one.url == first.url]
        assert replace(one, place=FIRST_CURSOR) == RevisitPage(
            first.url_hash, first.url, HOST, 2, first.fetched_at_s, first.due_s, HISTORY
        )
        assert {one.history for one in found if not one.url.endswith("/1")} == {PageHistory()}

    @waits
    async def test_what_was_put_back_stands_in_its_first_job_alone(self, stores: Stores) -> None:
        store = stores("local")
        await store.jobs.create(replace(job("again"), crawl="job"))
        revisit = replace(url("/1"), source=Source.REVISIT)
        await store.frontier.add("again", [revisit, url("/new")], now_s=START_S)
        (lease,) = await claim(store, "again")
        visits = [visit(lease, e, page=page(url(e.url[13:]))) for e in lease.entries]
        await store.frontier.settle(batch(*visits))
        standing = await store.histories.standings("again", after=FIRST_CURSOR, limit=9)
        assert [one.url for one in standing] == [url("/new").url]
        strange = stores("stranger")
        assert await strange.histories.standings("again", after=FIRST_CURSOR, limit=9) == []

    @pytest.mark.req("RPT-01")
    @waits
    async def test_pages_of_a_crawl_are_counted_while_they_are_there(self, stores: Stores) -> None:
        store = stores("local")
        await store.jobs.create(job())
        await store.frontier.add("job", [url("/1"), url("/2"), url("/3")], now_s=START_S)
        await store.jobs.create(replace(job("again"), crawl="job"))
        again = [replace(url("/1"), source=Source.REVISIT), url("/new")]
        await store.frontier.add("again", again, now_s=START_S)
        away = replace(HISTORY, left_at_s=1500.0)
        back = replace(away, returned_at_s=1600.0)
        lessons = {"/2": replace(LEARNED, history=away), "/3": replace(LEARNED, history=back)}
        for name, many, now_s in (("job", 2, START_S), ("again", 3, START_S + DELAY_S)):
            (lease,) = await claim(store, name, now_s=now_s)
            for entry in lease.entries:
                path = entry.url[13:]
                told = visit(lease, entry, page=page(url(path)))
                await store.frontier.settle(batch(replace(told, learned=lessons.get(path))))
            await store.frontier.settle(batch(give_back(lease)))
            assert await store.histories.present("job") == many
        assert await store.histories.present("again") == 2
        assert await stores("stranger").histories.present("job") == 0

    @waits
    async def test_what_was_met_before(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url("/kept"), url("/gone"), url("/waits"))
        (lease,) = await claim(store)
        by_path = {entry.url[13:]: entry for entry in lease.entries}
        await store.frontier.settle(
            batch(
                visit(lease, by_path["/kept"], page=page(url("/kept"))),
                visit(lease, by_path["/gone"], outcome=Outcome.GONE, state=State.FAILED),
            )
        )
        asked = [url(path) for path in ("/kept", "/gone", "/waits", "/new")]
        met = await store.histories.met("job", asked)
        assert met == {
            url("/kept").url_hash: START_S,
            url("/gone").url_hash: 0.0,
            url("/waits").url_hash: 0.0,
        }
        assert set(await store.histories.met("another", asked)) == {url("/kept").url_hash}
        assert await store.histories.met("job", []) == {}
        assert await stores("stranger").histories.met("job", asked) == {}


class TestSweeps:
    """One sweeper at a time; a dead one's right passes."""

    @waits
    async def test_one_sweeps_at_a_time(self, stores: Stores) -> None:
        first, second = stores("local").sweeps, stores("local").sweeps
        assert await first.take("crawl", owner="one", lease_s=60.0, now_s=START_S)
        assert not await second.take("crawl", owner="two", lease_s=60.0, now_s=START_S + 59)
        assert await second.take("other", owner="two", lease_s=60.0, now_s=START_S)
        strange = stores("stranger").sweeps
        assert await strange.take("crawl", owner="two", lease_s=60.0, now_s=START_S)

    @waits
    async def test_who_sweeps_may_go_on(self, stores: Stores) -> None:
        sweeps = stores("local").sweeps
        assert await sweeps.take("crawl", owner="one", lease_s=60.0, now_s=START_S)
        assert await sweeps.take("crawl", owner="one", lease_s=60.0, now_s=START_S + 50)
        assert not await sweeps.take("crawl", owner="two", lease_s=60.0, now_s=START_S + 100)

    @waits
    async def test_a_right_that_nobody_keeps_passes(self, stores: Stores) -> None:
        sweeps = stores("local").sweeps
        assert await sweeps.take("crawl", owner="dead", lease_s=60.0, now_s=START_S)
        assert await sweeps.take("crawl", owner="two", lease_s=60.0, now_s=START_S + 60)
        assert not await sweeps.take("crawl", owner="dead", lease_s=60.0, now_s=START_S + 61)
        await sweeps.end("crawl", owner="dead")
        assert not await sweeps.take("crawl", owner="dead", lease_s=60.0, now_s=START_S + 62)

    @waits
    async def test_a_right_is_given_back(self, stores: Stores) -> None:
        sweeps = stores("local").sweeps
        assert await sweeps.take("crawl", owner="one", lease_s=60.0, now_s=START_S)
        await sweeps.end("crawl", owner="one")
        assert await sweeps.take("crawl", owner="two", lease_s=60.0, now_s=START_S + 1)
