"""The whole play for a real browser: the sample site, a served geomi, and Chromium at its door.

Chromium refuses to sandbox what root starts, so that is left out where root starts it; in tests the
pages are our own and those that these tests make.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests.e2e.command import clean_env
from tests.e2e.serving import Served
from tests.service.seed_web import seed_web
from tests.support.raw_files import put_raw

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
HOSTS = ("www", "docs", "blog", "shop")
DOMAINS = ("library.test", "museum.test", "theatre.test", "zoo.test")
DOCS = "http://docs.geomi.test/"
LONGEST_CRAWL_S = 60.0
QUICK = {"requestsPerSecond": 5, "delayBetweenRequests": 0}


def chromium() -> str | None:
    """Return where Chromium is on this machine, if it is."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


@contextmanager
def sample_site() -> Iterator[int]:
    """Serve the sample site in a process of its own; return its port."""
    with subprocess.Popen(
        [sys.executable, "-m", "geomi.demo", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env=clean_env(),
    ) as process:
        assert process.stdout is not None
        try:
            found = re.search(r":(\d+)\. ", process.stdout.readline())
            assert found is not None
            yield int(found[1])
        finally:
            process.kill()


@contextmanager
def served(root: Path) -> Iterator[Served]:
    """Serve geomi, to which the sample site and the domains of its dataset are near."""
    with sample_site() as port, seed_web(root, *DOMAINS) as web:
        places = [f"{host}.geomi.test:80:127.0.0.1:{port}" for host in HOSTS]
        flags = [f"--resolve={place}" for place in (*places, *web.resolve)]
        flags.append(f"--ca-file={web.ca_file}")
        dataset = root / "seeds"
        put_raw(dataset, 1, *DOMAINS)
        (dataset / put_raw(dataset, 2)).write_text("[{")
        env = {"GEOMI_MIN_DELAY_S": "0", "GEOMI_DATASETS": f"default={dataset}"}
        with Served(root / "data", *flags, env=env) as server:
            server.post("/seeds/orchestrate", {})
            yield server


def until_given_up(server: Served) -> None:
    """Wait until the broken raw file is a dead letter, which takes three retries."""
    end_s = time.monotonic() + LONGEST_CRAWL_S
    while not server.get("/seeds/dlq")["letters"]:
        assert time.monotonic() < end_s, "nothing was given up"
        time.sleep(0.2)


@contextmanager
def browser(program: str) -> Iterator[Browser]:
    """Open a browser."""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=arguments)
        try:
            yield opened
        finally:
            opened.close()


def crawl(server: Served, collection: str, seeds: Sequence[str], **config: object) -> str:
    """Crawl something into a collection, to its end; return the crawl's id."""
    asked = {"collectionId": collection, "seedUrls": list(seeds), "config": QUICK | config}
    job = str(server.post("/crawls", asked)["jobId"])
    end_s = time.monotonic() + LONGEST_CRAWL_S
    while time.monotonic() < end_s:
        if server.get(f"/crawls/{job}")["status"] == "completed":
            return job
        time.sleep(0.1)
    raise AssertionError(f"the crawl of {collection} did not end")


def views(server: Served, collection: str) -> dict[str, str]:
    """Return every view, by its name, of what was crawled into a collection."""
    job = server.get(f"/crawls?collectionId={collection}")["crawls"][0]["jobId"]
    listed = server.get(f"/documents?collectionId={collection}&state=indexed")["documents"]
    return {
        "overview": "/",
        "crawls": "/crawls",
        "new-crawl": "/crawls/new",
        "crawl": f"/crawls/{job}",
        "urls": f"/crawls/{job}/urls?prefix={DOCS}i&url={DOCS}internal/roadmap",
        "documents": "/documents",
        "document": f"/documents/{listed[0]['documentId']}",
        "search": "/search?q=거미줄",
        "sites": "/sites",
        "site": "/sites/docs.geomi.test:80",
        "seeds": "/seeds",
        "alerts": "/alerts",
        "schedules": "/schedules",
        "webhooks": "/webhooks",
        "settings": "/settings",
        "empty": "/crawls?collection=nothing-here",
    }


@dataclass
class Visitor:
    """Somebody at a browser, signed in; what the browser complained of is kept."""

    page: Page
    base: str
    complaints: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Open a page of the dashboard."""
        answer = self.page.goto(self.base + path)
        assert answer is not None and answer.status == 200, path
        return self.page


@contextmanager
def visitor(opened: Browser, server: Served, **options: Any) -> Iterator[Visitor]:
    """Sign somebody in, in a browser that knows nobody else."""
    context = opened.new_context(**options)
    context.set_default_timeout(20_000)
    try:
        somebody = Visitor(context.new_page(), server.url.rstrip("/"))

        def hear(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                somebody.complaints.append(message.text)

        somebody.page.on("console", hear)
        somebody.page.on("pageerror", lambda error: somebody.complaints.append(str(error)))
        page = somebody.open("/sign-in")
        page.fill("#key", server.key)
        page.click("main button")
        page.wait_for_selector("h1")
        yield somebody
    finally:
        context.close()
