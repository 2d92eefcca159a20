"""Alarms of crawls: each is kept once, listed, logged, and sent to the operator's channel."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from geomi.engine import jobs
from geomi.engine.inspect import alarms as job_alarms
from geomi.model.job import JobState
from geomi.service import alarms, deliveries
from tests.api.asking import LOCAL, Ground, Json, serving
from tests.api.filling import EAGER, worked_off
from tests.support.crawl import Ear, page
from tests.support.server import Reply, Site
from tests.support.waiting import waits

MANY = 5
BARE = Reply(b"<html><body></body></html>")


@pytest.fixture(autouse=True)
def few_requests_say_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let shares count from a few requests on: five a second is all that a tenant may have."""
    monkeypatch.setattr(job_alarms, "LEAST_REQUESTS", MANY)


def broken_site() -> dict[str, Reply]:
    """Return a site most of whose pages are gone, and some of which are empty."""
    names = [f"/{number}" for number in range(MANY)]
    routes = {"/": page("start", *names, text="Where everything was once. " * 10)}
    return routes | dict.fromkeys(names[:1], BARE)


@pytest.mark.req("MON-01", "MON-04", "MON-05", "MON-08", "FUT-10")
@waits
async def test_an_alarm_is_kept_listed_logged_and_sent_once(tmp_path: Path) -> None:
    ear = Ear()
    with Site(broken_site()) as site, Site({"/slack": Reply(b"ok")}) as channel:
        settings = replace(LOCAL, alarm_url=channel.url("/slack"))
        async with serving(tmp_path, settings, ear) as ground:
            job_id = await _crawled(ground, site)
            for _ in range(2):
                await alarms.check_ended_crawl(ground.desk, job_id)
            rules = {"success_rate", "error_rate", "empty_rate"}
            assert {one["rule"] for one in await _listed(ground)} == rules
            assert len(await _listed(ground)) == 3
            assert (await ground.other.get("/alarms")).json["alarms"] == []
            told = [text for text in ear.warnings if text.startswith("alarm ")]
            assert len(told) == 3 and any("4xx or 5xx" in text for text in told)
            sent = [orjson.loads(seen.body) for seen in channel.log]
            assert [set(one) for one in sent] == [{"text"}] * 3
            assert all(job_id in one["text"] for one in sent)
            assert {seen.headers["content-type"] for seen in channel.log} == {"application/json"}


@pytest.mark.req("MON-08")
@waits
async def test_an_alarm_goes_through_the_gate_and_its_failure_is_told(tmp_path: Path) -> None:
    ear = Ear()
    with Site(broken_site()) as site, Site({}) as channel:
        settings = replace(LOCAL, alarm_url="http://169.254.169.254/latest")
        async with serving(tmp_path, settings, ear) as ground:
            job_id = await _crawled(ground, site)
            await alarms.check_ended_crawl(ground.desk, job_id)
            failed = [text for text in ear.warnings if "could not be sent" in text]
            assert len(failed) == 3 and "169.254.169.254" in failed[0]
            assert len(await _listed(ground)) == 3  # it is kept all the same
            assert channel.log == []


@pytest.mark.req("MON-06")
@waits
async def test_a_running_crawl_is_looked_at_too(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        asked = {"collectionId": "slow", "seedUrls": ["http://localhost:8080/"]}
        job_id = (await ground.mine.post("/crawls", asked)).json["jobId"]
        world = ground.desk.world
        assert await world.store.jobs.begin(job_id, most=0, wall_s=ground.desk.wall_s)
        job = await jobs.find(world, job_id)
        for state in (JobState.DISCOVERING, JobState.PROCESSING):
            job = await jobs.step(world, job, state)
        await alarms.check_crawls(ground.service)
        assert await _listed(ground) == []
        await world.store.jobs.worked(job_id, 3 * 3600.0)
        await alarms.check_crawls(ground.service)
        assert await _listed(ground) == []  # three hours are not more than three
        await world.store.jobs.worked(job_id, 60.0)
        await alarms.check_crawls(ground.service)
        (told,) = await _listed(ground)
        assert (told["rule"], told["jobId"]) == ("duration", job_id)
        assert told["value"] == 3 * 3600 + 60 and told["limit"] == 3 * 3600


@pytest.mark.req("MON-02")
@waits
async def test_half_the_pages_gone_since_the_last_run_is_an_alarm(tmp_path: Path) -> None:
    pages = {f"/{name}": page(name, text=f"All about {name}. " * 20) for name in "abc"}
    routes = {"/": page("start", *pages, text="The start of it all. " * 20), **pages}
    with Site(routes) as site:
        async with serving(tmp_path) as ground:
            await _crawled(ground, site)
            assert await deliveries.queue_deliveries(ground.service)
            assert await _listed(ground) == []
            # What both runs have met belongs to the second, which has half of it.
            text = "Not much is left of it. " * 20
            site.routes = {"/": page("start", "/a", text=text), "/a": pages["/a"]}
            job_id = await _crawled(ground, site)
            await deliveries.queue_deliveries(
                ground.service
            )  # the end of a crawl is when it is looked at
            (told,) = await _listed(ground)
            assert (told["rule"], told["jobId"]) == ("indexed_pages", job_id)
            assert told["value"] == told["limit"] == 0.5
            assert told["message"] == "there are 2 pages; after the last run there were 4"


async def _crawled(ground: Ground, site: Site) -> str:
    asked = {"collectionId": "broken", "seedUrls": [site.url("/")], "config": EAGER}
    job_id = str((await ground.mine.post("/crawls", asked)).json["jobId"])
    await worked_off(ground.desk, job_id)
    return job_id


async def _listed(ground: Ground) -> list[Json]:
    answer = await ground.mine.get("/alarms")
    assert answer.status == 200
    return list(answer.json["alarms"])
