"""Process one raw file: check its records, group them by domain, queue the domains (SED-23).

Rules kept:
- A file that its checkpoint covers is skipped; a forced one only if this run has processed it
  already. If the message says `again`, its domains are queued and nothing is written.
- Messages go first, then the rejects, and the checkpoint last. A process that dies before the
  checkpoint does the same again, and sends messages that exist already.
- Before each message or write, the worker checks that it still has the file's loan.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from geomi.dataset.checkpoint import write_manifest
from geomi.dataset.message import domain_message, read_seed_message
from geomi.dataset.partition import rejects_path, success_path
from geomi.dataset.raw_file import DomainGroup, RawFile, write_rejects
from geomi.engine.seeds.checkpoints import (
    checksum_of,
    file_manifest,
    known_run,
    read_raw_file,
    work_done,
)
from geomi.engine.seeds.context import HeldTask, SeedContext
from geomi.errors import SeedError
from geomi.model.dataset.queue import Loan, Message, TaskResult
from geomi.model.dataset.seed import (
    Checksum,
    DomainMessage,
    ErrorType,
    Manifest,
    SeedMessage,
    SeedRules,
)
from geomi.model.event import SeedFileDone, SeedSkipped
from geomi.text.encoding import iso_utc

SENT_AT_ONCE = 100  # messages in one transaction
SENT_BYTES = 4 * 1024 * 1024  # of them together, unless one alone has more


async def process_file(seeding: SeedContext, held: HeldTask) -> TaskResult:
    """Send the domains of a raw file to the collector, and write its checkpoint."""
    return await _File(seeding, held, _latest(held.loan), seeding.world.clock.now_s()).work()


@dataclass(frozen=True, slots=True)
class _File:
    seeding: SeedContext
    held: HeldTask
    message: SeedMessage
    began_s: float

    async def work(self) -> TaskResult:
        dataset, key, run = self.seeding.dataset, self.message.file_path, self.message.run
        size = await dataset.size(key)
        if size is None:
            raise SeedError(f"File not found: {key}", kind=ErrorType.STORAGE)
        before = await file_manifest(dataset, key, size=size)
        is_done = before is not None and run <= known_run(before, self.seeding.world, run=run)
        if before is not None and is_done and not self.message.again:
            return self._pass_over(before)
        data = await dataset.read(key, max_bytes=self.seeding.config.seeds.max_file_bytes)
        if data is None:
            raise SeedError(f"File not found: {key}", kind=ErrorType.STORAGE)
        found, checksum = await asyncio.to_thread(self._read, data)
        del data  # not kept while its messages are sent
        await self._send(found.groups, checksum)
        if before is not None and is_done and before.inputs[key] == checksum:
            return self._pass_over(before)
        outputs = await self._write_rejects(found)
        manifest = self._manifest(found, checksum, outputs)
        await self._check_in(manifest)
        self.seeding.world.sink.emit(
            SeedFileDone(key, len(found.groups), len(found.rejects), manifest.duration_ms)
        )
        return work_done(manifest)

    def _pass_over(self, before: Manifest) -> TaskResult:
        self.seeding.world.sink.emit(SeedSkipped(self.message.file_path))
        return work_done(before)

    def _read(self, data: bytes) -> tuple[RawFile, Checksum]:
        key, partition = self.message.file_path, self.message.partition_info
        return read_raw_file(self.seeding, key, data, partition), checksum_of(data)

    async def _send(self, groups: Sequence[DomainGroup], checksum: Checksum) -> None:
        rules, name = self.seeding.config.seeds, self.seeding.dataset.name
        batches = _batches(_messages(self.message, groups, checksum, rules))
        while batch := await asyncio.to_thread(next, batches, None):
            await self.held.keep()
            await self.seeding.queues.send(name, batch)

    async def _write_rejects(self, found: RawFile) -> dict[str, Checksum]:
        """Say which records were not taken; where all were, nothing of an earlier run stays."""
        key, dataset = rejects_path(self.message.file_path), self.seeding.dataset
        await self.held.keep()
        if not found.rejects:
            if await dataset.size(key) is not None:
                await dataset.remove(key)
            return {}
        data = await asyncio.to_thread(write_rejects, found.rejects)
        await dataset.put(key, data)
        return {key: checksum_of(data)}

    def _manifest(
        self, found: RawFile, checksum: Checksum, outputs: dict[str, Checksum]
    ) -> Manifest:
        clock = self.seeding.world.clock
        rejected = len(found.rejects)
        return Manifest(
            processed_at=iso_utc(clock.wall_s()),
            inputs={self.message.file_path: checksum},
            outputs=outputs,
            counts={
                "records": found.records,
                "rejected": rejected,
                "duplicates": found.duplicates,
                "domains": len(found.groups),
                "urls": found.records - rejected - found.duplicates,
            },
            run=self.message.run,
            duration_ms=round((clock.now_s() - self.began_s) * 1000),
        )

    async def _check_in(self, manifest: Manifest) -> None:
        """Write the checkpoint; it takes the place of one that does not answer, or is forced."""
        key, data = success_path(self.message.file_path), write_manifest(manifest)
        await self.held.keep()
        if not await self.seeding.dataset.add(key, data):
            await self.seeding.dataset.put(key, data)


def _latest(loan: Loan) -> SeedMessage:
    """Return what waits for a file as one message: the latest run does for all before it."""
    messages = [read_seed_message(one.body) for one in loan.messages]
    for one in messages:
        if one.file_path != loan.task:
            raise SeedError(
                f"a message about `{one.file_path}` waits for `{loan.task}`",
                kind=ErrorType.VALIDATION,
            )
    latest = max(messages, key=lambda one: one.run)
    return replace(latest, again=any(one.again for one in messages))


def _messages(
    seed: SeedMessage, groups: Sequence[DomainGroup], checksum: Checksum, rules: SeedRules
) -> Iterator[Message]:
    for group in groups:
        yield domain_message(
            rules,
            DomainMessage(
                group.domain,
                group.domain_id,
                group.urls,
                seed.partition_info,
                seed.file_path,
                checksum,
                group.indexes,
                seed.force,
                seed.run,
            ),
        )


def _batches(messages: Iterator[Message]) -> Iterator[list[Message]]:
    batch, size = list[Message](), 0
    for message in messages:
        is_full = len(batch) == SENT_AT_ONCE or size + len(message.body) > SENT_BYTES
        if batch and is_full:
            yield batch
            batch, size = [], 0
        batch.append(message)
        size += len(message.body)
    if batch:
        yield batch
