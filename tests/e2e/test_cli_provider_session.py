"""Several providers from the command line: one session, with limits that count over all of them."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import DATABASE, open_directory
from geomi.app.use import providers
from geomi.settings.providers import presets, read_registration
from tests.e2e.command import GEOMI, clean_env, run
from tests.support.crawl import LOCAL, page
from tests.support.server import Raw, Reply, Route, Seen, Site

# No pause, since every site here is on loopback; the profile of providers has one of a second.
QUICK = {"GEOMI_CRAWL_PROFILE": "default", "GEOMI_CRAWL_DELAY": "0"}
HERE = ("--allow-private", "--json")
ONCE = ("--set", "http.max_retries=0")
WEEK_S = 7 * 86_400
MEASURES = {
    "mean_chunk_tokens", "empty_chunks", "repeated_chunks", "smallest_chunk", "chunks_per_page",
}  # fmt: skip
DAY = "2026-01-31"


def routes(name: str, pages: int = 2) -> dict[str, Route]:
    """Make a documentation of some pages, of which the first leads to all others."""
    others = [f"/docs/{number}" for number in range(1, pages)]
    return {
        "/docs": page(name, *others),
        **{path: page(f"{name}{number}") for number, path in enumerate(others)},
    }


class Providers:
    """A data directory where nobody is registered but providers on loopback."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"

    def ask(self, *arguments: str, env: Mapping[str, str] | None = None) -> list[Any]:
        """Run a command that succeeds and return the lines of its data."""
        told = self.run(*arguments, env=env)
        assert told.returncode == 0, told.stderr
        return [json.loads(line) for line in told.stdout.splitlines()]

    def run(
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command."""
        return run(*arguments, "-o", str(self.data), env=QUICK | dict(env or {}))

    def register(
        self,
        sites: Mapping[str, Site],
        *,
        only_they: bool = False,
        max_pages: Mapping[str, int] | None = None,
    ) -> None:
        """Register providers; `only_they` may be crawled, and none that comes with geomi."""

        async def work() -> None:
            async with open_directory(self.data, LOCAL, lambda _: EventFanOut()) as home:
                for key in presets() if only_they else ():
                    await providers.review(home.world, key, allows=False, reviewed_at=DAY)
                for key, site in sites.items():
                    payload = {
                        "key": key,
                        "seed_url": site.url("/docs"),
                        "allowed_path_patterns": ["/docs/**"],
                        "tos_reviewed_at": DAY,
                        "tos_allows_crawling": True,
                        "max_pages": (max_pages or {}).get(key, 200),
                    }
                    read = read_registration(
                        payload, new_id=str(uuid4()), now_s=home.world.clock.wall_s()
                    )
                    await providers.add(home.world, read.provider)

        asyncio.run(work())

    def mean_ms(self) -> int:
        """Return how long pages of the newest job took to answer, by the log of its requests."""
        with closing(sqlite3.connect(self.data / DATABASE)) as db:
            (mean_s,) = db.execute(
                "SELECT AVG(ended_s - started_s) FROM requests WHERE purpose = 'page' AND job ="
                " (SELECT number FROM names WHERE name = (SELECT id FROM jobs ORDER BY created_at_s"
                " DESC LIMIT 1))"
            ).fetchone()
        return round(1000 * float(mean_s))

    def began_earlier(self, seconds: int) -> None:
        """Let every job so far have begun some time ago."""
        with closing(sqlite3.connect(self.data / DATABASE)) as db, db:
            db.execute(
                "UPDATE jobs SET created_at_s = created_at_s - ?, started_at_s = started_at_s - ?,"
                " ended_at_s = ended_at_s - ?",
                [seconds] * 3,
            )


@pytest.fixture
def known(tmp_path: Path) -> Providers:
    """An empty data directory."""
    return Providers(tmp_path)


@contextmanager
def sites(*all_routes: dict[str, Route]) -> Iterator[list[Site]]:
    """Start some sites, each at an address of its own."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(Site(one, address=f"127.0.0.{number}"))
            for number, one in enumerate(all_routes, start=2)
        ]


def ends(lines: list[Any]) -> dict[str, Any]:
    """Return how each provider ended."""
    return {line["provider"]: line for line in lines if line["event"] == "ended"}


