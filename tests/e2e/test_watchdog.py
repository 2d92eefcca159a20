"""`geomi serve` and its workers: one that does not answer is replaced, and none outlives it."""

from __future__ import annotations

import json
import os
import random
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.serving import Served
from tests.support.crawl import page
from tests.support.server import Site

pytestmark = pytest.mark.slow
PATIENCE_S = 60.0


def until(claim: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end_s = time.monotonic() + PATIENCE_S
    while not claim():
        assert time.monotonic() < end_s, "it did not come to be so"
        time.sleep(0.05)


def readiness(served: Served) -> tuple[int, str]:
    """Ask for /readyz; return the status and what is wrong."""
    try:
        with urllib.request.urlopen(f"{served.url}readyz", timeout=30) as answer:
            return answer.status, ""
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.loads(refused.read())["detail"]


def workers(served: Served) -> set[int]:
    """Return the processes that a server has started, and that live."""
    assert served._process is not None
    server = served._process.pid
    return {pid for pid in map(_pid, Path("/proc").iterdir()) if _parent(pid) == server}


def _pid(place: Path) -> int:
    return int(place.name) if place.name.isdigit() else 0


def _parent(pid: int) -> int:
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return 0
    return 0 if state == "Z" else int(parent)


def test_a_worker_that_does_not_answer_is_replaced_and_readyz_tells(tmp_path: Path) -> None:
    """A stopped process lives, holds its leases, and takes no SIGTERM."""
    with Served(tmp_path, env={"GEOMI_ANSWER_S": "2"}) as served:
        until(lambda: len(workers(served)) == 2 and readiness(served)[0] == 200)
        stopped = min(workers(served))
        os.kill(stopped, signal.SIGSTOP)
        until(lambda: "do not answer" in readiness(served)[1])
        until(lambda: stopped not in workers(served) and len(workers(served)) == 2)
        until(lambda: readiness(served) == (200, ""))
        assert f"the worker process {stopped}" in served.stop()


def dear_site(address: str = "127.0.0.1") -> Site:
    """Return a site whose start page takes a minute to judge with the dearest patterns."""
    rng = random.Random(3)
    links = ["/" + "".join(rng.choice("ab") for _ in range(1900)) for _ in range(500)]
    return Site({"/": page("home", *links)}, address=address)


def start_dear_crawl(served: Served, site: Site, key: str) -> str:
    """Start a crawl whose first page is judged for long; return when it is there."""
    patterns = [f"re:(a|b)*a(a|b){{60}}c{number}" for number in range(25)]
    config = {"excludePatterns": patterns, "requestsPerSecond": 5, "delayBetweenRequests": 200}
    asked = {"collectionId": "dear", "seedUrls": [site.url("/")], "config": config}
    job = served.post("/crawls", asked, key=key)["jobId"]
    until(lambda: any(seen.path == "/" for seen in site.log))
    return str(job)


def test_a_page_that_is_dear_to_judge_stops_nobody(tmp_path: Path) -> None:
    """Not another tenant's crawl, a cancel, the end of the server by SIGKILL, or by SIGTERM."""
    pages = [f"/{number}" for number in range(8)]
    web = {"/": page("start", *pages)} | {path: page(path) for path in pages}
    with dear_site() as first, dear_site() as second, Site(web) as good, Served(tmp_path) as served:
        evil, honest = (tenant(served, name) for name in ("evil", "honest"))
        dear = start_dear_crawl(served, first, evil)
        config = {"requestsPerSecond": 5, "delayBetweenRequests": 200}
        asked = {"collectionId": "good", "seedUrls": [good.url("/")], "config": config}
        job = served.post("/crawls", asked, key=honest)["jobId"]
        until(lambda: served.get(f"/crawls/{job}", key=honest)["status"] == "completed")
        stats = served.get(f"/crawls/{dear}", key=evil)["stats"]
        assert (stats["urlsQueued"], stats["urlsProcessed"]) == (1, 0)  # it is judged all the time
        served.post(f"/crawls/{dear}/cancel", {}, key=evil)
        assert served.get(f"/crawls/{dear}", key=evil)["status"] == "cancelled"
        again = start_dear_crawl(served, second, evil)
        orphans = workers(served)
        assert len(orphans) == 2
        served.kill()
        until(lambda: not any(map(_parent, orphans)))
        served.start()
        until(lambda: sum(seen.path == "/" for seen in second.log) == 2)
        assert served.get(f"/crawls/{again}", key=evil)["stats"]["urlsQueued"] == 1
        served.stop()


def tenant(served: Served, name: str) -> str:
    """Create a tenant; return its key."""
    served.post("/admin/tenants", {"name": name})
    return str(served.post(f"/admin/tenants/{name}/keys", {})["key"])
