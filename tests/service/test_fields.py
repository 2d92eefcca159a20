"""The catalogue's names: of a crawl's boundaries and pace, and of what was fetched."""

from __future__ import annotations

import zlib
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tests.api.asking import CRAWL, LOCAL, serving
from tests.api.filling import EAGER, WEB
from tests.service.working import crawled
from tests.support.crawl import crawl_site, page, paths, robots
from tests.support.server import Reply, Site
from tests.support.waiting import waits

HTML = b"""<html lang="en"><head><title>Looms</title>
<meta name="description" content="About looms"><meta name="author" content="Ada">
<link rel="canonical" href="/looms">
<meta property="article:published_time" content="2026-01-02T03:04:05Z">
<meta property="article:modified_time" content="2026-02-03T04:05:06Z"></head>
<body><main><p>%s<a href="/next" rel="next">next</a></p></main></body></html>""" % (
    b"A loom holds the warp under tension while the weft is woven through it. " * 6
)


@pytest.mark.req("CFG-13", "CFG-15")
@pytest.mark.parametrize(
    ("config", "domains"),
    [
        ({}, ["localhost", "127.0.0.1"]),
        ({"allowedDomains": ["localhost", "127.0.0.1"]}, ["localhost", "127.0.0.1"]),
        ({"followExternalLinks": True}, []),
    ],
)
@waits
async def test_a_crawl_tells_its_boundaries_and_its_pace(
    tmp_path: Path, config: dict[str, object], domains: list[str]
) -> None:
    seeds = ["http://localhost:8080/", "http://localhost:8080/a", "http://127.0.0.1:8080/"]
    async with serving(tmp_path) as ground:
        made = await ground.mine.post("/crawls", CRAWL | {"seedUrls": seeds, "config": config})
        told = made.json["config"]
        assert told["allowedDomains"] == domains
        assert (told["maxDepth"], told["maxPages"]) == (3, 100)
        assert told["includePatterns"] == told["excludePatterns"] == []
        assert (told["requestsPerSecond"], told["delayBetweenRequests"]) == (1, 1000)


@pytest.mark.req("CFG-15")
@waits
async def test_the_slower_of_rate_and_delay_counts(tmp_path: Path) -> None:
    """5 requests a second with 300 ms between two are three a second."""
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            config = EAGER | {"requestsPerSecond": 5, "delayBetweenRequests": 300}
            asked = {"collectionId": "c", "seedUrls": [site.url("/")], "config": config}
            job_id = (await ground.mine.post("/crawls", asked)).json["jobId"]
            await crawled(ground.desk, job_id)
            seen = sorted((one.started_s, one.ended_s or 0.0) for one in site.log)
            gaps = [two[0] - one[1] for one, two in pairwise(seen)]
            assert len(gaps) >= 4 and min(gaps) >= 0.29


@pytest.mark.req("CFG-13", "CFG-14", "CFG-18", "SCP-05", "SCP-06")
@pytest.mark.parametrize(
    "boundary", ["", "allowedDomains", "followExternalLinks", "respectRobotsTxt"]
)
@waits
async def test_a_crawl_stays_within_the_boundaries_it_was_given(
    tmp_path: Path, boundary: str
) -> None:
    """Globs of URLs, a depth, robots.txt, and hosts: those of the seeds unless told otherwise."""
    links = ("/docs/a", "/docs/no", "/docs/old/x", "/blog/b", "http://away.test/docs/")
    web = {
        "/robots.txt": robots("User-agent: *", "Disallow: /docs/no"),
        "/docs/": page("d", *links),
        "/docs/no": page("no"),
        "/docs/a": page("a", "/docs/a/b"),
        "/docs/a/b": page("b", "/docs/a/b/c"),
    }
    values = {
        "allowedDomains": ["away.test"],
        "followExternalLinks": True,
        "respectRobotsTxt": False,
    }
    config = EAGER | {name: value for name, value in values.items() if name == boundary}
    config |= {
        "includePatterns": ["http://*/docs/**"],
        "excludePatterns": ["**/old/**"],
        "maxDepth": 2,
        "maxPages": 10,
    }
    order = {"collectionId": "c", "seedUrls": ["http://home.test/docs/"], "config": config}
    with Site(web) as site, Site({"/docs/": page("away")}, address="127.0.0.2") as away:
        names = (
            f"home.test:80:127.0.0.1:{site.port}",
            f"away.test:80:127.0.0.2:{away.port}",
        )
        async with serving(tmp_path, replace(LOCAL, resolve=names)) as ground:
            made = (await ground.mine.post("/crawls", order)).json
            assert made["config"]["maxPages"] == 10
            await crawled(ground.desk, made["jobId"])
    asked = set(paths(site.log))
    assert asked - {"/docs/no"} == {"/docs/", "/docs/a", "/docs/a/b"}
    assert ("/docs/no" in asked) is (boundary == "respectRobotsTxt")
    assert bool(away.log) is (boundary in ("allowedDomains", "followExternalLinks"))


@pytest.mark.req("HTTP-13")
def test_a_fetched_page_has_every_field_of_the_catalogue(tmp_path: Path) -> None:
    moved = Reply(status=301, headers=(("Location", "/looms"),))
    with Site({"/old": moved, "/looms": Reply(HTML)}) as site:
        found = crawl_site(tmp_path, site.url("/old"), format=("jsonl", "warc"))
    (record,) = [one for one in found.records if one["final_url"] == site.url("/looms")]
    assert (record["url"], record["status"]) == (site.url("/old"), 200)
    assert record["content_type"].startswith("text/html") and record["bytes"] == len(HTML)
    assert (record["title"], record["description"]) == ("Looms", "About looms")
    assert record["language"] == "en" and "under tension" in record["markdown"]
    (link,) = record["links"]
    assert (link["url"], link["text"], link["rel"]) == (site.url("/next"), "next", "next")
    about = record["metadata"]
    assert (about["canonical"], about["author"]) == (site.url("/looms"), "Ada")
    assert about["published_at"].startswith("2026-01-02T03:04:05")
    assert about["modified_at"].startswith("2026-02-03T04:05:06")
    assert record["fetch_ms"] >= 0
    (archive,) = (tmp_path / "warc").glob("*.warc.gz")
    assert HTML in b"".join(_members(archive.read_bytes()))
    failed = found.entries[site.url("/next")]
    assert (failed.status, failed.outcome) == (404, "gone")


def _members(packed: bytes) -> list[bytes]:
    """Unpack every member of a gzip file."""
    found = []
    while packed:
        unpack = zlib.decompressobj(wbits=31)
        found.append(unpack.decompress(packed))
        packed = unpack.unused_data
    return found
