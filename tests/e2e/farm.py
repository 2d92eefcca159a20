"""What the machines of a test share: a database, a bucket and sites; each has a disk of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import DataDirectory, make_plan, open_directory, start_detached
from geomi.engine.audit.audit import Audit, audit
from geomi.engine.inspect.export import records
from geomi.model.job import CrawlJob
from geomi.model.worker import WorkerCard
from geomi.settings.layers import flags_layer, resolve, settings_layer
from geomi.settings.options import Settings
from tests.e2e.command import GEOMI, clean_env
from tests.support.server import Seen, Site
from tests.support.webs import Web

T = TypeVar("T")

DELAY_S = 0.05
SLACK_S = 0.002  # a monotonic clock read in two processes
# Short leases and quick heartbeats, so that a death or a long sleep is over within seconds.
SILENCE_S = 2.0
LONGEST_REQUEST_S = 2.0
CONTACT = "https://crawler.test/about"


@dataclass(frozen=True)
class Farm:
    """A database and an archive; without `blobs`, machines share the folder `shared`."""

    folder: Path
    db: str
    blobs: str = ""

    def root(self, machine: str) -> Path:
        """Return the data directory of a machine."""
        return self.folder / (machine if self.blobs else "shared")

    def flags(self, machine: str) -> list[str]:
        """Return the flags that lead a command to the store."""
        blobs = ["--blobs", self.blobs] if self.blobs else []
        return ["-o", str(self.root(machine)), "--db", self.db, *blobs, "--allow-private"]

    def begin(self, *sites: Site, delay_s: float = DELAY_S) -> CrawlJob:
        """Begin a job and leave it to workers."""
        flags = flags_layer(
            {"delay": delay_s, "depth": 100, "max_pages": 0},
            [f"{part}.total_timeout_s={LONGEST_REQUEST_S}" for part in ("http", "robots")],
        )
        seeds = [site.url("/") for site in sites]
        plan = make_plan(seeds, resolve([flags, settings_layer(self._settings)]), flags)
        return self.look(lambda home: start_detached(home, plan), machine="starter")

    def jobs(self) -> list[CrawlJob]:
        """Return the jobs, the oldest first."""
        return self.look(lambda home: home.world.store.jobs.list(limit=10))[::-1]

    def workers(self) -> list[WorkerCard]:
        """Return who works now."""
        return self.look(lambda home: home.world.store.workers.list())

    def exported(self, job: CrawlJob) -> Counter[str]:
        """Read every record of a job back, on a machine that has seen none of it."""

        async def work(home: DataDirectory) -> Counter[str]:
            lines = [record async for record in records(home.world, job.id)]
            return Counter(json.loads(line)["url"] for line in lines)

        return self.look(work)

    def audit(self) -> Audit:
        """Let the log of requests prove that every host was asked politely."""
        found = self.look(lambda home: audit(home.world))
        assert not found.broken, found
        return found

    def look(self, work: Callable[[DataDirectory], Awaitable[T]], *, machine: str = "reader") -> T:
        """Do some work in this process, as a command of a machine would."""

        async def run() -> T:
            opened = open_directory(self.root(machine), self._settings, lambda _: EventFanOut())
            async with opened as home:
                return await work(home)

        return asyncio.run(run())

    @contextmanager
    def working(
        self, *arguments: str, machine: str, command: str = "worker"
    ) -> Iterator[subprocess.Popen[str]]:
        """Run a command on a machine; it is killed if the test leaves it running."""
        process = subprocess.Popen(
            [*GEOMI, command, *arguments, *self.flags(machine)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=clean_env() | {"GEOMI_SILENCE_S": str(SILENCE_S), "GEOMI_CONTACT": CONTACT},
            start_new_session=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()

    @property
    def _settings(self) -> Settings:
        return Settings(
            contact=CONTACT,
            allow_private=True,
            db=self.db,
            blobs=self.blobs,
            silence_s=SILENCE_S,
        )


def ended_well(*processes: subprocess.Popen[str], timeout_s: float = 60.0) -> list[str]:
    """Wait for processes to end and return what they said."""
    said = [process.communicate(timeout=timeout_s)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), said
    return said


def wait_for(is_so: Callable[[], bool], *, timeout_s: float = 60.0) -> None:
    """Look until something is so."""
    deadline_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline_s, "it did not happen in time"
        time.sleep(0.02)


def assert_polite(log: list[Seen], delay_s: float = DELAY_S) -> None:
    """One request at a time, and the delay between two."""
    for earlier, later in pairwise(sorted(log, key=lambda seen: seen.started_s)):
        ended_s = earlier.ended_s or earlier.started_s
        assert later.started_s - ended_s >= delay_s - SLACK_S, (earlier, later)


def wanted(web: Web, *sites: Site) -> dict[str, int]:
    """Return what a whole crawl of some sites has once."""
    return {site.url(path): 1 for site in sites for path in web.reachable}
