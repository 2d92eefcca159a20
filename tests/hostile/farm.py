"""A small web of hostile hosts behind one server, and how each of its pages must end.

Every host has an index, its evils, and good pages between them: whatever the evils do, the good
pages of all hosts must be collected. What waits for a deadline has a host of its own, because hosts
are asked side by side and a host's pages one after the other.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from geomi.model.verdict import Outcome
from tests.adapters.http.support import ENCODERS
from tests.conftest import ROOT
from tests.hostile import documents, maps
from tests.hostile.crawler import Order, Report
from tests.hostile.evils import BOMBS, EVILS, SLOW, Endless, Evil, bomb, encoding
from tests.support.crawl import page, robots, to
from tests.support.server import Answer, Raw, Reply, Route, Seen, Site

TIMEOUT_S = 3.0
LONGEST_CRAWL_S = 120.0
SETTINGS = (
    "http.connect_timeout_s=3",
    "http.read_timeout_s=2",
    f"http.total_timeout_s={TIMEOUT_S}",
    # What a failure costs a host, and when it is tried again, is politeness and tested there.
    "http.max_retries=0",
    "politeness.max_backoff_s=0",
    "politeness.per_ip=100",
    "robots.on_unreachable=allow",
    "scope.exclude=/skip/**",  # where pages of very many links lead
)
# For pages that wait for one another: the process that reads them takes two seconds for each.
PATIENCE_S = 60.0
PATIENT = (*SETTINGS, f"http.total_timeout_s={PATIENCE_S}")
CROWD = 10  # as many requests as a worker sends at once


@dataclass
class Host:
    """One host: its answers by path, how their pages end, and which of its pages are good."""

    name: str
    routes: dict[str, Route] = field(default_factory=dict)
    endings: dict[str, Outcome] = field(default_factory=dict)
    good: list[str] = field(default_factory=list)
    otherwise: Route = field(default_factory=lambda: Reply(b"not here", status=404))

    def url(self, path: str = "/") -> str:
        """Return the URL of a path."""
        return f"http://{self.name}{path}"

    def title(self, path: str) -> str:
        """Return the title of a good page."""
        return f"{self.name} {path}"

    def add(self, path: str, route: Route, ending: Outcome) -> str:
        """Give it a page that ends like this."""
        self.routes[path], self.endings[path] = route, ending
        return path

    def add_good(self, path: str, *links: str) -> str:
        """Give it a page like any other."""
        self.good.append(path)
        return self.add(path, page(self.title(path), *links), Outcome.OK)

    def close(self, links: Iterable[str], robots_txt: Route | None = None) -> Host:
        """Give it an index of these links, and a robots.txt."""
        self.add_good("/", *links)
        self.routes["/robots.txt"] = robots_txt or Reply(status=404)
        return self


def serve(hosts: Iterable[Host]) -> Site:
    """Answer for all hosts, told apart by the Host header."""
    by_name = {host.name: host for host in hosts}

    def answer(seen: Seen) -> Answer:
        host = by_name[seen.host]
        route = host.routes.get(seen.path, host.otherwise)
        return route(seen) if callable(route) else route

    return Site({}, otherwise=answer)


def crawl(
    root: Path, hosts: list[Host], settings: tuple[str, ...] = SETTINGS
) -> tuple[Report, list[str]]:
    """Crawl hosts in a new process; return its report and the targets asked for, in order."""
    with serve(hosts) as site:
        order = Order(
            str(root),
            [host.url() for host in hosts],
            [f"{host.name}:80:{site.address}:{site.port}" for host in hosts],
            settings,
        )
        done = subprocess.run(
            (sys.executable, "-m", "tests.hostile.crawler"),
            input=json.dumps(asdict(order)),
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
            timeout=LONGEST_CRAWL_S,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return Report(**json.loads(done.stdout)), [f"{seen.host}{seen.target}" for seen in site.log]


def idle() -> list[Host]:
    """Return one small page on one host: what a crawl costs when there is nothing to it."""
    host = Host("idle.test")
    return [host.close([])]


def answers() -> list[Host]:
    """Return every evil answer: as a page, in a redirect, as robots.txt, as a sitemap."""
    return [
        _evils("evils.test", EVILS),
        *(_evils(f"{name}.slow.test", {name: evil}) for name, evil in SLOW.items()),
        _redirects(),
        *_robots(),
        *_sitemaps(maps.SITEMAPS),
        _charsets(),
    ]


def small_documents() -> list[Host]:
    """Return the pages that are read inside the worker."""
    return [_documents("small.test", dict.fromkeys(documents.SMALL, documents.INLINE_BYTES))]


def large_documents() -> list[Host]:
    """Return the pages that are read in the child."""
    return [_documents("large.test", documents.LARGE)]


def crowd() -> list[Host]:
    """Return hosts that each serve a page of the largest size, all at the same time."""
    return [_large(number) for number in range(CROWD)]


def large_sitemap() -> list[Host]:
    """Return a sitemap of a million URLs."""
    return list(_sitemaps(maps.MILLION))


def _evils(name: str, evils: Mapping[str, Evil]) -> Host:
    host = Host(name)
    links = []
    for number, (evil_name, evil) in enumerate(evils.items()):
        links.append(host.add(f"/evil/{evil_name}", evil.answer, evil.outcome))
        links.append(host.add_good(f"/good/{number}"))
    return host.close(links)


def _redirects() -> Host:
    """Loops, chains, and bombs in bodies that nobody should read."""
    host = Host("redirects.test")
    links = []
    for number, codings in enumerate(BOMBS):
        headers = (("Location", host.add_good(f"/behind/{number}")), encoding(codings))
        reply = Reply(bomb(codings), status=302, headers=headers)
        links.append(host.add(f"/bomb/{codings}", reply, Outcome.REDIRECTED))
    endless = Endless(b"HTTP/1.1 301 Moved\r\nLocation: /behind/0\r\n\r\n", b"x" * 9000)
    links += [
        host.add("/endless", Raw(endless), Outcome.REDIRECTED),
        host.add("/self", to("/self"), Outcome.REDIRECTED),
        host.add("/ping", to("/pong"), Outcome.REDIRECTED),
        host.add("/hop", _hop, Outcome.REDIRECTED),
    ]
    host.add("/pong", to("/ping"), Outcome.REDIRECTED)
    host.add("/hop/1/2/3", _hop, Outcome.REDIRECTED)
    host.add("/hop/1/2/3/4/5", _hop, Outcome.TOO_MANY_REDIRECTS)
    host.otherwise = _hop
    return host.close([*links, host.add_good("/last")])


def _hop(seen: Seen) -> Reply:
    """Redirect to a longer URL; words that never repeat, or the trap detectors would end it."""
    return to(f"{seen.target}/{seen.target.count('/')}")


def _robots() -> Iterator[Host]:
    for name, evil in maps.ROBOTS.items():
        host = Host(f"{name}.robots.test")
        host.routes |= maps.BESIDE_ROBOTS
        yield host.close([host.add_good("/good")], evil)


def _sitemaps(sitemaps: Mapping[str, maps.Sitemap]) -> Iterator[Host]:
    for name, sitemap in sitemaps.items():
        host = Host(f"{name}.sitemap.test")
        if sitemap.is_read:
            host.add_good("/listed")
        path = host.add(f"/{name}.xml", sitemap.route(host.url("")), sitemap.outcome)
        host.otherwise = sitemap.otherwise or host.otherwise
        rules = robots("User-agent: *", "Allow: /", f"Sitemap: {host.url(path)}")
        yield host.close([host.add_good("/good")], rules)


def _charsets() -> Host:
    host = Host("charsets.test")
    links = [
        host.add(f"/{name}", Reply(body, content_type=kind), Outcome.OK)
        for name, body, kind, _ in documents.charsets()
    ]
    return host.close([*links, host.add_good("/good")])


def _documents(name: str, sizes: Mapping[str, int]) -> Host:
    host = Host(name)
    links = []
    for number, (shape, size) in enumerate(sizes.items()):
        ending = documents.ENDINGS.get((shape, size), Outcome.OK)
        links.append(host.add(f"/{shape}", Reply(documents.document(shape, size)), ending))
        links.append(host.add_good(f"/good/{number}"))
    return host.close(links)


def _large(number: int) -> Host:
    """Give a host one page of prose and links, coded in one of the ways there are."""
    host = Host(f"crowd-{number}.test")
    unit = f"<p>some words of number {{0}} on host {number}, <a href=/skip/{{0}}>and a link</a></p>"
    body = documents.counted(unit, 9 * documents.MIB)
    ways = [("identity", bytes), *ENCODERS.values()]
    coding, encode = ways[number % len(ways)]
    reply = Reply(encode(body), headers=(("Content-Encoding", coding),))
    return host.close([host.add("/large", reply, Outcome.OK), host.add_good("/good")])
