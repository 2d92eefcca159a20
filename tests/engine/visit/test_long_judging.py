"""Pages whose links take long to judge: nobody else waits for them, and nothing is lost."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from geomi.engine.inspect.why import explain
from geomi.engine.loop_share import LoopShare
from geomi.engine.visit.links import LEFT_UNJUDGED, FoundLinks, LinkGate
from geomi.engine.visit.rules import JobRules
from geomi.engine.worker.supervisor import Supervisor
from geomi.model.config import CrawlConfig
from geomi.model.job import StopReason
from geomi.model.page import PageLink
from geomi.model.verdict import State
from geomi.seed.sitemap import Sitemap
from geomi.url.parse import parse
from tests.engine.visit.test_links import entry
from tests.engine.worker.test_control import until, watched
from tests.support.crawl import Ear, crawl_in, home_in, page, plan
from tests.support.server import Site
from tests.support.waiting import waits

SEED = "https://a.test/"
LINKS = [f"{SEED}{number}" for number in range(20)]
# Each character of such a path leads RE2 to a state that it has not met: 50 ms of CPU for a link.
DEAREST = tuple(f"re:(a|b)*a(a|b){{60}}c{number}" for number in range(25))


async def admitted(share: LoopShare, rests: list[str], name: str = "") -> FoundLinks:
    """Judge the links of a page, and note the rests between its slices."""

    async def rest(_: float) -> None:
        rests.append(f"{name} rests")
        await asyncio.sleep(0)
        rests.append(f"{name} goes on")

    gate = LinkGate(JobRules(CrawlConfig(), [SEED], now_year=2026), share)
    links = [PageLink(url, "x", "") for url in LINKS]
    return await gate.admit(entry(), SEED, links, nofollow=False, rest=rest)


@waits
async def test_a_page_within_its_slice_rests_never() -> None:
    """It is judged at a stretch, as nearly every page is."""
    rests: list[str] = []
    found = await admitted(LoopShare(slice_s=60), rests)
    assert (len(found.discovered), rests) == (len(LINKS), [])


@waits
async def test_a_longer_page_rests_and_is_judged_whole() -> None:
    """Every link is judged, however many slices it takes."""
    rests: list[str] = []
    found = await admitted(LoopShare(slice_s=0), rests)
    assert [each.url for each in found.discovered] == LINKS
    assert rests == [" rests", " goes on"] * len(LINKS)


@waits
async def test_long_pages_take_turns() -> None:
    """One of them has a slice at a time: no page comes twice while another waits."""
    share, rests = LoopShare(slice_s=0), list[str]()
    async with asyncio.TaskGroup() as group:
        for name in ("one", "two", "three"):
            group.create_task(admitted(share, rests, name))
    assert len(rests) == 3 * 2 * len(LINKS)
    for name, place in (("one", 0), ("two", 2), ("three", 4)):
        assert rests[place:-6:6] == [f"{name} rests"] * (len(LINKS) - 1)
        assert rests[place + 1 : -6 : 6] == [f"{name} goes on"] * (len(LINKS) - 1)


@waits
async def test_what_the_budget_leaves_out_is_counted() -> None:
    """Under the page, with how many links it was."""
    found = await admitted(LoopShare(slice_s=0, budget_s=0), [])
    (left,) = found.excluded
    assert (left.rule, left.url, found.discovered) == (LEFT_UNJUDGED, SEED, ())
    assert left.detail.startswith("20 links")


@waits
async def test_lists_are_judged_in_slices() -> None:
    """A sitemap has five thousand times as many URLs as fit into a slice."""
    gate = LinkGate(JobRules(CrawlConfig(), [SEED], now_year=2026), LoopShare(slice_s=0))
    rested: list[float] = []

    async def rest(seconds: float) -> None:
        rested.append(seconds)

    content = Sitemap(pages=tuple((url, "") for url in LINKS))
    found = await gate.admit_sitemap(entry(), content, rest=rest)
    listing = await gate.admit_listing(entry(), SEED, LINKS, rest=rest)
    assert len(found.discovered) == len(listing.discovered) == len(LINKS)
    assert len(rested) == 2 * len(LINKS)


@waits
async def test_why_tells_of_links_left_out(tmp_path: Path) -> None:
    """No page is lost without a word."""
    with Site({"/": page("home", "/x")}) as site:
        ear = Ear()
        async with home_in(tmp_path, ear) as home:
            share = home.world.loop_share
            share.slice_s = share.budget_s = 0
            crawled = await crawl_in(home, ear, plan([site.url("/")]))
            link = parse(site.url("/x"))
            assert link is not None
            told = await explain(home.world, crawled.report.job, link, ())
    assert (told.answer, told.decided_by) == ("not fetched", LEFT_UNJUDGED)
    assert "took so long" in told.detail


def dear_site() -> Site:
    """Return a site whose start page takes half a minute to judge under the dearest patterns."""
    rng = random.Random(3)
    links = ["/" + "".join(rng.choice("ab") for _ in range(1900)) for _ in range(500)]
    return Site({"/": page("home", *links)})


@pytest.mark.slow
@waits
async def test_a_drain_ends_a_long_page(tmp_path: Path) -> None:
    """Its visit is given up between two slices; the page waits for the next run."""

    async def interrupt(_: object, supervisor: Supervisor) -> None:
        (worker,) = supervisor._workers
        sessions = worker._worker._hosts.values()  # type: ignore[attr-defined]
        await until(lambda: any(session.is_pausing for session in sessions))
        supervisor.interrupt()

    with dear_site() as site:
        crawled = await watched(tmp_path, site, interrupt, after=2, exclude=DEAREST)
        assert crawled.report.stop is StopReason.INTERRUPTED
        assert crawled.states(site) == {"/": State.PENDING}
