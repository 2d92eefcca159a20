"""The road of a documentation page, step by step, as a person who registers a provider meets it."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import records, run
from tests.support.server import Reply, Seen, Site

WORDS = "The pump moves water from the lower basin to the upper one. " * 12
ROBOTS = b"User-agent: *\nDisallow: /docs/private\nCrawl-delay: 1\n"
DELAY_S = 1.0
FRAME = "<nav><a href='/docs/a?utm_source=x#top'>A</a> <a href='/docs/A/../a'>A</a></nav>"


def documented(title: str, body: str) -> Reply:
    """Return a page with a frame that is no content."""
    html = f"<title>{title}</title><main><h1>{title}</h1>{body}<p>{WORDS}</p></main>{FRAME}"
    return Reply(html.encode())


ROUTES = {
    "/robots.txt": Reply(ROBOTS, content_type="text/plain"),
    "/docs": documented(
        "Start",
        "<a href='/docs/a'>a</a> <a href='/docs/private/p'>p</a> <a href='/docs/gone'>g</a>"
        "<a href='/docs/old/x'>x</a> <a href='/blog/y'>y</a> <a href='/docs/moved'>m</a>",
    ),
    "/docs/a": documented("Pumps", "<h2>Valves</h2><a href='/docs/deep'>deep</a>"),
    "/docs/moved": Reply(b"", status=301, headers=(("location", "/docs/target"),)),
    "/docs/target": documented("Target", "<p>Where the old page went, with gauges.</p>"),
    "/docs/deep": documented("Deep", "<p>A page of the second level, with turbines.</p>"),
    "/docs/private/p": documented("Private", ""),
    "/docs/old/x": documented("Old", ""),
    "/blog/y": documented("Blog", ""),
}


def gaps_s(log: list[Seen]) -> list[float]:
    """Return the time between each answer and the next request."""
    return [
        after.started_s - before.ended_s
        for before, after in pairwise(log)
        if before.ended_s is not None
    ]


@pytest.mark.slow
@pytest.mark.req("WF-14")
def test_a_documentation_page_passes_every_step_in_order(tmp_path: Path) -> None:
    data = ["-o", str(tmp_path / "data")]

    def told(*arguments: str) -> Any:
        done = run(*arguments, *data, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    with Site(ROUTES) as site:
        # The seed is registered, and waits in the queue of its provider.
        payload = {
            "seed_url": site.url("/docs"),
            "allowed_path_patterns": ["/docs/**"],
            "blocked_path_patterns": ["/docs/old/**"],
            "request_delay_ms": 1000,
            "tos_reviewed_at": "2026-01-31",
            "tos_allows_crawling": True,
        }
        file = tmp_path / "pumps.json"
        file.write_text(json.dumps(payload), "utf-8")
        assert told("providers", "add", str(file))["key"] == "pumps"
        assert site.log == []
        crawl = ["crawl", "--provider", "pumps", "--allow-private", "-q", "--index", *data]
        done = run(*crawl)
        assert done.returncode == 0, done.stderr
        paths = [seen.path for seen in site.log]
        # robots.txt comes first, then the seed, then its links by their depth.
        assert paths[:2] == ["/robots.txt", "/docs"]
        assert paths.index("/docs/deep") > max(map(paths.index, ("/docs/a", "/docs/gone")))
        # One spelling of each URL waits, so nothing is asked for twice.
        assert set(Counter(paths).values()) == {1}
        # The filter and robots.txt keep URLs from the queue and from the network.
        assert not {"/docs/private/p", "/docs/old/x", "/blog/y"} & set(paths)
        assert min(gaps_s(site.log)) >= DELAY_S
        why = {path: told("why", site.url(path)) for path in ("/docs/private/p", "/docs/old/x")}
        start = site.url("")
    assert "robots" in json.dumps(why["/docs/private/p"])
    assert "exclude" in json.dumps(why["/docs/old/x"])
    status = told("status")
    outcomes = {name: status["outcomes"].get(name) for name in ("ok", "gone", "redirected")}
    assert outcomes == {"ok": 4, "gone": 1, "redirected": 1}
    # What was fetched became markdown without the frame of the page, and its redirect a page.
    kept = {record["title"]: record for record in records(tmp_path / "data")}
    assert kept.keys() == {"Start", "Pumps", "Target", "Deep"}
    assert kept["Pumps"]["url"] == f"{start}/docs/a"
    assert kept["Pumps"]["markdown"].startswith("# Pumps")
    assert "utm_source" not in kept["Pumps"]["markdown"]
    # The markdown went on to be cut into chunks, by which it is found.
    hits = told("search", "gauges")["hits"]
    assert [hit["title"] for hit in hits] == ["Target"]
    assert told("audit")["is_clean"]
