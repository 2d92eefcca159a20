"""What a tenant may use ends its crawls, and another day, or another quota, lets them go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.engine.worker.supervisor import CrawlReport
from geomi.model.job import JobState, StopReason
from geomi.model.tenant import Quota
from geomi.model.verdict import State
from tests.support.crawl import Ear, crawl_in, home_in, paths, plan
from tests.support.server import Site
from tests.support.waiting import waits
from tests.support.webs import random_web

NO_LIMIT = Quota(max_daily_pages=0, max_storage_bytes=0)


@waits
async def crawl_under(root: Path, quota: Quota, site: Site, *, resume: bool = False) -> CrawlReport:
    """Crawl a site for a tenant that may use so much."""
    ear = Ear()
    async with home_in(root, ear) as home:
        await home.world.store.quotas.allow(quota)
        crawled = await crawl_in(home, ear, plan([site.url("/")], resume=resume))
        waits = [one for one in crawled.entries.values() if one.state is State.PENDING]
        assert bool(waits) == (crawled.report.stop is not StopReason.DONE)
        return crawled.report


@pytest.mark.req("JOB-05", "POL-12", "C-45")
def test_the_pages_of_a_day_are_exact_and_the_rest_waits(tmp_path: Path) -> None:
    web = random_web(3, pages=40)
    with Site(web.routes) as site:
        ended = crawl_under(tmp_path, Quota(max_daily_pages=7), site)
        assert len(paths(site.log)) == 7
        assert (ended.stop, ended.job.state) == (StopReason.DAILY_QUOTA, JobState.COMPLETED)
        again = crawl_under(tmp_path, Quota(max_daily_pages=7), site, resume=True)
        assert (again.stop, again.job.id) == (StopReason.DAILY_QUOTA, ended.job.id)
        assert len(paths(site.log)) == 7
        done = crawl_under(tmp_path, NO_LIMIT, site, resume=True)
        assert (done.stop, done.job.id) == (StopReason.DONE, ended.job.id)
        assert set(paths(site.log)) == web.reachable
        assert len(paths(site.log)) == len(web.reachable)


@pytest.mark.req("JOB-05")
def test_a_full_storage_ends_a_crawl(tmp_path: Path) -> None:
    with Site(random_web(3, pages=40).routes) as site:
        ended = crawl_under(tmp_path, Quota(max_storage_bytes=1), site)
        assert (ended.stop, ended.job.state) == (StopReason.STORAGE_QUOTA, JobState.COMPLETED)
        assert 1 <= ended.job.stats.collected < 40
        done = crawl_under(tmp_path, NO_LIMIT, site, resume=True)
        assert (done.stop, done.job.id) == (StopReason.DONE, ended.job.id)
