"""Work on a job in batches, where its settings ask for them (JOB-10, POL-09, C-94).

A batch is as many URLs as wait when it begins; what they bring belongs to the next one. The store
lends no more than is left of the batch, whichever worker asks. When all of it has ended, the first
worker that sees it begins the next one after a pause. If too many of its URLs have failed, the job
fails. An answer of 4xx is an answer, and no failure.
"""

from __future__ import annotations

from geomi.engine import jobs
from geomi.engine.world import World
from geomi.model.entry import RemainingWork
from geomi.model.event import Warned
from geomi.model.job import CrawlJob, JobBatch, JobState
from geomi.model.verdict import State


class JobBatches:
    """The batches of one job, as one of its workers sees them."""

    def __init__(self, world: World, job: CrawlJob) -> None:
        self._world = world
        self._id = job.id

    async def turn(self) -> None:
        """Begin the next batch if the one under way is over; fail the job if too much failed."""
        job = await self._processing()
        if job is None:
            return
        store, batch, now_s = self._world.store, job.batch, self._world.clock.now_s()
        if not job.config.has_batches:
            if batch.number:  # it is resumed under settings without batches
                await store.jobs.turn_batch(job.id, JobBatch(), was=batch.number)
            return
        left = await store.census.outlook(job.id, now_s=now_s)
        ended = _ended(left)
        if batch.number and left.pending and (ended < batch.end or left.leased):
            return
        failed = await self._failed(job)
        if await self._fail(job, failed, ended) or not left.pending:
            return
        pause_s = job.config.politeness.batch_pause_s if batch.number else 0.0
        following = JobBatch(
            number=batch.number + 1,
            size=left.pending,
            end=ended + left.pending,
            failed=failed,
            ready_s=now_s + pause_s,
        )
        await store.jobs.turn_batch(job.id, following, was=batch.number)

    async def judge(self) -> None:
        """Fail the job if too much failed in a batch that a limit has cut off."""
        if (job := await self._processing()) is not None and job.config.has_batches:
            left = await self._world.store.census.outlook(job.id, now_s=self._world.clock.now_s())
            await self._fail(job, await self._failed(job), _ended(left))

    async def has_failed(self) -> bool:
        """Return whether the job has failed, by this worker's judgement or another's."""
        job = await self._world.store.jobs.get(self._id)
        return job is not None and job.state is JobState.FAILED

    async def _processing(self) -> CrawlJob | None:
        job = await self._world.store.jobs.get(self._id)
        is_working = job is not None and job.state is JobState.PROCESSING and not job.paused
        return job if is_working else None

    async def _fail(self, job: CrawlJob, failed: int, ended: int) -> bool:
        """End a job as failed if its batch had more failures than it tolerates."""
        batch, tolerated = job.batch, job.config.limits.tolerated_failures
        tried, failed = ended - (batch.end - batch.size), failed - batch.failed
        if not batch.number or tried <= 0 or 100 * failed <= tolerated * tried:
            return False
        message = (
            f"{failed:,} of {tried:,} URLs of batch {batch.number:,} failed; "
            f"the job tolerates {tolerated:g} %"
        )
        if await jobs.fail_processing(self._world, job, message):
            hint = "limits.tolerated_failures sets how many may fail"
            self._world.sink.emit(Warned(job.id, message, hint))
        return True

    async def _failed(self, job: CrawlJob) -> int:
        """Count the URLs that have failed and were not refused by an answer of 4xx."""
        if job.config.limits.tolerated_failures >= 100:
            return 0
        endings = await self._world.store.census.outcomes(job.id)
        return sum(
            many
            for (state, _, status), many in endings.items()
            if state is State.FAILED and not (status is not None and 400 <= status < 500)
        )


def _ended(left: RemainingWork) -> int:
    return sum(many for state, many in left.by_state.items() if state is not State.PENDING)
