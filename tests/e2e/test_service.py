"""Many tenants at once on hosts that they share, and a server that is killed meanwhile."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import random
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import DataDirectory, open_directory
from geomi.engine.audit.audit import audit
from geomi.frontier.state import SETTLED
from geomi.model.job import BEGUN, CrawlJob, JobFilter, JobState, StopReason
from geomi.model.verdict import State
from geomi.settings.options import Settings
from tests.e2e.farm import assert_polite
from tests.e2e.serving import Served
from tests.support.server import Reply, Seen, Site

PAGES = 6
SITES = 5
TENANTS = 10
JOBS = 5  # of each tenant
AT_ONCE = 2
DELAY_S = 0.2  # the least that the API lets anybody ask for
LIMITED = {"t0": 7, "t1": 13}  # pages of a day
KILLS = 3
ENDS = [f"crawl.{state}" for state in ("completed", "failed", "cancelled")]


def page(number: int) -> Reply:
    """Return a page that leads to the next two."""
    links = "".join(f'<a href="/{(number + step) % PAGES}">on</a>' for step in (1, 2))
    text = f"<p>Page {number} of a small site that has something to say about looms. " * 5
    return Reply(f"<title>Page {number}</title><main>{text}{links}</main>".encode())


@dataclass
class Receiver:
    """Where hooks are told; of each delivery the body and the signature that it came with."""

    site: Site

    def deliveries(self) -> list[tuple[Seen, dict[str, Any]]]:
        """Return what came, in order."""
        return [(seen, json.loads(seen.body)) for seen in self.site.log]


@pytest.fixture
def sites() -> Iterator[list[Site]]:
    """Run the sites that all tenants crawl."""
    routes = {f"/{number}": page(number) for number in range(PAGES)} | {"/": page(0)}
    made = [Site(routes, address=f"127.0.0.{number + 2}") for number in range(SITES)]
    for site in made:
        site.__enter__()
    yield made
    for site in made:
        site.__exit__(None, None, None)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Run a server that takes whatever it is told."""
    with Site({"/told": Reply(b"{}")}, address="127.0.0.99") as site:
        yield Receiver(site)


@pytest.mark.slow
@pytest.mark.req("JOB-05", "POL-12", "SEC-09", "JOB-02", "FUT-13")
def test_fifty_crawls_of_ten_tenants_and_a_server_that_dies(
    tmp_path: Path, sites: list[Site], receiver: Receiver
) -> None:
    rng = random.Random(50)
    root = tmp_path / "served"
    with Served(root) as served:
        keys = {name: _tenant(served, name) for name in (f"t{n}" for n in range(TENANTS))}
        secrets = {name: _hook(served, key, receiver) for name, key in keys.items()}
        for number in range(JOBS):
            for name, key in keys.items():
                _start(served, key, sites[(number + int(name[1:])) % SITES], number)
        for _ in range(KILLS):
            time.sleep(rng.uniform(1.0, 4.0))
            served.kill()
            served.start()
        _wait_for_ends(served, keys)
        _wait_for_deliveries(served, keys)
        served.stop()
    asyncio.run(_check(root))
    for site in sites:
        assert_polite(site.log, DELAY_S)
    _check_deliveries(receiver, secrets)


def _tenant(served: Served, name: str) -> str:
    quota = {"maxConcurrentCrawls": AT_ONCE, "maxDailyPages": LIMITED.get(name, 0)}
    served.post("/admin/tenants", {"name": name, "quota": quota})
    return str(served.post(f"/admin/tenants/{name}/keys", {})["key"])


def _hook(served: Served, key: str, receiver: Receiver) -> str:
    asked = {"url": receiver.site.url("/told"), "events": ENDS}
    return str(served.post("/webhooks", asked, key=key)["secret"])


def _start(served: Served, key: str, site: Site, number: int) -> None:
    asked = {
        "collectionId": f"c{number}",
        "seedUrls": [site.url("/")],
        "config": {"requestsPerSecond": 5, "delayBetweenRequests": 200, "maxDepth": 10},
    }
    served.post("/crawls", asked, key=key)


