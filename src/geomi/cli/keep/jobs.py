"""`geomi jobs`: list and show jobs; pause, resume, cancel or delete one."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from geomi.app import DataDirectory
from geomi.app.use.deletion import delete_job, refuse_unfinished
from geomi.cli import flags
from geomi.cli.console import conclude, moment, note, print_json, say, say_pairs
from geomi.cli.data_directory import in_data_directory
from geomi.cli.look.status import job_data, job_state
from geomi.engine import jobs as use
from geomi.engine.world import World
from geomi.errors import ConfigError
from geomi.model.job import CrawlJob

commands = typer.Typer(
    help="List the jobs of a data directory, or act on one.",
    no_args_is_help=True,
)

JobArgument = Annotated[
    str, typer.Argument(metavar="ID", help="A job's id, its beginning or end, or `latest`.")
]


@commands.command("list")
def list_jobs(
    output: flags.Directory = None, db: flags.Database = None, json: flags.AsJson = False
) -> None:
    """List jobs, the newest first."""
    found = in_data_directory(
        output, lambda home: home.world.store.jobs.list(limit=use.LISTED_JOBS), db=db
    )
    if json:
        print_json([job_data(job) for job in found])
        return
    for job in found:
        began = _time(job.created_at_s)
        seeds = " ".join(job.seeds[:3])
        say(f"{job.id}  {began}  {job_state(job)}  {job.stats.collected:,} pages  {seeds}")


@commands.command("show")
def show(
    job: JobArgument = "latest",
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Show one job: its state, times, counters, and the settings that were given."""
    found = in_data_directory(output, lambda home: use.find(home.world, job), db=db)
    if json:
        print_json(job_data(found) | {"origins": _origins(found)})
        return
    say_pairs(
        {
            "id": found.id,
            "state": job_state(found),
            "seeds": " ".join(found.seeds),
            "created": _time(found.created_at_s),
            "ended": _time(found.ended_at_s),
            "worked": f"{found.active_s:.1f} s",
            **({"error": found.error} if found.error else {}),
            **{name: f"{count:,}" for name, count in asdict(found.stats).items()},
            **{key: f"set by {origin}" for key, origin in _origins(found).items()},
        }
    )


@commands.command("pause")
def pause(
    job: JobArgument,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Pause a running crawl: it takes no more pages until you resume it."""
    _change(job, (output, db), json, lambda world, found: use.pause(world, found, paused=True))


@commands.command("resume")
def resume(
    job: JobArgument,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """End the pause of a job; a running worker continues it."""
    place = (output, db)
    found = _change(job, place, json, lambda world, found: use.pause(world, found, paused=False))
    seeds = shlex.join(found.seeds)
    folder = f" -o {shlex.quote(str(output))}" if output else ""
    note(f"if no geomi process is running: geomi crawl {seeds}{folder} --resume")


@commands.command("cancel")
def cancel(
    job: JobArgument,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """End a job for good; its pages stay."""
    _change(job, (output, db), json, use.cancel)


@commands.command("delete")
def delete(
    job: JobArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm the deletion.")] = False,
    output: flags.Directory = None,
    db: flags.Database = None,
    json: flags.AsJson = False,
) -> None:
    """Delete a job and its files."""
    gone = in_data_directory(output, lambda home: _delete(home, job, is_confirmed=yes), db=db)
    conclude({"deleted": gone.id}, f"job {gone.id} and its files are deleted", json=json)


def _change(
    job: str,
    place: tuple[Path | None, str | None],
    json: bool,
    change: Callable[[World, CrawlJob], Awaitable[CrawlJob]],
) -> CrawlJob:
    async def work(home: DataDirectory) -> CrawlJob:
        return await change(home.world, await use.find(home.world, job))

    output, db = place
    changed = in_data_directory(output, work, db=db)
    conclude(job_data(changed), f"job {changed.id}: {job_state(changed)}", json=json)
    return changed


async def _delete(home: DataDirectory, job: str, *, is_confirmed: bool) -> CrawlJob:
    found = await use.find(home.world, job)
    refuse_unfinished(found)
    if not is_confirmed:
        raise ConfigError(
            f"this deletes {found.stats.collected:,} pages of job {found.id}", hint="add --yes"
        )
    await delete_job(home, found)
    return found


def _origins(job: CrawlJob) -> dict[str, str]:
    """Say where a job's settings came from, and what holds for it beside them."""
    provider = f"provider {job.library_name or job.provider}"
    circumstances = {
        f"channel crawl ({job.channel_why})": provider if job.channel_why else "",
        f"channel {job.channel} {job.library}": provider if job.library else "",
        **{f"network {flag}": "flag" for flag in job.network},
        f"archive --blobs {job.archive}": "flag" if job.archive else "",
        f"archive id {job.directory}": "data directory" if job.directory else "",
    }
    return dict(job.origins) | {name: origin for name, origin in circumstances.items() if origin}


def _time(at_s: float | None) -> str:
    return "-" if at_s is None else moment(at_s)
