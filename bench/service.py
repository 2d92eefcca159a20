"""How quickly the service answers while it crawls, on the embedded default.

    python -m bench.service [--seconds 20] [--sites 30]

A served geomi with one crawling process; ten tenants with three crawls each, on loopback hosts of
their own at the five requests a second that the API allows. Once all of them crawl, one client asks
one read after the other, each kind in its turn, as dashboards do: lists of crawls, one crawl, its
URLs, documents, a search, the usage. The same reads are then asked while nothing crawls; the ratio
says what the crawling costs them. The last line is for other programs.
"""

from __future__ import annotations

import argparse
import http.client
import itertools
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlsplit

from bench.watch import tree_cpu_s
from tests.support.server import Reply, Site

TENANTS, CRAWLS = 10, 3
PAGES = 2000  # of each site: more than it is asked for
SETTLE_S = 5.0


@dataclass
class Client:
    """One connection to the service, and how long each kind of read took."""

    url: str
    key: str
    took_s: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        place = urlsplit(self.url)
        self._connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)

    def begin(self) -> None:
        """Forget what was measured; a connection that rested may be closed at its other end."""
        self.took_s.clear()
        self._connection.close()

    def ask(self, method: str, path: str, body: object = None, *, kind: str = "") -> Any:
        """Ask the API; a read of a kind is timed."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        began_s = time.perf_counter()
        sent = None if body is None else json.dumps(body)
        self._connection.request(method, f"/api/v1{path}", sent, headers)
        answer = self._connection.getresponse()
        told = answer.read()
        if kind:
            self.took_s.setdefault(kind, []).append(time.perf_counter() - began_s)
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {answer.status} {told.decode()}")
        return json.loads(told) if told else None


def main() -> None:
    """Print the percentiles of every kind of read."""
    options = _options()
    with ExitStack() as open_sites, tempfile.TemporaryDirectory() as folder:
        sites = [open_sites.enter_context(site) for site in _sites(options.sites)]
        process, admin = _serve(Path(folder))
        try:
            clients = [_tenant(admin, number) for number in range(TENANTS)]
            jobs = _start(clients, sites)
            time.sleep(SETTLE_S)
            asked_before = sum(len(site.log) for site in sites)
            cpu_s = tree_cpu_s(process.pid)
            busy = _measure(clients, jobs, options.seconds)
            fetched = sum(len(site.log) for site in sites) - asked_before
            cpu_s = tree_cpu_s(process.pid) - cpu_s
            for client, job in zip(clients, jobs, strict=True):
                client.begin()
                for one in job:
                    client.ask("POST", f"/crawls/{one}/cancel")
            time.sleep(SETTLE_S)
            idle = _measure(clients, jobs, options.seconds / 2)
        finally:
            process.terminate()
            process.wait()
    _report(busy, idle, fetched / options.seconds, 1000 * cpu_s / max(1, fetched))


def _sites(many: int) -> Iterator[Site]:
    for number in range(many):
        yield Site({}, otherwise=_page, address=f"127.0.1.{number + 1}")


def _page(seen: Any) -> Reply:
    at = int(seen.path.strip("/") or 0) if seen.path.strip("/").isdigit() else 0
    links = "".join(f'<a href="/{(at * 3 + step) % PAGES}">on</a> ' for step in range(1, 6))
    text = f"<p>Page {at} tells of looms, threads and the weather over the village. " * 30
    return Reply(f"<title>Page {at}</title><main>{text}{links}</main>".encode())


def _serve(folder: Path) -> tuple[subprocess.Popen[str], Client]:
    command = [sys.executable, "-m", "geomi", "serve", "-o", str(folder / "served")]
    process = subprocess.Popen(
        [*command, "--port", "0", "--allow-private"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    key = url = ""
    assert process.stdout is not None
    for line in process.stdout:
        key = line.strip() if line.startswith("geomi_") else key
        if found := re.match(r"geomi serves (\S+)", line):
            url = found[1]
            break
    if not url:
        raise SystemExit("the service did not start")
    return process, Client(url, key)


def _tenant(admin: Client, number: int) -> Client:
    quota = {"maxDailyPages": 0, "maxStorageBytes": 0}
    admin.ask("POST", "/admin/tenants", {"name": f"t{number}", "quota": quota})
    key = admin.ask("POST", f"/admin/tenants/t{number}/keys", {})["key"]
    return Client(admin.url, key)


def _start(clients: list[Client], sites: list[Site]) -> list[list[str]]:
    turns = itertools.cycle(sites)
    config = {
        "maxPages": 10_000,
        "maxDepth": 10,
        "requestsPerSecond": 5,
        "delayBetweenRequests": 200,
    }
    return [
        [
            client.ask(
                "POST",
                "/crawls",
                {"collectionId": "all", "seedUrls": [next(turns).url("/")], "config": config},
            )["jobId"]
            for _ in range(CRAWLS)
        ]
        for client in clients
    ]


def _measure(
    clients: list[Client], jobs: list[list[str]], seconds: float
) -> dict[str, list[float]]:
    for client in clients:
        client.begin()
    until_s = time.monotonic() + seconds
    for client, job in itertools.cycle(list(zip(clients, jobs, strict=True))):
        if time.monotonic() > until_s:
            break
        client.ask("GET", "/crawls", kind="crawls")
        client.ask("GET", f"/crawls/{job[0]}", kind="crawl")
        client.ask("GET", f"/crawls/{job[0]}/urls", kind="urls")
        client.ask("GET", "/documents", kind="documents")
        client.ask("POST", "/search", {"query": "looms and weather"}, kind="search")
        client.ask("GET", "/usage", kind="usage")
    took: dict[str, list[float]] = {}
    for client in clients:
        for kind, times in client.took_s.items():
            took.setdefault(kind, []).extend(times)
    return took


def _report(
    busy: dict[str, list[float]], idle: dict[str, list[float]], rate: float, cpu_ms: float
) -> None:
    print(f"{rate:.0f} requests/s to sites meanwhile, {cpu_ms:.1f} CPU ms each, answers included")
    print(f"{'ms':12} {'median':>8} {'p95':>8} {'p99':>8} {'idle p95':>9} {'reads':>7}")
    for kind in (*busy, "all"):
        times, calm = _of(busy, kind), _of(idle, kind)
        print(
            f"{kind:12} {1000 * median(times):8.1f} {_percentile(times, 95):8.1f} "
            f"{_percentile(times, 99):8.1f} {_percentile(calm, 95):9.1f} {len(times):7}"
        )
    every, calm = _of(busy, "all"), _of(idle, "all")
    ratio = _percentile(every, 95) / _percentile(calm, 95)
    print(f"p95_ms={_percentile(every, 95):.1f} busy_over_idle={ratio:.2f} pages_s={rate:.0f}")


def _of(took: dict[str, list[float]], kind: str) -> list[float]:
    return list(itertools.chain.from_iterable(took.values())) if kind == "all" else took[kind]


def _percentile(times_s: list[float], percent: int) -> float:
    return 1000 * quantiles(times_s, n=100)[percent - 1]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.service")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--sites", type=int, default=30)
    return parser.parse_args()


if __name__ == "__main__":
    main()
