"""What a crawl looks like to the servers it asks, with one worker and with four, killed or not.

Three sites have an address of their own; one address serves several names, which may not all be
asked at once. Answers take a while, so that two requests at once would be seen as such.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from geomi.model.entry import Batch, HostState, HostUpdate, Lease
from geomi.model.request_log import RequestPurpose, SentRequest
from geomi.model.verdict import Outcome
from tests.e2e.command import LOCAL, records, run, start
from tests.support.crawl import Ear, home_in
from tests.support.server import End, Raw, Reply, Route, Seen, Site
from tests.support.waiting import waits

DELAY_S = 0.05
TOOK_S = 0.02
PER_IP = 2
CONCURRENCY = 9  # which four workers cannot share evenly
PAGES = 8
NAMES = ("one.test", "two.test", "three.test", "four.test", "five.test")
SHARED, OWN = "127.0.0.20", ("127.0.0.21", "127.0.0.22", "127.0.0.23")
TIMER_SLACK_S = 0.001  # a monotonic clock read in two processes
KILLS = 2
AGENT = "server-side/1 (+https://crawler.test/about)"


@dataclass(frozen=True)
class Web:
    """The sites, and what they saw."""

    sites: tuple[Site, ...]
    seeds: tuple[str, ...]
    flags: tuple[str, ...]
    ends_s: Mapping[int, float]

    def end_s(self, seen: Seen) -> float:
        """Return the last moment at which nobody could have the whole answer yet."""
        return self.ends_s.get(id(seen)) or seen.ended_s or seen.started_s

    def most_at_once(self, log: list[Seen]) -> int:
        """Count the hosts that were served at the same time."""
        return max(
            len({one.host for one in log if one.started_s <= now.started_s < self.end_s(one)})
            for now in log
        )

    @property
    def seen(self) -> list[Seen]:
        """All requests in the order of their starts."""
        return sorted((one for site in self.sites for one in site.log), key=lambda s: s.started_s)

    @property
    def by_host(self) -> dict[str, list[Seen]]:
        """The requests of each host, as `name:port`."""
        hosts: dict[str, list[Seen]] = {}
        for one in self.seen:
            hosts.setdefault(one.host, []).append(one)
        return hosts

    def command(self, directory: Path, workers: int) -> list[str]:
        """The crawl, or what is left of it."""
        return [
            "crawl", *self.seeds, "-o", str(directory), "-q", "--resume", "--delay", str(DELAY_S),
            "--workers", str(workers), "--concurrency", str(CONCURRENCY), "--user-agent", AGENT,
            "--set", f"politeness.per_ip={PER_IP}", *self.flags, *LOCAL,
        ]  # fmt: skip


@contextmanager
def web() -> Iterator[Web]:
    ends_s: dict[int, float] = {}
    with ExitStack() as stack:
        own = [stack.enter_context(Site(_routes(ends_s), address=address)) for address in OWN]
        shared = stack.enter_context(Site(_routes(ends_s), address=SHARED))
        seeds = [site.url("/") for site in own]
        seeds += [shared.url("/", host=name) for name in NAMES]
        names = [f"{name}:{shared.port}:{SHARED}" for name in NAMES]
        flags = [flag for name in names for flag in ("--resolve", name)]
        yield Web((*own, shared), tuple(seeds), tuple(flags), ends_s)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.req("POL-05", "POL-16", "ROB-08", "HTTP-12", "HTTP-14")
def test_a_crawl_as_the_servers_see_it(tmp_path: Path, workers: int) -> None:
    with web() as seen:
        done = run(*seen.command(tmp_path, workers))
        assert done.returncode == 0, done.stderr
    _assert_polite(seen)
    _assert_honest(seen)
    for host, log in seen.by_host.items():
        visits = Counter(one.path for one in log)
        assert visits["/robots.txt"] == 1, host
        assert set(visits.values()) == {1}, host
        assert {path for path in visits if path.startswith("/hop")} == {
            f"/hop{number}" for number in range(6)
        }, "five redirects are followed, the sixth is not"
        assert "/private" not in visits
    proof = _audit(tmp_path)
    assert proof["requests"] == len(seen.seen)
    _assert_agreed(proof, seen)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.req("POL-05", "POL-16", "FRN-16")
def test_a_crawl_that_is_killed_as_the_servers_see_it(tmp_path: Path, workers: int) -> None:
    """Nobody is hurried by a crash; what the dead had in flight may be missing in the log.

    A worker that sees its parent die notes what it was about to ask, which may never have left.
    """
    with web() as seen:
        for kill in range(KILLS):
            process = start(*seen.command(tmp_path, workers))
            _wait_for(seen, 12 * (kill + 1))
            os.killpg(process.pid, signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL
        done = run(*seen.command(tmp_path, workers))
        assert done.returncode == 0, done.stderr
    _assert_polite(seen)
    _assert_honest(seen)
    for host, log in seen.by_host.items():
        wanted = {"/", "/robots.txt", *_links(), *(f"/hop{number}" for number in range(6))}
        assert {one.path for one in log} == wanted, host
        assert Counter(one.path for one in log)["/robots.txt"] <= 1 + KILLS
    proof = _audit(tmp_path)
    cut_off = _cut_off(tmp_path)
    unlogged = len(seen.seen) - proof["requests"] + cut_off.total()
    assert 0 <= unlogged <= KILLS * workers * CONCURRENCY * 10, "what leases held when they died"
    _assert_agreed(proof, seen, cut_off)


@pytest.mark.slow
@pytest.mark.req("CHG-09", "HTTP-03", "HTTP-08")
@pytest.mark.parametrize(
    "asked",
    [
        (),
        ("--profile", "docs"),
        ("--profile", "knowledge-base"),
        ("--profile", "web-scale", "--set", "store.raw=false"),
        ("--set", "store.text=preview", "--set", "store.whole_text_s=0.01"),  # over at once
        ("--set", "store.text=preview", "--set", "analysis.index=false"),
    ],
    ids=lambda asked: "-".join(asked[1:2] + asked[3:]) or "default",
)
def test_every_revisit_asks_only_for_what_has_changed(
    tmp_path: Path, asked: tuple[str, ...]
) -> None:
    """Validators come back as they were given, though nobody has indexed; a 304 has no body."""
    statuses: list[int] = []

    def answer(seen: Seen) -> Reply:
        header, condition, value = (
            ("ETag", "if-none-match", '"1"')
            if seen.path == "/"
            else ("Last-Modified", "if-modified-since", "Tue, 01 Oct 2024 10:00:00 GMT")
        )
        told = seen.headers.get(condition)
        # `docs` sends the date of its last visit (HTTP-03), which is later than the page's.
        is_same = told == value if header == "ETag" else told is not None
        statuses.append(304 if is_same else 200)
        if is_same:
            return Reply(status=304, headers=((header, value),), content_type="")
        return Reply(_page("/1"), headers=((header, value),))

    with Site({"/": answer, "/1": answer}) as site:
        command = ["crawl", site.url("/"), "-o", str(tmp_path), "-q", "--allow-private", *asked]
        pause = () if "docs" in asked else ("--delay", "0")
        for _ in range(3):
            done = run(*command, *pause)
            assert done.returncode == 0, done.stderr
            collected = records(tmp_path)
            assert len(collected) == 2 and all(one["markdown"] for one in collected)
    assert statuses == [200] * 2 + [304] * 4
    assert _audit(tmp_path)["broken"] == 0


@pytest.mark.slow
@pytest.mark.req("CHG-09", "LEG-02")
def test_a_preview_is_not_asked_for_again_and_is_still_indexed_whole(tmp_path: Path) -> None:
    """The text waits for the next job, too, but not longer; without it the page is asked for."""
    conditions: list[str | None] = []
    filler = " ".join(f"The {number}. sentence tells of rain on stones." for number in range(40))

    def answer(seen: Seen) -> Reply:
        conditions.append(seen.headers.get("if-none-match"))
        if conditions[-1]:
            return Reply(status=304, headers=(("ETag", '"1"'),), content_type="")
        return Reply(_page(text=f"{filler} petrichor"), headers=(("ETag", '"1"'),))

    with Site({"/": answer}) as site:
        preview = ["--set", "store.text=preview", "--set", "analysis.quality_threshold=0"]
        command = [
            "crawl",
            site.url("/"),
            "-o",
            str(tmp_path),
            "-q",
            *preview,
            *LOCAL,
            "--delay",
            "0",
        ]
        for extra in ([], [], ["--index"]):
            done = run(*command, *extra)
            assert done.returncode == 0, done.stderr
        assert conditions == [None, '"1"', '"1"']
        found = json.loads(run("search", "petrichor", "-o", str(tmp_path), "--json").stdout)
        assert [one["url"] for one in found["hits"]] == [site.url("/")]
        assert run(*command).returncode == 0
        assert conditions[-1] == '"1"', "it was indexed whole"


@waits
async def test_a_breach_is_shown_and_has_an_exit_code(tmp_path: Path) -> None:
    """Two requests of one host that came too close: the audit names both."""
    site = "http://127.0.0.1:1/"
    first = SentRequest(
        "127.0.0.1:1", "gone", "w-1", "127.0.0.1", RequestPurpose.ROBOTS, f"{site}robots.txt",
        1_000_000.0, 1_000_001.0, 200, Outcome.OK, 0.0,
    )  # fmt: skip
    early = replace(
        first, url=site, purpose=RequestPurpose.PAGE, started_s=1_000_001.5, ended_s=1_000_002.0,
        floor_s=1.0,
    )  # fmt: skip
    lease = Lease(first.host, first.job, -1, 0.0, 0.0, HostState(first.host))

    async with home_in(tmp_path, Ear()) as home:
        update = HostUpdate(lease, lease.state, asked=(first, early))
        await home.world.store.frontier.settle(Batch(hosts=(update,)))
    told = run("audit", "-o", str(tmp_path))
    assert told.returncode == 6
    assert "✗ 127.0.0.1:1  2 requests; shortest gap 0.500 s, owed 1.000 s" in told.stdout
    assert "gap: 1.000 s were required, 0.500 s were kept" in told.stdout
    assert f"page {site} (job gone, worker w-1)" in told.stdout
    assert "1 breaches in 2 requests" in told.stdout
    assert "Not in the log: requests that a killed worker had in flight" in told.stdout
    assert told.stderr.startswith("error: requests broke rules of politeness 1 times")


def _routes(ends_s: dict[int, float]) -> Mapping[str, Route]:
    """A home page, pages, a chain of redirects, a forbidden page; each answer takes its time."""
    links = _links()
    routes: dict[str, Route] = {
        "/robots.txt": _slow(b"User-agent: *\nDisallow: /private\n", ends_s, "text/plain"),
        "/": _slow(_page(*links, "/hop0", "/private"), ends_s),
    }
    for link in links:
        routes[link] = _slow(_page("/", text=link), ends_s)
    for number in range(8):
        routes[f"/hop{number}"] = Reply(
            status=302, headers=(("Location", f"/hop{number + 1}"), ("Set-Cookie", "a=b"))
        )
    return routes


def _links() -> list[str]:
    return [f"/page{number}" for number in range(PAGES)]


def _page(*links: str, text: str = "") -> bytes:
    anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return f"<html><body><main><p>A page {text} of some words.</p>{anchors}</main>".encode()


def _slow(body: bytes, ends_s: dict[int, float], content_type: str = "text/html") -> Route:
    """Answer in two parts, and note when the second begins: a site's own note may come late."""
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nSet-Cookie: visitor=1; Path=/\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )

    def parts(seen: Seen) -> Iterator[bytes | float]:
        yield head.encode()
        yield TOOK_S
        ends_s[id(seen)] = time.monotonic()
        yield body

    return lambda seen: Raw(parts(seen), End.KEEP)


