"""Find raw files that are not processed yet, and send them to their queue (SED-15).

Rules kept:
- Any filter will do: the longest known prefix is listed, the rest is looked at (C-51). Only raw
  files count as found (C-77), and keys that are none are passed over, unopened (SED-19).
- A file that is processed, and of which the store knows nothing, is looked at once more: a store
  that was lost may have had its domains, and nobody else would send them again.
- A file that waits already counts as sent: it is there once, however often it is sent.
- A file that cannot be sent is told, and stops no other (SED-20).
- What is forced has the name of its orchestration, which both messages carry (C-50).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace

from geomi.engine.seeds.filed import file_manifest
from geomi.engine.seeds.seeding import Seeding
from geomi.errors import StoreError
from geomi.model.event import SeedSendFailed
from geomi.model.message import Message
from geomi.model.seed import Orchestrated, Partition, PartitionFilter, SeedMessage
from geomi.ports.dataset import Dataset
from geomi.seed.message import file_message
from geomi.seed.partition import raw_prefix, read_raw_key, success_path
from geomi.text.ulid import new_ulid

AT_ONCE = 100  # raw files that are looked at and sent together
READERS = 16  # checkpoints that are read side by side


async def orchestrate(
    seeding: Seeding, which: PartitionFilter, *, force: bool = False
) -> Orchestrated:
    """Send every raw file of some partitions that is not processed yet, or all of them."""
    world = seeding.world
    run = new_ulid(world.clock.now_s(), world.rng) if force else ""
    found = sent = skipped = 0
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
        await _send_unknown(seeding, [one for one in messages if one.task in done])
        sent += await _send(seeding, [one for one in messages if one.task not in done])
    return Orchestrated(found, sent, skipped)


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

    async def read(file: _File) -> bool:
        async with places:
            try:
                return await file_manifest(dataset, file.key, size=file.size) is not None
            except StoreError:  # whoever works on the file tells what is wrong with it
                return False

    async with asyncio.TaskGroup() as group:
        reading = {
            file.key: group.create_task(read(file), name=f"checkpoint of {file.key}")
            for file in files
            if file.has_checkpoint
        }
    return frozenset(key for key, task in reading.items() if task.result())


async def _send_unknown(seeding: Seeding, messages: Sequence[Message]) -> None:
    """Have files looked at once more whose checkpoints were there before the store."""
    if not messages:
        return
    try:
        await seeding.queues.send_unknown(seeding.dataset.name, messages)
    except StoreError as error:  # they stay unknown, and are sent by the next orchestration
        for message in messages:
            seeding.world.sink.emit(SeedSendFailed(message.task, error.message))


async def _send(seeding: Seeding, messages: Sequence[Message]) -> int:
    """Send messages together, or where that fails one by one; return how many are there."""
    if not messages:
        return 0
    try:
        await seeding.queues.send(seeding.dataset.name, messages)
    except StoreError as error:
        if len(messages) > 1:
            return sum([await _send(seeding, [message]) for message in messages])
        seeding.world.sink.emit(SeedSendFailed(messages[0].task, error.message))
        return 0
    return len(messages)
