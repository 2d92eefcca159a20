"""`geomi watch` in a real process: what is due is visited within a budget, also after a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.command import GEOMI, LOCAL, clean_env, run
from tests.e2e.serving import Served
from tests.support.crawl import page, paths
from tests.support.server import Route, Site

DAY_S = 86_400.0
SOON = [
    *("--set", "recrawl.first_interval_s=1"),
    *("--set", "recrawl.min_interval_s=1"),
    *("--set", "recrawl.max_interval_s=1"),
]


def crawl(site: Site, directory: Path, *settings: str) -> None:
    """Crawl a site whose pages are due a second later."""
    pace = [] if "--delay" in settings else ["--delay", "0"]
    output = ["-o", str(directory), *pace, *LOCAL, *SOON, *settings]
    ended = run("crawl", site.url("/"), *output)
    assert ended.returncode == 0, ended.stderr


@contextmanager
def watching(directory: Path, *flags: str) -> Iterator[subprocess.Popen[str]]:
    """Run `geomi watch`; whoever uses it ends it."""
    process = subprocess.Popen(
        [*GEOMI, "watch", "-o", str(directory), "--allow-private", "--json", *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_env(),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_for(condition: Callable[[], bool], *, longest_s: float = 60.0) -> None:
    """Wait until something is so."""
    ends_s = time.monotonic() + longest_s
    while not condition():
        assert time.monotonic() < ends_s, "it never came"
        time.sleep(0.05)


def next_plan(process: subprocess.Popen[str]) -> dict[str, object]:
    """Read on to the next line that says what is planned."""
    assert process.stdout is not None
    for line in process.stdout:
        told: dict[str, object] = json.loads(line)
        if told["event"] == "planned":
            return told
    raise AssertionError("it ended without a plan")


def plan_of(directory: Path, *flags: str) -> dict[str, object]:
    """Ask what is visited next of the only crawl."""
    shown = run("watch", "-o", str(directory), "--dry-run", "--json", *flags)
    assert shown.returncode == 0, shown.stderr
    found: dict[str, object] = json.loads(shown.stdout)["crawls"][0]
    return found


@pytest.mark.slow
@pytest.mark.req("CHG-04", "CHG-05")
def test_pages_are_visited_when_due_and_within_the_budget(tmp_path: Path) -> None:
    routes: dict[str, Route] = {
        "/": page("home", "/a", "/b"),
        "/a": page("a", "/"),
        "/b": page("b", "/"),
    }
    with Site(routes) as site:
        crawl(site, tmp_path, "--set", "recrawl.requests_per_day=5")
        site.log.clear()
        began_s = time.time()
        with watching(tmp_path) as process:
            routes["/a"] = page("a", "/", text="something that nobody has read before")
            # Three pages, then one more: the rest would do for its robots.txt, if it was asked for.
            wait_for(lambda: len(site.log) >= 4)
            while (at_s := next_plan(process)["next_s"]) is None or float(str(at_s)) < began_s + 60:
                pass
            # Of two runs in this day the first has to be a day old before there is a third.
            assert began_s + DAY_S <= float(str(at_s)) < time.time() + DAY_S
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
        asked = Counter(paths(site.log))
        assert asked.total() == 4 and set(asked) == {"/", "/a", "/b"}

        plan = plan_of(tmp_path)
        assert plan["next_s"] == at_s and plan["due"] == 3
        visits = plan["visits"]
        assert isinstance(visits, list) and [one["at_s"] for one in visits] == [at_s] * 3
        told = run("watch", "-o", str(tmp_path), "--dry-run").stdout
        assert "the next run begins at" in told and site.url("/a") in told

        # The budget that is spent stays spent, and a larger one is not.
        with watching(tmp_path) as process:
            assert next_plan(process)["next_s"] == at_s
        assert len(site.log) == 4
        with watching(tmp_path, "--budget", "8") as process:
            wait_for(lambda: len(site.log) == 7)
            assert float(str(next_plan(process)["next_s"])) > time.time() + DAY_S / 2


@pytest.mark.slow
@pytest.mark.req("CHG-04", "JOB-06")
def test_a_killed_watch_asks_for_nothing_twice_and_remembers_its_budget(tmp_path: Path) -> None:
    names = [f"/{number}" for number in range(20)]

    with Site({name: page(name) for name in names} | {"/": page("home", *names)}) as site:
        crawl(site, tmp_path, "--set", "recrawl.requests_per_day=15", "--delay", "0.2")
        site.log.clear()
        with watching(tmp_path) as process:
            wait_for(lambda: len(site.log) >= 7)
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        killed = len(site.log)
        assert killed < 15, "it was killed in the middle"
        with watching(tmp_path) as process:
            at_s = float(str(next_plan(process)["next_s"]))
        assert at_s > time.time() + DAY_S / 2
        asked = Counter(paths(site.log))
        # Nobody knows of a request that was under way, or not committed, when the process died.
        twice = sum(count - 1 for count in asked.values())
        assert twice <= 2, asked
        assert asked.total() <= 15 + twice


@pytest.mark.slow
def test_what_is_not_watched_says_why(tmp_path: Path) -> None:
    with Site({"/": page("home")}) as site:
        missing = run("watch", "-o", str(tmp_path / "none"))
        assert (missing.returncode, "no geomi data" in missing.stderr) == (4, True)
        crawl(site, tmp_path, "--set", "recrawl.watch=false")
        assert "recrawl.watch is false" in str(plan_of(tmp_path)["why_not"])
        crawl(site, tmp_path)
        crawl(site, tmp_path)
        shown = run("watch", "-o", str(tmp_path), "--dry-run").stdout.splitlines()
        assert [("the next run begins" in line) for line in shown if "crawl" in line[:5]] == [
            True,
            False,
            False,
        ]
        assert "has the same start URLs" in shown[-1] or "recrawl.watch" in shown[-1]
        refused = run("crawl", site.url("/"), "--set", "recrawl.requests_per_day=0")
        assert (refused.returncode, "recrawl.requests_per_day" in refused.stderr) == (2, True)


@pytest.mark.slow
def test_a_served_directory_says_who_watches(tmp_path: Path) -> None:
    root = tmp_path / "data"
    with Site({"/": page("home")}) as site, Served(root) as served:
        empty = run("watch", "-o", str(root), "--dry-run").stdout
        assert "no crawl is here; start one" in empty
        served.post("/crawls", {"collectionId": "village", "seedUrls": [site.url("/")]})
        shown = run("watch", "-o", str(root), "--dry-run").stdout
        assert "the service visits them again by itself" in shown and "no crawl" not in shown
        told = json.loads(run("watch", "-o", str(root), "--dry-run", "--json").stdout)
        assert (told["crawls"], "the service" in told["why_idle"]) == ([], True)
        crawl(site, root)
        assert "the next run begins" in run("watch", "-o", str(root), "--dry-run").stdout


@pytest.mark.slow
@pytest.mark.req("CHG-05", "CHG-06")
def test_a_page_that_often_changes_is_planned_before_one_that_never_does(tmp_path: Path) -> None:
    """Both are as old and lie as deep: only what visits have found tells them apart."""
    intervals = {"first": 86_400, "min": 0.01, "max": 864_000}
    learning = [f"--set=recrawl.{name}_interval_s={value}" for name, value in intervals.items()]
    routes: dict[str, Route] = {
        "/": page("home", "/calm", "/news"),
        "/calm": page("calm", "/"),
        "/news": page("news", "/"),
    }
    with Site(routes) as site:
        crawl(site, tmp_path, *learning)
        before = plan_of(tmp_path)
        for number in range(3):
            # At the last visit it is the same: no rule about streaks has a say.
            routes["/news"] = page("news", "/", text=f"what happened on day {min(number, 1)}")
            again = run("recrawl", "-o", str(tmp_path), "--budget", "9", "--allow-private")
            assert again.returncode == 0, again.stderr
        plan = plan_of(tmp_path)
        shown = run("watch", "-o", str(tmp_path), "--dry-run").stdout
    due = {str(one["url"]): float(str(one["at_s"])) for one in _visits(plan)}
    first = {str(one["url"]): float(str(one["at_s"])) for one in _visits(before)}
    news, calm = site.url("/news"), site.url("/calm")
    assert first[calm] == pytest.approx(first[news], abs=10)
    assert next(iter(due)) == news and due[calm] - due[news] > 600
    assert (plan["next_s"], plan["due"]) == (due[news], 1)
    assert "2 changes in 4 visits" in _line(shown, news)
    assert "0 changes in 4 visits" in _line(shown, calm)


def _visits(plan: dict[str, object]) -> list[dict[str, object]]:
    visits = plan["visits"]
    assert isinstance(visits, list)
    return visits


def _line(shown: str, url: str) -> str:
    """Return what is said of one page."""
    (line,) = [one for one in shown.splitlines() if url in one.split()]
    return line
