"""The alarms of seed 000 §9.1 at the end of a run of the command line."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest

from geomi.app import DATABASE
from tests.e2e.command import GEOMI, LOCAL, clean_env, run
from tests.support.crawl import page
from tests.support.server import Raw, Reply, Route, Seen, Site

QUICK = ("--delay", "0", *LOCAL)
MANY = 25
SLOWLY_S = 5.2  # just above the limit of MON-03


@pytest.mark.req("MON-01", "MON-04", "MON-05")
def test_a_run_ends_with_a_warning_for_each_figure_out_of_bounds(tmp_path: Path) -> None:
    """Of 25 pages 15 are gone, and of the ten others and the start four have no text."""
    names = [f"/{number}" for number in range(MANY)]
    bare = Reply(b"<html><body></body></html>")
    routes: dict[str, Route] = {"/": page("start", *names)}
    routes |= {name: page(name) for name in names[:6]} | dict.fromkeys(names[6:10], bare)
    with Site(routes) as site:
        done = run("crawl", site.url("/"), "-o", str(tmp_path), *QUICK, "--json")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    told = [event["message"] for event in events if event["event"] == "warning"]
    alarms = [text for text in told if text.startswith("alarm ")]
    assert alarms == [
        "alarm success_rate: 42.3% of requests succeeded (limit 90%)",
        "alarm error_rate: 57.7% of answers are 4xx or 5xx (limit 20%)",
        "alarm empty_rate: 36.4% of pages had no text (limit 10%)",
    ]
    ended = events[-1]
    assert (ended["judged"], ended["remarks"]) == (True, [])
    assert [alarm["rule"] for alarm in ended["alarms"]] == [
        "success_rate", "error_rate", "empty_rate",
    ]  # fmt: skip
    shown = run("report", "-o", str(tmp_path)).stdout
    assert all(alarm.removeprefix("alarm ") in " ".join(shown.split()) for alarm in alarms)


@pytest.mark.slow
@pytest.mark.req("MON-03")
def test_a_slow_host_that_no_seed_names_is_told(tmp_path: Path) -> None:
    """Its robots.txt comes at once, which the mean of its pages leaves out; no log is needed."""
    body = page("slow").body
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
    slow = Raw((SLOWLY_S, head.encode() + body))
    with Site({"/slow": slow}, address="127.0.0.2") as other:
        start = page("start", "/a", other.url("/slow"))
        with Site({"/": start, "/a": page("a")}) as site:
            command = ("crawl", site.url("/"), "--scope", "any", "-o", str(tmp_path), *QUICK)
            done = run(*command, "--set", "store.request_log=false", "--json")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    (alarm,) = events[-1]["alarms"]
    assert (alarm["rule"], alarm["subject"]) == ("response_time", f"127.0.0.2:{other.port}")
    assert alarm["value"] >= SLOWLY_S
    warned = [event["message"] for event in events if event["event"] == "warning"]
    assert f"alarm response_time: {alarm['message']}" in warned


@pytest.mark.req("MON-07")
def test_a_site_that_is_often_asked_twice_is_told(tmp_path: Path) -> None:
    """Each page answers 503 at first. Its second try is due in half a minute: made due at once."""
    names = [f"/{number}" for number in range(20)]
    asked: set[str] = set()
    all_asked = threading.Event()

    def busy(seen: Seen) -> Reply:
        is_first = seen.path not in asked
        asked.add(seen.path)
        if len(asked) == len(names):
            all_asked.set()
        return Reply(status=503) if is_first else page(seen.path)

    with Site({"/": page("start", *names), **dict.fromkeys(names, busy)}) as site:
        command = ("crawl", site.url("/"), "-o", str(tmp_path), *QUICK)
        command = (*command, "--set", "politeness.max_backoff_s=0")
        with subprocess.Popen([*GEOMI, *command, "-q"], env=clean_env()) as process:
            assert all_asked.wait(60)
            process.send_signal(signal.SIGINT)
        with closing(sqlite3.connect(tmp_path / DATABASE)) as db, db:
            db.execute("UPDATE entries SET due_s = 0 WHERE state = 'pending'")
            db.execute("UPDATE queues SET ready_s = 0")
        done = run(*command, "--resume", "--json")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    message = "47.6% of requests were tried again (limit 15%)"  # 20 of 42 with robots.txt
    assert events[-1]["alarms"] == [
        {"rule": "retry_rate", "value": 0.4762, "limit": 0.15, "message": message, "subject": ""}
    ]
    warned = [event["message"] for event in events if event["event"] == "warning"]
    assert f"alarm retry_rate: {message}" in warned


@pytest.mark.req("MON-02")
def test_a_small_run_says_that_it_is_too_small_to_judge(tmp_path: Path) -> None:
    """What needs no share is judged all the same: how many pages there are."""
    names = ["/a", "/b", "/c"]
    with Site({"/": page("start", *names)} | {name: page(name) for name in names}) as site:
        first = run("crawl", site.url("/"), "-o", str(tmp_path), *QUICK)
        site.routes = {"/": page("start", text="Nothing is left of it.")}
        second = run("crawl", site.url("/"), "-o", str(tmp_path), *QUICK)
    too_few = "too few requests to judge success, errors, empty pages and retries: "
    assert f"{too_few}4 of at least 20" in first.stderr
    assert "alarm " not in first.stderr
    assert f"{too_few}1 of at least 20" in second.stderr
    assert "alarm indexed_pages: there are 1 pages; after the last run there were 4" in (
        second.stderr
    )