def reports(text: str) -> list[str]:
    """Return which providers have a change report."""
    return re.findall(r"\[CRAWL_REPORT\] Provider: (.*)", text)


@pytest.mark.slow
@pytest.mark.req("RPT-01")
def test_every_named_provider_is_crawled_with_a_job_and_a_report_of_its_own(
    known: Providers,
) -> None:
    with sites(routes("a"), routes("b", 3), routes("c")) as (a, b, c):
        known.register({"a": a, "b": b, "c": c})
        told = known.run("crawl", "--provider", "a", "--provider", "b", *HERE)
        assert told.returncode == 0, told.stderr
        assert c.log == []
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    ended = ends(lines)
    assert {key: one["collected"] for key, one in ended.items()} == {"a": 2, "b": 3}
    assert len({one["job"] for one in ended.values()}) == 2
    assert lines[-1] == {
        "event": "session_ended",
        "providers": 2,
        "pages": 5,
        "collected": 5,
        "not_crawled": [],
    }
    assert sorted(reports(told.stderr)) == ["a", "b"]
    shown = known.ask("jobs", "show", ended["b"]["job"], "--json")[0]
    assert shown["origins"]["limits.max_pages"] == "provider b"


@pytest.mark.slow
@pytest.mark.req("RPT-01", "RPT-02", "RPT-03", "CHG-02", "CHG-03")
def test_a_deleted_page_is_told_once_and_then_is_no_page_of_the_provider(
    known: Providers,
) -> None:
    documents = routes("a", 4)
    start, first, *others = documents
    with sites(documents) as (site,):
        known.register({"a": site})

        def told() -> list[str]:
            said = known.run("crawl", "--provider", "a", *HERE, *ONCE).stderr
            lines = said[said.index("[CRAWL_REPORT]") :].splitlines()
            assert lines[5] == f"  - Avg Response Time: {known.mean_ms()}ms"
            assert re.fullmatch(r"  - Duration: \d+m \d+s", lines[6])
            return [line.removeprefix("  - ") for line in lines[:5]]

        assert told() == [
            "[CRAWL_REPORT] Provider: a",
            "Total Pages: 4",
            "New: 4, Updated: 0, Deleted: 0",
            "Change Rate: 100.0%",
            "Success Rate: 100.0%",
        ]
        site.routes = documents | {first: page("a0", text="All was written anew.")}
        kept = site.routes.pop(others[0])
        site.routes[others[1]] = Reply(b"no", status=403)
        assert told()[1:] == [
            "Total Pages: 2",
            "New: 0, Updated: 1, Deleted: 2",
            "Change Rate: 150.0%",
            "Success Rate: 50.0%",
        ]
        assert told()[1:4] == [
            "Total Pages: 2",
            "New: 0, Updated: 0, Deleted: 0",
            "Change Rate: 0.0%",
        ]
        site.routes = {start: documents[start], others[0]: kept}
        assert told()[1:4] == [
            "Total Pages: 2",
            "New: 1, Updated: 0, Deleted: 1",
            "Change Rate: 100.0%",
        ]
        site.routes = {start: Reply(b"gone", status=410)}
        assert told()[1:] == [
            "Total Pages: 0",
            "New: 0, Updated: 0, Deleted: 1",
            "Change Rate: 0.0%",
            "Success Rate: 0.0%",
        ]


@pytest.mark.slow
@pytest.mark.req("POL-02", "LEG-04")
def test_of_all_providers_three_are_crawled_at_once_and_none_that_forbids_it(
    known: Providers,
) -> None:
    """Each of three sites answers only when the two others were asked as well."""
    door = threading.Barrier(3, timeout=60)
    lock, inside, most = threading.Lock(), [0], [0]

    def waiting(name: str, *, waits: bool) -> dict[str, Route]:
        def answer(seen: Seen) -> Reply:
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            if waits:
                door.wait()
            with lock:
                inside[0] -= 1
            return page(name)

        return {"/docs": answer, "/docs/": page(name)}

    with sites(*(waiting(key, waits=key != "d") for key in "abcd")) as found:
        known.register(dict(zip("abcd", found, strict=True)), only_they=True)
        told = known.run("crawl", "--provider", "all", *HERE)
    assert "left out: openai: its terms forbid crawling" in told.stderr
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    assert sorted(ends(lines)) == ["a", "b", "c", "d"]
    assert most == [3]
    listed = {job["id"]: job for job in known.ask("jobs", "list", "--json")[0]}
    jobs = {key: listed[one["job"]] for key, one in ends(lines).items()}
    first_end = min(jobs[key]["ended_at_s"] for key in "abc")
    assert jobs["d"]["started_at_s"] >= first_end, "there was no place for it before"
    shown = known.ask("jobs", "show", jobs["a"]["id"], "--json")[0]
    assert shown["origins"]["politeness.concurrency"] == "session"


