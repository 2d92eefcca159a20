"""A job in the layout of a knowledge base, from a directory and from a bucket."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from geomi.adapters.outlet.knowledge_base import in_folder
from geomi.app.use.outputs import write_knowledge_base
from geomi.engine.jobs import find
from geomi.settings.options import Settings
from tests.engine.visit.test_revisits import tagged
from tests.support.crawl import LOCAL, Ear, crawl_site, home_in, page, robots
from tests.support.s3 import S3Server
from tests.support.server import Site
from tests.support.waiting import waits

ROUTES = {
    "/robots.txt": robots("User-agent: *", "Disallow: /private"),
    "/": page("home", "/a?utm_source=x", "/b"),
    "/a": page("a"),
    "/b": page("b", "/private"),
}


@waits
async def _written(root: Path, to: Path, settings: Settings) -> tuple[str, int]:
    async with home_in(root, Ear(), settings) as home:
        job = await find(home.world, "latest")
        return job.id, await write_knowledge_base(home, job, in_folder(to))


def _check(root: Path, to: Path, settings: Settings) -> None:
    with Site(ROUTES) as site:
        crawled = crawl_site(root, site.url("/"), settings=settings)
        job, count = _written(root, to, settings)
        names = {path: sha256(site.url(path).encode()).hexdigest() for path in ("/", "/a", "/b")}
        port = site.url("").rpartition(":")[2]
        host = site.url("").removeprefix("http://").rpartition(":")[0]
        hashes = {entry.url_hash.hex() for entry in crawled.entries.values()}
    pages = to / "crawls" / "local" / job
    assert count == len(names)
    raw = {path.name for path in (pages / "raw").iterdir()}
    assert raw == {f"{name}.html" for name in names.values()}
    assert b"a" in (pages / "raw" / f"{names['/a']}.html").read_bytes()
    record = json.loads((pages / "extracted" / f"{names['/b']}.json").read_bytes())
    assert record == crawled.record(record["url"])
    assert {name[:32] for name in names.values()} <= hashes
    found = (to / "robots" / f"{host}_{port}.txt").read_bytes()
    assert b"Disallow: /private" in found


@pytest.mark.req("STO-01")
def test_pages_and_robots_lie_in_the_folders_of_a_knowledge_base(tmp_path: Path) -> None:
    _check(tmp_path / "data", tmp_path / "kb", LOCAL)


def test_the_same_comes_out_of_a_bucket(tmp_path: Path, s3: S3Server) -> None:
    _check(tmp_path / "data", tmp_path / "kb", replace(LOCAL, blobs=s3.new_prefix()))


def test_a_page_that_had_not_changed_has_no_body_of_its_own(tmp_path: Path) -> None:
    with Site({"/": tagged(page("home"))}) as site:
        crawl_site(tmp_path, site.url("/"))
        crawl_site(tmp_path, site.url("/"))
    job, count = _written(tmp_path, tmp_path / "kb", LOCAL)
    pages = tmp_path / "kb" / "crawls" / "local" / job
    assert count == 1
    assert [path.name for path in pages.iterdir()] == ["extracted"]
