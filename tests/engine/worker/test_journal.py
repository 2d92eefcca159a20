"""What a crawl writes down of itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.crawl import Ear, crawl_in, home_in, plan
from tests.support.server import Site
from tests.support.waiting import waits
from tests.support.webs import random_web


@pytest.mark.req("WF-01")
@waits
async def test_each_step_of_a_crawl_is_in_its_journal(tmp_path: Path) -> None:
    with Site(random_web(3, pages=20).routes) as site:
        ear = Ear()
        async with home_in(tmp_path, ear) as home:
            began_s = home.world.clock.wall_s()
            crawled = await crawl_in(home, ear, plan([site.url("/")], max_pages=3))
            events = await home.store.journal.read(crawled.report.job.id, limit=99)
            assert await home.store.unsent_events.list(9) == []
            times_s = [began_s, *(event.at_s for event in events), home.world.clock.wall_s()]
            assert times_s == sorted(times_s)
    bodies = [json.loads(event.body) for event in events]
    assert [body["state"] for body in bodies] == [
        "pending",
        "initializing",
        "discovering",
        "processing",
        "finalizing",
        "completed",
    ]
    assert [body["stop"] for body in bodies[-2:]] == ["max_pages"] * 2
    assert bodies[-1]["stats"]["settled"] == 3
