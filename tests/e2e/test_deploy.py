"""What `deploy/` describes, started without containers: its services on a real database and bucket.

Commands, variables, replicas and probes are those of the files; only places on this machine differ.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.command import GEOMI, clean_env
from tests.e2e.farm import CONTACT
from tests.e2e.serving import SILENCE_S, Served
from tests.support.crawl import page
from tests.support.postgres import Cluster
from tests.support.s3 import S3Server
from tests.support.server import Site

DEPLOY = Path(__file__).parents[2] / "deploy"
WEB = {
    "/": page("start", "/ferry", text="A village by the sea. " * 12),
    "/ferry": page("ferry", text="The ferry leaves at noon and returns before the night. " * 6),
}
QUICK = {"qualityThreshold": 0, "delayBetweenRequests": 0, "requestsPerSecond": 5}
LOOK_S = 0.5
MOST_LOOKS = 120
STATES = ["pending", "initializing", "discovering", "processing", "finalizing", "completed"]


def probes() -> set[str]:
    """Return where the manifests ask whether the server is well."""
    for one in yaml.safe_load_all((DEPLOY / "kubernetes" / "geomi.yaml").read_text("utf-8")):
        for container in one["spec"].get("template", {}).get("spec", {}).get("containers", ()):
            if container["args"][0] == "serve":
                return {
                    container[f"{kind}Probe"]["httpGet"]["path"]
                    for kind in ("liveness", "readiness")
                }
    raise AssertionError("no container serves")


@pytest.mark.slow
@pytest.mark.req("DEP-04")
def test_the_services_make_their_tables_and_fill_their_bucket(
    tmp_path: Path, cluster: Cluster, s3: S3Server
) -> None:
    services: Any = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
    db, blobs = cluster.new_schema(), s3.new_prefix()
    own = {"GEOMI_CONTACT": CONTACT, "GEOMI_MAX_CONNECTIONS_PER_ADDRESS": "0"}
    env = {**own, "GEOMI_DB": db, "GEOMI_BLOBS": blobs, **s3.environment}
    server, worker = services["server"], services["worker"]
    assert server["environment"].keys() == worker["environment"].keys() == env.keys()
    flags = (*server["command"][1:], "--host", "127.0.0.1")
    with ExitStack() as up, Site(WEB) as site:
        served = up.enter_context(Served(tmp_path / "server", *flags, env=env))
        for path in probes():
            with urllib.request.urlopen(served.url.rstrip("/") + path, timeout=10) as answer:
                assert answer.status == 200
        made = served.post(
            "/crawls",
            {"collectionId": "village", "seedUrls": [site.url("/")], "config": QUICK},
        )["jobId"]
        workers = [
            up.enter_context(_started(worker["command"], tmp_path / f"worker-{number}", env))
            for number in range(worker["deploy"]["replicas"])
        ]
        try:
            told = _ended(served, made)
            found = served.post("/search", {"query": "when does the ferry leave"})["results"]
            assert _states(served, made) == STATES
        finally:
            for process in workers:
                os.kill(process.pid, signal.SIGTERM)
            ended = [process.wait(timeout=60) for process in workers]
        assert ended == [0] * len(workers)
        served.stop()
    assert (told["stats"]["urlsSucceeded"], told["stats"]["pagesIndexed"]) == (2, 2)
    assert found[0]["url"] == site.url("/ferry")
    assert _tables(cluster, db) >= {"jobs", "entries", "hosts", "pages", "documents"}
    names = [one["path"] for part in s3.objects(blobs).list() for one in part]
    assert any(made in name for name in names), "pages lie in the bucket"


def _started(command: list[str], root: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    own = {"GEOMI_CRAWL_OUTPUT": str(root), "GEOMI_ALLOW_PRIVATE": "1"}
    return subprocess.Popen(
        [*GEOMI, *command],
        env=clean_env() | env | own | {"GEOMI_SILENCE_S": str(SILENCE_S)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _ended(served: Served, job: str) -> dict[str, Any]:
    for _ in range(MOST_LOOKS):
        told = served.get(f"/crawls/{job}")
        if told["status"] == STATES[-1]:
            return told
        time.sleep(LOOK_S)  # a key may not ask as often as it likes
    raise AssertionError(told)


def _states(served: Served, job: str) -> list[str]:
    """Return the states that a crawl went through, by its events."""
    request = urllib.request.Request(f"{served.url}api/v1/crawls/{job}/events?follow=false")
    request.add_header("Authorization", f"Bearer {served.key}")
    with urllib.request.urlopen(request, timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    told = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    states = [one["status"] for one in told if "status" in one]
    return list(dict.fromkeys(states[1:]))  # how it stands comes first


def _tables(cluster: Cluster, db: str) -> set[str]:
    import psycopg  # an extra

    schema = db.rpartition("schema=")[2]
    asked = "SELECT table_name FROM information_schema.tables WHERE table_schema = %s"
    with psycopg.connect(cluster.url) as connection:
        return {str(name) for (name,) in connection.execute(asked, (schema,)).fetchall()}
