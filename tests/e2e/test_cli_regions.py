"""Regions in real processes: workers of two places share a job, and nobody hangs without one."""

from __future__ import annotations

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from geomi.model.job import JobState
from tests.e2e.command import LOCAL, records, run
from tests.e2e.farm import DELAY_S, Farm, assert_polite, ended_well, wait_for
from tests.e2e.serving import Served, until
from tests.support.crawl import page
from tests.support.postgres import Cluster
from tests.support.server import Site

KOREAN, OTHERS = ("one.kr", "two.kr"), ("www.test", "docs.test")
RULE = ["--set", "regions.hosts=.kr=kr"]
PAGES = {"/": page("home", "/a", "/b"), "/a": page("a", "/b"), "/b": page("b", "/")}


def there(site: Site, *hosts: str) -> list[str]:
    """Return the flags of a process whose hosts are at a site."""
    return [flag for host in hosts for flag in ("--resolve", f"{host}:80:127.0.0.1:{site.port}")]


def asked(site: Site) -> set[str]:
    """Return which hosts a site was asked for."""
    return {seen.host for seen in site.log}


def urls(hosts: Sequence[str]) -> list[str]:
    """Return the start URLs of some hosts."""
    return [f"http://{host}/" for host in hosts]


@pytest.mark.slow
@pytest.mark.req("FUT-20", "HTTP-17", "SCL-05")
def test_two_groups_of_workers_ask_the_hosts_of_their_own_regions(
    tmp_path: Path, cluster: Cluster
) -> None:
    farm = Farm(tmp_path, cluster.new_schema())
    with Site(PAGES) as near, Site(PAGES) as far, ExitStack() as working:
        hosts = (*KOREAN, *OTHERS)
        begun = run(
            *("crawl", *urls(hosts), "--detach", "--delay", str(DELAY_S), *RULE),
            *farm.flags("starter"),
            *there(far, *hosts),
        )
        assert begun.returncode == 0, begun.stderr
        job = begun.stdout.strip()

        def join(site: Site, machine: str, *flags: str) -> None:
            flags = (*flags, *there(site, *hosts))
            workers.append(working.enter_context(farm.working(*flags, machine=machine)))

        def status() -> dict[str, object]:
            told: dict[str, object] = json.loads(
                run("status", "--job", job, "--json", *farm.flags("reader")[:4]).stdout
            )
            return told

        workers: list[subprocess.Popen[str]] = []
        for machine in ("us-1", "us-2"):
            join(far, machine, "--region", "us")
        wait_for(lambda: len(far.log) == len(OTHERS) * (len(PAGES) + 1))
        wait_for(lambda: bool(status()["unserved"]))
        assert status()["unserved"] == [{"regions": ["kr"], "hosts": 2, "urls": 2}]
        listed = run("workers", *farm.flags("reader")[:4])
        assert listed.stdout.count("of region us") == 2
        waits = "2 URLs on 2 hosts wait for a worker of region kr, and none is alive"
        assert f"job {job}: {waits}" in listed.stderr
        assert waits in run("status", "--job", job, *farm.flags("reader")[:4]).stdout
        why = run("why", urls(KOREAN)[0], "--job", job, *farm.flags("reader")[:4]).stdout
        assert "worker of region kr, and none is alive" in why
        assert near.log == [] and asked(far) == set(OTHERS)

        for machine in ("kr-1", "kr-2"):
            join(near, machine, "--region", "kr")
        wait_for(lambda: farm.jobs()[0].state is JobState.COMPLETED)
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        said = ended_well(*workers)
        assert any(waits in text for text in said[:2])
        assert asked(near) == set(KOREAN) and asked(far) == set(OTHERS)
        for site in (near, far):
            for host in hosts:
                assert_polite([seen for seen in site.log if seen.host == host])
        (found,) = farm.jobs()
        assert farm.exported(found) == Counter(f"http://{h}{p}" for h in hosts for p in PAGES)


