"""Delete the URLs of jobs, or whole jobs, whose retention has ended (FRN-14, STO-06, G-04).

The order of the steps makes it safe to kill the process at any point; the next one continues:

1. The job is marked: its URLs, or all of it, are being deleted. From then on nobody resumes or
   recrawls it, and the next process to clean knows that it is not finished.
2. Its URLs are deleted, a few in each transaction.
3. For a whole job, the rows of its pages are deleted, with their histories, so that no page leads
   to missing bytes. A page that a younger job has collected again stays.
4. Its bytes, outputs and index entries are deleted. A segment belongs to one job alone.
5. Its captures are deleted, then its rows of the request log.
6. The job's own row is deleted last: until then everything else of the job can be found.

The request log has a time of its own besides (`request_log_days`): old rows go, whosever they are.

A pause follows every short transaction, so that a crawl beside it hardly waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from geomi.adapters.machine.presence import PresenceLock
from geomi.adapters.outlet.job_folder import remove_job
from geomi.app.directory import DataDirectory, directory_id
from geomi.app.index import delete_from_index
from geomi.app.use.crawl import is_running
from geomi.engine.recrawl import sweeping
from geomi.engine.visit.preview_text import erase_expired_texts
from geomi.engine.worker.leader import Leadership
from geomi.errors import ConfigError, StoreBusy, StoreError, UnknownName
from geomi.model.event import Warned
from geomi.model.index.search import IndexScope
from geomi.model.job import CrawlJob, Expired
from geomi.settings.compliance import same_archive, same_directory

CLEAN = "clean"
# Rows in one transaction, and the rest after it, in which a crawl of the same process writes. On a
# busy machine it took 1.4 ms in a file and 17 ms in PostgreSQL. Beside it a settlement took 0.6 ms
# in place of 0.5, and in PostgreSQL, where both share one connection, 11 ms in place of 6.
ROWS = 200
LOG_ROWS = 2000  # they are looked at, and few of them are deleted
REST_S = 0.02
MOST_JOBS = 1000  # in one go; the rest is due at the next
CLEAN_EVERY_S = 600.0
DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Expiry:
    """A job that has something to lose, and what: its URLs, or all of it."""

    job: CrawlJob
    what: Expired


@dataclass(slots=True)
class Cleaned:
    """What has gone, and which jobs were left: their bytes are elsewhere, or they are in use.

    Args:
        requests: how many rows of the request log have gone because they were old themselves.
    """

    urls_of: list[str]
    jobs: list[str]
    left: dict[str, str]
    requests: int = 0


async def expired_jobs(home: DataDirectory) -> list[Expiry]:
    """Return what would go now."""
    found = await home.store.retention.due(wall_s=home.world.clock.wall_s(), limit=MOST_JOBS)
    jobs = [(await home.world.store.jobs.get(name), what) for name, what in found]
    return [Expiry(job, what) for job, what in jobs if job is not None]


async def clean(home: DataDirectory) -> Cleaned:
    """Delete expired data; `StoreBusy` if another process does so."""
    duty = Leadership(home.world, CLEAN)
    if not await duty.take():
        raise StoreBusy(
            f"{duty.holder} is deleting expired data now",
            hint=f"if it died, another process may start after {home.world.silence_s:g} s",
        )
    try:
        return await _clean(home, duty)
    finally:
        await duty.drop()


async def clean_periodically(home: DataDirectory) -> None:
    """Clean from time to time until cancelled; of all who do, one at a time has the duty."""
    while True:
        try:
            await clean(home)
        except StoreBusy:
            pass  # whoever has the duty cleans for all
        except StoreError as error:  # an archive that is away costs nobody a page
            home.world.sink.emit(Warned("", error.message, error.hint))
        await asyncio.sleep(CLEAN_EVERY_S)


async def _clean(home: DataDirectory, duty: Leadership) -> Cleaned:
    await erase_expired_texts(home.world)
    await home.store.suspects.forget(wall_s=home.world.clock.wall_s())
    cleaned = Cleaned([], [], {}, await _forget_requests(home, duty))
    for one in await expired_jobs(home):
        job = one.job
        try:
            await _refuse_unreachable(home, job)
            async with sweeping(home.world, job.crawl or job.id):  # nobody begins a recrawl of it
                wall_s = home.world.clock.wall_s()
                if not await home.store.retention.begin(job.id, one.what, wall_s=wall_s):
                    continue
            with PresenceLock(home.root, f"job-{job.id}"):
                await _delete_expired(home, job, one.what, duty)
        except (StoreBusy, ConfigError) as error:
            cleaned.left[job.id] = error.message
            continue
        except UnknownName:
            continue  # somebody has deleted it meanwhile
        (cleaned.jobs if one.what is Expired.JOB_GOING else cleaned.urls_of).append(job.id)
    return cleaned


async def _forget_requests(home: DataDirectory, duty: Leadership) -> int:
    """Forget the rows of the request log that are too old, whosever they are."""
    days, many = home.settings.request_log_days, 0
    if not days:
        return 0
    before_s = home.world.clock.now_s() - days * DAY_S
    while gone := await home.store.requests.forget(before_s=before_s, limit=LOG_ROWS):
        many += gone
        await _rest(duty)
    return many


async def _refuse_unreachable(home: DataDirectory, job: CrawlJob) -> None:
    """Refuse a job whose archive this process cannot reach, or that another process uses."""
    same_archive(job, home.settings)
    same_directory(job, directory_id(home.root, home.settings))
    if await is_running(home, job):
        raise StoreBusy(f"job {job.id} is in use")


async def _delete_expired(
    home: DataDirectory, job: CrawlJob, what: Expired, duty: Leadership
) -> None:
    kept = home.store.retention
    await _until_none(duty, lambda: kept.forget_urls(job.id, limit=ROWS))
    if what is not Expired.JOB_GOING:
        return
    after = 0
    while after := (await kept.forget_pages(job.id, after=after, limit=ROWS)).after:
        await _rest(duty)
    await home.archive.erase(job.id)
    await home.world.spool.erase(job.id)
    await asyncio.to_thread(remove_job, home.root, job.id)
    await delete_from_index(home, IndexScope.JOB, [job.id])
    await _until_none(duty, lambda: kept.forget_captures(job.id, limit=ROWS))
    while after := (await kept.forget_requests(job.id, after=after, limit=LOG_ROWS)).after:
        await _rest(duty)
    await home.world.store.jobs.delete(job.id)


async def _until_none(duty: Leadership, forget: Callable[[], Awaitable[int]]) -> None:
    while await forget():
        await _rest(duty)


async def _rest(duty: Leadership) -> None:
    """Pause so that others can write; stop if another process has taken the duty."""
    await asyncio.sleep(REST_S)
    if not await duty.take():
        raise StoreBusy(f"{duty.holder} is deleting expired data now")
