"""A cap for each domain: counted in windows that every job shares, shown, and proven by the log."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import LOCAL, run
from tests.support.server import Reply, Site

HOUR_S, DAY_S = 3600, 86_400
MINUTE_S, SLACK_MIN = 60, 3  # of an hour and of a day
CAP = 3
CAPPED = ["--delay", "0", "--set", f"politeness.max_per_domain_hour={CAP}"]
LINKS = b'<p>All of them.</p><a href="/1">1</a><a href="/2">2</a><a href="/3">3</a>'
PAGES = {"/": Reply(LINKS)} | {
    f"/{number}": Reply(f"<p>This is page number {number}.</p>".encode()) for number in (1, 2, 3)
}


@pytest.mark.slow
@pytest.mark.req("POL-11", "DAT-04")
def test_requests_are_counted_by_domain_and_window(tmp_path: Path) -> None:
    folder = ["-o", str(tmp_path)]
    with Site(PAGES) as full, Site(PAGES, address="127.0.0.2") as free:
        first = run("crawl", full.url("/"), *folder, *LOCAL, *CAPPED, "-n", "2")
        assert first.returncode == 0, first.stderr
        assert len(full.log) == CAP  # robots.txt and two pages
        # Another job, in another process: one domain is full for this hour, the other is not.
        both = ["crawl", full.url("/3"), free.url("/3"), *folder, *LOCAL, *CAPPED]
        second = run(*both, "--max-time", "2")
        assert second.returncode == 0, second.stderr
        assert (len(full.log), len(free.log)) == (CAP, 2)
    status = json.loads(run("status", *folder, "--json").stdout)
    assert status["job"]["stop"] == "max_time"
    counts = {one["domain"]: one for one in status["domains"]}
    assert {name: one["last_hour"] for name, one in counts.items()} == {
        "127.0.0.1": CAP,
        "127.0.0.2": 2,
    }
    for name, one in counts.items():
        assert sum(window["requests"] for window in one["windows"]) == one["last_hour"]
        for window in one["windows"]:
            assert window["domain"] == name
            assert 0 < time.time() - window["start_s"] < HOUR_S
            assert DAY_S < window["expires_s"] - window["start_s"] < DAY_S + HOUR_S
    assert f"127.0.0.1: {CAP} in the last hour" in run("status", *folder).stdout
    audit = run("audit", *folder)
    assert audit.returncode == 0
    assert f"at most {CAP} requests to 127.0.0.1 in any hour; {CAP} allowed" in audit.stdout


@pytest.mark.slow
@pytest.mark.req("POL-11", "DAT-04")
def test_counts_leave_the_hour_and_expire_after_a_day(tmp_path: Path) -> None:
    """The store is shifted in time; what is old enough stops nobody, is not told, and is gone."""
    with Site(PAGES) as site:
        crawl = ["crawl", site.url("/"), "-o", str(tmp_path), *LOCAL, *CAPPED]
        assert run(*crawl, "-n", "2").returncode == 0
        assert told(tmp_path) == (CAP, CAP, True)

        let_pass(tmp_path, HOUR_S)
        assert told(tmp_path) == (0, CAP, True)
        asked = len(site.log)
        assert run(*crawl, "-n", "2").returncode == 0  # the hour has room for as many again
        assert asked < len(site.log) <= asked + CAP
        fresh = len(site.log) - asked
        assert told(tmp_path) == (fresh, CAP + fresh, True)

        let_pass(tmp_path, DAY_S)
        assert told(tmp_path) == (0, 0, False)
        assert run(*crawl, "-n", "1").returncode == 0
        with closing(sqlite3.connect(tmp_path / "geomi.db")) as db:
            (oldest, newest) = db.execute("SELECT min(minute), max(minute) FROM windows").fetchone()
        assert newest - oldest <= SLACK_MIN  # whoever counts anew forgets what has expired


def told(folder: Path) -> tuple[int, int, bool]:
    """Return what `geomi status` counts in an hour and in a day, and whether it shows windows."""
    status: dict[str, Any] = json.loads(run("status", "-o", str(folder), "--json").stdout)
    (one,) = status["domains"] or [{"last_hour": 0, "last_day": 0, "windows": []}]
    return one["last_hour"], one["last_day"], bool(one["windows"])


def let_pass(folder: Path, length_s: int) -> None:
    """Make all counts older by a time and some minutes."""
    minutes = length_s // MINUTE_S + SLACK_MIN
    with closing(sqlite3.connect(folder / "geomi.db", timeout=30)) as db, db:
        db.execute("UPDATE windows SET minute = minute - ?", [minutes])
