"""What a person reads: URLs with their letters, tables that markdown has no form for as text."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.command import GEOMI, LOCAL, clean_env, records, run
from tests.support.crawl import page
from tests.support.server import Reply, Route, Site

LETTERS = "/%E4%B8%AD/%ED%95%9C?q=%C3%A9"
READABLE = "/中/한?q=é"
# Octets that would mislead, move the cursor or mean something else stay as they are.
ESCAPED = (
    "/a%2Fb%3Fc%25d%20e",
    "/%E2%80%AEgpj%E2%80%8B",
    "/%FF%E4",
    "/%0A%1B%C2%A0",
    "/%EF%BC%8Fx",
)
TABLE = (
    "<table><tr><th rowspan=2>Name<th colspan=2>Price<tr><th>low<th>high"
    "<tr><td>Tea<td>1<td>2</table><table><tr><th>k<th>v<tr><td>a<td>b</table>"
)


@pytest.mark.slow
@pytest.mark.req("URL-11")
def test_a_url_is_shown_with_its_letters_wherever_a_person_reads_it(tmp_path: Path) -> None:
    routes: dict[str, Route] = {
        "/": page("home", LETTERS, *ESCAPED),
        LETTERS.partition("?")[0]: page("lighthouse"),
        **{path: page(f"number{at}") for at, path in enumerate(ESCAPED)},
    }
    output = ["-o", str(tmp_path)]
    with Site(routes) as site:
        url, shown = site.url(LETTERS), site.url(READABLE)
        quick = (*LOCAL, "--delay", "0", "--set", "analysis.quality_threshold=0")
        done = run("crawl", site.url("/"), url, *output, *quick, "-f", "jsonl,md")
        assert done.returncode == 0, done.stderr
        kept = {one["url"]: one["url_display"] for one in records(tmp_path)}
        assert kept == {url: shown} | {site.url(path): site.url(path) for path in ("/", *ESCAPED)}
        fronts = [path.read_text().split("\n")[1] for path in (tmp_path / "md").rglob("*.md")]
        assert sorted(fronts) == sorted(f'url: "{one}"' for one in kept.values())

        told = run("why", url, *output)
        assert told.stdout.splitlines()[0] == f"{shown}: fetched and kept"
        assert run("why", shown, *output).stdout == told.stdout, "what is shown can be given back"
        assert f'"url":"{url}"' in run("why", url, *output, "--json").stdout
        assert shown in run("status", *output).stdout
        found = run("search", "lighthouse", *output)
        assert f"   {shown}" in found.stdout.splitlines()
        assert f'"url":"{url}"' in run("search", "lighthouse", *output, "--json").stdout
    refused = run(
        "crawl", url, "-o", str(tmp_path / "other"), *quick, "--set", "http.max_retries=0"
    )
    assert (refused.returncode, shown in refused.stderr) == (5, True), refused.stderr


@pytest.mark.slow
@pytest.mark.req("URL-11")
def test_map_shows_letters_on_a_terminal_and_urls_as_they_are_in_a_pipe() -> None:
    with Site({"/": page("home", LETTERS, "/%0A%1B%C2%A0")}) as site:
        command = ("map", site.url("/"), "--allow-private", "--delay", "0")
        told = run(*command).stdout.splitlines()
        assert site.url(LETTERS) in told
        assert f'"url":"{site.url(LETTERS)}"' in run(*command, "--json").stdout
        shown = seen_on_a_terminal(*command).splitlines()
    assert site.url(READABLE) in shown
    assert site.url("/%0A%1B%C2%A0") in shown
    assert len(shown) == len(told)


def seen_on_a_terminal(*command: str) -> str:
    """Return what a command writes to a terminal."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*GEOMI, *command], stdout=theirs, stderr=subprocess.DEVNULL, env=clean_env()
    )
    os.close(theirs)
    said = b""
    with suppress(OSError):  # so Linux says that nobody writes to it any more
        while part := os.read(ours, 4096):
            said += part
    os.close(ours)
    assert process.wait(60) == 0
    return said.decode()


@pytest.mark.slow
@pytest.mark.req("MD-03")
@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("docs", "Name · Price\n\nlow · high\n\nTea · 1 · 2"),
        (
            "default",
            "| Name | Price |  |\n| --- | --- | --- |\n|  | low | high |\n| Tea | 1 | 2 |",
        ),
    ],
)
def test_a_table_whose_cells_span_others_is_text_in_documentation(
    tmp_path: Path, profile: str, expected: str
) -> None:
    html = f"<html><head><title>T</title></head><body><main><h1>T</h1>{TABLE}</main></body></html>"
    with Site({"/": Reply(html.encode())}) as site:
        command = ["crawl", site.url("/"), "-o", str(tmp_path), "--profile", profile]
        done = run(*command, "--allow-private", "--set", "store.text=full")
        assert done.returncode == 0, done.stderr
    (kept,) = records(tmp_path)
    assert expected in kept["markdown"]
    assert "| k | v |\n| --- | --- |\n| a | b |" in kept["markdown"], "a grid stays a grid"
