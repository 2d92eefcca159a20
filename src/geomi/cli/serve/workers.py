"""`geomi workers`: list the workers of a store, with their jobs and their speed."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from geomi.app import DataDirectory
from geomi.app.recovery import is_dead
from geomi.cli import flags
from geomi.cli.console import note, print_json, say
from geomi.cli.data_directory import in_data_directory
from geomi.engine.regions import describe_unserved, unserved
from geomi.engine.worker.job_pool import MOST_JOBS
from geomi.model.worker import WorkerCard


def workers(
    output: flags.Directory = None, db: flags.Database = None, json: flags.AsJson = False
) -> None:
    """List the workers of a store: start, last heartbeat, hosts and speed of each."""
    found, unserved_jobs = in_data_directory(output, _look, db=db)
    for job in unserved_jobs:
        note(job)
    if json:
        print_json(
            [
                asdict(one.card) | {name: getattr(one, name) for name in STATUS_FIELDS}
                for one in found
            ]
        )
        return
    for one in found:
        say(_line(one), style="yellow" if one.is_dead else "")
    if not found:
        say("no worker runs on this store")


STATUS_FIELDS = ("age_s", "beat_age_s", "is_dead")


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """A worker's card at this moment."""

    card: WorkerCard
    age_s: float
    beat_age_s: float
    is_dead: bool


async def _look(home: DataDirectory) -> tuple[list[WorkerStatus], list[str]]:
    return await _workers(home), await _unserved_jobs(home)


async def _unserved_jobs(home: DataDirectory) -> list[str]:
    """Name the jobs whose URLs wait for workers of regions where none is alive."""
    told: list[str] = []
    for tenant, name in await home.store.roster.active(MOST_JOBS):
        world = home.open_for(tenant).world
        job = await world.store.jobs.get(name)
        if job is not None and (waiting := await unserved(world, job)):
            told.append(f"job {name}: {describe_unserved(waiting)}")
    return told


async def _workers(home: DataDirectory) -> list[WorkerStatus]:
    cards, now_s = await home.world.store.workers.list(), home.world.clock.now_s()
    return [
        WorkerStatus(
            card,
            round(now_s - card.started_s, 3),
            round(now_s - card.beat_s, 3),
            is_dead(home, card),
        )
        for card in cards
    ]


def _line(seen: WorkerStatus) -> str:
    card = seen.card
    fate = ", dead" if seen.is_dead else ""
    place = f" of region {card.region}" if card.region else ""
    served = " ".join(card.jobs) or "no job"
    return (
        f"{card.owner}  {card.role}{place} on {card.machine} (pid {card.pid}) "
        f"for {seen.age_s:,.0f} s, seen {seen.beat_age_s:.1f} s ago{fate}: "
        f"{card.hosts:,} hosts, {card.pages:,} pages, {card.pages_per_s:.1f}/s, {served}"
    )
