"""Real workers in real processes: they join a database, drain, die, sleep, and lose nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import threading
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from geomi.model.job import JobState, StopReason
from geomi.model.worker import WorkerRole
from tests.e2e.command import GEOMI, LOCAL, clean_env, records, run
from tests.e2e.farm import (
    DELAY_S,
    SILENCE_S,
    Farm,
    assert_polite,
    ended_well,
    wait_for,
    wanted,
)
from tests.support.crawl import page
from tests.support.postgres import Cluster
from tests.support.s3 import S3Server
from tests.support.server import End, Raw, Reply, Route, Seen, Site
from tests.support.webs import random_web

WEB = random_web(3, pages=40)
ROUNDS = 3
NAMES = tuple(f"/{number}" for number in range(6))


@pytest.fixture
def farm(tmp_path: Path, cluster: Cluster, s3: S3Server) -> Farm:
    """Make a database and a bucket for machines to share."""
    return Farm(tmp_path, cluster.new_schema(), s3.new_prefix())


@pytest.mark.slow
@pytest.mark.req("FUT-01", "SCL-05", "HTTP-17", "FRN-11")
def test_two_machines_serve_two_jobs_and_end_each_once(farm: Farm) -> None:
    with Site(WEB.routes) as one, Site(WEB.routes, address="127.0.0.2") as two:
        begun = {farm.begin(site).id: site for site in (one, two)}
        with (
            farm.working("--once", machine="a") as first,
            farm.working("--once", machine="b") as second,
        ):
            said = ended_well(first, second)
        for site in begun.values():
            assert_polite(site.log)
            assert Counter(seen.path for seen in site.log) == dict.fromkeys(
                ["/robots.txt", *WEB.reachable], 1
            )
    lines = [json.loads(line) for text in said for line in text.splitlines()]
    ended = Counter(line["job"] for line in lines if line["event"] == "job_ended")
    assert ended == dict.fromkeys(begun, 1)
    for job in farm.jobs():
        assert (job.state, job.stop) == (JobState.COMPLETED, StopReason.DONE)
        assert farm.exported(job) == wanted(WEB, begun[job.id])
    assert farm.workers() == []
    assert farm.audit().requests == len(one.log) + len(two.log)


@pytest.mark.slow
@pytest.mark.req("HTTP-17")
def test_a_worker_that_is_told_one_job_asks_its_hosts_alone(tmp_path: Path) -> None:
    """Such as a worker near the sites of a job; the other job waits for somebody else."""
    folder = ["-o", str(tmp_path), "--allow-private"]
    routes = {"/": Reply(b'<p>A start</p><a href="/a">a</a>'), "/a": Reply(b"<p>An end</p>")}
    with Site(routes) as far, Site(routes, address="127.0.0.2") as near:
        begun = {}
        for site in (far, near):
            done = run("crawl", site.url("/"), *folder, "--detach", "--delay", "0")
            assert done.returncode == 0, done.stderr
            begun[site.address] = done.stdout.strip()
        served = run("worker", "--job", begun[near.address], "--once", *folder)
        assert served.returncode == 0, served.stderr
        assert [seen.path for seen in near.log] == ["/robots.txt", "/", "/a"]
        assert far.log == []
    jobs = json.loads(run("jobs", "list", "-o", str(tmp_path), "--json").stdout)
    states = {job["id"]: job["state"] for job in jobs}
    assert states == {begun[near.address]: "completed", begun[far.address]: "processing"}


@pytest.mark.slow
def test_sigterm_drains_and_a_machine_lost_with_its_disk_takes_nothing_along(farm: Farm) -> None:
    """What was not sent is fetched again by another, who ends the job: its starter is gone."""
    with Site(WEB.routes) as site:
        job = farm.begin(site, delay_s=2 * DELAY_S)
        with farm.working(machine="drained") as drained:
            wait_for(lambda: len(site.log) > 5)
            (card,) = farm.workers()
            drained.send_signal(signal.SIGTERM)
            ended_well(drained)
        assert (card.role, card.pid, card.jobs) == (WorkerRole.WORKER, drained.pid, (job.id,))
        assert farm.workers() == []
        (found,) = farm.jobs()
        assert found.state is JobState.PROCESSING
        assert found.stats.collected == len(site.log) - 1, "all but robots.txt is settled"
        assert farm.exported(job).total() == found.stats.collected, "and sent"

        with farm.working(machine="lost") as lost:
            wait_for(lambda: len(site.log) > 20)
            os.killpg(lost.pid, signal.SIGKILL)
            lost.wait()
        assert list(farm.root("lost").glob("jobs/*/warc/*")), "it had not sent everything"
        shutil.rmtree(farm.root("lost"))

        with farm.working("--once", machine="other") as other:
            (said,) = ended_well(other)
        assert "pages will be fetched again" in said
        assert farm.exported(job) == wanted(WEB, site)
        assert_polite(site.log, 2 * DELAY_S)
    (found,) = farm.jobs()
    assert (found.state, found.stats.collected) == (JobState.COMPLETED, len(WEB.reachable))
    farm.audit()


@pytest.mark.slow
def test_a_crawl_joins_a_worker_and_waits_for_what_it_has_not_sent(farm: Farm) -> None:
    """The command that resumes a job answers for it from then on, and writes its outputs."""
    delay_s = 3 * DELAY_S
    early, has_joined = sorted(WEB.reachable)[5], threading.Event()

    def answer(_: Seen) -> Reply:
        has_joined.wait(20)  # or the worker would end the job before the crawl has begun
        return WEB.routes[early]

    routes: dict[str, Route] = {**WEB.routes, early: answer}
    sites = [Site(routes, address=f"127.0.0.{number}") for number in (2, 3, 4)]
    with sites[0], sites[1], sites[2]:
        job = farm.begin(*sites, delay_s=delay_s)
        with farm.working(machine="a") as joined:
            wait_for(lambda: sum(len(site.log) for site in sites) > 12)
            seeds = [site.url("/") for site in sites]
            flags = ["--resume", "--workers", "2", "-q"]
            with farm.working(*seeds, *flags, machine="starter", command="crawl") as starter:
                wait_for(lambda: len(farm.workers()) > 1)
                has_joined.set()
                (said,) = ended_well(starter)
            (card,) = farm.workers()
            joined.send_signal(signal.SIGTERM)
            (told,) = ended_well(joined)
        assert (card.pid, card.role) == (joined.pid, WorkerRole.WORKER)
        assert card.pages, "it had its share"
        assert "job_ended" not in told, "the crawl has ended the job"
        kept = Counter(record["url"] for record in records(farm.root("starter")))
        assert kept == farm.exported(job) == wanted(WEB, *sites), said
        for site in sites:
            assert_polite(site.log, delay_s)
    farm.audit()


@pytest.mark.slow
@pytest.mark.req("FRN-11")
def test_a_worker_that_sleeps_past_its_lease_does_no_harm(farm: Farm) -> None:
    """Stopped with a request in flight; another takes its host. Awake again it has an answer that
    nobody wants: it fails to settle, but what it asked is in the log."""
    slow = sorted(WEB.reachable - {"/"})[7]
    visits: list[Seen] = []

    def answer(seen: Seen) -> Raw | Reply:
        visits.append(seen)
        reply = WEB.routes[slow]
        return reply if len(visits) > 1 else Raw((0.5, *_written(reply)), End.KEEP)

    with Site({**WEB.routes, slow: answer}) as site:
        job = farm.begin(site)
        with farm.working(machine="a") as sleeper:
            wait_for(lambda: bool(visits))
            sleeper.send_signal(signal.SIGSTOP)
            (held,) = farm.workers()
            with farm.working(machine="b") as other:
                wait_for(lambda: len(visits) > 1)
                sleeper.send_signal(signal.SIGCONT)
                wait_for(lambda: farm.jobs()[0].state is JobState.COMPLETED)
                for process in (sleeper, other):
                    process.send_signal(signal.SIGTERM)
                said, _ = ended_well(sleeper, other)
        assert held.hosts == 1
        assert "its pages will be visited again" in said, "it could not settle"
        assert farm.exported(job) == wanted(WEB, site)
        assert_polite(site.log)
        asked = Counter(seen.path for seen in site.log)
        assert asked[slow] == 2
    assert farm.audit().requests == asked.total(), "both are in the log"


def _written(reply: Reply) -> tuple[bytes, ...]:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {reply.content_type}\r\n"
    return f"{head}Content-Length: {len(reply.body)}\r\n\r\n".encode(), reply.body


@pytest.mark.slow
@pytest.mark.req("FRN-11")
def test_workers_that_start_together_are_never_taken_for_dead(tmp_path: Path) -> None:
    """A lock that is lost at the start shows for as long as the worker lives."""
    hosts = [f"host{number}.test" for number in range(3)]
    with Site({"/": page("start", *NAMES), **{name: page(name) for name in NAMES}}) as site:
        to_site = [f"--resolve={host}:80:127.0.0.1:{site.port}" for host in hosts]
        for turn in range(ROUNDS):
            data, before = tmp_path / str(turn), len(site.log)
            done = run(
                "crawl", *(f"http://{host}/" for host in hosts), *to_site, "-o", str(data),
                "--workers", "3", *LOCAL, "--delay", "0.2", "--set", "politeness.per_ip=3",
                env={"GEOMI_SILENCE_S": str(SILENCE_S)},
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert not re.search("dead|died|again|lock file", done.stderr), done.stderr
            asked = Counter((seen.host, seen.path) for seen in site.log[before:])
            assert set(asked.values()) == {1}
            assert len(asked) == len(hosts) * (len(NAMES) + 2)
            assert list((data / "workers").iterdir()) == []


@pytest.mark.slow
@pytest.mark.req("FRN-11")
def test_workers_whose_lock_files_are_deleted_make_them_anew_and_keep_their_hosts(
    tmp_path: Path,
) -> None:
    with ExitStack() as stack:
        sites = [
            stack.enter_context(Site(WEB.routes, address=f"127.0.0.{number}"))
            for number in (2, 3, 4)
        ]
        command = [
            *GEOMI, "crawl", *(site.url("/") for site in sites), "-o", str(tmp_path),
            "--workers", "3", *LOCAL, "--delay", str(2 * DELAY_S),
        ]  # fmt: skip
        crawl = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=clean_env() | {"GEOMI_SILENCE_S": str(SILENCE_S)},
        )
        wait_for(lambda: all(len(site.log) > 3 for site in sites))
        locks = sorted((tmp_path / "workers").glob("w-*.lock"))
        assert len(locks) == 4, "three workers and their supervisor"
        for lock in locks:
            lock.unlink()
        wait_for(lambda: sorted((tmp_path / "workers").glob("w-*.lock")) == locks)
        (said,) = ended_well(crawl)
        assert said.count("somebody deleted the lock file of this process") == 4, said
        assert not re.search("dead|died|again", said), "nobody took them for dead"
        for site in sites:
            assert_polite(site.log, 2 * DELAY_S)
            assert Counter(seen.path for seen in site.log) == dict.fromkeys(
                ["/robots.txt", *WEB.reachable], 1
            )
    assert list((tmp_path / "workers").iterdir()) == []


def test_a_worker_needs_a_store_that_is_there(tmp_path: Path) -> None:
    told = run("worker", "-o", str(tmp_path / "nothing"))
    assert told.returncode == 4
    assert "has no geomi data" in told.stderr
