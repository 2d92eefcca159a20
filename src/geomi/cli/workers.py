"""`geomi workers`: who works on a store, where, on what, and how fast."""

from __future__ import annotations

from dataclasses import asdict

from geomi.app import Home
from geomi.cli.home import in_home
from geomi.cli.options import AsJson, Database, Directory
from geomi.cli.talk import give, say
from geomi.model.worker import WorkerCard


def workers(output: Directory = None, db: Database = None, json: AsJson = False) -> None:
    """List the workers of a store: since when, their last heartbeat, their hosts and their pace."""
    cards, now_s = in_home(output, _look, db=db)
    if json:
        give([_data(card, now_s) for card in cards])
        return
    for card in cards:
        say(_line(card, now_s), style="yellow" if card.is_silent(now_s) else "")
    if not cards:
        say("nobody works here now")


async def _look(home: Home) -> tuple[list[WorkerCard], float]:
    return await home.world.workers.list(), home.world.clock.now_s()


def _data(card: WorkerCard, now_s: float) -> dict[str, object]:
    return asdict(card) | {
        "age_s": round(now_s - card.started_s, 3),
        "beat_age_s": round(now_s - card.beat_s, 3),
        "is_silent": card.is_silent(now_s),
    }


def _line(card: WorkerCard, now_s: float) -> str:
    silent = ", silent for too long" if card.is_silent(now_s) else ""
    served = " ".join(card.jobs) or "no job"
    return (
        f"{card.owner}  {card.role} on {card.machine} (pid {card.pid}) for "
        f"{now_s - card.started_s:,.0f} s, heard {now_s - card.beat_s:.1f} s ago{silent}: "
        f"{card.hosts:,} hosts, {card.pages:,} pages, {card.pages_per_s:.1f}/s, {served}"
    )
