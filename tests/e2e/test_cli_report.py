"""`geomi report`: for people and as data."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.command import run
from tests.support.server import Reply, Site

QUICK = ("--allow-private", "--delay", "0")


def test_report_shows_each_site(tmp_path: Path) -> None:
    text = "<p>" + "some words of a page " * 20 + "</p>"
    routes = {"/": Reply(f"<article><h1>Hello</h1>{text}</article>".encode())}
    with Site(routes) as site:
        done = run("crawl", site.url("/"), "-o", str(tmp_path), *QUICK)
        assert done.returncode == 0, done.stderr
        host = site.url("").removeprefix("http://")
    assert "content found by article 100%" in done.stderr
    shown = run("report", "-o", str(tmp_path))
    assert shown.returncode == 0, shown.stderr
    assert host in shown.stdout
    assert "article 1" in shown.stdout
    (found,) = json.loads(run("report", "-o", str(tmp_path), "--json").stdout)["sites"]
    assert (found["host"], found["pages"], found["strategies"]) == (host, 1, {"article": 1})
    unknown = run("report", "-o", str(tmp_path), "--site", "x")
    assert unknown.returncode == 2
    assert f"its sites: {host}" in unknown.stderr