def _wait_for_ends(served: Served, keys: dict[str, str]) -> None:
    deadline_s = time.monotonic() + 180
    left = dict(keys)
    while left:
        assert time.monotonic() < deadline_s, left
        for name, key in list(left.items()):
            crawls = served.get("/crawls?limit=100", key=key)["crawls"]
            assert len(crawls) == JOBS
            if all(crawl["completedAt"] for crawl in crawls):
                del left[name]
        time.sleep(0.2)


def _wait_for_deliveries(served: Served, keys: dict[str, str]) -> None:
    deadline_s = time.monotonic() + 60
    for key in keys.values():
        (hook,) = served.get("/webhooks", key=key)["webhooks"]
        path = f"/webhooks/{hook['webhookId']}/deliveries?limit=100"
        while True:
            states = Counter(one["state"] for one in served.get(path, key=key)["deliveries"])
            if states == {"delivered": JOBS}:
                break
            assert time.monotonic() < deadline_s, states
            time.sleep(0.2)


async def _check(root: Path) -> None:
    async with open_directory(root, Settings(allow_private=True), lambda _: EventFanOut()) as home:
        for number in range(TENANTS):
            name = f"t{number}"
            await _check_tenant(home.open_for(name), LIMITED.get(name, 0))
        found = await audit(home.world)
        assert not found.broken, found


async def _check_tenant(home: DataDirectory, limit: int) -> None:
    world = home.world
    jobs = await world.store.jobs.page(JobFilter(), before="", limit=100)
    assert len(jobs) == JOBS
    for job in jobs:
        await _check_job(home, job, is_limited=bool(limit))
    standing = await world.store.quotas.standing(wall_s=world.clock.wall_s())
    settled = sum(job.stats.settled for job in jobs)
    if limit:
        assert settled == standing.pages == limit
    _check_concurrency(home.root, jobs)


async def _check_job(home: DataDirectory, job: CrawlJob, *, is_limited: bool) -> None:
    world = home.world
    assert job.state is JobState.COMPLETED
    if not is_limited:
        assert job.stop is StopReason.DONE
    entries = await world.store.census.entries(job.id, state=None, after=b"", limit=1000)
    assert len(entries) == job.stats.discovered
    by_state = Counter(entry.state for entry in entries)
    assert by_state[State.COMPLETED] == job.stats.collected
    assert by_state[State.FAILED] == job.stats.failed
    assert all(SETTLED[one.outcome] is one.state for one in entries if one.outcome)
    if not is_limited:
        assert by_state[State.PENDING] == 0 and job.stats.collected == PAGES + 1
    documents = await world.store.documents.counts(job.id)
    assert documents.indexed + documents.skipped + documents.failed >= job.stats.collected
    events = await home.store.journal.read(job.id, limit=1000)
    assert [event.n for event in events] == list(range(1, len(events) + 1))
    states = [json.loads(event.body)["state"] for event in events]
    assert states[0] == "pending" and states[-1] == "completed"


def _check_concurrency(root: Path, jobs: Sequence[CrawlJob]) -> None:
    """Replay what became of the jobs: never were more of them at work than the quota lets.

    In the order of commits: a time is read before the transaction that it is written in.
    """
    own = {job.id for job in jobs}
    with closing(sqlite3.connect(root / "geomi.db")) as db:
        steps = db.execute(
            "SELECT id, body FROM journal JOIN jobs ON jobs.number = job ORDER BY journal.number"
        ).fetchall()
    now: dict[str, JobState] = {}
    for name, body in steps:
        if name in own:
            now[name] = JobState(json.loads(body)["state"])
            assert sum(state in BEGUN for state in now.values()) <= AT_ONCE, steps


def _check_deliveries(receiver: Receiver, secrets: dict[str, str]) -> None:
    told: dict[str, set[str]] = defaultdict(set)
    for seen, body in receiver.deliveries():
        stamp, signed = seen.headers["geomi-timestamp"], seen.headers["geomi-signature"]
        made = stamp.encode() + b"." + seen.body
        right = {
            f"sha256={hmac.new(one.encode(), made, hashlib.sha256).hexdigest()}"
            for one in secrets.values()
        }
        assert signed in right
        told[body["crawl"]["jobId"]].add(seen.headers["geomi-delivery"])
    assert len(told) == TENANTS * JOBS
    assert all(len(ids) == 1 for ids in told.values()), "a delivery keeps its id over all tries"
