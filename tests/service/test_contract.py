"""The paths of the contract: `/crawler` means the knowledge base's profile, shown and crawled."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing
from datetime import datetime
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

from geomi.model.config import Render
from geomi.service.background_tasks import visit_crawls_again
from tests.api.asking import Client, Ground, Json, serving
from tests.service.working import carried_out, crawled, is_over, understood
from tests.support.contract import assert_shape
from tests.support.crawl import page, robots
from tests.support.prose import prose
from tests.support.server import Reply, Route, Site
from tests.support.waiting import waits

AGENT = "KnowledgeBaseBot/1.0 (+https://example.com/bot; bot@example.com)"
# As the contract has them: default, least and most of each field.
DEFAULTS: dict[str, object] = {
    "maxDepth": 3,
    "maxPages": 100,
    "respectRobotsTxt": True,
    "renderJavaScript": True,
    "requestsPerSecond": 1,
    "enableClassification": True,
    "enableQualityCheck": True,
    "qualityThreshold": 5,
    "watch": True,  # §1.1: changes are synced by themselves
    # of the document's CrawlConfig
    "followExternalLinks": False,
    "delayBetweenRequests": 1000,
    "minContentLength": 100,
    "maxContentLength": 100_000,
    "contentTypes": ["text/html"],
    "maxDuration": 3600,
    "maxBytes": 104_857_600,
}
BOUNDS = {
    "maxDepth": (1, 10),
    "maxPages": (1, 10_000),
    "requestsPerSecond": (0.1, 5),
    "qualityThreshold": (0, 10),
}
WEB: dict[str, Route] = {
    "/robots.txt": robots("User-agent: KnowledgeBaseBot", "Disallow: /secret", "", "User-agent: *"),
    "/": page(
        "bakery", "/one", "/accounting", "/mycalendar", "/find?s=rye", "/q?v=1", "/q?v=2",
        "/data", "/thin", "/secret", "http://elsewhere.localhost/", text=prose("the bakery"),
    ),
    "/one": page("one", "/two", text=prose("one")),
    "/two": page("two", "/three", text=prose("two")),
    "/three": page("three", "/four", text=prose("three")),
    "/four": page("four", text=prose("four")),
    "/q": lambda seen: page(seen.target, text=prose(seen.target)),
    "/data": Reply(b"flour,salt,water " * 20, content_type="text/plain"),
    "/thin": page("thin", text="{{price}} {{name}} {{stock}} " * 6),
    "/accounting": page("accounting", text=prose("accounting")),
    "/mycalendar": page("my calendar", text=prose("calendar")),
    "/find": page("find", text=prose("find")),
}  # fmt: skip
QUICK = {"requestsPerSecond": 5}
DAY_S = 86_400.0


async def kept_by(ground: Ground, path: str, asked: dict[str, object]) -> Json:
    """Let a crawl of the bakery be done, started by a path."""
    return await carried_out(ground, path, {"collectionId": "bakery"} | asked)


async def statuses(client: Client, job: Json, site: Site) -> dict[str, str]:
    """Return the status of every URL of a crawl, by its path."""
    rows = (await client.get(f"/crawls/{job['jobId']}/urls?limit=100")).json["urls"]
    return {row["url"].removeprefix(site.url("")): row["status"] for row in rows}


def asked_of(site: Site) -> set[str]:
    """Return what a site was asked for."""
    return {seen.target for seen in site.log}


@pytest.mark.req("API-01", "API-02", "API-03", "API-05", "API-06")
@waits
async def test_the_document_shows_every_default_of_the_contract(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        document = (await ground.mine.without_prefix().get("/openapi.json")).json
    start = document["paths"]["/crawler/crawls"]["post"]
    request = _body(document, start)
    assert request["properties"]["profile"]["default"] == "knowledge-base"
    settings = _named(document, request["properties"]["config"]["$ref"])["properties"]
    assert {name: settings[name]["default"] for name in DEFAULTS} == DEFAULTS
    assert {name: _bounds(settings[name]) for name in BOUNDS} == BOUNDS
    assert _counts(request["properties"]["seedUrls"]) == (1, 10)
    assert _counts(request["properties"]["sitemapUrls"]) == (0, 5)
    preview = _body(document, document["paths"]["/crawler/preview"]["post"])
    assert preview["properties"]["renderJavaScript"]["default"] is True
    for path, limit in (("/crawler/crawls", 20), ("/crawler/crawls/{jobId}/urls", 50)):
        told = document["paths"][path]["get"]["parameters"]
        assert [one["schema"]["default"] for one in told if one["name"] == "limit"] == [limit]
    plain = _body(document, document["paths"]["/api/v1/crawls"]["post"])
    assert plain["properties"]["profile"]["default"] == "default"


@pytest.mark.req("API-02", "API-04", "API-05", "API-06", "API-09")
@waits
async def test_what_is_not_said_has_the_default_of_the_contract(tmp_path: Path) -> None:
    """Of a crawl as it is written down, and of a list of crawls."""
    asked = {"collectionId": "bakery", "seedUrls": ["http://localhost:8080/"]}
    async with serving(tmp_path) as ground:
        client = ground.mine.without_prefix()
        for _ in range(21):
            made = await client.post("/crawler/crawls", asked)
            assert made.status == 202, made.json
        assert {name: made.json["config"][name] for name in DEFAULTS} == DEFAULTS
        listed = (await client.get("/crawler/crawls")).json
        assert len(listed["crawls"]) == 20 and listed["nextCursor"]
        job = await ground.desk.world.store.jobs.get(made.json["jobId"])
        assert job is not None and job.config.render is Render.ALWAYS


@pytest.mark.req("CFG-12", "JOB-01")
@waits
async def test_the_settings_of_a_crawl_say_where_it_starts_and_what_is_next(
    tmp_path: Path,
) -> None:
    seeds = ["http://localhost:8080/", "http://localhost:8080/rye"]
    maps = ["http://localhost:8080/map.xml"]
    chosen = {"order": "weighted", "purpose": "shop"}
    async with serving(tmp_path) as ground:
        client = ground.mine.without_prefix()
        asked = {"collectionId": "bakery", "seedUrls": seeds, "sitemapUrls": maps, "config": chosen}
        made = await client.post("/crawler/crawls", asked)
        assert made.status == 202, made.json
        shown = (await client.get(f"/crawler/crawls/{made.json['jobId']}")).json
        assert_shape(shown, "CrawlJob")
        told = shown["config"]
        assert (told["seedUrls"], told["sitemapUrls"]) == (seeds, maps)
        assert {name: told[name] for name in chosen} == chosen
        plain = await client.post("/crawler/crawls", {"collectionId": "b", "seedUrls": seeds})
        told = plain.json["config"]
        assert (told["sitemapUrls"], told["order"], told["purpose"]) == ([], "score", "balanced")


@pytest.mark.req("API-01", "CFG-14", "CFG-16", "SCP-10", "CTY-06")
@waits
async def test_the_contract_crawls_as_a_knowledge_base_and_the_other_paths_do_not(
    tmp_path: Path,
) -> None:
    with Site(WEB) as site:
        asked: dict[str, object] = {"seedUrls": [site.url("/")], "config": QUICK}
        async with serving(tmp_path) as ground:
            job = await kept_by(ground, "/crawler/crawls", asked)
            assert job["status"] == "completed", job
            assert {name: job["config"][name] for name in DEFAULTS} == DEFAULTS | {
                "requestsPerSecond": 5,
                "delayBetweenRequests": 200,
            }
            assert {seen.headers["user-agent"] for seen in site.log} == {AGENT}
            found = await statuses(ground.mine, job, site)
            assert found == {
                "/": "completed", "/one": "completed", "/two": "completed", "/three": "completed",
                "/q?v=1": "completed", "/q?v=2": "completed",
                "/data": "skipped",  # text/plain
                "/thin": "skipped",  # below the threshold of quality
                "/secret": "blocked",
            }  # fmt: skip
            assert not asked_of(site) & {"/four", "/accounting", "/mycalendar", "/find?s=rye"}
            page_types = [one["pageType"] for one in await _documents(ground.mine)]
            assert page_types and all(page_types)

            site.log.clear()
            await ground.mine.delete("/collections/bakery")
            job = await kept_by(ground, "/api/v1/crawls", asked)
            assert {seen.headers["user-agent"].partition("/")[0] for seen in site.log} == {"geomi"}
            found = await statuses(ground.mine, job, site)
            assert found["/data"] == "completed" and found["/secret"] == "failed"
            assert asked_of(site) >= {"/accounting", "/mycalendar"}


@pytest.mark.req("CFG-15", "API-12")
@waits
async def test_a_second_lies_between_two_requests_of_the_contract(tmp_path: Path) -> None:
    """Where nothing is said of the pace: one request a second, and a second between two."""
    with Site({"/": page("bakery", text=prose("the bakery"))}) as site:
        async with serving(tmp_path) as ground:
            await kept_by(ground, "/crawler/crawls", {"seedUrls": [site.url("/")]})
            looked = await ground.mine.without_prefix().post(
                "/crawler/preview", {"url": site.url("/")}
            )
            assert looked.status == 200 and looked.json["title"] == "bakery"
            assert_shape(looked.json, "Preview")
    seen = sorted((one.started_s, one.ended_s or 0.0) for one in site.log)
    assert len(seen) >= 3
    assert min(two[0] - one[1] for one, two in pairwise(seen)) >= 0.99
    assert {one.headers["user-agent"] for one in site.log} == {AGENT}


@pytest.mark.req("CHG-04", "FRN-14", "STO-06", "G-04")
@waits
async def test_a_crawl_of_the_contract_is_visited_again_and_its_urls_live_on(
    tmp_path: Path,
) -> None:
    """Nobody asks for it; what has changed is found, and each run moves the end on."""
    web: dict[str, Route] = {"/": page("bakery", text=prose("the bakery"))}
    with Site(web) as site:
        async with serving(tmp_path) as ground:
            asked: dict[str, object] = {"seedUrls": [site.url("/")], "config": QUICK}
            job = await kept_by(ground, "/crawler/crawls", asked)
            path = f"/crawls/{job['jobId']}"
            await visit_crawls_again(ground.service)
            (row,) = (await ground.mine.get(f"{path}/urls")).json["urls"]
            next_s = _seconds((await ground.mine.get(path)).json["nextRunAt"])
            assert row["ttl"] == round(_seconds(job["completedAt"]) + 7 * DAY_S)
            assert next_s == pytest.approx(row["ttl"] - 2 * DAY_S, abs=60)

            web["/"] = page("bakery", text=prose("the windmill"))
            _age(tmp_path, 5 * DAY_S)
            await visit_crawls_again(ground.service)
            again = (await ground.mine.get("/crawls")).json["crawls"][0]
            assert (again["recrawlOf"], again["status"]) == (job["jobId"], "pending")
            assert (await ground.mine.get(f"{path}/urls")).json["urls"][0]["ttl"] is None
            run_id = again["jobId"]
            await crawled(ground.desk, run_id)
            await understood(ground.service, lambda: is_over(ground.desk, run_id))
            found = (await ground.mine.post("/search", {"query": "windmill"})).json["results"]
            assert [one["url"] for one in found] == [site.url("/")]
            ended_s = _seconds((await ground.mine.get(f"/crawls/{run_id}")).json["completedAt"])
            (row,) = (await ground.mine.get(f"{path}/urls")).json["urls"]
            assert row["ttl"] == round(ended_s + 7 * DAY_S)


@pytest.mark.req("LNK-11", "LNK-16", "WF-03", "FRN-12", "PRI-01")
@waits
async def test_given_sitemaps_are_read_before_the_start_pages(tmp_path: Path) -> None:
    """A page that is listed and linked is one that is listed, also by a sitemap of an index."""
    web: dict[str, Route] = {
        "/": page("start", "/both", "/deep", "/linked", text=prose("the start")),
        **{f"/{name}": page(name, text=prose(name)) for name in ("both", "deep", "linked")},
    }
    with Site(web) as site:
        web["/map.xml"] = _listing("urlset", "url", site.url("/both"), site.url("/"))
        web["/index.xml"] = _listing("sitemapindex", "sitemap", site.url("/more.xml"))
        web["/more.xml"] = _listing("urlset", "url", site.url("/deep"))
        maps = [site.url("/index.xml"), site.url("/map.xml")]
        async with serving(tmp_path) as ground:
            asked: dict[str, object] = {"seedUrls": [site.url("/")], "config": QUICK}
            asked["sitemapUrls"] = maps
            job = await kept_by(ground, "/crawler/crawls", asked)
            answer = await ground.mine.get(f"/crawls/{job['jobId']}/urls?limit=100")
            rows = {row["url"].removeprefix(site.url("")): row for row in answer.json["urls"]}
    asked_for = [seen.target for seen in site.log]
    assert asked_for == [
        "/robots.txt", "/index.xml", "/map.xml", "/more.xml", "/", "/both", "/deep", "/linked"
    ]  # fmt: skip
    places = ("source", "depth", "priority", "parentUrl")
    assert {path: tuple(row[name] for name in places) for path, row in rows.items()} == {
        "/index.xml": ("sitemap", 0, 200, None),
        "/map.xml": ("sitemap", 0, 200, None),
        "/more.xml": ("sitemap", 0, 200, maps[0]),
        "/": ("seed", 0, 150, None),
        "/both": ("sitemap", 1, 110, maps[1]),
        "/deep": ("sitemap", 1, 110, site.url("/more.xml")),
        "/linked": ("link", 1, 90, site.url("/")),
    }
    for row in rows.values():
        assert row["urlHash"] == sha256(row["url"].encode()).hexdigest()


@pytest.mark.req("API-02", "JOB-02", "JOB-03")
@waits
async def test_a_crawl_of_the_contract_ends_after_a_hundred_pages(tmp_path: Path) -> None:
    """Ten seeds on ten machines, each with more pages than it may bring."""
    web: dict[str, Route] = {
        f"/{n}": page(f"loaf {n}", *(f"/{other}" for other in range(15)), text=prose(f"loaf {n}"))
        for n in range(15)
    }
    with ExitStack() as up:
        sites = [up.enter_context(Site(web, address=f"127.0.0.{n + 30}")) for n in range(10)]
        async with serving(tmp_path) as ground:
            job = await kept_by(
                ground,
                "/crawler/crawls",
                {"seedUrls": [site.url("/0") for site in sites], "config": QUICK},
            )
            assert (job["status"], job["stopReason"]) == ("completed", "max_pages")
            limits = [job["config"][name] for name in ("maxDepth", "maxDuration", "maxBytes")]
            assert limits == [3, 3600, 104_857_600]
            assert job["stats"]["urlsProcessed"] == 100
            assert job["stats"]["urlsQueued"] == 50


def _listing(root: str, item: str, *urls: str) -> Reply:
    listed = "".join(f"<{item}><loc>{url}</loc></{item}>" for url in urls)
    return Reply(f"<{root}>{listed}</{root}>".encode(), content_type="application/xml")


def _age(root: Path, by_s: float) -> None:
    """Let what is served have been there for longer."""
    with closing(sqlite3.connect(root / "geomi.db", timeout=30)) as db, db:
        db.execute("UPDATE pages SET fetched_at_s = fetched_at_s - ?1, due_s = due_s - ?1", [by_s])
        db.execute(
            "UPDATE jobs SET next_look_s = next_look_s - ?1, created_at_s = created_at_s - ?1,"
            " started_at_s = started_at_s - ?1, ended_at_s = ended_at_s - ?1",
            [by_s],
        )


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


async def _documents(client: Client) -> list[Json]:
    """Return the documents that search can find."""
    told = await client.get("/documents?collectionId=bakery&state=indexed&limit=100")
    documents: list[Json] = told.json["documents"]
    return documents


def _named(document: Json, ref: str) -> Json:
    return document["components"]["schemas"][ref.rpartition("/")[2]]


def _body(document: Json, operation: Json) -> Json:
    content = operation["requestBody"]["content"]["application/json"]
    return _named(document, content["schema"]["$ref"])


def _bounds(told: Json) -> tuple[float, float]:
    return told["minimum"], told["maximum"]


def _counts(told: Json) -> tuple[int, int]:
    return told.get("minItems", 0), told["maxItems"]
