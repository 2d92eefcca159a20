"""`geomi recrawl` in a real process: what would be asked for, what was, and what changed."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.command import LOCAL, run
from tests.support.crawl import page
from tests.support.server import Route, Site

SHIFT_S = 8 * 86_400.0


def age(directory: Path) -> None:
    """Let the pages of a store have been collected some days ago."""
    with closing(sqlite3.connect(directory / "geomi.db")) as db, db:
        db.execute(
            "UPDATE pages SET fetched_at_s = fetched_at_s - ?1, due_s = due_s - ?1", [SHIFT_S]
        )


@pytest.mark.req("CHG-01", "CHG-02", "CHG-03", "CHG-04")
def test_a_crawl_is_visited_again(tmp_path: Path) -> None:
    routes: dict[str, Route] = {
        "/": page("home", "/a", "/b"),
        "/a": page("a", "/"),
        "/b": page("b", "/"),
    }
    output = ["-o", str(tmp_path)]
    with Site(routes) as site:
        assert run("crawl", site.url("/"), *output, *LOCAL, "--delay", "0").returncode == 0
        nothing = run("recrawl", *output, "--allow-private")
        assert (nothing.returncode, nothing.stdout) == (0, "")
        assert "no page is due" in nothing.stderr

        age(tmp_path)
        routes["/a"] = page("a", "/new", text="something that nobody has read before")
        routes["/new"] = page("new")
        del routes["/b"]
        planned = run("recrawl", *output, "--budget", "2", "--dry-run", "--json")
        plan = json.loads(planned.stdout)
        assert [one["stage"] for one in plan["pages"]] == ["shared", "shared"]
        assert plan["pages"][0]["url"] == site.url("/")
        shown = run("recrawl", *output, "--dry-run").stdout
        assert "3 pages of crawl" in shown and "as all pages begin" in shown

        top = (tmp_path / "pages.jsonl").resolve()
        again = run("recrawl", *output, "--allow-private", "--json")
        assert again.returncode == 0
        found = json.loads(again.stdout.splitlines()[-1])
        assert found["event"] == "changes"
        counts = {name: found[name] for name in ("new", "changed", "deleted", "unchanged")}
        assert counts == {"new": 1, "changed": 1, "deleted": 1, "unchanged": 1}
        assert (found["total"], found["change_rate_percent"]) == (3, 100.0)
        assert found["urls"]["deleted"] == [site.url("/b")]
        # The links at the top lead to the whole crawl as before.
        assert (tmp_path / "pages.jsonl").resolve() == top

        told = run("why", site.url("/b"), *output).stdout
        assert "due on" in told and "gone at the last" in told
        status = json.loads(run("status", *output, "--json").stdout)
        assert status["due"]["stages"] == {"recorded": 3, "shared": 1}
        assert "rates: " in run("status", *output).stdout


def test_what_cannot_be_visited_again(tmp_path: Path) -> None:
    with Site({"/": page("home")}) as site:
        output = ["-o", str(tmp_path)]
        missing = run("recrawl", *output)
        assert (missing.returncode, "no geomi data" in missing.stderr) == (4, True)
        assert run("crawl", site.url("/"), *output, *LOCAL, "--delay", "0").returncode == 0
        forgotten = run("recrawl", *output)
        assert (forgotten.returncode, "--allow-private" in forgotten.stderr) == (2, True)
        assert run("recrawl", "nothing", *output).returncode == 2
        assert run("recrawl", *output, "--budget", "0").returncode == 2
