"""Find raw files that are not processed yet, and put them into their queue (SED-15).

Rules kept:
- Any filter works: the longest known prefix is listed, and the rest is filtered (C-51). Only raw
  files count as found (C-77); other keys are skipped unopened (SED-19).
- A processed file that the store does not know is queued once more. The old store with the messages
  of its domains may be lost.
- A file that waits already counts as sent: the queue has it once, however often it is sent.
- A file that cannot be queued is reported, and stops no other (SED-20). If the store is away, the
  sender waits for it a few times, not at every file.
- A forced file carries the name of its orchestration, and so do its messages (C-50).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from geomi.dataset.message import file_message
from geomi.dataset.partition import raw_prefix, read_raw_key, success_path
from geomi.engine.seeds.checkpoints import file_manifest
from geomi.engine.seeds.context import SeedContext
from geomi.errors import StoreError, first_error
from geomi.model.dataset.queue import Message
from geomi.model.dataset.seed import OrchestrationReport, Partition, PartitionFilter, SeedMessage
from geomi.model.event import SeedSendFailed
from geomi.ports.dataset import Dataset
from geomi.text.identifiers import new_ulid

AT_ONCE = 100  # raw files that are looked at and sent together
READERS = 16  # checkpoints that are read side by side
# Sends that fail in a row before nobody waits for the store any more, and checkpoints of some files
# that cannot be read before nobody waits for the dataset: each may take a minute.
MAX_REFUSALS = 3


async def orchestrate(
    seeding: SeedContext, which: PartitionFilter, *, force: bool = False
) -> OrchestrationReport:
    """Send every raw file of some partitions that is not processed yet, or all of them."""
    world = seeding.world
    run = new_ulid(world.clock.now_s(), world.rng) if force else ""
    found = sent = skipped = 0
    sender = _Sender(seeding)
    async for batch in _batches(_raw_files(seeding.dataset, which)):
        done = frozenset[str]() if force else await _done(seeding.dataset, batch)
        found += len(batch)
        skipped += len(done)
        messages = [
            file_message(
                seeding.config.seeds,
                SeedMessage(file.key, file.partition, force, run, again=file.key in done),
            )
            for file in batch
        ]
        await sender.send_unknown([one for one in messages if one.task in done])
        sent += await sender.send([one for one in messages if one.task not in done])
    return OrchestrationReport(found, sent, skipped)


@dataclass(frozen=True, slots=True)
class _File:
    """A raw file, and whether something lies where its checkpoint would be."""

    key: str
    size: int
    partition: Partition
    has_checkpoint: bool = False


async def _raw_files(dataset: Dataset, which: PartitionFilter) -> AsyncIterator[_File]:
    """Yield the raw files of some partitions; what begins with a file's name is listed after it."""
    waiting: _File | None = None
    async for listed in dataset.list(raw_prefix(which)):
        if waiting is not None and listed.key.startswith(waiting.key):
            if listed.key == success_path(waiting.key) and listed.size > 0:
                waiting = replace(waiting, has_checkpoint=True)
            continue
        if waiting is not None:
            yield waiting
        named = read_raw_key(listed.key)
        waiting = None
        if named is not None and which.matches(named[0]):
            waiting = _File(listed.key, listed.size, named[0])
    if waiting is not None:
        yield waiting


async def _batches(files: AsyncIterator[_File]) -> AsyncIterator[Sequence[_File]]:
    batch: list[_File] = []
    async for file in files:
        batch.append(file)
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


async def _done(dataset: Dataset, files: Sequence[_File]) -> frozenset[str]:
    """Read the checkpoints of files; return which files have one that answers for them."""
    places = asyncio.Semaphore(READERS)
    failures: list[StoreError] = []

    async def read(file: _File) -> bool:
        async with places:
            try:
                return await file_manifest(dataset, file.key, size=file.size) is not None
            except StoreError as error:  # whoever works on the file tells what is wrong with it
                failures.append(error)
                if len(failures) > MAX_REFUSALS:
                    raise
                return False

    try:
        async with asyncio.TaskGroup() as group:
            reading = {
                file.key: group.create_task(read(file), name=f"checkpoint of {file.key}")
                for file in files
                if file.has_checkpoint
            }
    except* StoreError as several:
        raise first_error(several) from several
    return frozenset(key for key, task in reading.items() if task.result())


class _Sender:
    """Sends messages, and tells of those that cannot be sent."""

    def __init__(self, seeding: SeedContext) -> None:
        self._seeding = seeding
        self._refusals = 0  # in a row
        self._reason = ""

    async def send(self, messages: Sequence[Message]) -> int:
        """Send messages together, or where that fails one by one; return how many are there."""
        if await self._is_done(self._seeding.queues.send, messages):
            return len(messages)
        if len(messages) > 1 and not self._is_away:
            return sum([await self.send([message]) for message in messages])
        self._tell(messages)
        return 0

    async def send_unknown(self, messages: Sequence[Message]) -> None:
        """Have files looked at once more whose checkpoints were there before the store."""
        if not await self._is_done(self._seeding.queues.send_unknown, messages):
            self._tell(messages)  # they stay unknown, and are sent by the next orchestration

    @property
    def _is_away(self) -> bool:
        return self._refusals >= MAX_REFUSALS

    async def _is_done(
        self, send: Callable[[str, Sequence[Message]], Awaitable[int]], messages: Sequence[Message]
    ) -> bool:
        if not messages:
            return True
        if self._is_away:
            return False
        try:
            await send(self._seeding.dataset.name, messages)
        except StoreError as error:
            self._refusals += 1
            self._reason = error.message
            return False
        self._refusals = 0
        return True

    def _tell(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._seeding.world.sink.emit(SeedSendFailed(message.task, self._reason))
