"""Crawls over REST: what is asked for, what it becomes, and what may be done to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app.use.crawl import start_drafted
from geomi.engine import jobs
from geomi.errors import FieldRefused
from geomi.model.job import JobKind, JobState, StopReason
from geomi.model.tenant import Quota
from geomi.service.access import tenants
from geomi.service.crawling import crawls
from geomi.service.crawling.crawls import begin_waiting
from geomi.service.service import open_service
from tests.api.asking import CRAWL, LOCAL, TENANT, serving
from tests.support.waiting import waits


@pytest.mark.req("API-01", "API-02", "API-15", "JOB-01", "CFG-18")
@waits
async def test_a_crawl_is_written_down_with_every_default(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        answer = await ground.mine.post("/crawls", CRAWL)
        assert answer.status == 202
        crawl = answer.json
        assert answer.headers["location"] == f"/api/v1/crawls/{crawl['jobId']}"
        assert crawl["status"] == "pending" and not crawl["paused"]
        assert crawl["tenantId"] == TENANT and crawl["collectionId"] == "handbook"
        assert crawl["seedUrls"] == ["http://localhost:8080/"]
        config = crawl["config"]
        assert (config["maxDepth"], config["maxPages"]) == (3, 100)
        assert (config["maxDuration"], config["maxBytes"]) == (3600, 104_857_600)
        assert config["requestsPerSecond"] == 1 and config["qualityThreshold"] == 5
        assert config["respectRobotsTxt"] and config["renderJavaScript"]
        assert config["enableClassification"] and config["enableQualityCheck"]
        assert not config["followExternalLinks"]
        assert set(crawl["stats"].values()) == {0}
        kept = await ground.desk.world.store.jobs.get(crawl["jobId"])
        assert kept is not None and kept.state is JobState.PENDING
        assert kept.collection == "handbook"
        assert (await ground.mine.get("/collections/handbook")).status == 200


@pytest.mark.parametrize("path", ["/api/v1/crawls", "/crawler/crawls"])
@waits
async def test_an_operator_may_insist_on_robots_txt(tmp_path: Path, path: str) -> None:
    deaf = CRAWL | {"config": {"respectRobotsTxt": False}}
    async with serving(tmp_path) as ground:
        mine = ground.mine.without_prefix()
        before = await mine.post(path, deaf)
        assert before.status in (201, 202), before.json
        job = before.json["jobId"]
        await crawls.cancel(ground.desk, job)
    strict = replace(LOCAL, allow_ignoring_robots=False)
    async with open_service(tmp_path, strict, lambda _: EventFanOut()) as service:
        for work in (crawls.repeat, crawls.resume):
            with pytest.raises(FieldRefused, match="obeys robots"):
                await work(service.desk(TENANT), job)
    async with serving(tmp_path / "new", strict) as ground:
        mine = ground.mine.without_prefix()
        refused = await mine.post(path, deaf)
        assert refused.status == 422 and "obeys robots.txt" in refused.json["detail"]
        assert [one["field"] for one in refused.json["errors"]] == ["config.respectRobotsTxt"]
        assert "allow_ignoring_robots" in refused.json["hint"]
        assert (await mine.post(path, CRAWL)).status in (201, 202)


@pytest.mark.req("API-03", "API-04", "API-05", "API-06", "API-07")
@waits
async def test_every_field_of_a_request_reaches_the_job(tmp_path: Path) -> None:
    config = {
        "maxDepth": 10,
        "maxPages": 10_000,
        "maxDuration": 86_400,
        "maxBytes": 5000,
        "includePatterns": ["/docs/**"],
        "excludePatterns": ["/docs/old/**"],
        "allowedDomains": ["localhost"],
        "respectRobotsTxt": False,
        "renderJavaScript": False,
        "requestsPerSecond": 0.1,
        "delayBetweenRequests": 2000,
        "minContentLength": 7,
        "maxContentLength": 5000,
        "contentTypes": ["text/html"],
        "enableClassification": False,
        "enableQualityCheck": False,
        "qualityThreshold": 0,
        "targetContentTypes": ["article", "faq"],
    }

    async with serving(tmp_path) as ground:
        seeds = ["http://localhost:8080/docs/"]
        answer = await ground.mine.post("/crawls", CRAWL | {"seedUrls": seeds, "config": config})
        assert answer.status == 202, answer.json
        told = answer.json["config"]
        assert {name: told[name] for name in config} == config
        job = await ground.desk.world.store.jobs.get(answer.json["jobId"])
        assert job is not None
        assert job.config.limits.max_pages == 10_000 and not job.config.robots.respect


@pytest.mark.req("API-02", "API-05", "API-06", "API-07", "API-15")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"config": {"maxDepth": 0}}, "config.maxDepth"),
        ({"config": {"maxDepth": 11}}, "config.maxDepth"),
        ({"config": {"maxPages": 10_001}}, "config.maxPages"),
        ({"config": {"maxPages": "5"}}, "config.maxPages"),
        ({"config": {"requestsPerSecond": 0.05}}, "config.requestsPerSecond"),
        ({"config": {"requestsPerSecond": 5.1}}, "config.requestsPerSecond"),
        ({"config": {"qualityThreshold": 10.5}}, "config.qualityThreshold"),
        ({"config": {"targetContentTypes": ["novel"]}}, "config.targetContentTypes.0"),
        ({"config": {"colour": "blue"}}, "config.colour"),
        ({"max_pages": 3}, "max_pages"),
        ({"seedUrls": []}, "seedUrls"),
        ({"seedUrls": [f"http://localhost/{n}" for n in range(11)]}, "seedUrls"),
        ({"seedUrls": ["ftp://localhost/"]}, "seedUrls.0"),
        ({"sitemapUrls": [f"http://localhost/{n}.xml" for n in range(6)]}, "sitemapUrls"),
        ({"collectionId": "no/slash"}, "collectionId"),
        ({"profile": "web-scale"}, "profile"),
    ],
)
@waits
async def test_a_misshapen_request_is_refused_by_the_name_of_its_field(
    tmp_path: Path, change: dict[str, object], field: str
) -> None:
    async with serving(tmp_path) as ground:
        answer = await ground.mine.post("/crawls", CRAWL | change)
        assert answer.status == 400
        assert answer.headers["content-type"] == "application/problem+json"
        assert field in [fault["field"] for fault in answer.json["errors"]]
        assert (await ground.mine.get("/crawls")).json["crawls"] == []


@pytest.mark.req("API-15", "CFG-13")
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"config": {"excludePatterns": ["/**"]}}, "seedUrls"),
        ({"config": {"includePatterns": ["["]}}, "config.includePatterns"),
        ({"config": {"hostRegions": [".kr"]}}, "config.hostRegions"),
        ({"config": {"regions": ["south pole"]}}, "config.regions"),
        ({"config": {"extractionSchema": {"$ref": "file:///etc/passwd"}}}, "config"),
        ({"config": {"extractionSchema": {"type": "array"}}}, "config"),
        (
            {
                "sitemapUrls": ["http://localhost:8080/map.xml"],
                "config": {"followExternalLinks": True},
            },
            "sitemapUrls",
        ),
    ],
)
@waits
async def test_what_could_never_work_is_refused_before_anything_is_written(
    tmp_path: Path, change: dict[str, object], field: str
) -> None:
    async with serving(tmp_path) as ground:
        answer = await ground.mine.post("/crawls", CRAWL | change)
        assert answer.status == 422, answer.json
        assert [fault["field"] for fault in answer.json["errors"]] == [field]
        assert (await ground.mine.get("/crawls")).json["crawls"] == []


@pytest.mark.req("LEG-08")
@waits
async def test_public_hosts_wait_for_a_contact_address(tmp_path: Path) -> None:
    asked = CRAWL | {"seedUrls": ["https://docs.example.com/"]}

    async with serving(tmp_path / "unsigned") as ground:
        answer = await ground.mine.post("/crawls", asked)
        assert answer.status == 422
        assert "GEOMI_CONTACT" in answer.json["hint"]
    signed = replace(LOCAL, contact="https://acme.example/bot")
    async with serving(tmp_path / "signed", signed) as ground:
        assert (await ground.mine.post("/crawls", asked)).status == 202


@pytest.mark.req("API-08", "API-09", "API-10", "JOB-14")
@waits
async def test_crawls_are_listed_in_parts_newest_first(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        made = [(await ground.mine.post("/crawls", CRAWL)).json["jobId"] for _ in range(5)]
        await ground.mine.post("/crawls", CRAWL | {"collectionId": "elsewhere"})
        seen: list[str] = []
        path = "/crawls?limit=2&collectionId=handbook"
        while True:
            part = (await ground.mine.get(path)).json
            seen += [crawl["jobId"] for crawl in part["crawls"]]
            if part["nextCursor"] is None:
                break
            path = f"/crawls?limit=2&collectionId=handbook&cursor={part['nextCursor']}"
        assert seen == sorted(made, reverse=True)
        cancelled = await ground.mine.post(f"/crawls/{made[0]}/cancel")
        assert cancelled.status == 200 and cancelled.json["status"] == "cancelled"
        found = (await ground.mine.get("/crawls?status=cancelled")).json["crawls"]
        assert [crawl["jobId"] for crawl in found] == [made[0]]
        assert (await ground.mine.get("/crawls?limit=101")).status == 400
        assert (await ground.mine.get("/crawls?cursor=bm9uc2Vuc2U")).status == 404


@pytest.mark.req("API-10", "JOB-14")
@waits
async def test_states_say_what_may_be_done(tmp_path: Path) -> None:
    """G-18: cancelling what is over is a 409; G-28: a pause is a flag."""
    async with serving(tmp_path) as ground:
        name = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]
        paused = await ground.mine.post(f"/crawls/{name}/pause")
        assert (paused.json["status"], paused.json["paused"]) == ("pending", True)
        assert not (await ground.mine.post(f"/crawls/{name}/resume")).json["paused"]
        assert (await ground.mine.post(f"/crawls/{name}/retry")).status == 409
        assert (await ground.mine.delete(f"/crawls/{name}")).status == 409
        assert (await ground.mine.post(f"/crawls/{name}/cancel")).status == 200
        for step in ("cancel", "pause", "resume"):
            assert (await ground.mine.post(f"/crawls/{name}/{step}")).status == 409
        again = await ground.mine.post(f"/crawls/{name}/retry")
        assert again.status == 202 and again.json["jobId"] != name
        assert again.json["config"] == (await ground.mine.get(f"/crawls/{name}")).json["config"]
        assert (await ground.mine.delete(f"/crawls/{name}")).status == 204
        assert (await ground.mine.get(f"/crawls/{name}")).status == 404


@pytest.mark.req("JOB-05")
@waits
async def test_one_crawl_too_many_has_to_wait_outside(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        await tenants.change(ground.service, TENANT, quota=Quota(max_waiting=2))
        for _ in range(2):
            assert (await ground.mine.post("/crawls", CRAWL)).status == 202
        refused = await ground.mine.post("/crawls", CRAWL)
        assert refused.status == 429 and int(refused.headers["retry-after"]) > 0
        assert (await ground.other.post("/crawls", CRAWL)).status == 202


@pytest.mark.req("JOB-05")
@waits
async def test_a_fourth_crawl_begins_when_one_of_three_is_over(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        await tenants.change(ground.service, TENANT, quota=Quota())
        names = [(await ground.mine.post("/crawls", CRAWL)).json["jobId"] for _ in range(4)]

        async def begun() -> list[str]:
            await begin_waiting(ground.service)
            told = [(await ground.mine.get(f"/crawls/{name}")).json["status"] for name in names]
            return [name for name, state in zip(names, told, strict=True) if state == "processing"]

        assert await begun() == names[:3]
        await ground.mine.post(f"/crawls/{names[1]}/cancel")
        assert await begun() == [names[0], *names[2:]]


@pytest.mark.req("JOB-05")
@waits
async def test_a_crawl_that_a_quota_ended_goes_on_when_there_is_a_place(tmp_path: Path) -> None:
    """C-45: what a quota leaves undone waits to be resumed."""
    async with serving(tmp_path) as ground:
        await tenants.change(ground.service, TENANT, quota=Quota(max_concurrent_crawls=1))
        name = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]
        world = ground.desk.world
        job = await world.store.jobs.get(name)
        assert job is not None
        job = await start_drafted(ground.desk.home, job)
        ended = replace(job, state=JobState.COMPLETED, stop=StopReason.DAILY_QUOTA)
        await world.store.jobs.update(ended)
        busy = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]
        other = await world.store.jobs.get(busy)
        assert other is not None
        await jobs.step(world, other, JobState.INITIALIZING)
        assert (await ground.mine.post(f"/crawls/{name}/resume")).status == 429
        await ground.mine.post(f"/crawls/{busy}/cancel")
        again = await ground.mine.post(f"/crawls/{name}/resume")
        assert again.status == 200 and again.json["status"] == "processing"
        assert again.json["stopReason"] is None and again.json["completedAt"] is None


@pytest.mark.req("API-01", "API-08", "API-09")
@waits
async def test_the_catalogues_own_paths_lead_to_the_same(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        plain = ground.mine.without_prefix()
        made = await plain.post("/crawler/crawls", CRAWL)
        assert made.status == 202
        name = made.json["jobId"]
        assert (await plain.get(f"/crawler/crawls/{name}")).json["jobId"] == name
        assert (await plain.get(f"/api/v1/crawler/crawls/{name}")).json["jobId"] == name
        assert len((await plain.get("/crawler/crawls")).json["crawls"]) == 1
        assert (await plain.get(f"/crawler/crawls/{name}/urls")).json["urls"] == []


@pytest.mark.req("FUT-14")
@waits
async def test_a_tenant_asks_pages_for_fields_of_its_own(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"author": {"type": "string"}}}

    async with serving(tmp_path) as ground:
        asked = CRAWL | {"config": {"extractionSchema": schema}}
        answer = await ground.mine.post("/crawls", asked)
        assert answer.status == 202, answer.json
        assert answer.json["config"]["extractionSchema"] == schema
        job = await ground.desk.world.store.jobs.get(answer.json["jobId"])
        assert job is not None and '"author"' in job.config.analysis.schema


@pytest.mark.req("CHG-10")
@waits
async def test_what_cannot_be_changed_about_visiting_a_crawl_again(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        store = ground.desk.world.store
        path = f"/crawls/{(await ground.mine.post('/crawls', CRAWL)).json['jobId']}"
        (job,) = await store.jobs.list(limit=1)
        assert (await ground.mine.patch(path, {"requestsPerDay": 1})).status == 400
        assert (await ground.mine.patch(path, {"maxPages": 7})).status == 400
        assert (await ground.other.patch(path, {"watch": False})).status == 404
        changed = await ground.mine.patch(path, {"requestsPerDay": 2})
        assert (changed.json["config"]["watch"], changed.json["config"]["requestsPerDay"]) == (
            True,
            2,
        )
        assert changed.json["nextRunAt"] is None, "it has not even begun"
        of_provider = replace(job, id=ground.desk.new_id(), provider="somebody")
        await store.jobs.create(of_provider)
        refused = await ground.mine.patch(f"/crawls/{of_provider.id}", {"watch": True})
        assert (refused.status, "provider somebody" in refused.json["detail"]) == (409, True)
        told = (await ground.mine.get(f"/crawls/{of_provider.id}")).json
        assert told["config"]["watch"] is False


@pytest.mark.req("CHG-11")
@waits
async def test_a_recrawl_is_repeated_as_the_crawl_that_it_visits(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        await ground.mine.post("/crawls", CRAWL)
        jobs_here = ground.desk.world.store.jobs
        (job,) = await jobs_here.list(limit=1)
        await jobs_here.update(replace(job, state=JobState.COMPLETED))
        few = replace(job.config, limits=replace(job.config.limits, max_pages=7))
        again = replace(
            job,
            id=ground.desk.new_id(),
            kind=JobKind.RECRAWL,
            crawl=job.id,
            config=few,
            state=JobState.COMPLETED,
        )
        await jobs_here.create(again)
        shown = (await ground.mine.get(f"/crawls/{again.id}")).json
        assert (shown["recrawlOf"], shown["config"]["maxPages"]) == (job.id, 7)
        synced = await ground.mine.post("/scraping/sync", {"collectionId": "handbook"})
        retried = await ground.mine.post(f"/crawls/{again.id}/retry")
        for one in (retried.json, *synced.json["crawls"]):
            assert (one["recrawlOf"], one["config"]["maxPages"]) == (None, 100)
