"""Cleaning: what was kept for a time goes, whatever interrupts it, and nothing else does."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geomi.adapters.machine.presence import PresenceLock
from geomi.app import DataDirectory
from geomi.app.use import retention as cleaning
from geomi.app.use.recrawl import recrawl
from geomi.app.use.retention import Cleaned, clean
from geomi.cli.look.audit import _tell
from geomi.engine.audit.audit import audit
from geomi.engine.inspect.why import explain
from geomi.engine.recrawl import RecrawlRequest
from geomi.engine.worker.job_pool import JobPool
from geomi.errors import ConfigError, StoreBusy
from geomi.model.job import CrawlJob, Expired
from geomi.processes.crawl import WorkerTask, serve_jobs
from geomi.settings.options import RunOptions
from geomi.url.parse import parse
from tests.support.crawl import LOCAL, Ear, crawl_in, crawl_seeds, home_in, page, plan
from tests.support.server import Route, Site
from tests.support.stores import world_with
from tests.support.waiting import waits

AT_ONCE = 1e-9  # days
FOR_A_WHILE = 30.0
BOTH: dict[str, Route] = {"/": page("home", "/old", "/both"), "/both": page("both")}
OLD: dict[str, Route] = {**BOTH, "/old": page("old")}


class Killed(BaseException):
    """The process was killed."""


class Dying:
    """Passes calls on until its life is over: then one is made, or not, and never returns."""

    def __init__(self, real: Any, life: Iterator[bool], *, is_done: bool) -> None:
        self._real = real
        self._life = life
        self._is_done = is_done

    def __getattr__(self, name: str) -> Any:
        """Return a part of the real one, or one of its calls."""
        found = getattr(self._real, name)
        return self._mortal(found) if asyncio.iscoroutinefunction(found) else found

    def _mortal(self, call: Callable[..., Any]) -> Callable[..., Any]:
        async def made(*args: Any, **options: Any) -> Any:
            if next(self._life, False):
                return await call(*args, **options)
            if self._is_done:
                await call(*args, **options)
            raise Killed

        return made


async def _crawl(root: Path, site: Site, *, urls_days: float = 0, jobs_days: float = 0) -> CrawlJob:
    kept = [f"retention.urls_days={urls_days}", f"retention.jobs_days={jobs_days}"]
    return (await crawl_seeds(root, site.url("/"), assignments=kept)).report.job


async def _clean(root: Path) -> Cleaned:
    async with home_in(root, Ear()) as home:
        return await clean(home)


async def _job(home: DataDirectory, job: CrawlJob) -> CrawlJob | None:
    return await home.world.store.jobs.get(job.id)


def _rows(root: Path, number: int, job: str) -> dict[str, int]:
    """Count what a store still has of a job."""
    queries = {
        "jobs": "SELECT count(*) FROM jobs WHERE number = :number",
        "queues": "SELECT count(*) FROM queues WHERE job = :number",
        "entries": "SELECT count(*) FROM entries WHERE queue NOT IN (SELECT number FROM queues)",
        "captures": "SELECT count(*) FROM captures WHERE job = :number",
        "pages": "SELECT count(*) FROM pages WHERE record_segment LIKE 'jobs/' || :job || '/%'",
        "bands": "SELECT count(*) FROM bands WHERE page NOT IN (SELECT number FROM pages)",
        "requests": "SELECT count(*) FROM requests JOIN names ON names.number = requests.job "
        "WHERE name = :job",
    }
    with closing(sqlite3.connect(root / "geomi.db")) as db:
        values = {"number": number, "job": job}
        return {name: db.execute(query, values).fetchone()[0] for name, query in queries.items()}


async def _check_readable(home: DataDirectory, job: CrawlJob) -> None:
    """Every capture of a job, and every page that is there, can be read."""
    rows = await home.world.store.pages.feed(job.id, after=0, limit=99)
    assert len(rows) == 2
    for row in rows:
        assert await home.world.archive.read(row.record)
    with closing(sqlite3.connect(home.root / "geomi.db")) as db:
        hashes = [url_hash for (url_hash,) in db.execute("SELECT url_hash FROM pages")]
    for url_hash in hashes:
        found = await home.world.store.pages.get(url_hash)
        assert found is not None
        assert await home.world.archive.read(found.record)


@pytest.mark.req("FRN-14", "G-04", "STO-06")
@waits
async def test_urls_go_and_pages_stay(tmp_path: Path) -> None:
    with Site(OLD) as site:
        job = await _crawl(tmp_path, site, urls_days=AT_ONCE, jobs_days=FOR_A_WHILE)
        assert await _clean(tmp_path) == Cleaned([job.id], [], {})
        assert await _clean(tmp_path) == Cleaned([], [], {})
        left = _rows(tmp_path, 1, job.id)
        assert left["queues"] == left["entries"] == 0
        asked = len(site.log)

        async with home_in(tmp_path, Ear()) as home:
            found = await _job(home, job)
            assert found is not None
            assert (found.expired, found.stats.collected) == (Expired.URLS, 3)
            assert len(await home.world.store.pages.feed(job.id, after=0, limit=9)) == 3
            url = parse(site.url("/old"))
            assert url is not None
            told = await explain(home.world, found, url, ())
            assert (told.answer, told.decided_by) == ("not fetched", "retention.urls_days")
            with pytest.raises(ConfigError, match="have expired"):
                await recrawl(home, job.id, RecrawlRequest(), RunOptions())
            assert len(site.log) == asked
            again = await crawl_in(home, Ear(), plan([site.url("/")], resume=True))
            assert again.report.job.id != job.id


@pytest.mark.req("STO-06", "JOB-13")
@waits
async def test_a_job_goes_with_everything_but_what_a_younger_one_has(tmp_path: Path) -> None:
    with Site(OLD) as site:
        old = await _crawl(tmp_path, site, jobs_days=AT_ONCE)
        site.routes = BOTH
        young = await _crawl(tmp_path, site, jobs_days=FOR_A_WHILE)
        before = len(site.log)
        assert await _clean(tmp_path) == Cleaned([], [old.id], {})
        assert len(site.log) == before
    assert set(_rows(tmp_path, 1, old.id).values()) == {0}
    assert [path.name for path in (tmp_path / "jobs").iterdir()] == [young.id]

    async with home_in(tmp_path, Ear()) as home:
        await _check_readable(home, young)


@waits
async def test_nothing_expires_by_default(tmp_path: Path) -> None:
    with Site(BOTH) as site:
        await _crawl(tmp_path, site)
    assert await _clean(tmp_path) == Cleaned([], [], {})


@pytest.mark.slow
@pytest.mark.parametrize("is_done", [False, True])
@waits
async def test_killed_at_any_point_it_loses_nothing_and_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_done: bool
) -> None:
    monkeypatch.setattr(cleaning, "ROWS", 2)
    monkeypatch.setattr(cleaning, "LOG_ROWS", 3)
    monkeypatch.setattr(cleaning, "REST_S", 0.0)
    original = tmp_path / "original"
    with Site(OLD) as site:
        old = await _crawl(original, site, jobs_days=AT_ONCE)
        site.routes = BOTH
        young = await _crawl(original, site, jobs_days=FOR_A_WHILE)
    calls, was_killed = 0, True
    while was_killed:
        root = tmp_path / f"{calls}"
        shutil.copytree(original, root, symlinks=True)
        was_killed = await _killed(root, calls, young, is_done=is_done)
        left = [old.id] if _is_left(root, old) else []
        assert await _clean(root) == Cleaned([], left, {})
        assert set(_rows(root, 1, old.id).values()) == {0}
        assert [path.name for path in (root / "jobs").iterdir()] == [young.id]
        calls += 1
    assert calls > 12


def _is_left(root: Path, job: CrawlJob) -> bool:
    with closing(sqlite3.connect(root / "geomi.db")) as db:
        return bool(db.execute("SELECT 1 FROM jobs WHERE id = ?", (job.id,)).fetchone())


async def _killed(root: Path, calls: int, young: CrawlJob, *, is_done: bool) -> bool:
    """Clean until a call; say whether it was made at all."""
    async with home_in(root, Ear()) as home:
        life = iter([True] * calls)

        def dying(real: Any) -> Any:
            return Dying(real, life, is_done=is_done)

        mortal = replace(
            home,
            archive=dying(home.archive),
            world=world_with(
                home.world,
                retention=dying(home.store.retention),
                jobs=dying(home.store.jobs),
            ),
        )
        try:
            await clean(mortal)
        except Killed:
            await _check_readable(home, young)
            return True
        await _check_readable(home, young)
        return False


@waits
async def test_a_job_that_somebody_uses_stays(tmp_path: Path) -> None:
    with Site(BOTH) as site:
        job = await _crawl(tmp_path, site, jobs_days=AT_ONCE)

    async with home_in(tmp_path, Ear()) as home:
        with PresenceLock(home.root, f"job-{job.id}"):
            assert list((await clean(home)).left) == [job.id]
        assert await _job(home, job) is not None


@pytest.mark.parametrize(("days", "left"), [(30, 1), (31, 4), (0, 4)])
@waits
async def test_the_request_log_has_a_time_of_its_own(
    tmp_path: Path, days: int, left: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Old rows go, also of a job that stays; the audit says so, and finds no fault."""
    with Site(BOTH | {"/old": page("old")}) as site:
        job = await _crawl(tmp_path, site)
    with closing(sqlite3.connect(tmp_path / "geomi.db")) as db, db:
        age_s = 30.5 * 86_400
        db.execute(
            "UPDATE requests SET started_s = started_s - :age, ended_s = ended_s - :age "
            "WHERE number < (SELECT MAX(number) FROM requests)",
            {"age": age_s},
        )
        many = db.execute("SELECT count(*) FROM requests").fetchone()[0]
    assert many == 4  # robots.txt and three pages
    async with home_in(tmp_path, Ear(), replace(LOCAL, request_log_days=days)) as home:
        cleaned = await clean(home)
        assert (cleaned.requests, await _job(home, job) is not None) == (many - left, True)
        found = await audit(home.world)
        assert (found.requests, found.gone.requests) == (left, many - left)
        assert found.broken == 0 or left == many  # of rows whose times we have moved
    _tell(found)
    told = capsys.readouterr()
    assert (f"{many - left} requests before" in told.out + told.err) is (left < many)


@waits
async def test_one_cleans_at_a_time(tmp_path: Path) -> None:
    async with home_in(tmp_path, Ear()) as home:
        now_s = home.world.clock.now_s()
        await home.world.store.workers.take("clean", owner="w-x", until_s=now_s + 60, now_s=now_s)
        with pytest.raises(StoreBusy, match="w-x is deleting expired data"):
            await clean(home)


@waits
async def test_a_worker_cleans_beside_its_jobs(tmp_path: Path) -> None:
    with Site(BOTH) as site:
        job = await _crawl(tmp_path, site, jobs_days=AT_ONCE)

    async with home_in(tmp_path, Ear(), LOCAL) as home:
        shifts: list[JobPool] = []
        async with asyncio.TaskGroup() as group:
            group.create_task(serve_jobs(home, WorkerTask(), on_start=shifts.append))
            while await _job(home, job) is not None:  # noqa: ASYNC110  # nobody tells
                await asyncio.sleep(0.01)
            shifts[0].interrupt()
    assert list((tmp_path / "jobs").iterdir()) == []
