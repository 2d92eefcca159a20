"""A crawl of the service from its first step to its last, and what its tenant sees of each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from geomi.app.use import providers
from geomi.engine import jobs
from geomi.model.entry import EntryFilter, EntryKind
from geomi.model.history import FIRST_CURSOR
from geomi.model.job import JobState, StopReason
from geomi.model.verdict import State
from geomi.service import deliveries
from geomi.service.crawling.crawls import begin_waiting
from tests.api.asking import CRAWL, TENANT, Ground, serving
from tests.api.filling import EAGER, WEB, started
from tests.service.working import crawled, is_over, understood
from tests.support.crawl import LOCAL, page
from tests.support.models import ModelServer, Scripted, embeddings
from tests.support.server import Reply, Site
from tests.support.waiting import waits

ROBOTS = Reply(b"User-agent: *\nDisallow: /\n", content_type="text/plain")


@pytest.mark.req("WF-02")
@waits
async def test_a_crawl_that_cannot_begin_fails_with_its_cause(tmp_path: Path) -> None:
    """C-46: its provider's terms were read anew while it waited."""
    async with serving(tmp_path) as ground:
        job_id = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]
        world = ground.desk.world
        preset = await providers.find(world, "openai")
        await world.store.providers.put(
            replace(
                preset,
                key="village",
                seed_urls=("http://localhost:8080/",),
                tos_allows_crawling=False,
            )
        )
        assert await begin_waiting(ground.service) == 1
        told = (await ground.mine.get(f"/crawls/{job_id}")).json
        assert told["status"] == "failed" and told["stopReason"] == "failed"
        assert "village forbids crawling" in told["error"]
        assert told["completedAt"] and told["stats"]["urlsDiscovered"] == 0
        assert await begin_waiting(ground.service) == 0  # nobody tries it again


@pytest.mark.req("WF-02", "WF-03", "CFG-12")
@waits
async def test_a_crawl_begins_with_its_seeds_and_sitemaps_in_the_queue(tmp_path: Path) -> None:
    seeds = ["http://localhost:8080/", "http://localhost:8080/docs"]
    given = "http://localhost:8080/all.xml"
    async with serving(tmp_path) as ground:
        asked = CRAWL | {"seedUrls": seeds, "sitemapUrls": [given]}
        job_id = (await ground.mine.post("/crawls", asked)).json["jobId"]
        assert await begin_waiting(ground.service) == 1
        assert (await ground.mine.get(f"/crawls/{job_id}")).json["status"] == "processing"
        census = ground.desk.world.store.census
        rows = await census.rows(job_id, EntryFilter(), after=FIRST_CURSOR, limit=100)
        waiting = {(one.kind, one.url) for one in rows.entries if one.state is State.PENDING}
        assert {(EntryKind.PAGE, seed) for seed in seeds} <= waiting
        assert (EntryKind.SITEMAP, given) in waiting
        assert await begin_waiting(ground.service) == 0


@pytest.mark.req("WF-02")
@waits
async def test_whoever_died_while_a_crawl_began_is_followed_by_another(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        job_id = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]
        world = ground.desk.world
        assert await world.store.jobs.begin(job_id, most=0, wall_s=ground.desk.wall_s)
        job = await jobs.find(world, job_id)
        await jobs.step(world, job, JobState.DISCOVERING)
        assert await begin_waiting(ground.service) == 1
        assert (await jobs.find(world, job_id)).state is JobState.PROCESSING


@pytest.mark.req("WF-04")
@waits
async def test_a_crawl_with_nothing_to_fetch_goes_straight_to_its_end(tmp_path: Path) -> None:
    with Site({**WEB, "/robots.txt": ROBOTS}) as site:
        async with serving(tmp_path) as ground:
            job_id = (await started(ground.mine, site))["jobId"]
            job = await crawled(ground.desk, job_id)
            assert job.state is JobState.FINALIZING and job.stop is StopReason.DONE
            await understood(ground.service, lambda: is_over(ground.desk, job_id))
            told = (await ground.mine.get(f"/crawls/{job_id}")).json
            assert (told["status"], told["stopReason"]) == ("completed", "done")
            assert told["stats"]["urlsBlocked"] == 1
            assert told["stats"]["urlsSucceeded"] == told["stats"]["pagesIndexed"] == 0
            assert {seen.path for seen in site.log} == {"/robots.txt"}


