"""The profile for documentation of others keeps previews, and a site can be erased."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from geomi.testing.server import Site
from tests.e2e.command import LOCAL, records, run
from tests.engine.private_site import traces
from tests.engine.test_previews import NEEDLES, QUERY, lighthouse


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
    assert done.returncode == 2 and "store.raw = true asks for them" in done.stderr
    assert not (tmp_path / "none").exists()
