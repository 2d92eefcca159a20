"""Real workers in real processes: they join a database, drain, die, sleep, and lose nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from geomi.testing.postgres import Cluster
from geomi.testing.s3 import S3Server
from geomi.testing.server import Seen, Site
from geomi.testing.webs import Web, random_web
from tests.e2e.command import GEOMI, LOCAL, clean_env, records, run

DELAY_S = 0.05
SLACK_S = 0.002  # a monotonic clock read in two processes
# Short leases and quick heartbeats, so that a death or a long sleep is over within seconds.
QUICK = {"GEOMI_SILENCE_S": "2"}
SHORT = ["--set", "http.total_timeout_s=2", "--set", "robots.total_timeout_s=2"]


@contextmanager
def working(*arguments: str, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """Run a command beside the test; it is killed if the test leaves it running."""
    process = subprocess.Popen(
        [*GEOMI, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=clean_env() | QUICK | (env or {}),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_for(is_so: Callable[[], bool], *, timeout_s: float = 40.0) -> None:
    """Look until something is so."""
    deadline_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline_s, "it did not happen in time"
        time.sleep(0.02)


def told(*arguments: str) -> Any:
    """Run a command that gives JSON, and read it."""
    done = run(*arguments, "--json", env=QUICK)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_polite(log: list[Seen]) -> None:
    """One request at a time, and the delay between two."""
    for earlier, later in pairwise(sorted(log, key=lambda seen: seen.started_s)):
        ended_s = earlier.ended_s or earlier.started_s
        assert later.started_s - ended_s >= DELAY_S - SLACK_S, (earlier, later)


class Farm:
    """A database, a bucket and a web: what the machines of a test share."""

    def __init__(self, tmp_path: Path, cluster: Cluster, s3: S3Server) -> None:
        self.tmp_path = tmp_path
        self.db, self.blobs = cluster.new_schema(), s3.new_prefix()

    def at(self, machine: str) -> list[str]:
        """Return the flags of a machine, which has a disk of its own."""
        return ["-o", str(self.tmp_path / machine), "--db", self.db, "--blobs", self.blobs]

    def begin(self, *sites: Site) -> str:
        """Begin a job and leave it to workers."""
        begun = run(
            "crawl", *(site.url("/") for site in sites), *LOCAL, *SHORT, *self.at("starter"),
            "--delay", str(DELAY_S), "--detach", env=QUICK,
        )  # fmt: skip
        assert begun.returncode == 0, begun.stderr
        return begun.stdout.strip()

    def worker(self, machine: str, *flags: str) -> list[str]:
        """Return the command of a worker."""
        return ["worker", "--allow-private", *self.at(machine), *flags]

    def state(self) -> str:
        """Return the newest job's state."""
        return str(
            told("jobs", "show", "latest", "-o", str(self.tmp_path / "x"), "--db", self.db)["state"]
        )

    def exported(self) -> Counter[str]:
        """Read every record of the newest job back, on a machine that has seen none of it."""
        done = run("export", "-f", "jsonl", *self.at("reader"))
        assert done.returncode == 0, done.stderr
        return Counter(json.loads(line)["url"] for line in done.stdout.splitlines())

    def audit(self) -> None:
        """Let the log of requests prove that every host was asked politely."""
        done = run("audit", "-o", str(self.tmp_path / "x"), "--db", self.db)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def farm(tmp_path: Path, cluster: Cluster, s3: S3Server) -> Farm:
    """Make a database and a bucket for machines to share."""
    return Farm(tmp_path, cluster, s3)


def wanted(*pairs: tuple[Site, Web]) -> dict[str, int]:
    """Return what a whole crawl has once."""
    return {site.url(path): 1 for site, web in pairs for path in web.reachable}


@pytest.mark.slow
def test_two_machines_serve_two_jobs_and_end_them_once(farm: Farm) -> None:
    webs = [random_web(seed, pages=25) for seed in (1, 2)]
    with (
        Site(webs[0].routes) as one,
        Site(webs[1].routes, address="127.0.0.2") as two,
    ):
        begun = {farm.begin(one), farm.begin(two)}
        with (
            working(*farm.worker("a", "--once", "-v")) as first,
            working(*farm.worker("b", "--once", "-v")) as second,
        ):
            outputs = [process.communicate(timeout=60)[0] for process in (first, second)]
            assert [process.returncode for process in (first, second)] == [0, 0], outputs
        assert_polite(one.log)
        assert_polite(two.log)
    ended = [
        json.loads(line)
        for output in outputs
        for line in output.splitlines()
        if "job_ended" in line
    ]
    assert Counter(event["job"] for event in ended) == dict.fromkeys(begun, 1)
    for job in told("jobs", "list", "-o", str(farm.tmp_path / "x"), "--db", farm.db):
        assert (job["state"], job["stop"], job["stats"]["collected"]) == ("completed", "done", 25)
    farm.audit()
    assert told("workers", "-o", str(farm.tmp_path / "x"), "--db", farm.db) == []