@pytest.mark.req("WF-08", "FUT-13")
@waits
async def test_an_ending_crawl_is_understood_and_told_before_it_is_completed(
    tmp_path: Path,
) -> None:
    with Site(WEB) as site, Site({"/told": Reply(b"{}")}) as receiver:
        async with serving(tmp_path) as ground:
            hook = {"url": receiver.url("/told"), "events": ["crawl.completed"]}
            assert (await ground.mine.post("/webhooks", hook)).status == 201
            job_id = (await started(ground.mine, site))["jobId"]
            job = await crawled(ground.desk, job_id)
            assert job.state is JobState.FINALIZING  # nothing of it can be found yet
            assert not await _finds(ground, "ferry")
            await understood(ground.service, lambda: is_over(ground.desk, job_id))
            told = (await ground.mine.get(f"/crawls/{job_id}")).json
            assert told["status"] == "completed"
            assert (told["stats"]["pagesIndexed"], told["stats"]["chunksCreated"]) == (3, 3)
            assert await _finds(ground, "ferry")
            assert await deliveries.queue_deliveries(ground.service)
            assert await deliveries.send_due(ground.service) == 1
            (heard,) = [orjson.loads(seen.body) for seen in receiver.log]
            assert heard["event"] == "crawl.completed"
            assert heard["crawl"]["jobId"] == job_id


@pytest.mark.req("WF-08", "EMB-04")
@waits
async def test_an_ending_crawl_is_embedded_before_it_is_completed(tmp_path: Path) -> None:
    """A model is asked about its chunks when it ends, and has answered when it is completed."""

    def answer(question: dict[str, Any]) -> Scripted:
        return embeddings([(1.0, float(at)) for at in range(len(question["input"]))])

    with Site(WEB) as site, ModelServer(answer) as model:
        settings = replace(LOCAL, embedder="openai:tiny", model_endpoint=model.endpoint)
        async with serving(tmp_path, settings) as ground:
            job_id = (await started(ground.mine, site))["jobId"]
            job = await crawled(ground.desk, job_id)
            assert job.state is JobState.FINALIZING
            assert not _embedded(model)
            await understood(ground.service, lambda: is_over(ground.desk, job_id))
            told = (await ground.mine.get(f"/crawls/{job_id}")).json
            assert told["status"] == "completed"
            assert len(_embedded(model)) == told["stats"]["chunksCreated"] == 3


@pytest.mark.req("WF-15", "JOB-11", "FRN-13")
@waits
async def test_a_tenant_sees_each_phase_of_its_crawl(tmp_path: Path) -> None:
    """Initialize, discovery, processing, finalize: each is told while it lasts, and afterwards."""
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            job_id = (await started(ground.mine, site))["jobId"]
            path, world = f"/crawls/{job_id}", ground.desk.world
            seen = [(await ground.mine.get(path)).json["status"]]
            assert await world.store.jobs.begin(job_id, most=0, wall_s=ground.desk.wall_s)
            seen.append((await ground.mine.get(path)).json["status"])
            job = await jobs.step(world, await jobs.find(world, job_id), JobState.DISCOVERING)
            seen.append((await ground.mine.get(path)).json["status"])
            await begin_waiting(ground.service)
            seen.append((await ground.mine.get(path)).json["status"])
            assert await _statuses(ground, path) == {"pending"}
            job = await crawled(ground.desk, job_id)
            seen.append((await ground.mine.get(path)).json["status"])
            assert await _statuses(ground, path) == {"processing", "failed"}
            await jobs.complete(world, job)
            seen.append((await ground.mine.get(path)).json["status"])
            phases = ["pending", "initializing", "discovering", "processing", "finalizing"]
            assert seen == [*phases, "completed"]
            stream = (await ground.mine.get(f"{path}/events")).body.decode()
            told = [
                orjson.loads(line.removeprefix("data: "))
                for line in stream.splitlines()
                if line.startswith("data: ")
            ]
            states = [one["status"] for one in told if "status" in one]
            assert states[0] == "completed"  # how it stands, before what was
            assert list(dict.fromkeys(states[1:])) == seen
            urls = (await ground.mine.get(f"{path}/urls?status=failed")).json["urls"]
            assert [(one["httpStatus"], bool(one["error"])) for one in urls] == [(404, True)]
            assert await _statuses(ground, path) == {"completed", "failed"}
            assert (await ground.other.get(path)).status == 404