def _wait_for(seen: Web, count: int) -> None:
    deadline = time.monotonic() + 20
    while len(seen.seen) < count and time.monotonic() < deadline:
        time.sleep(0.01)


def _assert_polite(seen: Web) -> None:
    for host, log in seen.by_host.items():
        assert log[0].path == "/robots.txt", host
        for earlier, later in pairwise(log):
            gap_s = later.started_s - seen.end_s(earlier)
            assert gap_s >= DELAY_S - TIMER_SLACK_S, (host, earlier, later)
    shared = seen.sites[-1]
    assert seen.most_at_once(shared.log) <= PER_IP
    assert seen.most_at_once(seen.seen) <= CONCURRENCY


def _assert_honest(seen: Web) -> None:
    """Every request says who asks and nothing that it was not given."""
    for one in seen.seen:
        assert one.method == "GET"
        assert one.headers["user-agent"] == AGENT
        assert one.headers.keys() == {
            "host", "user-agent", "accept", "accept-language", "accept-encoding", "connection",
        }, one  # fmt: skip


def _audit(directory: Path) -> dict[str, Any]:
    done = run("audit", "-o", str(directory), "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["is_clean"]
    audit: dict[str, Any] = told["audit"]
    return audit


def _cut_off(directory: Path) -> Counter[str]:
    """Count the logged requests of each host that nobody has answered."""
    query = """
        SELECT names.name FROM requests JOIN names ON names.number = requests.host
        WHERE requests.outcome = 'timeout' AND requests.status = 0
    """
    with closing(sqlite3.connect(directory / "geomi.db")) as db:
        return Counter(host for (host,) in db.execute(query))


def _assert_agreed(
    proof: dict[str, Any], seen: Web, cut_off: Mapping[str, int] = MappingProxyType({})
) -> None:
    """The log tells what the servers saw: never more requests, never longer gaps."""
    assert proof["broken"] == 0
    logs = seen.by_host
    assert {host["host"] for host in proof["hosts"]} == logs.keys()
    for host in proof["hosts"]:
        log = logs[host["host"]]
        assert host["requests"] <= len(log) + cut_off.get(host["host"], 0)
        assert host["most_at_once"] == 1
        assert host["owed_s"] == DELAY_S
        assert host["least_gap_s"] >= DELAY_S - 1e-6
        assert host["judged"] == host["requests"] - host["robots"]
    (shared,) = [one for one in proof["addresses"] if one["ip"] == SHARED]
    assert (shared["hosts"], shared["allowed"]) == (len(NAMES), PER_IP)
    assert shared["most_at_once"] <= PER_IP
