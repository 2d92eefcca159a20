"""The profile for documentation of others keeps previews, and a site can be erased."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.command import LOCAL, kill_at_random, records, run
from tests.engine.enrich.test_loop import told
from tests.engine.visit.test_preview_text import NEEDLES, QUERY, lighthouse, waiting
from tests.support.private_site import traces
from tests.support.server import Site


@pytest.mark.slow
@pytest.mark.req("LEG-01", "DAT-06", "IDX-02", "C-39")
def test_documentation_is_found_and_not_kept(tmp_path: Path) -> None:
    folder = ("-o", str(tmp_path))
    rules = ("--set", "analysis.quality_threshold=0", "--allow-private")
    with Site({"/": lighthouse()}) as site:
        seed = site.url("/")
        # The profile's own identity of a URL is https; a site on loopback has none.
        plain = ("--set", "url.force_https=false")
        ended = run("crawl", seed, *folder, "--profile", "docs", *rules, *plain)
        assert ended.returncode == 0, ended.stderr
        assert "erases the whole texts after 24 h" in ended.stderr
        scraped = run("scrape", seed, "--profile", "docs", "--allow-private", *plain)
        assert "seventeen brass keys" in scraped.stdout  # nothing is left behind
    assert run("enrich", "--once", *folder).returncode == 0
    found = json.loads(run("search", QUERY, *folder, "--json").stdout)
    (hit,) = found["hits"]
    assert hit["url"] == seed and len(hit["snippet"]) <= 200
    (record,) = records(tmp_path)
    assert (
        "lighthouse keeper writes" in hit["snippet"]
        and hit["snippet"].strip("…")[8:60] in (record["markdown"])
    )
    assert list(traces(tmp_path, NEEDLES)) == []


@pytest.mark.slow
def test_a_site_is_erased_when_it_is_meant(tmp_path: Path) -> None:
    folder = ("-o", str(tmp_path))
    with Site({"/": lighthouse()}) as site:
        assert run("crawl", site.url("/"), *folder, "--delay", "0", *LOCAL).returncode == 0
    asked = ("erase", "--site", site.url("/"), "--reason", "they wrote", *folder)
    refused = run(*asked)
    assert refused.returncode == 2
    assert "this erases 1 pages of `127.0.0.1`" in refused.stderr and "--yes" in refused.stderr
    assert list(traces(tmp_path, NEEDLES))
    erased = json.loads(run(*asked, "--yes", "--json").stdout)
    assert (erased["jobs"], erased["pages"], erased["reason"]) == (1, 1, "they wrote")
    assert list(traces(tmp_path, NEEDLES)) == []


def test_responses_are_refused_beside_previews(tmp_path: Path) -> None:
    both = ("--set", "store.text=preview", "--set", "store.raw=true")
    done = run("crawl", "https://a.test/", "-o", str(tmp_path / "none"), *both)
    assert done.returncode == 2 and "store.raw = true demands them" in done.stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
@pytest.mark.req("LEG-01")
def test_an_enricher_that_is_killed_leaves_no_text_and_loses_no_page(tmp_path: Path) -> None:
    rng = random.Random(21)
    links = [f"/p{number}" for number in range(60)]
    routes = {
        "/": told("start", "/light", *links),
        "/light": lighthouse(),
        **{path: told(f"word{path[1:]}") for path in links},
    }
    with Site(routes) as site:
        rules = ("--set", "store.text=preview", "--set", "analysis.quality_threshold=0")
        begin = ("crawl", site.url("/"), "-o", str(tmp_path), "--delay", "0", *LOCAL, *rules)
        assert run(*begin).returncode == 0
    assert len(waiting(tmp_path)) == 62
    assert kill_at_random(tmp_path, "enrich", "--once", kills=6, rng=rng) > 0
    assert run("enrich", "--once", "-o", str(tmp_path)).returncode == 0
    assert waiting(tmp_path) == [] and list(traces(tmp_path, NEEDLES)) == []
    with closing(sqlite3.connect(tmp_path / "geomi.db")) as db:
        rows = db.execute("SELECT analysis FROM documents").fetchall()
    assert len(rows) == 62
    assert all(json.loads(analysis)["read"]["is_whole"] for (analysis,) in rows)
