"""Recover from dead workers: end their leases, keep their pages, fetch lost pages again.

The lock of a worker in this data directory shows at once whether it lives. A worker elsewhere
counts as dead if it sent no heartbeat for long enough. Nobody can reach its disk, so pages that it
had not uploaded are lost, and geomi fetches them again. If it comes back, its lease tokens are out
of date, and the store refuses its writes.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from geomi.adapters.blob.directory import worker_of
from geomi.adapters.machine.mark import read_mark, remove_mark
from geomi.adapters.machine.presence import (
    dead_owners,
    is_abandoned,
    is_deleted,
    is_held,
    remove_locks,
)
from geomi.app.store import BEATS_TO_LISTEN, owners_here
from geomi.engine.worker.heartbeat import BEATS_PER_SILENCE
from geomi.engine.worker.supervisor import UploadState
from geomi.engine.world import World
from geomi.model.event import Warned
from geomi.model.job import JobState, StopReason
from geomi.model.worker import Suspect, WorkerCard
from geomi.ports.archive import KeptArchive

if TYPE_CHECKING:
    from geomi.ports.store import Store


class RecoverableDirectory(Protocol):
    """What recovering needs of an open data directory."""

    @property
    def root(self) -> Path: ...

    @property
    def store(self) -> Store: ...

    @property
    def archive(self) -> KeptArchive: ...

    @property
    def world(self) -> World: ...

    @property
    def watch(self) -> SilenceWatch: ...


class SilenceWatch:
    """Counts a worker as dead only after it has watched its silence itself.

    By then a clock that was set, and made every worker look dead, is right again.
    """

    def __init__(self) -> None:
        self._heard: dict[str, tuple[float, float]] = {}

    def is_long(self, card: WorkerCard, world: World) -> bool:
        """Whether a card has not changed while two beats should have come."""
        now_s = world.clock.now_s()
        beat_s, since_s = self._heard.get(card.owner, (card.beat_s, now_s))
        if beat_s != card.beat_s:
            since_s = now_s
        self._heard[card.owner] = card.beat_s, since_s
        return now_s - since_s >= BEATS_TO_LISTEN * world.silence_s / BEATS_PER_SILENCE

    def forget(self, owners: Sequence[str]) -> None:
        """Watch some no more."""
        for owner in owners:
            self._heard.pop(owner, None)


def directory_name(root: Path) -> str:
    """Name a data directory on its machine, in letters that every store keeps."""
    return os.fsencode(root.resolve()).decode("utf-8", "backslashreplace")


async def recover(place: RecoverableDirectory) -> tuple[Suspect, ...]:
    """End what dead workers held, here and elsewhere, and save what they left.

    Return what they died of, as far as that is known.
    """
    cards = {card.owner: card for card in await place.world.store.workers.list()}
    gone = _gone(place, cards)
    silent = [
        card.owner
        for card in cards.values()
        if is_dead(place, card) and place.watch.is_long(card, place.world)
    ]
    dead = list(dict.fromkeys([*gone, *silent]))
    if not dead:
        return ()
    suspects = await note_deaths(place, dead)
    await place.world.store.census.release_dead(dead, now_s=place.world.clock.now_s())
    for owner in dead:
        await _save_segments(place, owner, is_here=owner in gone)
    await place.world.store.workers.leave(dead)
    place.watch.forget(dead)
    remove_locks(place.root, dead)
    return suspects


async def note_deaths(
    place: RecoverableDirectory, owners: Sequence[str], *, job: str = ""
) -> tuple[Suspect, ...]:
    """Note what dead processes had in hand, before anybody takes that up again.

    The marks of processes elsewhere are read there, by the next process of their directory.

    Args:
        job: the one that they worked on, where that is known.
    """
    noted: list[Suspect] = []
    for owner in owners:
        work = read_mark(place.root, owner)
        if work is not None:
            suspects = place.store.open_for(work.tenant).suspects
            wall_s = place.world.clock.wall_s()
            noted.append(await suspects.note(work, owner=owner, wall_s=wall_s))
            _tell(place, noted[-1], job)
        remove_mark(place.root, owner)
    return tuple(noted)


def _tell(place: RecoverableDirectory, suspect: Suspect, job: str) -> None:
    message = f"a process died while it had {suspect.label} in hand"
    deaths = "the first time" if suspect.deaths == 1 else f"death {suspect.deaths}"
    place.world.sink.emit(Warned(job, f"{message} ({deaths}): {suspect.told}"))


async def requeue_lost(place: RecoverableDirectory, lost: Sequence[str]) -> None:
    """Fetch again what the archive has lost: committed captures whose bytes are gone."""
    count = await place.store.segments.requeue(lost) if lost else 0
    if not count:
        return
    message = f"{len(lost)} archive segments are damaged; {count} pages will be fetched again"
    place.world.sink.emit(Warned("", message))
    for job in {name.split("/")[1] for name in lost if worker_of(name)}:
        await _reopen(place, job)


async def check_sent(place: RecoverableDirectory, job: str) -> UploadState:
    """Return whether everybody can read what a job has collected; what is lost waits again."""
    missing = await place.archive.check(await place.store.segments.job_ends(job))
    if not missing:
        return UploadState.ALL
    await recover(place)  # some may lie here, left by a worker that died
    missing = await place.archive.check(await place.store.segments.job_ends(job))
    # What workers of this directory wrote is here or in the bucket, or nowhere.
    cards = await place.world.store.workers.list()
    elsewhere = {card.owner for card in cards if not _is_ours(place, card)}
    lost = [name for name in missing if worker_of(name) not in elsewhere]
    await requeue_lost(place, lost)
    if lost:
        return UploadState.LOST
    return UploadState.NOT_YET if missing else UploadState.ALL


def is_dead(place: RecoverableDirectory, card: WorkerCard) -> bool:
    """Whether a worker is dead: by its lock, where that can be seen, else by its silence."""
    if card.owner == place.world.owner or is_held(place.root, card.owner):
        return False
    if _is_ours(place, card) and is_abandoned(place.root, card.owner):
        return True
    return card.is_silent(place.world.clock.now_s())


def _gone(place: RecoverableDirectory, cards: Mapping[str, WorkerCard]) -> list[str]:
    """Return the owners whose lock shows that they are dead.

    A file knows all that work in its own directory. Who has no lock there came with a copy, such as
    a backup that was restored; or somebody deleted the lock's file, and the process makes it anew
    with its next heartbeat. A lock of another machine's worker, on a disk that both use, need not
    be seen from here.
    """
    left, holders = dead_owners(place.root), owners_here(place.store)
    if holders is None:
        return [owner for owner in left if owner not in cards or _is_ours(place, cards[owner])]
    known = dict.fromkeys([*holders, *cards])
    return [*left, *(owner for owner in known if _has_left(place, owner, cards.get(owner)))]


def _has_left(place: RecoverableDirectory, owner: str, card: WorkerCard | None) -> bool:
    """Whether an owner has no lock, and does not live here without one."""
    if owner == place.world.owner:
        return False
    is_heard = card is not None and not card.is_silent(place.world.clock.now_s())
    pid = card.pid if card is not None and is_heard and _is_ours(place, card) else None
    return is_deleted(place.root, owner, pid)


async def _save_segments(place: RecoverableDirectory, owner: str, *, is_here: bool) -> None:
    ends = await place.store.segments.ends(owner)
    if is_here or place.archive.reaches(owner):
        await requeue_lost(place, await place.archive.mend(owner, ends))


async def _reopen(place: RecoverableDirectory, job: str) -> None:
    """Reopen a finished job of any tenant: some of its pages wait again."""
    tenant = await place.store.roster.tenant_of(job)
    if tenant is None:
        return
    jobs = place.store.open_for(tenant).jobs
    found = await jobs.get(job)
    if found and found.state is JobState.COMPLETED and found.stop is StopReason.DONE:
        again = replace(found, state=JobState.PROCESSING, stop=None, ended_at_s=None)
        wall_s = place.world.clock.wall_s()
        await jobs.turn(again, was=JobState.COMPLETED, wall_s=wall_s)


def _is_ours(place: RecoverableDirectory, card: WorkerCard) -> bool:
    """Whether a lock in our directory can be trusted: it was made on this machine."""
    return card.machine == platform.node() and card.root == directory_name(place.root)
