"""Pages that kill what reads them: the crawl passes them, keeps every other page, and says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import LOCAL, records, run
from tests.support.deadly import deadly, deadly_env, watchdog
from tests.support.server import Reply, Site

WAYS = ("abort", "exit")
ALL_WAYS = (*WAYS, "memory", "spin", "panic")
PLAIN = 12
# Each page may cost the command itself two lives, where it crawls in its own process.
MOST_RUNS = 4


def page(words: str, *links: str) -> Reply:
    """Return a page with some text of its own."""
    items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    text = f"<p>{words}</p><p>{'Thread by thread the spider makes a web of it. ' * 8}</p>"
    return Reply(f"<!doctype html><title>{words}</title><main>{text}{items}</main>".encode())


def site_with(ways: tuple[str, ...]) -> dict[str, Reply]:
    """Return a site whose first links lead to pages that kill."""
    bad = [f"/{how}" for how in ways]
    good = [f"/good/{number}" for number in range(PLAIN)]
    return {
        "/": page("the front page", *bad, *good),
        **{f"/{how}": page(deadly("page", how)) for how in ways},
        **{path: page(f"about {path}") for path in good},
    }


def crawl_until_done(site: Site, folder: Path, *flags: str) -> int:
    """Crawl, and resume until a run ends by itself; return how many runs that took."""
    told = folder / "told"
    told.mkdir()
    command = ["crawl", site.url("/"), "-o", str(folder / "data"), "--delay", "0.001", *LOCAL]
    with watchdog(told):
        for number in range(1, MOST_RUNS + 1):
            done = run(*command, "--resume", *flags, env=deadly_env(told), timeout_s=300)
            if done.returncode == 0:
                return number
    pytest.fail(f"it has never ended by itself: {done.stderr}")


def assert_passed(site: Site, folder: Path, ways: tuple[str, ...]) -> None:
    """Check that every other page is kept, and that the bad ones are told of."""
    data = str(folder / "data")
    kept = [record["url"] for record in records(folder / "data")]
    good = {site.url("/"), *(site.url(f"/good/{number}") for number in range(PLAIN))}
    assert sorted(kept) == sorted(good)
    status = json.loads(run("status", "-o", data, "--json").stdout)
    assert status["outcomes"]["poisoned"] == len(ways)
    assert status["job"]["stats"]["failed"] == len(ways)
    assert status["job"]["state"] == "completed"
    ended = {one["url"]: one for one in status["problems"]}
    for how in ways:
        assert ended[site.url(f"/{how}")]["outcome"] == "poisoned"
        told = run("why", site.url(f"/{how}"), "-o", data)
        assert "outcome.poisoned" in told.stdout + told.stderr
    report: dict[str, Any] = json.loads(run("report", "-o", data, "--json").stdout)
    (alarm,) = [one for one in report["alarms"] if one["rule"] == "poisoned_pages"]
    assert alarm["value"] == len(ways)
    assert report["sites"][0]["lost"]["poisoned"] == len(ways)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize(
    "ways", [WAYS, pytest.param(ALL_WAYS, marks=pytest.mark.prove)], ids=["some", "all"]
)
def test_pages_that_kill_their_reader_are_passed(
    tmp_path: Path, workers: int, ways: tuple[str, ...]
) -> None:
    with Site(site_with(ways)) as site:
        runs = crawl_until_done(site, tmp_path, "--workers", str(workers))
        # The only worker is the command itself, until a page has killed it.
        assert runs == (2 if workers == 1 else 1)
        assert_passed(site, tmp_path, ways)
        asked = [seen.path for seen in site.log]
        # Each is asked for when it kills the first time, the second, and the process of its own;
        # once more where another one kills the worker before that is settled.
        counts = {how: asked.count(f"/{how}") for how in ways}
        assert all(3 <= counts[how] < 3 + 2 * len(ways) for how in ways if how != "panic")
