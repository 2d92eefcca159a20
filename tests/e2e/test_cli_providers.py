"""Providers, profiles and blocked URLs from the command line, with a site behind them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import records, run
from tests.support.ready import Stock
from tests.support.server import Reply, Site

HERE = ("--allow-private", "--profile", "default", "--delay", "0", "-q")
TERMS: dict[str, object] = {"tos_reviewed_at": "2026-01-31", "tos_allows_crawling": True}
CANARY = "a sentence that has to go"
ROUTES = {
    "/docs": Reply(
        f'<title>D</title><p>Some words, and {CANARY}. <a href="/docs/a">a</a> '
        '<a href="/docs/old/b">b</a> <a href="/blog">c</a>'.encode()
    ),
    "/docs/a": Reply(b"<title>A</title><p>Other words that belong to another page."),
    "/docs/old/b": Reply(b"<title>B</title><p>What was true once."),
    "/blog": Reply(b"<title>C</title><p>What somebody thinks."),
}


def registration(folder: Path, site: Site, **changes: object) -> str:
    """Write a registration of a provider that lives on a site."""
    payload = {
        "seed_url": site.url("/docs"),
        "allowed_path_patterns": ["/docs/**"],
        "blocked_path_patterns": ["/docs/old/**"],
        **TERMS,
        **changes,
    }
    file = folder / "example.json"
    file.write_text(json.dumps(payload), "utf-8")
    return str(file)


def ask(folder: Path, *arguments: str) -> Any:
    """Run a command that succeeds and return its data."""
    told = run(*arguments, "--json", "-o", str(folder / "data"))
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout)


@pytest.mark.slow
@pytest.mark.req("CFG-01", "CFG-04")
def test_a_provider_from_its_registration_to_its_takedown(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        added = ask(tmp_path, "providers", "add", registration(tmp_path, site))
        assert (added["key"], added["max_pages"], added["origin"]) == ("example", 200, "registered")
        crawled = run("crawl", "--provider", "example", *HERE, "-o", str(tmp_path / "data"))
        assert crawled.returncode == 0, crawled.stderr
        assert sorted(record["title"] for record in records(tmp_path / "data")) == ["A", "D"]
        shown = ask(tmp_path, "jobs", "show")
        assert shown["origins"]["limits.max_pages"] == "provider example"
        refused = run(
            "providers", "takedown", "example", "--reason", "asked", "-o", str(tmp_path / "data")
        )
        assert refused.returncode == 2
        assert "this erases 1 jobs with 2 pages" in refused.stderr
        line = ask(tmp_path, "providers", "takedown", "example", "--reason", "asked", "--yes")
        assert (line["jobs"], line["pages"], line["reason"]) == (1, 2, "asked")
        kept = [path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()]
        assert not any(CANARY.encode() in content for content in kept)
        again = run("crawl", "--provider", "example", *HERE, "-o", str(tmp_path / "data"))
    assert again.returncode == 2
    assert "provider `example` does not allow crawling" in again.stderr
    told = run("providers", "show", "example", "-o", str(tmp_path / "data"))
    assert "1 jobs, 2 pages: asked" in told.stdout


@pytest.mark.req("C-91", "ERR-04")
def test_a_blocked_url_is_left_alone_until_it_is_removed(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        ask(tmp_path, "blocked", "add", site.url("/docs/a"))
        command = ["crawl", site.url("/docs"), *HERE, "-o", str(tmp_path / "data")]
        assert run(*command).returncode == 0
        assert "/docs/a" not in [seen.path for seen in site.log]
        ask(tmp_path, "blocked", "remove", site.url("/docs/a"))
        assert run(*command).returncode == 0
        assert "/docs/a" in [seen.path for seen in site.log]


@pytest.mark.req("ERR-04")
def test_a_403_is_a_warning_in_the_log(tmp_path: Path) -> None:
    with Site(ROUTES | {"/docs/a": Reply(status=403)}) as site:
        ended = run("crawl", site.url("/docs"), *HERE[:-1], "-v", "-o", str(tmp_path))
    lines = [json.loads(line) for line in ended.stderr.splitlines() if line.startswith("{")]
    (told,) = [one for one in lines if one.get("url") == site.url("/docs/a")]
    assert (told["level"], told["state"], told["status"]) == ("warning", "failed", 403)


@pytest.mark.req("CFG-19")
def test_a_scan_file_is_a_crawl_that_warns_each_time_it_begins(tmp_path: Path) -> None:
    """A profile weaker than an RFC MUST is told at the start and when the job goes on."""
    (tmp_path / "scan.yml").write_text(
        'crawler:\n  robotsUa: "WebKillerAI"\nexcludePaths:\n  - "/docs/old"\n', "utf-8"
    )
    with Site(ROUTES) as site:
        command = [
            "crawl", site.url("/docs"), "--config", str(tmp_path / "scan.yml"), "--allow-private",
            "--delay", "0", "-q", "-o", str(tmp_path / "data"),
        ]  # fmt: skip
        first = run(*command, "-n", "1")
        again = run(*command, "-n", "0", "--resume")
        agents = {seen.headers["user-agent"] for seen in site.log}
        paths = [seen.path for seen in site.log]
    for ended in (first, again):
        assert ended.returncode == 0, ended.stderr
        assert "robots.on_unreachable, RFC 9309 §2.3.1.4" in _readable(ended.stderr)
        assert "robots.match_query, RFC 9309 §2.2.2" in _readable(ended.stderr)
    assert agents == {"WebKillerAI"}
    assert sorted(set(paths)) == ["/blog", "/docs", "/docs/a", "/robots.txt"]


def test_a_start_url_that_leads_out_of_the_crawl_is_told(tmp_path: Path) -> None:
    with Site({}) as site:
        moved = Reply(status=301, headers=(("Location", "http://elsewhere.test/"),))
        with Site({"/": moved}, address="127.0.0.2") as moves:
            ended = run(
                "crawl", moves.url("/"), "--allow-private", "--delay", "0", "-o", str(tmp_path)
            )
        assert site.log == []
    assert ended.returncode == 0
    assert (
        f"hint: {moves.url('/')} redirects to http://elsewhere.test/, which rule scope.host "
        f"excludes: geomi why {moves.url('/')}"
    ) in ended.stderr


def test_a_directory_whose_name_is_no_text_is_told_as_data(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/d\xff"
    with Site(ROUTES) as site:
        ended = run("crawl", site.url("/docs/a"), *HERE[:-1], "--json", "-o", os.fsdecode(folder))
    assert ended.returncode == 0, ended.stderr
    output = json.loads(ended.stdout.splitlines()[-1])["output"]
    assert os.fsencode(output) == folder
    shown = json.loads(run("config", "show", "--json", "-o", os.fsdecode(folder)).stdout)
    assert os.fsencode(shown["run.output"]) == folder


def test_where_you_are_is_no_place_to_export_to(tmp_path: Path) -> None:
    with Site(ROUTES) as site:
        crawled = run("crawl", site.url("/docs/a"), *HERE, "-o", str(tmp_path / "data"))
        assert crawled.returncode == 0, crawled.stderr
    folder = tmp_path / "empty"
    folder.mkdir()
    ended = run("export", "-f", "jsonl", "--to", ".", "-o", str(tmp_path / "data"), cwd=folder)
    assert ended.returncode == 4
    assert ended.stderr == "error: `.` cannot be used: Is a directory\n"
    assert list(folder.iterdir()) == []


def _readable(lines: str) -> str:
    """Undo the escapes of lines that are pure ASCII."""
    return lines.replace("\\u00a7", "§")


@pytest.mark.slow
@pytest.mark.req("C7-01", "C7-02", "G-22")
def test_context7_comes_first_and_the_crawl_where_it_has_nothing(tmp_path: Path) -> None:
    stock = Stock({"/example/docs": "Example"}, pages=lambda asked: "Refunds" * ("SDK" in asked))
    with Site(ROUTES) as site, Site(stock.routes) as source:
        env = {"GEOMI_CONTEXT7_URL": source.url(""), "GEOMI_CONTEXT7_KEY": "ctx7sk-0123456789"}
        file = registration(tmp_path, site, name="Example", channel="context7")
        ask(tmp_path, "providers", "add", file)
        crawl = ("crawl", "--provider", "example", *HERE[:-1], "-o", str(tmp_path / "data"))
        first = run(*crawl, "--json", "--workers", "2", env=env)
        assert first.returncode == 0, first.stderr
        told = json.loads(first.stdout.splitlines()[-1])
        assert (told["channel"], told["collected"]) == ("context7", 9)
        assert "/example/docs" in told["why"]
        found = run("search", "webhooks callbacks", "--json", "-o", str(tmp_path / "data"), env=env)
        assert json.loads(found.stdout)["hits"][0]["url"] == "https://docs.acme.test/guide"
        assert source.url("") not in found.stdout
        why = run("why", site.url("/guide"), "-o", str(tmp_path / "data"))
        assert "this job asked Context7 for /example/docs; it sent no request" in why.stderr
        assert site.log == []
        stock.empty = True
        second = run(*crawl, env=env)
        assert "channel crawl: Context7: empty result" in second.stderr
        assert sorted(record["title"] for record in records(tmp_path / "data")) == ["A", "D"]
    for ended in (first, found, second):
        assert "ctx7sk" not in ended.stdout + ended.stderr
