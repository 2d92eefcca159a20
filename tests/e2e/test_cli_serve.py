"""`geomi serve` as somebody uses it who has read the how-to, and nothing else but curl."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from geomi.demo.serve import DemoSite
from tests.conftest import missing_part
from tests.e2e.command import run
from tests.e2e.serving import Served

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "run-the-service.md"
CONTRACT = HOW_TO.with_name("use-the-crawler-contract.md")
# What stands there for a reader to fill in.
FILLED_IN = "export GEOMI="


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Serve on a fresh directory, beside the sample site."""
    with _demo() as site:
        flags = [part for override in site.overrides for part in ("--resolve", override)]
        contact = {"GEOMI_CONTACT": "https://crawler.test/about"}
        with Served(tmp_path / "served", *flags, env=contact) as one:
            yield one


class _demo:
    """The sample site in a thread of its own."""

    def __enter__(self) -> DemoSite:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._site = DemoSite(port=0)
        asyncio.run_coroutine_threadsafe(self._site.__aenter__(), self._loop).result()
        return self._site

    def __exit__(self, *_: object) -> None:
        leaving = self._site.__aexit__(None, None, None)
        asyncio.run_coroutine_threadsafe(leaving, self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def follow(how_to: Path, served: Served, folder: Path) -> str:
    """Give every command of a how-to, in order, and return what they print."""
    if shutil.which("curl") is None:
        missing_part("curl")
    blocks = re.findall(r"```sh\n(.*?)```", how_to.read_text(encoding="utf-8"), re.S)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(b for b in blocks if FILLED_IN not in b)],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "GEOMI": f"{served.url}api/v1", "KEY": served.key},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.req("CFG-18", "JOB-14", "FUT-13")
def test_the_how_to_works_with_curl_alone(served: Served, tmp_path: Path) -> None:
    told = follow(HOW_TO, served, tmp_path)
    assert "event: page" in told and '"status":"completed"' in told
    assert '"quotation":' in told and "http://docs.geomi.test/" in told
    assert '"status":"cancelled"' in told
    assert served.get("/crawls")["crawls"] == []
    assert served.get("/collections")["collections"] == []
    assert served.get("/documents")["documents"] == []
    assert served.get("/schedules")["schedules"] == []


# The fields of seed 004, Start a new crawl.
CONTRACT_FIELDS = {
    "maxDepth", "maxPages", "includePatterns", "excludePatterns", "respectRobotsTxt",
    "renderJavaScript", "requestsPerSecond", "enableClassification", "enableQualityCheck",
    "qualityThreshold", "targetContentTypes",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.req("API-01", "API-08", "API-09", "API-11", "API-12")
def test_the_six_calls_of_the_contract_work_as_they_are_written(
    served: Served, tmp_path: Path
) -> None:
    text = CONTRACT.read_text("utf-8")
    (asked,) = re.findall(r"-d '(\{\n.*?\n\})' > started\.json", text, re.S)
    given = json.loads(asked)
    assert set(given) == {"collectionId", "seedUrls", "sitemapUrls", "config"}
    assert set(given["config"]) == CONTRACT_FIELDS
    follow(CONTRACT, served, tmp_path)

    def told(name: str) -> Any:
        return json.loads((tmp_path / f"{name}.json").read_text("utf-8"))

    started, shown = told("started"), told("shown")
    assert {name: started["config"][name] for name in CONTRACT_FIELDS} == given["config"]
    assert (shown["jobId"], shown["status"]) == (started["jobId"], "completed")
    assert shown["stats"]["pagesIndexed"] > 0
    assert [crawl["jobId"] for crawl in told("listed")["crawls"]] == [started["jobId"]]
    completed = {one["url"] for one in told("completed")["urls"]}
    assert len(completed) == shown["stats"]["urlsSucceeded"]
    skipped = told("skipped")["urls"]
    assert all(one["status"] == "skipped" for one in skipped)
    paths = {one.removeprefix("http://docs.geomi.test") for one in completed}
    paths |= {one["url"].removeprefix("http://docs.geomi.test") for one in skipped}
    guide = {f"/guide/{name}" for name in ("drawing", "knots", "tension", "threads")}
    assert paths == guide | {"/install", "/sitemap.xml"}
    cancelled = told("cancelled")
    assert (cancelled["jobId"], cancelled["status"]) == (told("second")["jobId"], "cancelled")
    previewed = told("preview")
    for name in ("url", "title", "contentPreview", "classification", "quality", "links"):
        assert previewed[name], name


@pytest.mark.slow
def test_a_fresh_directory_is_served_with_a_key_that_is_printed_once(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        key, served.key = served.key, ""
        assert re.fullmatch(r"geomi_[0-9a-f]{12}_[\w-]{43}", key)
        asked = {"collectionId": "handbook", "seedUrls": ["http://localhost:1/"]}
        status, crawl = served.ask("POST", "/crawls", asked, key=key)
        assert (status, crawl["status"]) == (202, "pending")
        assert served.ask("GET", "/crawls", key="geomi_0_0")[0] == 401
        served.stop()
        served.start()
        assert served.key == ""
        assert served.get(f"/crawls/{crawl['jobId']}", key=key)["jobId"] == crawl["jobId"]
        served.stop()


@pytest.mark.slow
def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        port = str(urlsplit(served.url).port)
        refused = run("serve", "--port", port, "-o", str(tmp_path / "other"))
        assert refused.returncode == 2 and f"cannot listen on 127.0.0.1:{port}" in refused.stderr
        assert "Traceback" not in refused.stderr


@pytest.mark.slow
def test_whoever_follows_a_crawl_does_not_keep_the_server_from_ending(tmp_path: Path) -> None:
    with Served(tmp_path, "--workers", "0") as served:
        asked = {"collectionId": "handbook", "seedUrls": ["http://localhost:1/"]}
        job = served.post("/crawls", asked)["jobId"]
        place = urlsplit(served.url)
        following = HTTPConnection(place.hostname or "", place.port, timeout=30)
        with closing(following):
            headers = {"Authorization": f"Bearer {served.key}"}
            following.request("GET", f"/api/v1/crawls/{job}/events", headers=headers)
            stream = following.getresponse()
            assert stream.readline() == b"event: progress\n"
            said = served.stop()
            stream.read()  # it ends as an answer does that is whole
        assert "Traceback" not in said and "Cancel" not in said