@pytest.mark.slow
@pytest.mark.req("JOB-08")
def test_a_session_has_no_page_more_than_its_limit(known: Providers) -> None:
    with sites(routes("a", 3), routes("b", 3), routes("c")) as found:
        known.register(dict(zip("abc", found, strict=True)))
        command = ("crawl", *(part for key in "abc" for part in ("--provider", key)), *HERE)
        told = known.run(*command, env={"GEOMI_SESSION_PAGES": "4"})
        assert told.returncode == 0, told.stderr
        lines = [json.loads(line) for line in told.stdout.splitlines()]
        assert {key: one["collected"] for key, one in ends(lines).items()} == {"a": 3, "b": 1}
        assert sum(seen.path != "/robots.txt" for site in found for seen in site.log) == 4
        full = "the indexing session has visited 4 pages; its limit is 4"
        assert lines[-1]["pages"] == 4
        assert lines[-1]["not_crawled"] == [{"provider": "c", "why": full}]
        warned = [line for line in lines if line["event"] == "warning"]
        assert any(line["message"] == f"{full}; the session stops" for line in warned)
        again = known.ask(*command, "--resume", env={"GEOMI_SESSION_PAGES": "8"})
    assert {key: one["collected"] for key, one in ends(again).items()} == {"a": 3, "b": 3, "c": 2}
    assert again[-1]["pages"] == 8


@pytest.mark.slow
@pytest.mark.req("JOB-08")
def test_who_is_cut_short_by_the_session_is_told_so_and_not_that_its_own_limit_is_low(
    known: Providers,
) -> None:
    """Of the session's five pages `a` has its own three, one of them gone, and `b` the rest."""
    documents = routes("a", 4)
    documents.pop("/docs/1")
    with sites(documents, routes("b", 6)) as (a, b):
        known.register({"a": a, "b": b}, max_pages={"a": 3})
        command = ("crawl", "--provider", "a", "--provider", "b", *HERE, *ONCE)
        told = known.run(*command, env={"GEOMI_SESSION_PAGES": "5"})
        assert told.returncode == 0, told.stderr
        lines = [json.loads(line) for line in told.stdout.splitlines()]
        warned = {one["message"]: one["hint"] for one in lines if one["event"] == "warning"}
        own = "provider a has reached its limit of 3 pages; its crawl ends"
        assert "register the provider with a higher `max_pages`" in warned[own]
        cut = "the session had 2 pages left for provider b; its crawl ends"
        assert "GEOMI_SESSION_PAGES sets the limit" in warned[cut]
        assert not any(text.startswith("provider b has reached its limit") for text in warned)
        full = "the indexing session has visited 5 pages; its limit is 5; the session stops"
        assert warned[full] == "GEOMI_SESSION_PAGES sets the limit; ended early: b"
        counted = {key: lines[-1][key] for key in ("providers", "pages", "collected")}
        assert counted == {"providers": 2, "pages": 5, "collected": 4}
        again = known.run(*command[:5], "--allow-private", *ONCE, "--resume")
        assert "ended early" not in again.stderr
        assert "session: 2 of 2 providers, 9 pages visited, 8 collected" in again.stderr
        (shown,) = known.ask("jobs", "show", ends(lines)["b"]["job"], "--json")
        assert shown["origins"]["limits.max_pages"] == "provider b"


@pytest.mark.slow
@pytest.mark.req("POL-03", "JOB-08")
@pytest.mark.parametrize("window", ["hour", "day"])
def test_the_cap_of_an_hour_and_of_a_day_counts_over_all_providers(
    known: Providers, window: str
) -> None:
    with sites(routes("a", 6), routes("b", 6)) as (a, b):
        known.register({"a": a, "b": b})
        told = known.run(
            "crawl", "--provider", "a", "--provider", "b", *HERE,
            "--set", f"politeness.max_per_{window}=7", "--max-time", "4",
        )  # fmt: skip
        assert told.returncode == 0, told.stderr
        assert len(a.log) + len(b.log) == 7, "two robots.txt and five pages"
        assert min(len(a.log), len(b.log)) >= 2
    lines = [json.loads(line) for line in told.stdout.splitlines()]
    assert {one["stop"] for one in ends(lines).values()} == {"max_time"}


