"""Jobs, pages, robots copies and the census: what is kept is what was given, by tenant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.dedup.sketch import BANDS, PAGES_PER_BAND
from geomi.errors import StoreError, UnknownName
from geomi.model.config import (
    CrawlConfig,
    HttpRules,
    OnUnreachable,
    Politeness,
    Render,
    RobotsRules,
    Scope,
    Within,
)
from geomi.model.job import CrawlStats, JobKind, JobState, StopReason
from geomi.model.page import CaptureRow, PageRecord, Ref
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.site import Channel
from geomi.model.verdict import Outcome
from geomi.ports.store import Store
from tests.contracts.suites.alike import first, known, sketch_of
from tests.contracts.suites.handles import Stores
from tests.contracts.suites.material import (
    START_S,
    batch,
    begin,
    claim,
    claim_one,
    config,
    job,
    page,
    url,
    visit,
)
from tests.support.waiting import waits

__all__ = ["TestJobs", "TestPages", "TestRobotsCopies", "keep"]

UNUSUAL = CrawlConfig(
    scope=Scope(within=Within.LIST, hosts=("a.test", "나.test"), include=("/docs/**",)),
    robots=RobotsRules(on_unreachable=OnUnreachable.ALLOW_WITH_DELAY, ttl_s=60.0),
    politeness=Politeness(delay_s=None, base_delay_s=1.5),
    http=HttpRules(headers=(("X-One", "1"), ("X-Two", "2"))),
    render=Render.NEVER,
)


async def keep(store: Store, *pages: PageRecord) -> None:
    """Collect pages in the job `job`, one visit each."""
    await begin(store, *(url(f"/{number}") for number in range(len(pages))))
    (lease,) = await claim(store, urls=len(pages))
    visits = (visit(lease, e, page=p) for e, p in zip(lease.entries, pages, strict=True))
    await store.frontier.settle(batch(*visits))


async def _collect(store: Store, name: str, *pages: PageRecord) -> None:
    """Collect pages in a job of their own."""
    urls = [url(f"/{number}", f"{name}.test") for number in range(len(pages))]
    await store.jobs.create(job(name))
    await store.frontier.add(name, urls, now_s=START_S)
    (lease,) = await claim(store, name, urls=len(pages))
    visits = (visit(lease, e, page=p) for e, p in zip(lease.entries, pages, strict=True))
    await store.frontier.settle(batch(*visits))


class TestJobs:
    """A job comes back as it went in; its counters belong to `settle`."""

    @waits
    async def test_a_job_comes_back_as_it_went_in(self, stores: Stores) -> None:
        store = stores("local")
        made = replace(
            job(rules=UNUSUAL, state=JobState.FINALIZING, paused=True),
            seeds=("http://a.test/", "http://b.test/"),
            started_at_s=1.0,
            ended_at_s=2.0,
            active_s=0.5,
            stop=StopReason.MAX_PAGES,
            error="none",
            origins=(("limits.max_pages", "flag"),),
            collection="docs",
            kind=JobKind.RECRAWL,
            channel=Channel.CONTEXT7,
            channel_why="it has it",
            library="/acme/docs",
            library_name="Acme",
            profile="docs",
            network=("--allow-private", "--ca-file ca.pem"),
            archive="s3://bucket/here",
            directory="d1",
        )
        await store.jobs.create(made)
        assert await store.jobs.get("job") == made

    @waits
    async def test_an_update_leaves_counters_and_seconds_alone(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        await store.jobs.worked("job", 2.5)
        await store.jobs.worked("job", 1.0)
        changed = replace(
            job(rules=UNUSUAL, state=JobState.COMPLETED, paused=True),
            stop=StopReason.DONE,
            started_at_s=1.0,
            ended_at_s=9.0,
            active_s=99.0,
            error="e",
            origins=(("limits.max_pages", "session"),),
            stats=CrawlStats(settled=99),
        )
        await store.jobs.update(changed)
        kept = replace(changed, active_s=3.5, stats=CrawlStats(discovered=1))
        assert await store.jobs.get("job") == kept

    @waits
    async def test_new_settings_hold_for_the_next_claim(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, *(url(f"/{number}") for number in range(5)))
        await store.jobs.update(job(rules=config(max_pages=2, delay_s=33.0)))
        lease = await claim_one(store)
        assert (len(lease.entries), lease.floor_s) == (2, 33.0)

    @waits
    async def test_jobs_are_listed_newest_first(self, stores: Stores) -> None:
        store = stores("local")
        for name, created_at_s in [("b", 1.0), ("c", 3.0), ("a", 2.0), ("d", 3.0)]:
            await store.jobs.create(replace(job(name), created_at_s=created_at_s))
        assert [found.id for found in await store.jobs.list(limit=3)] == ["d", "c", "a"]

    @waits
    async def test_a_name_is_used_once(self, stores: Stores) -> None:
        store = stores("local")
        await store.jobs.create(job())
        with pytest.raises(StoreError, match="`job`"):
            await store.jobs.create(job())

    @waits
    async def test_a_forgotten_job_leaves_nothing_but_its_pages(self, stores: Stores) -> None:
        store = stores("local")
        await keep(store, page(url("/0"), exact_key=b"k" * 16, sketch=sketch_of(7)))
        await store.pages.advance("job", "out", after=0, seq=1, length=1)
        await store.jobs.delete("job")
        assert await store.jobs.get("job") is None
        assert await store.pages.get(url("/0").url_hash) is not None
        await store.jobs.create(job())
        assert await store.frontier.add("job", [url("/0")], now_s=START_S) == 1
        assert await store.pages.feed("job", after=0, limit=9) == []
        assert await store.pages.twins("job", [b"k" * 16]) == {}
        assert [page.url for page in await store.pages.near(sketch_of(7))] == [url("/0").url]
        assert await store.pages.cursor("job", "out") == (0, 0)

    @waits
    async def test_what_is_not_there_cannot_be_changed(self, stores: Stores) -> None:
        store = stores("local")
        with pytest.raises(UnknownName):
            await store.jobs.update(job())
        with pytest.raises(UnknownName):
            await store.jobs.delete("job")
        with pytest.raises(UnknownName):
            await store.jobs.worked("job", 1.0)
        with pytest.raises(UnknownName):
            await store.pages.advance("job", "out", after=0, seq=1, length=1)
        assert await store.jobs.get("job") is None


class TestPages:
    """Pages are found by identity, by their exact text, and by what is nearly the same."""

    @pytest.mark.req("DUP-02")
    @waits
    async def test_a_twin_is_the_first_page_of_its_text_in_the_job(self, stores: Stores) -> None:
        store, key, other = stores("local"), b"k" * 16, b"d" * 16
        pages = [
            page(url("/0"), exact_key=key),
            page(url("/1"), exact_key=key),
            page(url("/2"), exact_key=other, duplicate_of="http://b.test/"),
            page(url("/3"), exact_key=b""),
        ]
        await keep(store, *pages)
        asked = [key, other, b"x" * 16, b""]
        assert await store.pages.twins("job", asked) == {
            key: first(pages[0]),
            other: first(pages[2]),
        }
        await store.jobs.create(job("another"))
        assert await store.pages.twins("another", asked) == {}

    @pytest.mark.req("DUP-05")
    @pytest.mark.parametrize("place", range(BANDS))
    @waits
    async def test_one_common_band_is_enough(self, stores: Stores, place: int) -> None:
        store = stores("local")
        bands = [100 + band for band in range(BANDS)]
        bands[place] = 2**48 - 1
        pages = [
            page(url("/0"), exact_key=b"k" * 16, sketch=sketch_of(*bands)),
            page(url("/1"), sketch=sketch_of(5, 6)),
            page(url("/2"), sketch=sketch_of(*bands), duplicate_of="http://a.test/0"),
            page(url("/3"), sketch=b""),
        ]
        await keep(store, *pages)
        assert await store.pages.near(sketch_of(2**48 - 1)) == [known(pages[0])]
        assert await store.pages.near(b"") == []

    @waits
    async def test_a_crowded_band_offers_its_newest_pages(self, stores: Stores) -> None:
        store, many = stores("local"), PAGES_PER_BAND + 2
        pages = [page(url(f"/{n}"), sketch=sketch_of(7, 100 + n)) for n in range(many)]
        await keep(store, *pages)
        assert await store.pages.near(sketch_of(7)) == [known(one) for one in pages[2:]]
        found = await store.pages.near(sketch_of(7, 100))
        assert found == [known(one) for one in (pages[0], *pages[2:])]

    @waits
    async def test_pages_of_other_jobs_are_found_each_once(self, stores: Stores) -> None:
        """A page that is collected again and again does not crowd out the others."""
        store = stores("local")
        first_kept = page(url("/first"), sketch=sketch_of(7))
        for number in range(PAGES_PER_BAND + 1):
            again = page(url("/again"), sketch=sketch_of(7), title=f"visit {number}")
            await _collect(store, f"job{number}", *([first_kept] if number == 0 else []), again)
        assert await store.pages.near(sketch_of(7)) == [known(first_kept), known(again)]
        await store.jobs.delete("job0")
        assert await store.pages.near(sketch_of(7)) == [known(first_kept), known(again)]

    @waits
    async def test_a_page_is_found_by_what_it_says_now(self, stores: Stores) -> None:
        store = stores("local")
        before = page(url("/0"), sketch=sketch_of(7, 8))
        changed = page(url("/0"), sketch=sketch_of(8, 9))
        copy = page(url("/0"), sketch=sketch_of(8, 9), duplicate_of="http://b.test/")
        for number, now in enumerate((before, changed, copy, changed)):
            await _collect(store, f"job{number}", now)
            found = [await store.pages.near(sketch_of(band)) for band in (7, 8, 9)]
            is_in = [band in {before: (7, 8), copy: ()}.get(now, (8, 9)) for band in (7, 8, 9)]
            assert found == [[known(now)] if wanted else [] for wanted in is_in]

    @waits
    async def test_the_feed_goes_on_where_a_reader_stopped(self, stores: Stores) -> None:
        store = stores("local")
        await keep(store, *(page(url(f"/{number}")) for number in range(5)))
        first = await store.pages.feed("job", after=0, limit=3)
        rest = await store.pages.feed("job", after=first[-1].seq, limit=9)
        assert [row.url[-1] for row in (*first, *rest)] == list("01234")
        assert first[0] == CaptureRow(
            first[0].seq,
            "http://a.test/0",
            record=Ref("segment-1", 10, 20),
            response=Ref("segment-1", 30, 40),
        )
        assert sorted({row.seq for row in (*first, *rest)}) == [r.seq for r in (*first, *rest)]

    @waits
    async def test_a_cursor_is_kept_by_name(self, stores: Stores) -> None:
        store = stores("local")
        await store.jobs.create(job())
        assert await store.pages.advance("job", "pages.jsonl", after=0, seq=3, length=100)
        assert await store.pages.advance("job", "pages.jsonl", after=3, seq=4, length=130)
        assert not await store.pages.advance("job", "pages.jsonl", after=3, seq=5, length=140)
        assert await store.pages.cursor("job", "pages.jsonl") == (4, 130)
        assert await store.pages.cursor("job", "markdown") == (0, 0)


class TestRobotsCopies:
    """The newest copy for an authority and a product token."""

    @waits
    async def test_the_newest_copy_is_kept_for_everybody(self, stores: Stores) -> None:
        key = RobotsKey("https", "a.test:443", "geomi")
        old = RobotsCopy(key, 200, b"User-agent: *\nDisallow: /x", START_S, max_age_s=60.0)
        new = RobotsCopy(key, 0, b"", START_S + 1, Outcome.TIMEOUT, "30 s", None, 2)
        await stores("local").robots.put(old)
        assert await stores("stranger").robots.get(key) == old
        await stores("local").robots.put(new)
        assert await stores("local").robots.get(key) == new
        assert await stores("local").robots.get(replace(key, scheme="http")) is None
        assert await stores("local").robots.get(replace(key, token="other")) is None

    @waits
    async def test_a_robots_copy_shows_when_its_host_has_answered(self, stores: Stores) -> None:
        store = stores("local")
        await begin(store, url())
        await claim_one(store)
        await store.robots.put(
            RobotsCopy(RobotsKey("http", "a.test:80", "geomi"), 200, b"", START_S + 7)
        )
        assert store.greatest_end_s() == START_S + 7
