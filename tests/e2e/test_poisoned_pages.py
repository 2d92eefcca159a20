"""What kills its reader is passed: everything else is kept, and geomi says what happened."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import LOCAL, records, run
from tests.e2e.serving import Served
from tests.service.seed_web import seed_web
from tests.support.deadly import deadly, deadly_env, watchdog
from tests.support.postgres import Cluster
from tests.support.raw_files import FOLDER, put_raw
from tests.support.server import Reply, Seen, Site

SOME = ("abort", "exit")
ALL = (*SOME, "memory", "spin")
PLAIN = 6
LONGEST_S = 300.0
LOOK_S = 0.2
whole = pytest.mark.prove


@dataclass(frozen=True, slots=True)
class Ground:
    """A data directory, its store, and the environment in which readers die."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def told(self) -> Path:
        return self.folder / "told"

    def run(self, *arguments: str, is_deadly: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command; readers die only where that is asked for."""
        env = self.env | (deadly_env(self.told) if is_deadly else {})
        return run(*arguments, "-o", str(self.data), env=env, timeout_s=LONGEST_S)

    def json(self, *arguments: str) -> Any:
        """Return what a command prints."""
        return json.loads(self.run(*arguments, "--json").stdout)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=whole)])
def ground(request: pytest.FixtureRequest, tmp_path: Path) -> Ground:
    """Return a ground on each store."""
    (tmp_path / "told").mkdir()
    if request.param == "sqlite":
        return Ground(tmp_path)
    cluster: Cluster = request.getfixturevalue("cluster")
    return Ground(tmp_path, {"GEOMI_DB": cluster.new_schema()})


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


def good_urls(site: Site) -> set[str]:
    """Return the pages of a site that kill nobody."""
    return {site.url("/"), *(site.url(f"/good/{number}") for number in range(PLAIN))}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "ways"),
    [
        (1, SOME),
        (4, SOME),
        pytest.param(1, (*ALL, "panic"), marks=whole),
        pytest.param(4, (*ALL, "panic"), marks=whole),
    ],
)
def test_pages_that_kill_their_reader_are_passed(
    ground: Ground, workers: int, ways: tuple[str, ...]
) -> None:
    with Site(site_with(ways)) as site, watchdog(ground.told):
        command = ["crawl", site.url("/"), "--delay", "0.001", *LOCAL, "--workers", str(workers)]
        first = ground.run(*command, is_deadly=True)
        # A single worker is the command itself, until a page has killed it.
        assert (first.returncode == 0) is (workers > 1)
        again = ground.run(*command, "--resume", is_deadly=True)
        assert again.returncode == 0, again.stderr
        assert "died" not in ground.run("status").stdout
    kept = sorted(record["url"] for record in records(ground.data))
    assert kept == sorted(good_urls(site))
    status = ground.json("status")
    assert status["job"]["state"] == "completed"
    assert status["job"]["stats"]["failed"] == status["job"]["stats"]["poisoned"] == len(ways)
    ended = {one["url"]: one for one in status["problems"]}
    asked = [seen.path for seen in site.log]
    for how in ways:
        assert ended[site.url(f"/{how}")]["outcome"] == "poisoned"
        why = ground.json("why", site.url(f"/{how}"))
        assert why["decided_by"] == "outcome.poisoned"
        if how != "panic":  # which is an error that can be caught
            assert "2 processes died" in why["detail"]
            # When it kills the first time, the second, and the process of its own; once more where
            # another one kills the worker before that is settled.
            assert 3 <= asked.count(f"/{how}") < 3 + 2 * len(ways)
    report = ground.json("report")
    (alarm,) = [one for one in report["alarms"] if one["rule"] == "poisoned_pages"]
    assert alarm["value"] == report["sites"][0]["lost"]["poisoned"] == len(ways)


@pytest.mark.slow
@pytest.mark.prove
@pytest.mark.parametrize(
    ("how", "workers"), [("abort", "1"), ("exit", "4"), ("memory", "4"), ("spin", "1")]
)
def test_lists_that_kill_are_passed_and_a_deadly_robots_txt_is_out_of_reach(
    ground: Ground, workers: str, how: str
) -> None:
    routes = site_with(())
    closed_robots = f"# {deadly('robots', how)}\nUser-agent: *\nAllow: /\n"
    closed_routes = {"/robots.txt": Reply(closed_robots.encode(), content_type="text/plain")}
    with (
        Site(routes) as site,
        Site(closed_routes, address="127.0.0.2") as closed,
        watchdog(ground.told),
    ):
        robots = f"User-agent: *\nAllow: /\nSitemap: {site.url('/deadly.xml')}\n"
        routes["/robots.txt"] = Reply(robots.encode(), content_type="text/plain")
        listing = f"<urlset><!-- {deadly('sitemap', how)} --></urlset>".encode()
        routes["/deadly.xml"] = Reply(listing, content_type="application/xml")
        command = ["crawl", site.url("/"), closed.url("/"), "--delay", "0.001", *LOCAL]
        shorter = ["--set", "robots.fail_ttl_s=10"]  # it is asked for three times
        for _ in range(2):
            last = ground.run(*command, *shorter, "--workers", workers, "--resume", is_deadly=True)
    assert last.returncode == 0, last.stderr
    assert {record["url"] for record in records(ground.data)} == good_urls(site)
    assert {seen.path for seen in closed.log} == {"/robots.txt"}
    ended = {one["url"]: one for one in ground.json("status")["problems"]}
    assert ended[site.url("/deadly.xml")]["outcome"] == "poisoned"
    assert ended[closed.url("/")]["outcome"] == "robots"
    assert "out of reach: poisoned" in ended[closed.url("/")]["detail"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workers", "ways"),
    [("1", ("abort",)), pytest.param("1", ALL, marks=whole), pytest.param("2", ALL, marks=whole)],
)
def test_documents_that_kill_their_analysis_are_passed(
    ground: Ground, workers: str, ways: tuple[str, ...]
) -> None:
    with Site(site_with(ways, reader="document")) as site:
        crawled = ground.run("crawl", site.url("/"), "--delay", "0.001", *LOCAL)
        assert crawled.returncode == 0, crawled.stderr
    with watchdog(ground.told):
        command = ["enrich", "--once", "--workers", workers]
        codes = [ground.run(*command, is_deadly=True).returncode for _ in range(2)]
    # The command itself enriches, until a page has killed it.
    assert codes[0] != 0
    assert codes[1] == 0
    listed = ground.json("search", "spider", "-n", "50")
    assert listed["searched"]["documents"] == PLAIN + 1
    assert {one["url"] for one in listed["hits"]} <= good_urls(site)
    for how in ways:
        assert "poisoned" in ground.run("why", site.url(f"/{how}")).stdout


def robots_of(names: dict[str, str]) -> Callable[[Seen], Reply]:
    """Return robots.txt files by the name of their host; they allow everything."""

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
    [("1", ("abort",)), pytest.param("1", ALL, marks=whole), pytest.param("2", ALL, marks=whole)],
)
def test_files_that_kill_the_seed_engine_are_facts_of_their_domain(
    ground: Ground, workers: str, ways: tuple[str, ...]
) -> None:
    maps = {f"{how}-map.test": deadly("sitemap", how) for how in ways}
    files = {f"{how}-robots.test": deadly("robots", how) for how in ways}
    names = [*maps, *files, "good.test", "fine.test"]
    dataset = ground.folder / "seeds"
    put_raw(dataset, 1, *names)
    routes = {"/robots.txt": robots_of(files), "/sitemap.xml": sitemaps_of(maps)}
    with (
        seed_web(ground.folder, *names, routes=routes) as web,
        watchdog(ground.told),
    ):
        seeding = Ground(ground.folder, ground.env | web.env)
        command = ["seeds", "run", str(dataset), "--workers", workers]
        codes = [seeding.run(*command, is_deadly=True).returncode for _ in range(2)]
    assert codes[0] != 0
    assert codes[1] == 0
    contracts = {
        path.parent.name: json.loads(path.read_text())["technical_metadata"]
        for path in (dataset / "prod" / FOLDER).glob("*/domain_metadata.json")
    }
    assert contracts.keys() == set(names)
    for name, facts in contracts.items():
        is_robots, is_map = name in files, name in maps
        assert facts["robots_txt"]["exists"] is not is_robots
        assert facts["sitemap_xml"]["exists"] is not (is_robots or is_map)
        if is_robots or is_map:
            part = facts["robots_txt" if is_robots else "sitemap_xml"]
            assert "reading it" in part["error"] or "process that read it" in part["error"]


@pytest.mark.slow
@pytest.mark.prove
def test_a_service_passes_what_kills_and_serves_the_others(ground: Ground) -> None:
    bad = site_with(ALL) | {"/document": page(deadly("document", "abort"))}
    bad["/"] = page("the front page", "/document", *(f"/{how}" for how in ALL), "/good/1")
    with (
        Site(bad) as site,
        Site(site_with(()), address="127.0.0.2") as other,
        watchdog(ground.told),
        Served(ground.data, "--workers", "2", env=ground.env | deadly_env(ground.told)) as served,
    ):
        jobs = [
            served.post("/crawls", {"collectionId": name, "seedUrls": [url]})["jobId"]
            for name, url in (("bad", site.url("/")), ("good", other.url("/")))
        ]
        first, second = (_ended(served, job) for job in jobs)
        quality = served.get(f"/crawls/{jobs[0]}/quality")
        served.stop()
    assert (first["status"], second["status"]) == ("completed", "completed")
    assert (first["stats"]["urlsPoisoned"], second["stats"]["urlsPoisoned"]) == (len(ALL), 0)
    assert first["stats"]["urlsFailed"] == len(ALL) + 1  # with the document
    assert second["stats"]["urlsFailed"] == 0
    assert second["stats"]["pagesIndexed"] >= PLAIN
    assert "poisoned_pages" in {alarm["rule"] for alarm in quality["alarms"]}


def _ended(served: Served, job: str) -> dict[str, Any]:
    """Return a crawl that is over."""
    deadline_s = time.monotonic() + LONGEST_S
    while time.monotonic() < deadline_s:
        told = served.get(f"/crawls/{job}")
        if told["status"] in ("completed", "failed", "cancelled"):
            return told
        time.sleep(LOOK_S)
    raise AssertionError(f"it is still {told['status']}: {told['stats']}")
