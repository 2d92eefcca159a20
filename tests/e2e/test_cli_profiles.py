"""Profiles as the authors of their seeds meet them: a crawl by the command, and what it left."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest

from tests.e2e.command import records, run
from tests.e2e.farm import assert_polite
from tests.support.server import Reply, Seen, Site

# Loopback is our own: as fast as the profile's bounds let a crawl be.
SOON = {
    "GEOMI_MIN_DELAY_S": "0",
    "GEOMI_CRAWL_POLITENESS__DELAY_S": "0",
    "GEOMI_CRAWL_POLITENESS__REQUESTS_PER_SECOND": "5",
}


def crawl(url: str, folder: Path, *arguments: str, env: dict[str, str] = SOON) -> None:
    done = run("crawl", url, "--allow-private", "-q", "-o", str(folder), *arguments, env=env)
    assert done.returncode == 0, done.stderr


@pytest.mark.req("TRP-03", "C-17")
@pytest.mark.parametrize(("profile", "pages"), [("knowledge-base", 3), ("default", 6)])
def test_a_short_session_is_no_page_for_a_knowledge_base(
    tmp_path: Path, profile: str, pages: int
) -> None:
    """`?sid=7` and `?session=…` are sessions there, and may be pages anywhere else."""
    visits = count(1)

    def page(seen: Seen) -> Reply:
        number = next(visits)
        links = (f"/talk?id=1&sid=u{number}", f"/talk?session={number}&id=2")
        told = "".join(f'<a href="{link}">talk</a>' for link in links)
        return Reply(f"<h1>{seen.target}</h1><p>{'Words of a talk. ' * 20}</p>{told}".encode())

    with Site({"/robots.txt": Reply(status=404)}, otherwise=page) as site:
        crawl(site.url("/"), tmp_path, "--profile", profile, "-n", "6")
        asked = [seen.target for seen in site.log if seen.path != "/robots.txt"]
    assert len(asked) == len(records(tmp_path)) == pages
    assert {"id=1" in one for one in asked} == {"id=2" in one for one in asked} == {True, False}


@pytest.mark.slow
@pytest.mark.req("POL-07")
def test_a_knowledge_base_leaves_a_second_between_two_requests(tmp_path: Path) -> None:
    home = Reply(b"<h1>Home</h1><p>Words of a home page.</p><a href='/a'>a</a>")
    pauseless = ("-n", "2", "--set", "politeness.batch_pause_s=0")
    with Site({"/": home, "/a": Reply(b"<h1>A</h1><p>Words of a page.</p>")}) as site:
        crawl(site.url("/"), tmp_path, "--profile", "knowledge-base", *pauseless, env={})
        assert {seen.path for seen in site.log} >= {"/robots.txt", "/", "/a"}
        assert_polite(site.log, 1.0)


@pytest.mark.slow
@pytest.mark.req("POL-03")
def test_documentation_is_crawled_under_the_caps_of_its_seed(tmp_path: Path) -> None:
    with Site({"/": Reply(b"<h1>Home</h1><p>Words of a home page.</p>")}) as site:
        crawl(site.url("/"), tmp_path, "--profile", "docs", env={})
    told = run("audit", "-o", str(tmp_path)).stdout
    assert "in any hour; 1000 allowed" in told
    assert "in any day; 10000 allowed" in told


STUB = b"<title>zebra()</title><main><h1>zebra()</h1><p>Returns a zebra.</p></main>"
# Little more than the marks of a template language: 1.2 of 10 by the rules of seed 004.
POOR = (
    b"<title>Parameter reference</title><main><h1>zebra</h1><pre><code>zebra {{name}} {{id}}</code>"
    b"</pre><p>zebra {{name}} zebra {{id}} zebra {{x}} 1 2 3 4 5 6 7 8 9 0 {{y}} {{z}} &amp;nbsp; "
    b"&amp;nbsp; &#xfffd; zebra zebra {{name}} zebra {{id}} {{x}} {{y}} {{z}} zebra</p></main>"
)


@pytest.mark.req("CFG-16", "ANA-21")
@pytest.mark.parametrize("is_asked_for", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_documentation_is_indexed_as_it_was_extracted(tmp_path: Path, is_asked_for: bool) -> None:
    """000 App. B: what was extracted is indexed; the gates of 004 are for whoever wants them."""
    gates = ("--set", "analysis.quality_threshold=5", "--set", "analysis.min_chars=100")
    with Site({"/docs/stub": Reply(STUB), "/docs/poor": Reply(POOR)}) as site:
        stub, poor = site.url("/docs/stub"), site.url("/docs/poor")
        under = ("--profile", "docs", *(gates if is_asked_for else ()))
        crawl(stub, tmp_path, poor, *under, env={})
    found = run("search", "zebra", "-o", str(tmp_path), "--json")
    assert found.returncode == 0, found.stderr
    hits = {hit["url"] for hit in json.loads(found.stdout)["hits"]}
    assert hits == (set() if is_asked_for else {stub, poor})
    if is_asked_for:
        reasons = {
            url: json.loads(run("analyse", url, "-o", str(tmp_path), "--json").stdout)["decision"]
            for url in (stub, poor)
        }
        assert reasons[stub]["reason"] == "too_short"
        assert reasons[poor]["reason"] == "quality"