@pytest.mark.slow
@pytest.mark.req("MON-06")
def test_a_session_of_short_crawls_that_takes_long_is_told_once(known: Providers) -> None:
    """Each of two providers needs half a second and more; the limit is a third of one."""
    start = page("slow").body
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(start)}\r\n\r\n"
    documents: dict[str, Route] = {"/docs": Raw((0.5, head.encode() + start))}
    with sites(documents, documents) as (a, b):
        known.register({"a": a, "b": b})
        command = ("crawl", "--provider", "a", "--provider", "b", *HERE)
        lines = known.ask(*command, env={"GEOMI_SESSION_HOURS": "0.0001"})
        unlimited = known.ask(*command, env={"GEOMI_SESSION_HOURS": "0"})
    told = "alarm duration: the indexing session has worked for 0.0 hours (limit 0.0001)"
    warned = [line["message"] for line in lines if line["event"] == "warning"]
    assert warned.count(told) == 1
    assert "alarm duration" not in json.dumps(unlimited)


@pytest.mark.slow
def test_a_provider_that_fails_does_not_stop_the_others(known: Providers) -> None:
    with sites(routes("a"), routes("b")) as (a, b):
        with Site({}) as gone:
            known.register({"a": a, "b": b, "gone": gone})
        lines = known.ask(
            "crawl", *(f"--provider={key}" for key in ("gone", "a", "b")), *HERE, *ONCE
        )
        assert {key: one["collected"] for key, one in ends(lines).items()} == {
            "gone": 0,
            "a": 2,
            "b": 2,
        }
        known.ask("providers", "review", "a", "--forbids", "--json")
        told = known.run("crawl", "--provider", "a", "--provider", "b", *HERE)
        assert told.returncode == 2
        assert "provider `a` does not allow crawling" in told.stderr
    alone = known.run("crawl", "--provider", "gone", "--provider", "b", *HERE, *ONCE)
    assert alone.returncode == 5, "neither could be reached"


@pytest.mark.slow
@pytest.mark.req("CHG-08", "STO-05", "MON-13")
def test_providers_index_makes_all_of_them_searchable_every_week(known: Providers) -> None:
    with sites(routes("a"), routes("b")) as (a, b):
        known.register({"a": a, "b": b}, only_they=True)
        first = known.run("providers", "index", *HERE)
        assert first.returncode == 0, first.stderr
        assert sorted(reports(first.stderr)) == ["a", "b"]
        events = [json.loads(line) for line in first.stdout.splitlines()]
        measured = [one["chunks"] for one in events if one["event"] == "crawl_report"]
        assert [one["chunks_per_page"] for one in measured] == [1, 1]
        assert all(set(one) == MEASURES and one["mean_chunk_tokens"] > 0 for one in measured)
        found = known.ask("search", "lighthouse b0", "--json")
        assert b.url("/docs/1") in json.dumps(found)
        asked = len(a.log) + len(b.log)
        assert weekly(known)[0] == [], "nothing is due"
        assert len(a.log) + len(b.log) == asked
        known.began_earlier(WEEK_S)
        a.routes = {"/docs": page("renewed", "/docs/1"), "/docs/1": page("a0")}
        crawled, said = weekly(known)
        assert sorted(crawled) == ["a", "b"]
        told = said.split("Provider: a\n")[1].splitlines()
        assert told[1].strip() == "- New: 0, Updated: 1, Deleted: 0"
        assert weekly(known)[0] == []


def weekly(known: Providers) -> tuple[list[str], str]:
    """Let `--weekly` do what is due; end it where it waits, and return who was crawled."""
    command = [*GEOMI, "providers", "index", "--weekly", "--allow-private", "-o", str(known.data)]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=clean_env() | QUICK
    ) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith("the next session begins at "):
                break
        process.send_signal(signal.SIGINT)
        said.append(process.stderr.read())
        assert process.wait(60) == 130, said
    text = "".join(said)
    return reports(text), text
