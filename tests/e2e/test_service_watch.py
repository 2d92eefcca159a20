"""A served geomi visits crawls again by itself, also after it was killed."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.serving import Served, until
from tests.support.crawl import page, paths
from tests.support.server import Route, Site

WEEK_S = 7 * 86_400.0
OLD = "The ferry leaves at noon and returns before the night. " * 6
NEW = "A zeppelin carries the mail, and nobody has to wait any more. " * 6


def age(root: Path) -> None:
    """Let what is served have been there for a week and an hour."""
    with closing(sqlite3.connect(root / "geomi.db", timeout=30)) as db, db:
        shift = [WEEK_S + 3600.0]
        db.execute("UPDATE pages SET fetched_at_s = fetched_at_s - ?1, due_s = due_s - ?1", shift)
        db.execute("UPDATE jobs SET next_look_s = next_look_s - ?1", shift)


def ahead_s(crawl: dict[str, Any]) -> float:
    """Return how far ahead the next run is; 0 where none is planned."""
    at = crawl["nextRunAt"]
    return (datetime.fromisoformat(at) - datetime.now(UTC)).total_seconds() if at else 0.0


@pytest.mark.slow
@pytest.mark.req("CHG-04", "CHG-10")
def test_a_served_crawl_stays_fresh_and_can_be_switched_off(tmp_path: Path) -> None:
    routes: dict[str, Route] = {"/": page("start", "/way"), "/way": page("way", text=OLD)}
    config = {"qualityThreshold": 0, "delayBetweenRequests": 0, "requestsPerSecond": 5}
    with Site(routes) as site, Served(tmp_path / "data") as served:
        asked = {"collectionId": "village", "seedUrls": [site.url("/")], "config": config}
        path = f"/crawls/{served.post('/crawls', asked)['jobId']}"
        until(lambda: served.get(path)["status"] == "completed")
        # Nobody asked for it: the service has planned the next run.
        crawl = until(lambda: ahead_s(one := served.get(path)) > WEEK_S / 2 and one)
        assert (crawl["config"]["watch"], crawl["config"]["requestsPerDay"]) == (True, 1000)
        site.log.clear()
        routes["/way"] = page("way", text=NEW)
        served.kill()
        age(served.root)
        served.start()
        found = {"query": "zeppelin"}
        until(lambda: served.post("/search", found)["results"])
        assert Counter(paths(site.log)) == {"/": 1, "/way": 1}
        crawl = until(lambda: ahead_s(one := served.get(path)) > 3000 and one)
        again = served.every("/crawls", "crawls")
        assert [one["recrawlOf"] for one in again] == [crawl["jobId"], None]

        status, off = served.ask("PATCH", path, {"watch": False, "requestsPerDay": 7})
        assert (status, off["nextRunAt"]) == (200, None)
        assert (off["config"]["watch"], off["config"]["requestsPerDay"]) == (False, 7)
        status, told = served.ask("PATCH", f"/crawls/{again[0]['jobId']}", {"watch": True})
        assert (status, crawl["jobId"] in str(told)) == (409, True)
        site.log.clear()
        age(served.root)
        other = served.post("/crawls", asked | {"seedUrls": [site.url("/way")]})["jobId"]
        until(lambda: ahead_s(served.get(f"/crawls/{other}")) > 0)  # the service has looked since
        assert "/" not in paths(site.log)