@pytest.mark.slow
def test_sigterm_drains_a_worker_and_gives_everything_back(farm: Farm) -> None:
    web = random_web(3, pages=60)
    with Site(web.routes) as site:
        farm.begin(site)
        with working(*farm.worker("a")) as process:
            wait_for(lambda: len(site.log) > 10)
            held = told("workers", "-o", str(farm.tmp_path / "x"), "--db", farm.db)
            process.send_signal(signal.SIGTERM)
            output, _ = process.communicate(timeout=30)
            assert process.returncode == 0, output
            asked = len(site.log)
        assert [card["role"] for card in held] == ["worker"]
        assert held[0]["pid"] == process.pid
        assert told("workers", "-o", str(farm.tmp_path / "x"), "--db", farm.db) == []
        status = told("status", "-o", str(farm.tmp_path / "x"), "--db", farm.db)
        assert (status["leased"], status["job"]["state"]) == (0, "processing")
        assert list((farm.tmp_path / "a").glob("jobs/*/warc/*")) == [], "every segment was sent"
        collected = status["job"]["stats"]["collected"]
        assert collected >= asked - 2  # robots.txt is no page
        assert len(farm.exported()) == collected
        done = run(*farm.worker("b", "--once"), env=QUICK)
        assert done.returncode == 0, done.stderr
        assert_polite(site.log)
        assert Counter(seen.path for seen in site.log)["/"] == 1
        assert farm.exported() == wanted((site, web))
    farm.audit()


@pytest.mark.slow
def test_a_machine_that_is_lost_with_its_disk_takes_no_page_along(farm: Farm) -> None:
    """Its unsent pages are fetched again by others, who end the job although its starter died."""
    web = random_web(4, pages=60)
    with Site(web.routes) as site:
        farm.begin(site)
        with working(*farm.worker("a")) as lost:
            wait_for(lambda: len(site.log) > 15)
            os.killpg(lost.pid, signal.SIGKILL)
            lost.wait()
        unsent = list((farm.tmp_path / "a").glob("jobs/*/warc/*"))
        assert unsent, "it had not sent anything"
        shutil.rmtree(farm.tmp_path / "a")
        with working(*farm.worker("b", "--once")) as other:
            output, _ = other.communicate(timeout=90)
            assert other.returncode == 0, output
        assert "pages will be fetched again" in output
        assert farm.exported() == wanted((site, web))
        assert_polite(site.log)
    assert farm.state() == "completed"
    farm.audit()


@pytest.mark.slow
def test_workers_of_other_machines_join_a_crawl_that_writes_outputs(farm: Farm) -> None:
    """The crawl waits for what they have not sent; when it dies, they go on, and a resume ends."""
    web = random_web(5, pages=60)
    sites = [Site(web.routes, address=f"127.0.0.{number}") for number in (2, 3, 4)]
    with sites[0] as one, sites[1] as two, sites[2] as three:
        crawl = [
            "crawl", one.url("/"), two.url("/"), three.url("/"), *LOCAL, *SHORT, *farm.at("starter"),
            "--delay", str(DELAY_S), "-q", "--workers", "2",
        ]  # fmt: skip
        with working(*farm.worker("a")) as joined, working(*crawl) as starter:
            output, _ = starter.communicate(timeout=90)
            assert starter.returncode == 0, output
            machines = {
                card["machine"]
                for card in told("workers", "-o", str(farm.tmp_path / "x"), "--db", farm.db)
            }
            joined.send_signal(signal.SIGTERM)
            assert joined.wait(30) == 0
        assert len(machines) == 1  # only the worker is left
        kept = Counter(record["url"] for record in records(farm.tmp_path / "starter"))
        assert kept == wanted(*((site, web) for site in (one, two, three)))
        for site in (one, two, three):
            assert_polite(site.log)
    farm.audit()


@pytest.mark.slow
@pytest.mark.req("FRN-11")
def test_a_worker_that_sleeps_past_its_lease_does_no_harm(farm: Farm) -> None:
    """Another takes its host; awake again it fails to settle, but what it asked is in the log."""
    web = random_web(6, pages=40)
    with Site(web.routes) as site:
        farm.begin(site)
        with working(*farm.worker("a", "--concurrency", "4", "-v")) as sleeper:
            wait_for(lambda: len(site.log) > 8)
            sleeper.send_signal(signal.SIGSTOP)
            before = len(site.log)
            with working(*farm.worker("b")) as other:
                wait_for(lambda: len(site.log) > before + 5)
                sleeper.send_signal(signal.SIGCONT)
                wait_for(lambda: farm.state() == "completed")
                for process in (sleeper, other):
                    process.send_signal(signal.SIGTERM)
                outputs = [process.communicate(timeout=30)[0] for process in (sleeper, other)]
                assert [sleeper.returncode, other.returncode] == [0, 0], outputs
        assert "was lost" in outputs[0]
        assert farm.exported() == wanted((site, web))
        assert_polite(site.log)
        asked = Counter(seen.path for seen in site.log)
    log = told("audit", "-o", str(farm.tmp_path / "x"), "--db", farm.db)
    assert log["requests"] == asked.total()
