"""`geomi clean`: delete URLs and jobs whose retention has ended."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from geomi.app import DataDirectory
from geomi.app.recovery import recover
from geomi.app.use.retention import Cleaned, Expiry, expired_jobs
from geomi.app.use.retention import clean as clean_now
from geomi.cli import flags
from geomi.cli.console import note, print_json, say
from geomi.cli.data_directory import in_data_directory
from geomi.model.job import Expired


@dataclass(frozen=True, slots=True)
class ExpiringJob:
    """A job that has something to lose."""

    job: str
    what: str
    urls: int
    pages: int


def clean(
    output: flags.Directory = None,
    db: flags.Database = None,
    blobs: flags.Blobs = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only print what would be deleted.", show_default=False),
    ] = False,
    json: flags.AsJson = False,
) -> None:
    """Delete URLs and jobs that have expired (settings `retention.*`)."""
    if dry_run:
        rows = in_data_directory(output, _look, db=db, blobs=blobs)
        if json:
            print_json([asdict(row) for row in rows])
            return
        for row in rows:
            what = "its URLs" if row.what == "urls" else f"all of it, {row.pages:,} pages"
            say(f"{row.job}  {what}, {row.urls:,} URLs")
        note(f"{len(rows)} jobs have expired data; nothing was deleted")
        return
    cleaned = in_data_directory(output, _clean, db=db, blobs=blobs)
    if json:
        told = asdict(cleaned)
        if not cleaned.requests:
            del told["requests"]  # the jobs and their URLs are what a clean is about
        print_json(told)
    else:
        _tell(cleaned)


async def _clean(home: DataDirectory) -> Cleaned:
    await recover(home)  # one that was killed at it holds the right to no more
    return await clean_now(home)


async def _look(home: DataDirectory) -> list[ExpiringJob]:
    return [_row(one) for one in await expired_jobs(home)]


def _row(one: Expiry) -> ExpiringJob:
    what = "job" if one.what is Expired.JOB_GOING else "urls"
    urls = 0 if one.job.expired is Expired.URLS else one.job.stats.discovered
    return ExpiringJob(one.job.id, what, urls, one.job.stats.collected)


def _tell(cleaned: Cleaned) -> None:
    for job, why in cleaned.left.items():
        note(f"kept job {job}: {why}")
    note(f"{len(cleaned.jobs)} jobs are gone, and the URLs of {len(cleaned.urls_of)} others")
    if cleaned.requests:
        note(f"{cleaned.requests:,} old requests of the log are gone")
