"""`geomi workers`: list the workers of a store, with their jobs and their speed."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from geomi.app import DataDirectory
from geomi.app.recovery import is_dead
from geomi.cli import flags
from geomi.cli.console import print_json, say
from geomi.cli.data_directory import in_data_directory
from geomi.model.worker import WorkerCard


def workers(
    output: flags.Directory = None, db: flags.Database = None, json: flags.AsJson = False
) -> None:
    """List the workers of a store: start, last heartbeat, hosts and speed of each."""
    found = in_data_directory(output, _look, db=db)
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


async def _look(home: DataDirectory) -> list[WorkerStatus]:
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
    served = " ".join(card.jobs) or "no job"
    return (
        f"{card.owner}  {card.role} on {card.machine} (pid {card.pid}) for {seen.age_s:,.0f} s, "
        f"seen {seen.beat_age_s:.1f} s ago{fate}: {card.hosts:,} hosts, {card.pages:,} pages, "
        f"{card.pages_per_s:.1f}/s, {served}"
    )
