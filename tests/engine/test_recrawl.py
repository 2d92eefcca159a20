"""A recrawl: what is due goes back as a job of the same crawl, and what changed is told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path

import pytest

from geomi.engine import jobs, recrawl
from geomi.engine.inspect.status import status
from geomi.engine.inspect.why import explain
from geomi.engine.recrawl import RecrawlRequest
from geomi.engine.visit.revisit import MAX_DATE_CHARS
from geomi.errors import ConfigError, StoreBusy
from geomi.model.config import CrawlConfig, Limits, Politeness
from geomi.model.entry import Source
from geomi.model.history import Stage
from geomi.model.job import CrawlJob, JobState, StopReason
from geomi.model.verdict import Outcome, State
from geomi.recrawl.rate import stage
from geomi.recrawl.report import Changes, PageChange
from tests.engine.visit.test_revisits import tagged
from tests.support.crawl import page, paths, profile_config, robots
from tests.support.server import Reply, Route, Site
from tests.support.timed_crawl import Hand, hand_in
from tests.support.waiting import waits

DAY_S = 86_400.0
CONFIG = CrawlConfig(
    limits=Limits(max_pages=0, max_depth=5),
    politeness=Politeness(delay_s=0.0, min_delay_s=0.0, base_delay_s=0.0),
)

DUE = RecrawlRequest()


def web() -> Site:
    """A home page, two pages below it, and one below them."""
    return Site(
        {
            "/": page("home", "/a", "/b", "/broken"),
            "/a": page("a", "/", "/deep"),
            "/b": page("b", "/", "/a"),
            "/deep": page("deep", "/"),
        }
    )


def routes(site: Site) -> dict[str, Route]:
    """Return what a site answers, to be changed while it is open."""
    assert isinstance(site.routes, dict)
    return site.routes


@asynccontextmanager
async def by_hand(
    root: Path, config: CrawlConfig = CONFIG
) -> AsyncIterator[tuple[Hand, Site, CrawlJob]]:
    """Crawl the web to its end, in a world whose time is turned by hand."""
    async with hand_in(root) as hand:
        with web() as site:
            job = await hand.crawl(config, site.url("/"))
            await jobs.finish(hand.world, job, StopReason.DONE)
            site.log.clear()
            yield hand, site, await hand.job(job)


async def again(
    hand: Hand, crawl: CrawlJob, wish: RecrawlRequest = DUE
) -> tuple[CrawlJob, Changes]:
    """Recrawl to the end."""
    begun = await recrawl.begin(hand.world, crawl, wish)
    assert begun is not None
    job, _ = begun
    await hand.work(job)
    ended = await jobs.finish(hand.world, job, StopReason.DONE)
    return ended, await recrawl.changes(hand.world, ended)


@pytest.mark.req("CHG-04")
@waits
async def test_nothing_is_due_before_its_time(tmp_path: Path) -> None:
    async with by_hand(tmp_path) as (hand, site, crawl):
        hand.clock.advance(6.9 * DAY_S)
        assert await recrawl.begin(hand.world, crawl, RecrawlRequest()) is None
        hand.clock.advance(0.2 * DAY_S)
        job, changes = await again(hand, crawl)
        assert sorted(paths(site.log)) == ["/", "/a", "/b", "/deep"]
        assert (job.crawl, job.seeds, job.id != crawl.id) == (crawl.id, crawl.seeds, True)
        assert changes.counts == {PageChange.UNCHANGED: 4}
        assert changes.rate_percent == 0.0


@pytest.mark.req("CHG-01", "CHG-02", "CHG-03", "CHG-04")
@waits
async def test_new_changed_deleted_and_unchanged_pages_are_told_apart(tmp_path: Path) -> None:
    async with by_hand(tmp_path) as (hand, site, crawl):
        hand.clock.advance(8 * DAY_S)
        routes(site)["/a"] = page("a", "/", "/deep", "/new", text="another text, twice as good")
        routes(site)["/new"] = page("new")
        # Other bytes around the same text are no change.
        routes(site)["/b"] = page("b", "/", "/a", head='<meta name="built" content="today">')
        del routes(site)["/deep"]
        _, changes = await again(hand, crawl)
        assert changes.counts == {
            PageChange.NEW: 1,
            PageChange.CHANGED: 1,
            PageChange.DELETED: 1,
            PageChange.UNCHANGED: 2,
        }
        assert changes.urls[PageChange.NEW] == [site.url("/new")]
        assert changes.urls[PageChange.CHANGED] == [site.url("/a")]
        assert changes.urls[PageChange.DELETED] == [site.url("/deep")]
        # Of five pages one is deleted; it is none of the pages that are there.
        assert (changes.total, round(changes.rate_percent, 6)) == (4, 75.0)
        # What the first crawl asked for in vain is not asked for again.
        assert "/broken" not in paths(site.log)


@pytest.mark.req("DAT-07", "CHG-06", "PRI-08")
@waits
async def test_each_visit_adds_to_the_history(tmp_path: Path) -> None:
    async with by_hand(tmp_path) as (hand, site, crawl):
        entry = (await hand.entries(crawl))["/a"]
        before = await hand.store.pages.get(entry.url_hash)
        for number in range(4):
            hand.clock.advance(31 * DAY_S)
            routes(site)["/a"] = page("a", "/", text=f"the text of visit {number} and no other")
            await again(hand, crawl)
        histories = await hand.store.histories.of([entry.url_hash])
        history = histories[entry.url_hash]
        assert (history.visits, history.changes, history.streak) == (5, 4, 4)
        assert stage(history) is Stage.ESTIMATED
        versions = await hand.store.histories.versions(entry.url_hash, limit=9)
        assert before is not None
        assert versions[-1].content_hash == before.fingerprint.content_hash
        assert len({version.content_hash for version in versions}) == 4
        kept = await hand.store.pages.get(entry.url_hash)
        still = await hand.store.pages.get((await hand.entries(crawl))["/b"].url_hash)
        assert kept is not None and still is not None
        assert kept.due_s - kept.fetched_at_s < still.due_s - still.fetched_at_s
        assert still.due_s - still.fetched_at_s == pytest.approx(30 * DAY_S)


@pytest.mark.req("CHG-06")
@waits
async def test_why_and_status_say_when_a_page_is_due_and_how_that_is_known(tmp_path: Path) -> None:
    async with by_hand(tmp_path) as (hand, site, crawl):
        (url,) = jobs.read_seeds([site.url("/a")])
        told = (await explain(hand.world, crawl, url, ())).steps[-1]
        assert (told.name, told.verdict.admitted) == ("due", True)
        assert told.verdict.detail.startswith("due on ")
        assert "(shared: as all pages begin)" in told.verdict.detail
        hand.clock.advance(8 * DAY_S)
        found = (await status(hand.world, crawl)).due
        assert found is not None
        assert (found.pages, found.next_s, found.stages) == (4, None, {Stage.SHARED: 4})
        job, _ = await again(hand, crawl, RecrawlRequest(budget=1))
        explained = await explain(hand.world, job, url, ())  # the job did not ask for it
        assert explained.answer == "fetched and kept"
        assert explained.steps[-1].verdict.detail.startswith("due since ")
        found = (await status(hand.world, job)).due
        assert found is not None and found.next_s is not None
        assert (found.pages, found.stages) == (3, {Stage.SHARED: 3, Stage.RECORDED: 1})


@pytest.mark.req("STO-05")
@waits
async def test_documentation_is_due_every_week_and_replaced(tmp_path: Path) -> None:
    """However often it changed: its profile learns no interval."""
    weekly = replace(CONFIG, recrawl=profile_config("docs").recrawl)

    async with by_hand(tmp_path, weekly) as (hand, site, crawl):
        for number in range(4):
            hand.clock.advance(6.9 * DAY_S)
            assert await recrawl.begin(hand.world, crawl, RecrawlRequest()) is None
            hand.clock.advance(0.1 * DAY_S + 60)
            routes(site)["/a"] = page(f"a {number}", "/", "/deep", text=f"visit {number} " * 20)
            _, changes = await again(hand, crawl)
            assert changes.counts == {PageChange.CHANGED: 1, PageChange.UNCHANGED: 3}
            kept = await hand.store.pages.get((await hand.entries(crawl))["/a"].url_hash)
            assert kept is not None and kept.title == f"a {number}"


@pytest.mark.req("CHG-11", "FUT-12")
@waits
async def test_a_knowledge_base_asks_again_only_for_what_has_changed(tmp_path: Path) -> None:
    rules = profile_config("knowledge-base")
    rules = replace(rules, politeness=CONFIG.politeness, limits=CONFIG.limits)

    async with by_hand(tmp_path, rules) as (hand, site, crawl):
        for path, reply in routes(site).items():
            if isinstance(reply, Reply):
                routes(site)[path] = tagged(reply)
        hand.clock.advance(8 * DAY_S)
        await again(hand, crawl)  # the tags are known now
        hand.clock.advance(31 * DAY_S)
        routes(site)["/b"] = page("b", "/", "/a", text="what nobody had read before " * 9)
        job, changes = await again(hand, crawl)
        assert changes.counts == {PageChange.CHANGED: 1, PageChange.UNCHANGED: 3}
        assert changes.urls[PageChange.CHANGED] == [site.url("/b")]
        entries = await hand.entries(job)
        assert entries["/b"].outcome is Outcome.OK
        spared = {entries[path].outcome for path in ("/", "/a", "/deep")}
        assert spared == {Outcome.NOT_MODIFIED}


@pytest.mark.req("CHG-05", "FUT-19")
@pytest.mark.parametrize(("lively", "still"), [("/b", "/a"), ("/a", "/b")])
@waits
async def test_a_budget_goes_where_it_buys_most(tmp_path: Path, lively: str, still: str) -> None:
    """Of two pages alike, the one that was seen to change comes first."""
    links = {"/a": ("/", "/deep"), "/b": ("/", "/a")}
    async with by_hand(tmp_path) as (hand, site, crawl):
        for number in range(6):
            hand.clock.advance(31 * DAY_S)
            text = f"the text of visit {number} and no other"
            routes(site)[lively] = page(lively[1:], *links[lively], text=text)
            await again(hand, crawl)
        hand.clock.advance(2 * DAY_S)
        chosen = await recrawl.choose(hand.world, crawl, RecrawlRequest(budget=4))
        gains = [one.gain_s for one in chosen]
        assert gains == sorted(gains, reverse=True)
        assert chosen[0].page.url in (site.url(lively), site.url("/"))
        order = [one.page.url.removeprefix(site.url("")) for one in chosen]
        assert order.index(lively) < order.index(still)
        site.log.clear()
        job, changes = await again(hand, crawl, RecrawlRequest(budget=1))
        assert (changes.counts.total(), job.config.limits.max_pages) == (1, 1)
        assert paths(site.log) == [order[0]]


@waits
async def test_one_sweep_puts_back_so_many_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with by_hand(tmp_path) as (hand, _, crawl):
        hand.clock.advance(8 * DAY_S)
        monkeypatch.setattr(recrawl, "PAGES_PER_READ", 1)
        everything = await recrawl.choose(hand.world, crawl, DUE)
        assert len(everything) == 4
        monkeypatch.setattr(recrawl, "MAX_CHOSEN", 1)
        assert await recrawl.choose(hand.world, crawl, DUE) == everything[:1]
        assert await recrawl.choose(hand.world, crawl, RecrawlRequest(budget=9)) == everything[:1]


@pytest.mark.parametrize(
    ("spaces", "is_believed"),
    [(1, True), (MAX_DATE_CHARS - 28, True), (MAX_DATE_CHARS - 27, False)],
    ids=["a date", "at the limit", "one above it"],
)
@waits
async def test_a_change_is_dated_by_last_modified(
    tmp_path: Path, spaces: int, is_believed: bool
) -> None:
    async with by_hand(tmp_path) as (hand, site, crawl):
        hand.clock.advance(8 * DAY_S)
        at_s = float(int(hand.clock.wall_s() - DAY_S))
        told = formatdate(at_s, usegmt=True).replace(", ", "," + " " * spaces)
        page_now = page("a", text="words that nobody has read before today")
        routes(site)["/a"] = lambda _: replace(page_now, headers=(("Last-Modified", told),))
        await again(hand, crawl)
        key = (await hand.entries(crawl))["/a"].url_hash
        history = (await hand.store.histories.of([key]))[key]
        assert (history.changed_at_s == at_s) is is_believed
        assert history.changes == 1


@waits
async def test_a_budget_for_due_pages_is_spent_on_no_others(tmp_path: Path) -> None:
    async with by_hand(tmp_path) as (hand, _, crawl):
        hand.clock.advance(DAY_S)
        assert (
            await recrawl.choose(hand.world, crawl, RecrawlRequest(budget=9, due_only=True)) == []
        )
        assert len(await recrawl.choose(hand.world, crawl, RecrawlRequest(budget=9))) == 4
        hand.clock.advance(7 * DAY_S)
        assert (
            len(await recrawl.choose(hand.world, crawl, RecrawlRequest(budget=2, due_only=True)))
            == 2
        )


@waits
async def test_no_page_is_visited_sooner_than_the_shortest_interval(tmp_path: Path) -> None:
    async with by_hand(tmp_path) as (hand, _, crawl):
        hand.clock.advance(3500.0)
        assert await recrawl.choose(hand.world, crawl, RecrawlRequest(budget=9)) == []
        hand.clock.advance(101.0)
        assert len(await recrawl.choose(hand.world, crawl, RecrawlRequest(budget=9))) == 4


@pytest.mark.req("CHG-04", "ERR-05")
@waits
async def test_a_deleted_page_keeps_a_date_and_may_come_back(tmp_path: Path) -> None:
    async with by_hand(tmp_path) as (hand, site, crawl):
        entry = (await hand.entries(crawl))["/deep"]
        was = routes(site).pop("/deep")
        hand.clock.advance(8 * DAY_S)
        gone_s = hand.clock.wall_s()
        await again(hand, crawl)
        (history,) = (await hand.store.histories.of([entry.url_hash])).values()
        assert history.gone_at_s == pytest.approx(gone_s, abs=60)
        kept = await hand.store.pages.get(entry.url_hash)
        assert kept is not None and kept.due_s == pytest.approx(gone_s + 30 * DAY_S, abs=60)
        hand.clock.advance(31 * DAY_S)
        _, changes = await again(hand, crawl)
        assert changes.counts == {PageChange.UNCHANGED: 3}  # still gone is no news
        assert (changes.total, changes.rate_percent) == (3, 0.0)
        routes(site)["/deep"] = was
        hand.clock.advance(31 * DAY_S)
        _, changes = await again(hand, crawl)
        assert changes.urls[PageChange.NEW] == [site.url("/deep")]
        assert changes.total == 4
        (history,) = (await hand.store.histories.of([entry.url_hash])).values()
        assert history.gone_at_s is None


@waits
async def test_a_page_that_is_out_of_reach_has_not_changed(tmp_path: Path) -> None:
    async with by_hand(tmp_path) as (hand, site, crawl):
        entry = (await hand.entries(crawl))["/b"]
        hand.clock.advance(8 * DAY_S)
        routes(site)["/b"] = Reply(b"no", status=403)
        _, changes = await again(hand, crawl)
        assert changes.urls[PageChange.UNREACHABLE] == [site.url("/b")]
        (history,) = (await hand.store.histories.of([entry.url_hash])).values()
        assert (history.visits, history.changes, history.gone_at_s) == (1, 0, None)
        assert history.missed_at_s is not None
        chosen = await recrawl.choose(hand.world, crawl, RecrawlRequest(budget=9))
        assert site.url("/b") not in {one.page.url for one in chosen}
        # Left alone for a month, it is put off each time without being asked for.
        hand.clock.advance(8 * DAY_S)
        site.log.clear()
        await again(hand, crawl)
        assert "/b" not in paths(site.log)
        assert await recrawl.choose(hand.world, crawl, RecrawlRequest()) == []


@waits
async def test_a_page_that_robots_forbids_now_is_put_off(tmp_path: Path) -> None:
    async with by_hand(tmp_path) as (hand, site, crawl):
        routes(site)["/robots.txt"] = robots("User-agent: *", "Disallow: /b")
        hand.clock.advance(8 * DAY_S)
        job, changes = await again(hand, crawl)
        assert changes.urls[PageChange.UNREACHABLE] == [site.url("/b")]
        assert (await hand.entries(job))["/b"].state is State.BLOCKED


@pytest.mark.req("CHG-09")
@waits
async def test_pages_are_asked_for_with_conditions(tmp_path: Path) -> None:
    async with hand_in(tmp_path) as hand:
        tagged = replace(page("home"), headers=(("ETag", '"1"'),))
        with Site({"/": tagged}) as site:
            job = await hand.crawl(CONFIG, site.url("/"))
            crawl = await jobs.finish(hand.world, job, StopReason.DONE)
            hand.clock.advance(8 * DAY_S)
            routes(site)["/"] = Reply(status=304, content_type="")
            site.log.clear()
            ended, changes = await again(hand, crawl)
            (asked,) = [seen for seen in site.log if seen.path == "/"]
            assert asked.headers["if-none-match"] == '"1"'
            assert changes.counts == {PageChange.UNCHANGED: 1}
            assert (await hand.entries(ended))["/"].outcome is Outcome.NOT_MODIFIED


@waits
async def test_a_sitemap_names_pages_that_have_changed(tmp_path: Path) -> None:
    """What is not due is asked for all the same where its site says that it is another."""
    async with by_hand(tmp_path) as (hand, site, crawl):
        hand.clock.advance(8 * DAY_S)
        await again(hand, crawl)
        hand.clock.advance(9 * DAY_S)
        (due,) = await recrawl.choose(hand.world, crawl, RecrawlRequest())
        assert due.page.url == site.url("/")
        day_before = datetime.fromtimestamp(hand.clock.wall_s() - DAY_S, UTC)
        long_ago = datetime.fromtimestamp(hand.clock.wall_s() - 99 * DAY_S, UTC)
        rows = "".join(
            f"<url><loc>{site.url(path)}</loc><lastmod>{at.isoformat()}</lastmod></url>"
            for path, at in (("/deep", day_before), ("/b", long_ago))
        )
        body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
        routes(site)["/robots.txt"] = robots(f"Sitemap: {site.url('/map.xml')}")
        routes(site)["/map.xml"] = Reply(body.encode(), content_type="application/xml")
        routes(site)["/deep"] = page("deep", text="words that nobody has read before today")
        site.log.clear()
        job, changes = await again(hand, crawl)
        assert changes.urls[PageChange.CHANGED] == [site.url("/deep")]
        assert (await hand.entries(job))["/deep"].source is Source.SITEMAP
        assert "/b" not in paths(site.log)


class TestSweeping:
    """Only one sweeps, and a death in the middle loses nothing."""

    @waits
    async def test_another_sweeper_waits(self, tmp_path: Path) -> None:
        async with by_hand(tmp_path) as (hand, _, crawl):
            hand.clock.advance(8 * DAY_S)
            other = replace(hand.world, owner="w-other")
            async with recrawl.sweeping(other, crawl.id):
                with pytest.raises(StoreBusy, match=crawl.id):
                    await recrawl.begin(hand.world, crawl, RecrawlRequest())
            assert await recrawl.begin(hand.world, crawl, RecrawlRequest()) is not None

    @waits
    async def test_a_dead_sweepers_right_passes(self, tmp_path: Path) -> None:
        async with by_hand(tmp_path) as (hand, _, crawl):
            hand.clock.advance(8 * DAY_S)
            now_s = hand.clock.now_s()
            await hand.world.store.sweeps.take(crawl.id, owner="dead", lease_s=60.0, now_s=now_s)
            with pytest.raises(StoreBusy):
                await recrawl.begin(hand.world, crawl, RecrawlRequest())
            hand.clock.advance(60.0)
            assert await recrawl.begin(hand.world, crawl, RecrawlRequest()) is not None

    @waits
    async def test_a_recrawl_is_gone_on_with_before_another_begins(self, tmp_path: Path) -> None:
        async with by_hand(tmp_path) as (hand, _, crawl):
            hand.clock.advance(8 * DAY_S)
            first = await recrawl.begin(hand.world, crawl, RecrawlRequest())
            second = await recrawl.begin(hand.world, crawl, RecrawlRequest(budget=1))
            assert first is not None and second is not None
            assert (second[0].id, second[1], first[1]) == (first[0].id, True, False)
            assert await jobs.newest(hand.world, jobs.read_seeds(crawl.seeds)) == crawl

    @pytest.mark.parametrize("state", [JobState.PENDING, JobState.DISCOVERING])
    @waits
    async def test_a_sweep_that_died_half_way_is_done_anew(
        self, tmp_path: Path, state: JobState, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Killed(Exception):
            pass

        async def die(*_: object, **__: object) -> CrawlJob:
            raise Killed

        async with by_hand(tmp_path) as (hand, _, crawl):
            hand.clock.advance(8 * DAY_S)
            name = "_put_back" if state is JobState.PENDING else "_entry"
            with monkeypatch.context() as patch:
                patch.setattr(recrawl, name, die if name == "_put_back" else _raise(Killed))
                with pytest.raises(Killed):
                    await recrawl.begin(hand.world, crawl, RecrawlRequest())
            assert len(await hand.store.histories.runs(crawl.id)) == 2
            _, changes = await again(hand, crawl)
            assert changes.total == 4
            assert len(await hand.store.histories.runs(crawl.id)) == 2

    @waits
    async def test_a_crawl_that_is_not_over_is_not_visited_again(self, tmp_path: Path) -> None:
        async with by_hand(tmp_path) as (hand, site, _):
            going = await hand.start([site.url("/")], CONFIG)
            with pytest.raises(ConfigError, match="processing") as caught:
                await recrawl.begin(hand.world, going, RecrawlRequest())
            assert caught.value.hint.endswith(f"geomi crawl {site.url('/')} --resume")
            many = replace(going, seeds=(site.url("/"),) * (recrawl.MOST_NAMED + 1))
            with pytest.raises(ConfigError) as caught:
                await recrawl.begin(hand.world, many, RecrawlRequest())
            assert "with the same start URLs --resume" in caught.value.hint

    @waits
    async def test_any_job_of_a_crawl_names_it(self, tmp_path: Path) -> None:
        async with by_hand(tmp_path) as (hand, _, crawl):
            hand.clock.advance(8 * DAY_S)
            job, _ = await again(hand, crawl)
            assert (await recrawl.first_job(hand.world, job.id)).id == crawl.id
            assert (await recrawl.first_job(hand.world, "latest")).id == crawl.id
            await hand.store.jobs.delete(crawl.id)
            with pytest.raises(ConfigError, match="deleted"):
                await recrawl.first_job(hand.world, job.id)


def _raise(error: type[Exception]) -> Callable[..., None]:
    def work(*_: object, **__: object) -> None:
        raise error

    return work
