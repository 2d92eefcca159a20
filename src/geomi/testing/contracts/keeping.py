"""Jobs, pages, robots copies and the census: what is kept is what was given, by tenant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.adapters.ledger.count import NEAR_PER_BAND
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
from geomi.model.job import CrawlStats, JobState, StopReason
from geomi.model.page import CaptureRow, PageRecord, Ref
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.verdict import Outcome
from geomi.testing.contracts.material import (
    START_S,
    Store,
    Stores,
    batch,
    begin,
    claim,
    claim_one,
    config,
    job,
    page,
    url,
    visit,
    waits,
)

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
        await keep(store, page(url("/0"), exact_key=b"k" * 16, simhash=7))
        await store.pages.advance("job", "out", seq=1, length=1)
        await store.jobs.delete("job")
        assert await store.jobs.get("job") is None
        assert await store.pages.get(url("/0").url_hash) is not None
        await store.jobs.create(job())
        assert await store.frontier.add("job", [url("/0")], now_s=START_S) == 1
        assert await store.pages.feed("job", after=0, limit=9) == []
        assert await store.pages.twins("job", [b"k" * 16]) == {}
        assert await store.pages.near("job", 7) == []
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
            await store.pages.advance("job", "out", seq=1, length=1)
        assert await store.jobs.get("job") is None


class TestPages:
    """Pages are found by identity, by their exact text, and by what is nearly the same."""

    @pytest.mark.req("DUP-02")
    @waits
    async def test_a_twin_is_the_first_page_of_its_text(self, stores: Stores) -> None:
        store, key = stores("local"), b"k" * 16
        await keep(
            store,
            page(url("/0"), exact_key=key),
            page(url("/1"), exact_key=key),
            page(url("/2"), exact_key=b"d" * 16, duplicate_of=url("/0").url),
            page(url("/3"), exact_key=b""),
        )
        asked = [key, b"d" * 16, b"x" * 16, b""]
        assert await store.pages.twins("job", asked) == {key: "http://a.test/0"}

    @pytest.mark.parametrize("shift", [0, 13, 45, 61])
    @waits
    async def test_hashes_three_bits_apart_find_each_other(
        self, stores: Stores, shift: int
    ) -> None:
        store, simhash = stores("local"), 0xFEDC_BA98_7654_3210
        near = simhash ^ (0b1 << shift) ^ 1 << 20 ^ 1 << 33
        await keep(
            store,
            page(url("/0"), simhash=near),
            page(url("/1"), simhash=0x0123_4567_89AB_CDEF),
            page(url("/2"), simhash=simhash, duplicate_of="http://a.test/0"),
            page(url("/3"), simhash=0),
        )
        assert await store.pages.near("job", simhash) == [("http://a.test/0", near)]
        assert await store.pages.near("job", 0) == []

    @waits
    async def test_a_crowded_slice_offers_its_newest_pages(self, stores: Stores) -> None:
        store, many = stores("local"), NEAR_PER_BAND + 1
        pages = [
            page(url(f"/{n}"), simhash=0xABCD << 48 | n << 32 | n << 16 | n) for n in range(many)
        ]
        await keep(store, *pages)
        found = await store.pages.near("job", 0xABCD << 48 | 0xF000_F000_F000)
        assert [simhash & 0xFFFF for _, simhash in found] == list(range(1, many))

    @waits
    async def test_the_feed_goes_on_where_a_reader_stopped(self, stores: Stores) -> None:
        store = stores("local")
        await keep(store, *(page(url(f"/{number}")) for number in range(5)))
        first = await store.pages.feed("job", after=0, limit=3)
        rest = await store.pages.feed("job", after=first[-1].seq, limit=9)
        assert [row.url[-1] for row in (*first, *rest)] == list("01234")
        assert first[0] == CaptureRow(first[0].seq, "http://a.test/0", Ref("segment-1", 10, 20))
        assert sorted({row.seq for row in (*first, *rest)}) == [r.seq for r in (*first, *rest)]

    @waits
    async def test_a_cursor_is_kept_by_name(self, stores: Stores) -> None:
        store = stores("local")
        await store.jobs.create(job())
        await store.pages.advance("job", "pages.jsonl", seq=3, length=100)
        await store.pages.advance("job", "pages.jsonl", seq=4, length=130)
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
