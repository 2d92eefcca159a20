"""An indexing session: which crawls of providers belong together, and where all of them stop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geomi.engine import jobs
from geomi.model.config import CrawlConfig
from geomi.model.job import CrawlJob, JobState
from geomi.service.crawling import crawls
from geomi.service.crawling.crawls import CrawlOrder
from geomi.service.provider_runs import indexing_session, watch_sessions
from geomi.service.service import Service, TenantService
from geomi.settings.options import Settings
from tests.api.asking import LOCAL, OTHER, Ground, serving
from tests.service.working import crawled
from tests.support.crawl import Ear, page
from tests.support.server import Site
from tests.support.waiting import waits


def crawl(name: str, began_s: float, ended_s: float | None = None, *, by: str = "p") -> CrawlJob:
    """Make a crawl of a provider."""
    state = JobState.PROCESSING if ended_s is None else JobState.COMPLETED
    return CrawlJob(
        id=name,
        tenant="acme",
        seeds=("https://a.test/",),
        config=CrawlConfig(),
        state=state,
        created_at_s=began_s,
        started_at_s=began_s,
        ended_at_s=ended_s,
        provider=by,
    )


@pytest.mark.req("JOB-08")
@pytest.mark.parametrize(
    ("recent", "session"),
    [
        ([], ""),
        ([crawl("a", 10, 20)], ""),  # nothing is under way
        ([crawl("b", 30), crawl("a", 10, 20)], "b"),  # the one before was over by then
        ([crawl("b", 15), crawl("a", 10, 20)], "ab"),
        ([crawl("c", 25), crawl("b", 15, 30), crawl("a", 10, 20)], "abc"),  # one leads to the next
        ([crawl("c", 25), crawl("b", 15, 30, by=""), crawl("a", 10, 20)], "c"),
        ([crawl("c", 25), crawl("b", 1, 30), crawl("a", 2, 5)], "abc"),
    ],
)
def test_crawls_of_providers_that_overlap_are_one_session(
    recent: list[CrawlJob], session: str
) -> None:
    assert sorted(job.id for job in indexing_session(recent)) == list(session)


@pytest.mark.slow
@pytest.mark.req("JOB-08")
@waits
async def test_above_its_limit_a_session_stops_as_a_whole(tmp_path: Path) -> None:
    """One provider is done, with two pages; what the other has still to do is not done then."""
    ear = Ear()
    with Site({"/": page("start", "/boat"), "/boat": page("boat")}) as site:
        async with serving(tmp_path, LOCAL, ear) as ground:
            desk, other = ground.desk, ground.service.desk(OTHER)
            first = await _started(desk, site, "openai")
            second = await _started(desk, site, "stripe")
            nobodys = await _started(desk, site, "")
            elsewhere = await _started(other, site, "openai")
            await jobs.complete(desk.world, await crawled(desk, first))
            assert (await jobs.find(desk.world, first)).stats.settled == 2
            for most in (0, 2):
                await watch_sessions(_limited(ground.service, most))
                assert await _state(ground, second) == ("processing", None)
            await watch_sessions(_limited(ground.service, 1))
            cause = "the indexing session has visited 2 pages; its limit is 1"
            assert await _state(ground, second) == ("cancelled", cause)
            assert f"{cause}; provider stripe stops" in ear.warnings
            for world, name in ((desk.world, nobodys), (other.world, elsewhere)):
                assert (await jobs.find(world, name)).state is JobState.PROCESSING


def test_a_session_has_five_thousand_pages_unless_somebody_says_otherwise() -> None:
    assert Settings().session_pages == 5000


async def _started(desk: TenantService, site: Site, provider: str) -> str:
    """Start a crawl, for a provider or for nobody."""
    quick: dict[str, object] = {"politeness.delay_s": 0.0, "politeness.requests_per_second": 5.0}
    order = CrawlOrder("apis", (site.url("/"),), settings=quick, provider=provider)
    return (await crawls.start(desk, order)).id


def _limited(service: Service, most: int) -> Service:
    """Return the same service with another limit."""
    home = service.home
    return Service(replace(home, settings=replace(home.settings, session_pages=most)))


async def _state(ground: Ground, job_id: str) -> tuple[str, str | None]:
    told = (await ground.mine.get(f"/crawls/{job_id}")).json
    return told["status"], told["error"]
