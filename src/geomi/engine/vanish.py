"""Pages that a job found gone are not to be found any more.

Captures tell what is there; what is not tell the entries of a job that is over. They are looked
through once for each job, and before that while it ends: a job for a collection is completed when
the collection is as the site is. A page that another job has captured since is left alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from geomi.engine.world import World
from geomi.model.document import document_id
from geomi.model.job import CrawlJob, JobState
from geomi.model.search import Scope
from geomi.model.verdict import Outcome, State
from geomi.ports.index import Index

ENTRIES_PER_READ = 1000
DONE = "gone"  # the cursor whose length says that a job was looked through

_GONE = frozenset({Outcome.GONE, Outcome.SOFT_404, Outcome.NOINDEX})


async def take_out_gone(world: World, index: Index, job: CrawlJob) -> int:
    """Take out what a job that ends found gone; return how many documents that were."""
    is_ending = job.state.is_final or job.state is JobState.FINALIZING
    if not is_ending or (await world.pages.cursor(job.id, DONE))[1]:
        return 0
    taken = 0
    async for url_hash in _gone(world, job):
        document = document_id(job.config.analysis.collection, url_hash)
        known = await world.documents.get(document)
        if known is not None and not await _is_younger(world, known.job, job):
            await index.delete(Scope.DOCUMENT, document)
            taken += await world.documents.drop([document])
    if job.state.is_final:  # one that ends may yet have to go on
        await world.pages.advance(job.id, DONE, after=0, seq=0, length=1)
    return taken


async def _gone(world: World, job: CrawlJob) -> AsyncIterator[bytes]:
    for state in (State.FAILED, State.SKIPPED):
        after = b""
        while entries := await world.census.entries(
            job.id, state=state, after=after, limit=ENTRIES_PER_READ
        ):
            after = entries[-1].url_hash
            for entry in entries:
                if entry.outcome in _GONE:
                    yield entry.url_hash


async def _is_younger(world: World, name: str, job: CrawlJob) -> bool:
    """Say whether a document's job began after this one."""
    found = await world.jobs.get(name)
    return found is not None and found.created_at_s > job.created_at_s