@pytest.mark.slow
@pytest.mark.req("FUT-20", "HTTP-17")
def test_a_job_names_its_regions_and_one_host_has_two(tmp_path: Path, cluster: Cluster) -> None:
    """Two groups of workers: one serves the host of both regions alone, the other the whole job."""
    farm = Farm(tmp_path, cluster.new_schema())
    shared, own = "shared.test", ("one.test", "two.test")
    hosts = (shared, *own)
    rules = ["--set", "regions.job=kr", "--set", f"regions.hosts={shared}=jp+kr"]
    reader = farm.flags("reader")[:4]
    with Site(PAGES) as near, Site(PAGES) as far, ExitStack() as working:
        begun = run(
            *("crawl", *urls(hosts), "--detach", "--delay", str(DELAY_S), *rules),
            *farm.flags("starter"),
            *there(far, *hosts),
        )
        assert begun.returncode == 0, begun.stderr
        workers = [
            working.enter_context(
                farm.working("--region", "jp", *there(far, *hosts), machine=f"jp-{number}")
            )
            for number in (1, 2)
        ]
        wait_for(lambda: len(far.log) == len(PAGES) + 1)
        status = json.loads(run("status", "--json", *reader).stdout)
        assert status["unserved"] == [{"regions": ["kr"], "hosts": 2, "urls": 2}]
        workers += [
            working.enter_context(
                farm.working("--region", "kr", *there(near, *hosts), machine=f"kr-{number}")
            )
            for number in (1, 2)
        ]
        wait_for(lambda: farm.jobs()[0].state is JobState.COMPLETED)
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        ended_well(*workers)
        assert (asked(far), asked(near)) == ({shared}, set(own))
    # Workers of either region serve it: those of the job's own do, where there is no other.
    with Site(PAGES) as site:
        flags = ["-o", str(tmp_path / "korea"), "--delay", "0", *LOCAL, *there(site, *hosts)]
        alone = run("crawl", *urls(hosts), *flags, *rules, "--region", "kr")
        assert alone.returncode == 0, alone.stderr
        assert asked(site) == set(hosts)


@pytest.mark.slow
@pytest.mark.req("FUT-20")
def test_a_crawl_without_a_region_says_what_is_left_and_can_be_resumed(tmp_path: Path) -> None:
    with Site(PAGES) as site:
        flags = ["-o", str(tmp_path), "--delay", "0", *LOCAL, *there(site, "one.kr", "www.test")]
        seeds = urls(("one.kr", "www.test"))
        ended = run("crawl", *seeds, *flags, *RULE)
        assert ended.returncode == 5, ended.stderr
        assert "1 URLs on 1 hosts wait for a worker of region kr, and none is alive" in ended.stderr
        assert "--region" in ended.stderr
        assert asked(site) == {"www.test"}
        assert len(records(tmp_path)) == 3
        state = json.loads(run("status", "-o", str(tmp_path), "--json").stdout)
        assert (state["job"]["stop"], state["unserved"][0]["regions"]) == ("no_region", ["kr"])
        resumed = run("crawl", *seeds, *flags, "--resume", "--region", "kr", "--workers", "2")
        assert resumed.returncode == 0, resumed.stderr
        assert asked(site) == {"www.test", "one.kr"}
        assert len(records(tmp_path)) == 6


def waiting(served: Served, path: str) -> dict[str, Any] | None:
    """Return a crawl that waits for a region."""
    crawl = served.get(path)
    return crawl if crawl["unserved"] else None


def completed(served: Served, path: str) -> dict[str, Any] | None:
    """Return a crawl that is over."""
    crawl = served.get(path)
    return crawl if crawl["status"] == "completed" else None


@pytest.mark.slow
@pytest.mark.req("FUT-20")
def test_a_served_crawl_says_that_it_waits_for_a_region(tmp_path: Path) -> None:
    """Of hosts by their suffix, and of a whole crawl."""
    rules = {"one.kr": {"hostRegions": [".kr=kr"]}, "www.test": {"regions": ["kr"]}}
    with Site(PAGES) as site:
        flags, jobs = there(site, *rules), {}
        with Served(tmp_path / "data", "--region", "us", *flags) as served:
            for host, rule in rules.items():
                config = {**rule, "qualityThreshold": 0, "requestsPerSecond": 5}
                asked_for = {"collectionId": "korea", "seedUrls": urls((host,)), "config": config}
                jobs[host] = f"/crawls/{served.post('/crawls', asked_for)['jobId']}"
            for host, job in jobs.items():
                told = until(partial(waiting, served, job))
                assert told["config"] | rules[host] == told["config"]
                assert "1 URLs on 1 hosts wait for a worker of region kr" in told["unserved"]
                why = served.get(f"{job}/why?url=http://{host}/")
                assert why["decidedBy"] == "regions"
            key = served.key
            served.stop()
        assert site.log == []
        with Served(tmp_path / "data", "--region", "kr", *flags) as served:
            served.key = key
            for job in jobs.values():
                assert until(partial(completed, served, job))["unserved"] is None
        assert asked(site) == set(rules)


@pytest.mark.slow
def test_a_region_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    flags = ["http://one.kr/", "-o", str(tmp_path), "--allow-private"]
    for wrong in ("regions.hosts=kr", "regions.job=Süd"):
        refused = run("crawl", *flags, "--set", wrong)
        assert (refused.returncode, wrong.partition("=")[0] in refused.stderr) == (2, True)
    refused = run("worker", "-o", str(tmp_path), "--region", "south pole")
    assert (refused.returncode, "`south pole` is no name of a region" in refused.stderr) == (
        2,
        True,
    )
