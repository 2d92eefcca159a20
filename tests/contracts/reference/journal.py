"""What became of jobs, and who has yet to be told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from geomi.adapters.store.tables.journal import (
    check_named_values,
    is_step,
    is_told,
    listed_events,
    step_of,
)
from geomi.model.job import CrawlJob, JobEvent
from geomi.model.named_value import NamedValue
from tests.contracts.reference.world import Book, World


class MemoryJournal:
    """`ports.jobs.JobJournal` of one tenant."""

    def __init__(self, world: World, tenant: str) -> None:
        self._world = world
        self._tenant = tenant

    async def read(self, job: str, *, after: int = 0, limit: int) -> list[JobEvent]:
        """List a job's events after one, in their order."""
        book = self._world.find_book(job, self._tenant)
        events = book.events if book else []
        return [event for event in events if event.n > after][: listed_events(limit)]


class MemoryUnsentEvents:
    """`ports.jobs.UnsentEvents`."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def list(self, limit: int) -> Sequence[JobEvent]:
        """List them, oldest first."""
        return list(self._world.untold.values())[: listed_events(limit)]

    async def hand_over(self, event: JobEvent, values: Sequence[NamedValue]) -> bool:
        """Keep the deliveries of an event and strike it off, or neither."""
        check_named_values(values)
        found = self._world.untold.get((event.job, event.n))
        if found is None or found.tenant != event.tenant:
            return False
        del self._world.untold[event.job, event.n]
        for named in values:
            key = named.tenant, named.namespace, named.name
            self._world.named_values.setdefault(key, replace(named, revision=1))
        return True


def write_step(world: World, book: Book, before: CrawlJob | None, *, wall_s: float | None) -> None:
    """Write down what became of a job, if it is worth an event."""
    job = book.job
    if before is not None and not is_step(before, job):
        return
    event = step_of(job, len(book.events) + 1, wall_s)
    book.events.append(event)
    if not is_told(job):
        world.untold[job.id, event.n] = event
