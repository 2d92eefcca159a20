"""Check the raw files of a dataset: their names, records, checkpoints and descriptions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from geomi.engine.seeds.checkpoints import checkpoint_at, checksum_of, matching
from geomi.engine.seeds.findings import Findings
from geomi.errors import SeedError
from geomi.model.seed import Partition, PartitionFilter, SeedRules
from geomi.ports.dataset import Dataset, Listed
from geomi.seed.partition import (
    SUCCESS,
    raw_prefix,
    read_raw_key,
    read_raw_metadata_key,
    rejects_path,
    result_path,
    success_path,
)
from geomi.seed.raw_metadata import MAX_METADATA_BYTES, RawMetadata, read_raw_metadata
from geomi.seed.record import RawFile, read_raw

# Where the contract of each domain is, and the processed raw files that name it.
Wanted = dict[str, list[str]]

AGAIN = "run `geomi seeds run` with --force, or remove the checkpoint"


async def check_raw(
    dataset: Dataset, rules: SeedRules, which: PartitionFilter, findings: Findings
) -> Wanted:
    """Check the raw files of some partitions; return which contracts there have to be."""
    wanted: Wanted = {}
    named: set[str] = set()  # also by files that are not processed yet
    async for folder in _folders(dataset, which, findings):
        records = 0
        for file in folder.files:
            found = await _check_file(dataset, rules, folder.partition, file.key, findings)
            records += found.records if found else 0
            if found is None:
                continue
            tasks = [result_path(folder.partition, group.domain) for group in found.groups]
            named.update(tasks)
            if file.key not in folder.checkpoints:
                continue
            if await _check_checkpoint(dataset, file.key, findings):
                for task in tasks:
                    wanted.setdefault(task, []).append(file.key)
        for key in folder.checkpoints - {file.key for file in folder.files}:
            findings.add(success_path(key), "its raw file is not there", "put the raw file back")
        if folder.metadata:
            await _check_metadata(dataset, folder, records, findings)
    findings.counts["domains"] += len(named)
    return wanted


@dataclass(slots=True)
class _Folder:
    partition: Partition
    files: list[Listed] = field(default_factory=list)
    checkpoints: set[str] = field(default_factory=set)  # by the key of the raw file
    metadata: str = ""


async def _folders(
    dataset: Dataset, which: PartitionFilter, findings: Findings
) -> AsyncIterator[_Folder]:
    """Yield one partition after the other; the files of a folder are listed together."""
    folder: _Folder | None = None
    async for listed in dataset.list(raw_prefix(which)):
        raw = listed.key.removesuffix(SUCCESS)
        named = read_raw_key(raw)
        partition = named[0] if named else read_raw_metadata_key(listed.key)
        if partition is None:
            findings.foreign(listed.key)
            continue
        if not which.matches(partition):
            continue
        if folder is None or folder.partition != partition:
            if folder is not None:
                yield folder
            folder = _Folder(partition)
        if named is None:
            folder.metadata = listed.key
        elif raw == listed.key:
            folder.files.append(listed)
        else:
            folder.checkpoints.add(raw)
    if folder is not None:
        yield folder


async def _check_file(
    dataset: Dataset, rules: SeedRules, partition: Partition, key: str, findings: Findings
) -> RawFile | None:
    findings.counts["files"] += 1
    findings.sums[key] = None
    try:
        data = await dataset.read(key, max_bytes=rules.max_file_bytes)
        if data is None:  # somebody removed it meanwhile
            return None
        findings.sums[key] = await asyncio.to_thread(checksum_of, data)
        found = await asyncio.to_thread(read_raw, data, partition, max_records=rules.max_records)
    except SeedError as error:
        remedy = "put a file that is right beside it, and remove this one"
        findings.add(key, f"{error.kind}: {error.message}", remedy)
        return None
    findings.counts["records"] += found.records
    findings.counts["rejected"] += len(found.rejects)
    findings.counts["duplicates"] += found.duplicates
    if found.rejects:
        first = found.rejects[0]
        findings.add(
            key,
            f"{len(found.rejects)} of {found.records} records are rejected; the first is in line "
            f"{first.line}: {first.reason}",
            "put a file with the records as they should be beside it",
        )
    return found


async def _check_checkpoint(dataset: Dataset, key: str, findings: Findings) -> bool:
    """Check whether a raw file's checkpoint answers for it."""
    checkpoint = success_path(key)
    manifest = await checkpoint_at(dataset, checkpoint)
    if manifest is None:
        findings.add(checkpoint, "it is no checkpoint of the seed engine", AGAIN)
        return False
    if manifest.inputs.get(key) != findings.sums[key]:
        findings.add(checkpoint, "it answers for another file than the one that is there", AGAIN)
        return False
    findings.counts["processed"] += 1
    for output, wanted in manifest.outputs.items():
        if output != rejects_path(key) or await matching(dataset, output, wanted) is None:
            findings.add(output, f"it is not what `{checkpoint}` answers for", AGAIN)
    return True


async def _check_metadata(
    dataset: Dataset, folder: _Folder, records: int, findings: Findings
) -> None:
    """Compare what a partition says of itself with what lies there (G-25)."""
    key = folder.metadata
    try:
        data = await dataset.read(key, max_bytes=MAX_METADATA_BYTES)
        told = read_raw_metadata(data or b"")
    except SeedError as error:
        findings.add(key, f"{error.kind}: {error.message}", "write it as docs/reference says")
        return
    there = RawMetadata(folder.partition, len(folder.files), records, told.created_at)
    if told != there:
        findings.add(
            key,
            f"it tells of {told.file_count} files and {told.record_count} records of "
            f"{'/'.join(_parts(told.partition))}; there are {there.file_count} and "
            f"{there.record_count} of {'/'.join(_parts(there.partition))}",
            "look for files that did not arrive, or correct it",
        )


def _parts(partition: Partition) -> tuple[str, str, str]:
    return partition.country, partition.category, partition.date
