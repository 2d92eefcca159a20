"""Several processes understand the pages of one job: each page once, whoever of them is killed."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from geomi.engine.enrich.loop import PAID_PAGES_PER_SHARE
from geomi.model.index.document import DocumentFilter, DocumentRow
from tests.e2e.command import GEOMI, LOCAL, clean_env, run
from tests.e2e.serving import Served
from tests.engine.enrich.test_loop import village
from tests.support.advising import form_of, quality_told, type_told
from tests.support.crawl import Ear, home_in
from tests.support.models import ModelServer, Scripted, embeddings
from tests.support.server import Site

pytestmark = pytest.mark.slow

PAGES = 48
ANSWER_S = 0.05
PATIENCE_S = 60.0
PAGE = re.compile(r"URL: http://[^/]+/(\w*)")


class Listener:
    """Answers like a model that takes its time; what it was asked about which page is counted."""

    def __init__(self, answer_s: float = ANSWER_S) -> None:
        self._answer_s = answer_s
        self.asked: Counter[tuple[str, str]] = Counter()  # by form and page
        self.embedded: Counter[str] = Counter()
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()

    def answer(self, question: dict[str, Any]) -> Scripted:
        if "input" in question:
            self.embedded.update(text for text in question["input"] if text != "dimensions")
            return embeddings([(1.0, float(at)) for at in range(len(question["input"]))])
        found = PAGE.search(question["messages"][-1]["content"])
        assert found is not None
        with self._lock:
            self.asked[form_of(question), found[1]] += 1
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        time.sleep(self._answer_s)
        with self._lock:
            self._now -= 1
        return quality_told(8.0) if form_of(question) == "quality" else type_told("article")

    @property
    def judged(self) -> Counter[str]:
        """How often it was asked how good each page is."""
        return Counter({page: n for (form, page), n in self.asked.items() if form == "quality"})


def model_env(server: ModelServer) -> dict[str, str]:
    return {
        "GEOMI_MODEL_ENDPOINT": server.endpoint,
        "GEOMI_MODEL": "tiny",
        "GEOMI_EMBEDDER": "openai:tiny",
        "GEOMI_SILENCE_S": "2",
    }


def crawl(root: Path) -> None:
    with Site(village(PAGES)) as site:
        rules = ["--delay", "0", "--set", "analysis.quality_threshold=0"]
        done = run("crawl", site.url("/"), *LOCAL, *rules, "-o", str(root))
    assert done.returncode == 0, done.stderr


def wait_until(is_so: Callable[[], bool]) -> None:
    until_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < until_s
        time.sleep(0.05)


def index_workers(pid: int) -> list[int]:
    """Return the index workers that a process has started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    return [
        int(child)
        for child in children
        if b"geomi.processes.index" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


async def documents(root: Path) -> list[DocumentRow]:
    async with home_in(root, Ear()) as home:
        return await home.world.store.documents.list(DocumentFilter(), after="", limit=1000)


@pytest.mark.req("SCL-06")
def test_processes_share_a_job_and_understand_each_page_once(tmp_path: Path) -> None:
    crawl(tmp_path)
    listener = Listener()
    with ModelServer(listener.answer) as server:
        folder, env = ["-o", str(tmp_path)], model_env(server)
        done = run("enrich", "--once", "--workers", "3", *folder, env=env)
        assert done.returncode == 0, done.stderr
        assert f"{PAGES} pages enriched" in done.stderr
        assert listener.most_at_once == 3
        assert len(listener.judged) == PAGES
        assert set(listener.asked.values()) == {1}
        assert set(listener.embedded.values()) == {1}
        asked = len(server.asked)
        again = run("enrich", "--once", "--workers", "2", *folder, env=env)
        assert "0 pages enriched" in again.stderr
        dimensions = sum(one.get("input") == ["dimensions"] for one in server.asked[asked:])
        assert len(server.asked) == asked + dimensions
    rows = asyncio.run(documents(tmp_path))
    assert len(rows) == PAGES
    assert sum(row.chunks for row in rows) == len(listener.embedded)


@pytest.mark.req("SCL-06")
def test_a_crawl_has_its_pages_indexed_by_several_processes(tmp_path: Path) -> None:
    listener = Listener()
    with ModelServer(listener.answer) as server, Site(village(PAGES)) as site:
        env = model_env(server) | {"GEOMI_INDEX_WORKERS": "2"}
        rules = ["--delay", "0", "--set", "analysis.quality_threshold=0", "--index"]
        done = run("crawl", site.url("/"), *LOCAL, *rules, "-o", str(tmp_path), env=env)
        assert done.returncode == 0, done.stderr
    assert listener.most_at_once == 2
    assert len(listener.judged) == PAGES
    assert set(listener.asked.values()) == {1}
    assert len(asyncio.run(documents(tmp_path))) == PAGES


@pytest.mark.req("SCL-06", "WF-06")
def test_a_process_that_is_killed_costs_what_it_had_in_hand(tmp_path: Path) -> None:
    crawl(tmp_path)
    listener = Listener()
    with ModelServer(listener.answer) as server:
        process = subprocess.Popen(
            [*GEOMI, "enrich", "--workers", "3", "-o", str(tmp_path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_env() | model_env(server),
        )
        wait_until(lambda: listener.most_at_once == 3 and len(listener.judged) > PAGES // 3)
        victim, survivor = index_workers(process.pid)
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: len(listener.embedded) > 0 and len(listener.judged) == PAGES)
        time.sleep(3 * ANSWER_S)
        process.terminate()
        _, said = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, said
        assert not Path(f"/proc/{survivor}").exists()
        done = run("enrich", "--once", "-o", str(tmp_path), env=model_env(server))
        assert done.returncode == 0, done.stderr
    repeated = [page for page, times in listener.judged.items() if times > 1]
    assert len(repeated) <= PAID_PAGES_PER_SHARE
    assert max(listener.judged.values()) <= 2
    rows = asyncio.run(documents(tmp_path))
    assert len(rows) == PAGES
    assert sum(row.chunks for row in rows) == len(listener.embedded)


@pytest.mark.req("SCL-06", "JOB-02")
def test_a_service_shares_a_crawl_among_its_processes(tmp_path: Path) -> None:
    listener, pages = Listener(answer_s=0.6), 16  # a model that is slower than the crawl
    with ModelServer(listener.answer) as server, Site(village(pages)) as site:
        env = model_env(server) | {"GEOMI_INDEX_WORKERS": "2"}
        with Served(tmp_path, env=env) as served:
            order = {
                "seedUrls": [site.url("/")],
                "collectionId": "village",
                "config": {"requestsPerSecond": 5, "maxDepth": 1, "qualityThreshold": 0},
            }
            job = served.post("/crawls", order)["jobId"]
            wait_until(lambda: served.get(f"/crawls/{job}")["status"] == "completed")
            stats = served.get(f"/crawls/{job}")["stats"]
            served.stop()
    assert listener.most_at_once >= 2
    assert len(listener.judged) == pages
    assert set(listener.asked.values()) == {1}
    assert set(listener.embedded.values()) == {1}
    assert stats["pagesIndexed"] == pages, stats
