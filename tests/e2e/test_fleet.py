"""A fleet on a real Ray cluster of two nodes, one of which is lost together with its disk."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from geomi.model.job import JobState
from tests.conftest import missing_part
from tests.e2e.command import run
from tests.e2e.farm import CONTACT, DELAY_S, SILENCE_S, Farm, assert_polite, wait_for, wanted
from tests.support.postgres import Cluster
from tests.support.s3 import S3Server
from tests.support.server import Site
from tests.support.webs import random_web

WEB = random_web(7, pages=60)
STORE_BYTES = 80 * 1024 * 1024  # the least that Ray takes for its objects
WORKERS = 2
ASKED_BEFORE = 30
# A node that is gone is noticed within two seconds.
SYSTEM = {"health_check_initial_delay_ms": 500, "health_check_period_ms": 500}
ENV = {
    "GEOMI_SILENCE_S": str(SILENCE_S),
    "GEOMI_CONTACT": CONTACT,
    "RAY_USAGE_STATS_ENABLED": "0",
}


@pytest.fixture
def nodes(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Run a Ray cluster; its nodes have the keys of the bucket in their environment."""
    if find_spec("ray") is None:
        missing_part("a Ray cluster: pip install '.[ray]'")
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)
    from ray.cluster_utils import Cluster as RayCluster

    cluster: Any = RayCluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,  # it keeps the cluster; workers go to the others
            "object_store_memory": STORE_BYTES,
            "include_dashboard": False,
            "_system_config": SYSTEM,
        },
    )
    try:
        yield cluster
    finally:
        cluster.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
@pytest.mark.req("SCL-05", "FUT-01")
def test_a_fleet_loses_a_node_and_no_page(
    tmp_path: Path, cluster: Cluster, s3: S3Server, nodes: Any
) -> None:
    farm = Farm(tmp_path, cluster.new_schema(), s3.new_prefix())
    first = nodes.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    sites = [Site(WEB.routes, address=f"127.0.0.{number}") for number in (2, 3, 4)]
    for site in sites:
        site.__enter__()
    try:
        job = farm.begin(*sites, delay_s=2 * DELAY_S)
        up = ["-n", str(WORKERS), "-o", str(tmp_path / "{node}"), *farm.flags("")[2:]]
        _fleet(nodes, "up", *up)  # the second waits for a node that has room
        wait_for(lambda: sum(len(site.log) for site in sites) > ASKED_BEFORE, timeout_s=120)
        wait_for(lambda: _working(nodes) == 1, timeout_s=120)
        (lost,) = [member for member in _members(nodes) if member["state"] == "working"]
        nodes.add_node(num_cpus=WORKERS, object_store_memory=STORE_BYTES)
        nodes.remove_node(first, allow_graceful=False)
        # Ray's processes end some time after their node; on a machine that is lost none goes on.
        with suppress(ProcessLookupError):
            os.kill(lost["pid"], signal.SIGKILL)
        shutil.rmtree(tmp_path / first.node_id)
        wait_for(lambda: farm.jobs()[0].state is JobState.COMPLETED, timeout_s=120)
        assert farm.exported(job) == wanted(WEB, *sites)
        for site in sites:
            assert_polite(site.log, 2 * DELAY_S)
        wait_for(lambda: _working(nodes) == WORKERS, timeout_s=120)
        assert _fleet(nodes, "down") == {"cut_short": 0}
    finally:
        for site in sites:
            site.__exit__(None, None, None)
    assert farm.workers() == []
    farm.audit()


def _fleet(nodes: Any, command: str, *arguments: str) -> dict[str, Any]:
    done = _run(nodes, command, *arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _run(nodes: Any, command: str, *arguments: str) -> CompletedProcess[str]:
    return run("fleet", command, "--ray", nodes.address, "--json", *arguments, env=ENV)


def _working(nodes: Any) -> int:
    """Count the workers that answer; the lost one is started again where there is room."""
    return sum(member["state"] == "working" for member in _members(nodes))


def _members(nodes: Any) -> list[dict[str, Any]]:
    """Ask who is there; a keeper that was lost with its node is being started again."""
    done = _run(nodes, "status")
    found: list[dict[str, Any]] = []
    return found if done.returncode else json.loads(done.stdout)["members"]
