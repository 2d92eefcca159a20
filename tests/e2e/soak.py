"""A served geomi under load for as long as one likes: three tenants, kills, and half requests.

    python -m tests.e2e.soak --minutes 30

The load never changes, so nothing else may either: the memory, the file handles and the number of
all processes, and how fast the log grows, are compared between the second and the last quarter.
Workers are killed all the time. The server is killed in the first quarter alone, because a process
that begins anew shows no leak.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import socket
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from tests.e2e.serving import Served
from tests.support.crawl import page
from tests.support.server import Reply, Site

TENANTS = ("amber", "birch", "cedar")
SITES = 6
PAGES = 8
MARK = "SOAK"  # in the environment of every process, so that none is overlooked
MIB = 1024 * 1024

LOOK_S = 0.25  # between two turns of the load
SAMPLE_S = 0.2
WORKER_KILL_S = 20.0  # one, on the average
SERVER_KILLS = 2
HALF_REQUESTS = 40  # held open, while the oldest give way to new ones
SETTLING_S = 60.0

# What may differ between two quarters: a cache that fills, clients that came at once. A process
# that has just begun has less than it will have as soon as it works, which is no growth.
WORKING_MIB = 96.0
MEMORY_SLACK, MEMORY_SLACK_MIB = 1.10, 24.0
HANDLE_SLACK = 48
LOG_BYTES_PER_MINUTE = 4_000
LOG_BYTES_PER_KILL = 1_000


@dataclass(frozen=True, slots=True)
class Sample:
    """What all processes of the service have at one moment."""

    at_s: float
    server_mib: float
    largest_worker_mib: float
    processes: int
    handles: int
    log_bytes: int
    kills: int


@dataclass
class Soak:
    """The load, and what was measured under it."""

    served: Served
    sites: Sequence[Site]
    mark: str
    rng: random.Random
    keys: dict[str, str] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    asked: int = 0
    started: int = 0
    kills: int = 0
    halves: deque[socket.socket] = field(default_factory=deque)

    def run(self, seconds: float) -> None:
        """Ask, kill and measure for a time."""
        for name in TENANTS:
            quota = {"maxConcurrentCrawls": 3, "maxDailyPages": 0}
            self.served.post("/admin/tenants", {"name": name, "quota": quota})
            self.keys[name] = self.served.post(f"/admin/tenants/{name}/keys", {})["key"]
        began_s = time.monotonic()
        server_kills = [seconds / 4 * (n + 1) / (SERVER_KILLS + 1) for n in range(SERVER_KILLS)]
        next_kill_s = sampled_s = 0.0
        while (at_s := time.monotonic() - began_s) < seconds:
            if server_kills and at_s > server_kills[0]:
                server_kills.pop(0)
                self._kill_server()
            if at_s > next_kill_s:
                next_kill_s = at_s + self.rng.expovariate(1 / min(WORKER_KILL_S, seconds / 6))
                self._kill_worker()
            if at_s - sampled_s > SAMPLE_S:
                sampled_s = at_s
                self.samples.append(self._sample(at_s))
            self._turn()
            time.sleep(LOOK_S)

    def end(self) -> None:
        """Let go of all connections."""
        while self.halves:
            self.halves.popleft().close()

    def completed(self) -> dict[str, int]:
        """Wait until each tenant's crawls have ended; return how many were completed."""
        until_s = time.monotonic() + SETTLING_S
        while True:
            crawls = {
                name: self.served.every("/crawls", "crawls", key=key)
                for name, key in self.keys.items()
            }
            if all(one["completedAt"] for many in crawls.values() for one in many):
                return {
                    name: sum(one["status"] == "completed" for one in many)
                    for name, many in crawls.items()
                }
            assert time.monotonic() < until_s, "crawls do not end"
            time.sleep(LOOK_S)

    def processes(self) -> Iterator[int]:
        """Yield every process of the service, whoever started it."""
        wanted = f"{MARK}={self.mark}".encode()
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)

    def _turn(self) -> None:
        for name, key in self.keys.items():
            crawls = self.served.get("/crawls?limit=10", key=key)["crawls"]
            self.served.post("/search", {"query": "thread tension", "limit": 3}, key=key)
            self.asked += 2
            if sum(one["completedAt"] is None for one in crawls) < 2:
                self._start(name, key)
            elif crawls:
                self._follow(self.rng.choice(crawls)["jobId"], key)
        for _ in range(4):
            self._half_request()

    def _start(self, tenant: str, key: str) -> None:
        site = self.rng.choice(self.sites)
        asked = {
            "collectionId": f"{tenant}-{self.started % 3}",
            "seedUrls": [site.url("/")],
            "config": {"requestsPerSecond": 5, "delayBetweenRequests": 200, "maxDepth": 10},
        }
        self.served.post("/crawls", asked, key=key)
        self.started += 1
        self.asked += 1

    def _follow(self, job: str, key: str) -> None:
        """Read the beginning of a crawl's events, and go."""
        place = urlsplit(self.served.url)
        following = HTTPConnection(place.hostname or "", place.port, timeout=30)
        try:
            headers = {"Authorization": f"Bearer {key}"}
            following.request("GET", f"/api/v1/crawls/{job}/events", headers=headers)
            answer = following.getresponse()
            assert answer.status == 200 and answer.readline().startswith(b"event: ")
            self.asked += 1
        finally:
            following.close()

    def _half_request(self) -> None:
        place = urlsplit(self.served.url)
        half = socket.create_connection((place.hostname or "", place.port or 0), timeout=30)
        half.sendall(b"POST /api/v1/crawls HTTP/1.1\r\nHost: geomi\r\nContent-Length: 9\r\n")
        half.sendall(self.rng.choice((b"X-Part: ", b"\r\n{", b"")))
        self.halves.append(half)
        if len(self.halves) > HALF_REQUESTS:
            self.halves.popleft().close()

    def _kill_server(self) -> None:
        self.served.kill()
        self.kills += 1
        self.end()
        self.served.start()

    def _kill_worker(self) -> None:
        workers = [pid for pid in self.processes() if pid != self.served.pid]
        if workers:
            with suppress(ProcessLookupError):
                os.kill(self.rng.choice(workers), signal.SIGKILL)
                self.kills += 1

    def _sample(self, at_s: float) -> Sample:
        pids = list(self.processes())
        workers = [_memory_mib(pid) for pid in pids if pid != self.served.pid]
        assert self.served.log is not None
        return Sample(
            at_s,
            _memory_mib(self.served.pid),
            max(workers, default=0.0),
            len(pids),
            sum(map(_handles, pids)),
            self.served.log.stat().st_size,
            self.kills,
        )