@pytest.mark.req("JOB-03")
@pytest.mark.parametrize(
    ("name", "most", "over"),
    [
        ("maxPages", 10_000, 10_001),
        ("maxDepth", 10, 11),
        ("maxDuration", 86_400, 86_401),
    ],
)
@waits
async def test_a_crawls_limits_have_ceilings(
    tmp_path: Path, name: str, most: int, over: int
) -> None:
    async with serving(tmp_path) as ground:
        told = (await ground.mine.post("/crawls", CRAWL | {"config": {name: most}})).json
        assert told["config"][name] == most
        refused = await ground.mine.post("/crawls", CRAWL | {"config": {name: over}})
        assert refused.status == 400
        assert [fault["field"] for fault in refused.json["errors"]] == [f"config.{name}"]


@pytest.mark.req("JOB-03")
@pytest.mark.parametrize(
    ("limit", "reason"), [({"maxBytes": 1}, "max_bytes"), ({"maxDuration": 1}, "max_time")]
)
@waits
async def test_a_crawl_ends_at_its_bytes_and_at_its_time(
    tmp_path: Path, limit: dict[str, int], reason: str
) -> None:
    """Of a hundred pages most are left, and wait."""
    eager = EAGER | {"delayBetweenRequests": 50, "maxPages": 10_000} | limit
    routes = {"/": page("start", *(f"/{n}" for n in range(100)))}
    with Site(routes, otherwise=lambda seen: page(seen.path)) as site:
        async with serving(tmp_path) as ground:
            asked = CRAWL | {"seedUrls": [site.url("/")], "config": eager}
            job_id = (await ground.mine.post("/crawls", asked)).json["jobId"]
            await crawled(ground.desk, job_id)
            told = (await ground.mine.get(f"/crawls/{job_id}")).json
    assert told["stopReason"] == reason
    assert told["stats"]["urlsQueued"] > 50


@pytest.mark.req("JOB-01", "JOB-02")
@waits
async def test_a_crawl_has_the_fields_of_the_catalogue_at_its_end(tmp_path: Path) -> None:
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            job_id = (await started(ground.mine, site))["jobId"]
            before = (await ground.mine.get(f"/crawls/{job_id}")).json
            assert before["startedAt"] is before["completedAt"] is None
            await crawled(ground.desk, job_id)
            await understood(ground.service, lambda: is_over(ground.desk, job_id))
            told = (await ground.mine.get(f"/crawls/{job_id}")).json
            assert (told["jobId"], told["tenantId"]) == (job_id, TENANT)
            assert told["collectionId"] == "village" and len(job_id) == 26
            assert told["config"]["maxPages"] == 100 and not told["error"]
            assert told["createdAt"] <= told["startedAt"] <= told["completedAt"]
            stats = told["stats"]
            assert stats["bytesDownloaded"] > 0 and stats["processingTimeMs"] > 0
            assert stats["urlsProcessed"] == stats["urlsSucceeded"] + stats["urlsFailed"] == 4


@pytest.mark.req("WF-08")
@waits
async def test_the_last_pages_of_a_cancelled_crawl_can_be_found(tmp_path: Path) -> None:
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            job_id = (await started(ground.mine, site))["jobId"]
            await crawled(ground.desk, job_id)
            assert (await ground.mine.post(f"/crawls/{job_id}/cancel")).status == 200

            async def is_found() -> bool:
                return await _finds(ground, "ferry")

            await understood(ground.service, is_found)
            told = (await ground.mine.get(f"/crawls/{job_id}")).json
            assert told["status"] == "cancelled"


async def _statuses(ground: Ground, path: str) -> set[str]:
    """Return the statuses of a crawl's pages; its front page's host may have a sitemap, too."""
    urls = (await ground.mine.get(f"{path}/urls")).json["urls"]
    return {one["status"] for one in urls if not one["url"].endswith(".xml")}


async def _finds(ground: Ground, words: str) -> bool:
    return bool((await ground.mine.post("/search", {"query": words})).json["results"])


def _embedded(model: ModelServer) -> list[str]:
    """Return the texts that a model was asked about; it is asked how long a vector is first."""
    return [text for one in model.asked for text in one["input"] if text != "dimensions"]
