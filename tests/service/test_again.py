"""Crawls that come again by themselves: what changed is found, and a provider is reported on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from geomi.engine import jobs
from geomi.model.event import Reported
from geomi.model.job import JobFilter, JobState
from geomi.service import deliveries
from geomi.service.background_tasks import fire_schedules
from geomi.service.crawling.crawls import begin_waiting
from geomi.service.service import TenantService
from geomi.settings.providers import presets
from tests.api.asking import LOCAL, Ground, Json, serving
from tests.api.filling import EAGER
from tests.api.test_admin import PROVIDER
from tests.service.working import carried_out, crawled, is_over, understood
from tests.support.crawl import Ear, page
from tests.support.server import Site
from tests.support.waiting import waits

FERRY = "The ferry leaves at noon and returns before the night. " * 6
BRIDGE = "A bridge was opened, and nobody has to wait for a boat any more. " * 6
INN = "The innkeeper serves soup to those who come late. " * 6


@pytest.mark.req("CHG-10")
@waits
async def test_a_schedule_carries_changes_and_deletions_into_the_index(tmp_path: Path) -> None:
    start = page("start", "/way", "/inn", text="A village by the sea, and its roads. " * 9)
    before = {"/": start, "/way": page("way", text=FERRY), "/inn": page("inn", text=INN)}
    with Site(before) as site:
        async with serving(tmp_path) as ground:
            asked = {"collectionId": "village", "seedUrls": [site.url("/")], "config": EAGER}
            made = await ground.mine.post(
                "/schedules", {"intervalSeconds": 604_800, "crawl": asked}
            )
            assert made.status == 201, made.json
            await _run_due(ground, ground.desk, made.json["scheduleId"])
            assert await _found(ground, "ferry") == [site.url("/way")]
            assert await _found(ground, "innkeeper") == [site.url("/inn")]
            site.routes = {"/": start, "/way": page("way", text=BRIDGE)}
            await _run_due(ground, ground.desk, made.json["scheduleId"])
            assert await _found(ground, "bridge") == [site.url("/way")]
            assert await _found(ground, "ferry") == []
            assert await _found(ground, "innkeeper") == []


@pytest.mark.slow
@pytest.mark.req("CHG-01", "CHG-06")
@waits
async def test_the_same_page_under_other_rules_is_no_change(tmp_path: Path) -> None:
    """Where personal data is removed there is no hash of the bytes, only one of what is left."""
    redact = {"contentSafety": {"pii": {"action": "redact", "types": ["name"]}}}
    text = "Ask Mr. John Smith about the boat. " * 9
    with Site({"/": page("start", text=text)}) as site:
        async with serving(tmp_path) as ground:
            told = [
                await _told(ground, site, name, config)
                for name, config in (("red", redact), ("plain", {}), ("red", redact), ("open", {}))
            ]
            assert all("changes in" not in one for one in told)
            assert "0 changes in 2 visits" in await _told(ground, site, "plain", {})
            site.routes = {"/": page("start", text=text.replace("boat", "ferry"))}
            assert "1 changes in 3 visits" in await _told(ground, site, "plain", {})
            assert "1 changes in 3 visits" in await _told(ground, site, "red", redact)
            site.routes = {"/": page("start", text=text.replace("boat", "bridge"))}
            assert "2 changes in 4 visits" in await _told(ground, site, "red", redact)


@pytest.mark.slow
@pytest.mark.req("CHG-08", "JOB-15", "RPT-01")
@waits
async def test_a_provider_is_crawled_every_week_and_reported_on(tmp_path: Path) -> None:
    ear = Ear()
    with Site({"/": page("start", text=FERRY)}) as site:
        async with serving(tmp_path, LOCAL, ear) as ground:
            desk = ground.service.desk("default")
            await ground.admin.post("/admin/providers", PROVIDER | {"seed_url": site.url("/")})
            path = "/admin/providers/village/schedules"
            made = await ground.admin.post(path, {"collectionId": "apis"})
            assert made.status == 201, made.json
            assert made.json["cron"] == "@weekly"
            next_at = datetime.fromisoformat(made.json["nextRunAt"])
            assert 0 < (next_at - datetime.now(UTC)).total_seconds() <= 7 * 86_400
            name = made.json["scheduleId"]
            job_id = await _run_due(ground, desk, name)
            crawl = (await ground.admin.get(f"/crawls/{job_id}")).json
            assert (crawl["provider"], crawl["status"]) == ("village", "completed")
            again = (await ground.admin.get(f"/schedules/{name}")).json
            assert again["lastJobId"] == job_id and again["nextRunAt"] > made.json["createdAt"]
            while await deliveries.queue_deliveries(ground.service):
                pass
            (told,) = ear.of(Reported)
            assert (told.job, told.provider) == (job_id, "The village")
            assert (told.total, told.new) == (1, 1)
            quality = (await ground.admin.get(f"/crawls/{job_id}/quality")).json
            measures = {one["measure"]: one["value"] for one in quality["chunks"]["indicators"]}
            assert told.chunks == pytest.approx(measures)
            assert (told.chunks["chunks_per_page"], len(told.chunks)) == (1, 5)
            await ground.admin.post("/admin/providers/village/review", {"allows": False})
            refused = await ground.admin.post(path, {"collectionId": "apis"})
            assert refused.status == 409 and "does not allow" in refused.json["detail"]
            assert (await ground.mine.post(path, {"collectionId": "apis"})).status == 403


@pytest.mark.req("CHG-08", "POL-02")
@waits
async def test_one_schedule_crawls_every_provider_three_at_a_time(tmp_path: Path) -> None:
    """Nothing is asked here: what is crawled, and what waits, stands in the store."""
    async with serving(tmp_path) as ground:
        desk, path = ground.service.desk("default"), "/admin/providers/all/schedules"
        refused = await ground.admin.post(path, {"collectionId": "apis"})
        assert refused.status == 422 and "no contact address is set" in refused.json["detail"]
        for key in presets():
            await ground.admin.post(f"/admin/providers/{key}/review", {"allows": False})
        made = await ground.admin.post(path, {"collectionId": "apis"})
        assert made.status == 201, made.json
        assert (made.json["title"], made.json["seedUrls"]) == ("all providers", [])
        name = made.json["scheduleId"]
        for number, key in enumerate("abcd", start=1):  # registered after the schedule
            asked = PROVIDER | {"key": key, "seed_url": f"http://127.0.0.{number}/"}
            assert (await ground.admin.post("/admin/providers", asked)).status == 201
        await _fire(ground, desk, name)
        crawls = (await ground.admin.get("/crawls")).json["crawls"]
        assert sorted(one["provider"] for one in crawls) == ["a", "b", "c", "d"]
        assert (await ground.admin.get(f"/schedules/{name}")).json["lastJobId"] in {
            one["jobId"] for one in crawls
        }
        assert await begin_waiting(ground.service) == 3
        assert await begin_waiting(ground.service) == 0
        (waiting,) = await desk.world.store.jobs.page(
            JobFilter(state=JobState.PENDING), before="", limit=9
        )
        begun = next(one["jobId"] for one in crawls if one["jobId"] != waiting.id)
        job = await jobs.find(desk.world, begun)
        assert (job.config.politeness.max_hosts, job.config.politeness.concurrency) == (1, 1)
        await ground.admin.post(f"/crawls/{begun}/cancel")
        assert await begin_waiting(ground.service) == 1
        assert (await jobs.find(desk.world, waiting.id)).state is JobState.PROCESSING
        await ground.admin.post("/admin/providers/d/review", {"allows": False})
        await _fire(ground, desk, name)
        crawls = (await ground.admin.get("/crawls")).json["crawls"]
        assert sorted(one["provider"] for one in crawls) == ["a", "a", "b", "b", "c", "c", "d"]
        page = await ground.admin.get("/schedules")
        assert page.json["schedules"][0]["problem"] is None


async def _told(ground: Ground, site: Site, collection: str, config: Json) -> str:
    """Crawl a site into a collection; return what is said of its start page's changes."""
    asked = {"collectionId": collection, "seedUrls": [site.url("/")], "config": EAGER | config}
    job = (await carried_out(ground, "/api/v1/crawls", asked))["jobId"]
    answer = await ground.mine.get(f"/crawls/{job}/why?url={site.url('/')}")
    (due,) = [one["detail"] for one in answer.json["steps"] if one["rule"] == "due"]
    return str(due)


async def _run_due(ground: Ground, desk: TenantService, schedule: str) -> str:
    """Let a schedule's time come, and its crawl be done; return the crawl's id."""
    await _fire(ground, desk, schedule)
    (job, *_) = await desk.world.store.jobs.list(limit=10)
    await crawled(desk, job.id)
    await understood(ground.service, partial(is_over, desk, job.id))
    return job.id


async def _fire(ground: Ground, desk: TenantService, schedule: str) -> None:
    """Let a schedule's time come."""
    named = await desk.named_values.get("schedules", schedule)
    assert named is not None and named.due_at_s is not None and named.due_at_s > desk.wall_s
    assert await fire_schedules(ground.service) == 0
    assert await desk.named_values.change(replace(named, due_at_s=desk.wall_s))
    assert await fire_schedules(ground.service) == 1


async def _found(ground: Ground, word: str) -> list[str]:
    answer = await ground.mine.post("/search", {"query": word})
    return [one["url"] for one in answer.json["results"]]