def grown(samples: Sequence[Sample]) -> list[str]:
    """Say what has grown from the second quarter to the last; nothing should have."""
    quarter = len(samples) // 4
    assert quarter >= 2, "too short to tell"
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    told = []
    memory: tuple[tuple[str, Callable[[Sample], float]], ...] = (
        ("memory of the server", lambda one: one.server_mib),
        ("memory of the largest worker", lambda one: one.largest_worker_mib),
    )
    for name, of in memory:
        was, now = (statistics.median(map(of, part)) for part in (early, late))
        if now > max(was, WORKING_MIB) * MEMORY_SLACK + MEMORY_SLACK_MIB:
            told.append(f"{name}: {was:.0f} MiB, then {now:.0f} MiB")
    counts: tuple[tuple[str, Callable[[Sample], int], int], ...] = (
        ("processes", lambda one: one.processes, 0),
        ("handles", lambda one: one.handles, HANDLE_SLACK),
    )
    for name, count, slack in counts:
        most, last = (max(map(count, part)) for part in (samples[: 2 * quarter], late))
        if last > most + slack:
            told.append(f"{name}: at most {most}, then {last}")
    first, last_one = samples[2 * quarter], samples[-1]
    written = last_one.log_bytes - first.log_bytes
    may = LOG_BYTES_PER_MINUTE * (1 + (last_one.at_s - first.at_s) / 60)
    may += LOG_BYTES_PER_KILL * (last_one.kills - first.kills)
    if written > may:
        told.append(f"log: {written:,} bytes in the second half; {may:,.0f} are allowed")
    return told


@contextmanager
def soaking(folder: Path, *, seed: int) -> Iterator[Soak]:
    """Serve three tenants beside the sites that they crawl; in the end no process is left."""
    mark = uuid4().hex
    env = {MARK: mark, "GEOMI_API_RATE_PER_MINUTE": "0", "GEOMI_HEADER_TIMEOUT_S": "2"}
    with ExitStack() as opened:
        sites = [
            opened.enter_context(Site(_pages(n), address=f"127.0.0.{n + 2}")) for n in range(SITES)
        ]
        served = Served(folder / "data", "-q", env=env, handles=1024, log=folder / "log")
        soak = Soak(opened.enter_context(served), sites, mark, random.Random(seed))
        try:
            yield soak
            served.stop()
            until_s = time.monotonic() + SETTLING_S
            while left := list(soak.processes()):
                assert time.monotonic() < until_s, f"processes are left: {left}"
                time.sleep(LOOK_S)
        finally:
            soak.end()


def _pages(number: int) -> dict[str, Reply]:
    names = [f"/{name}" for name in range(PAGES)]
    return {path: page(f"loom {number}{path}", *names) for path in ("/", *names)}


def _memory_mib(pid: int) -> float:
    with suppress(OSError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / MIB
    return 0.0


def _handles(pid: int) -> int:
    with suppress(OSError):
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return 0


def main() -> int:
    """Run it for some minutes, show what was measured, and fail where something has grown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, soaking(Path(folder), seed=asked.seed) as soak:
        soak.run(asked.minutes * 60)
        soak.end()
        completed = soak.completed()
    print("minute  server MiB  worker MiB  processes  handles  log bytes  kills")
    step = max(1, len(soak.samples) // 30)
    for one in soak.samples[::step]:
        print(
            f"{one.at_s / 60:6.1f}  {one.server_mib:10.1f}  {one.largest_worker_mib:10.1f}  "
            f"{one.processes:9}  {one.handles:7}  {one.log_bytes:9,}  {one.kills:5}"
        )
    print(f"{soak.asked:,} requests, {soak.started:,} crawls started, completed: {completed}")
    told = grown(soak.samples)
    print("\n".join(told) or "nothing has grown")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
