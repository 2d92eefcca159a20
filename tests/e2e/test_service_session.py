"""An indexing session of a served geomi: its limit of pages, and the alarm when it takes long."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.serving import Served, until
from tests.support.crawl import page
from tests.support.server import Route, Site

MOST = 2
# A session is under way for longer by the time of its second page: providers wait a second.
LIMITS = {"GEOMI_SESSION_PAGES": str(MOST), "GEOMI_SESSION_HOURS": "0.0001"}


def endless(name: str) -> dict[str, Route]:
    """Make a documentation of more pages than anybody waits for."""
    pages = [f"/docs/{number}" for number in range(100)]
    return {"/docs": page(name, *pages), **{path: page(path) for path in pages}}


def register(served: Served, key: str, site: Site) -> None:
    """Register a provider on loopback."""
    given = {
        "key": key,
        "seed_url": site.url("/docs"),
        "allowed_path_patterns": ["/docs/**"],
        "request_delay_ms": 1000,
        "tos_reviewed_at": "2026-01-31",
        "tos_allows_crawling": True,
    }
    served.post("/admin/providers", given)


def cancelled(served: Served, name: str) -> dict[str, Any]:
    """Return a crawl that was cancelled; nothing of any other."""
    crawl = served.get(f"/crawls/{name}")
    return crawl if crawl["status"] == "cancelled" else {}


@pytest.mark.slow
@pytest.mark.req("JOB-08", "MON-06")
def test_a_session_stops_at_its_limit_and_a_long_one_is_an_alarm(tmp_path: Path) -> None:
    """A crawl for no provider is no part of it; a session has one alarm, of its first crawl."""
    with (
        Site(endless("a"), address="127.0.0.2") as a,
        Site(endless("b"), address="127.0.0.3") as b,
        Site(endless("c"), address="127.0.0.4") as c,
        Served(tmp_path / "data", env=LIMITS) as served,
    ):
        order = {"collectionId": "own", "seedUrls": [c.url("/docs")]}
        beside = f"/crawls/{served.post('/crawls', order)['jobId']}"
        register(served, "a", a)
        register(served, "b", b)
        asked = {"collectionId": "apis"}
        names = [
            served.post(f"/admin/providers/{key}/crawls", asked)["jobId"] for key in ("a", "b")
        ]
        stopped = [until(partial(cancelled, served, name)) for name in names]
        for crawl in stopped:
            assert crawl["error"].startswith("the indexing session has visited ")
            assert crawl["error"].endswith(f" pages; its limit is {MOST}")
        assert served.get(beside)["status"] == "processing"
        alarms = served.every("/alarms", "alarms")
        served.ask("POST", f"{beside}/cancel")
    (long,) = [one for one in alarms if "the indexing session" in one["message"]]
    assert (long["rule"], long["jobId"]) == ("duration", names[0])
    assert long["message"].endswith("(limit 0.0001)")
