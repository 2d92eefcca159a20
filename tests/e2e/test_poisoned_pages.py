"""Pages that kill what reads them: the crawl passes them, keeps every other page, and says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import LOCAL, records, run
from tests.service.seed_web import seed_web
from tests.support.deadly import deadly, deadly_env, watchdog
from tests.support.raw_files import FOLDER, put_raw
from tests.support.server import Reply, Seen, Site

WAYS = ("abort", "exit")
ALL_WAYS = (*WAYS, "memory", "spin", "panic")
ENRICH_WAYS = ("abort", "exit", "memory", "spin")
PLAIN = 6
# Each page may cost the command itself two lives, where it crawls in its own process.
MOST_RUNS = 4


def page(words: str, *links: str) -> Reply:
    """Return a page with some text of its own."""
    items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    text = f"<p>{words}</p><p>{'Thread by thread the spider makes a web of it. ' * 8}</p>"
    return Reply(f"<!doctype html><title>{words}</title><main>{text}{items}</main>".encode())


def site_with(ways: tuple[str, ...], *, reader: str = "page") -> dict[str, Reply]:
    """Return a site whose first links lead to pages that kill."""
    bad = [f"/{how}" for how in ways]
    good = [f"/good/{number}" for number in range(PLAIN)]
    return {
        "/": page("the front page", *bad, *good),
        **{f"/{how}": page(deadly(reader, how)) for how in ways},
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "ways"),
    [
        (1, ("abort",)),
        pytest.param(1, ENRICH_WAYS, marks=pytest.mark.prove),
        pytest.param(2, ENRICH_WAYS, marks=pytest.mark.prove),
    ],
)
def test_documents_that_kill_their_analysis_are_passed(
    tmp_path: Path, workers: int, ways: tuple[str, ...]
) -> None:
    data, told = str(tmp_path / "data"), tmp_path / "told"
    told.mkdir()
    with Site(site_with(ways, reader="document")) as site:
        crawled = run("crawl", site.url("/"), "-o", data, "--delay", "0.001", *LOCAL)
        assert crawled.returncode == 0, crawled.stderr
    command = ["enrich", "--once", "-o", data, "--workers", str(workers)]
    with watchdog(told):
        codes = [run(*command, env=deadly_env(told)).returncode for _ in range(2)]
    # The command itself enriches, until a page has killed it.
    assert codes[0] != 0
    assert codes[1] == 0
    listed = json.loads(run("search", "spider", "-o", data, "--json", "-n", "50").stdout)
    assert listed["searched"]["documents"] == PLAIN + 1
    found = {one["url"] for one in listed["hits"]}
    assert {site.url(f"/good/{number}") for number in range(PLAIN)} <= found
    for how in ways:
        told_why = run("why", site.url(f"/{how}"), "-o", data).stdout
        assert "poisoned" in told_why
        assert site.url(f"/{how}") not in found


def robots_of(names: dict[str, str]) -> Callable[[Seen], Reply]:
    """Return robots.txt files by the name of their host; what is not named is allowed."""

    def answer(seen: Seen) -> Reply:
        comment = names.get(seen.headers["host"].partition(":")[0], "")
        return Reply(f"# {comment}\nUser-agent: *\nAllow: /\n".encode(), content_type="text/plain")

    return answer


def sitemaps_of(names: dict[str, str]) -> Callable[[Seen], Reply]:
    """Return sitemaps by the name of their host, each with one page."""

    def answer(seen: Seen) -> Reply:
        host = seen.headers["host"].partition(":")[0]
        body = (
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            f"<url><loc>https://{host}/a</loc></url></urlset><!-- {names.get(host, '')} -->"
        )
        return Reply(body.encode(), content_type="application/xml")

    return answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "ways"),
    [
        (1, ("abort",)),
        pytest.param(1, ENRICH_WAYS, marks=pytest.mark.prove),
        pytest.param(2, ENRICH_WAYS, marks=pytest.mark.prove),
    ],
)
def test_files_that_kill_the_seed_engine_are_facts_of_their_domain(
    tmp_path: Path, workers: int, ways: tuple[str, ...]
) -> None:
    told = tmp_path / "told"
    told.mkdir()
    maps = {f"{how}-map.test": deadly("sitemap", how) for how in ways}
    files = {f"{how}-robots.test": deadly("robots", how) for how in ways}
    names = [*maps, *files, "good.test", "fine.test"]
    put_raw(tmp_path / "seeds", 1, *names)
    routes = {"/robots.txt": robots_of(files), "/sitemap.xml": sitemaps_of(maps)}
    command = ["seeds", "run", str(tmp_path / "seeds"), "-o", str(tmp_path / "data")]
    with seed_web(tmp_path, *names, routes=routes) as web, watchdog(told):
        env = web.env | deadly_env(told)
        codes = [run(*command, "--workers", str(workers), env=env).returncode for _ in range(2)]
    assert codes == [codes[0], 0]
    assert codes[0] != 0
    folder = tmp_path / "seeds" / "prod" / FOLDER
    contracts = {
        path.parent.name: json.loads(path.read_text()) for path in folder.glob("*/domain_metadata.json")
    }
    assert contracts.keys() == set(names)
    for name, contract in contracts.items():
        is_robots, is_map = name in files, name in maps
        facts = contract["technical_metadata"]
        assert facts["robots_txt"]["exists"] is not is_robots
        assert facts["sitemap_xml"]["exists"] is not (is_robots or is_map)
        if is_robots or is_map:
            part = facts["robots_txt" if is_robots else "sitemap_xml"]
            assert "reading it" in part["error"] or "process that read it" in part["error"]
