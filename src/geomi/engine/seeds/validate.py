"""Read a whole dataset and report its errors; write nothing and send no request.

First come the raw files: their names, records, checkpoints and descriptions. They say which
domains must exist. Then come the contracts: whether each is finished and covers every raw file that
names its domain. Last come files that do not belong to a dataset.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from geomi.dataset.partition import (
    PROD,
    RAW,
    RAW_FORM,
    SUCCESS,
    metadata_path,
    prod_prefix,
    raw_prefix,
    read_prod_key,
    read_raw_key,
    read_raw_metadata_key,
    read_rejects_key,
    rejects_path,
    rejects_prefix,
    result_path,
    success_path,
)
from geomi.dataset.raw_file import (
    MAX_METADATA_BYTES,
    RawFile,
    RawMetadata,
    read_raw,
    read_raw_metadata,
)
from geomi.engine.seeds.checkpoints import (
    ContractState,
    checkpoint_at,
    checksum_of,
    matching,
    read_contract_state,
)
from geomi.errors import SeedError
from geomi.model.config import CrawlConfig
from geomi.model.dataset.seed import (
    MAX_PROBLEMS,
    Checksum,
    DatasetCheck,
    DatasetProblem,
    Partition,
    PartitionFilter,
    SeedRules,
)
from geomi.ports.dataset import Dataset, DatasetFile

_EVERYTHING = PartitionFilter()
# Where the contract of each domain is, and the processed raw files that name it.
Wanted = dict[str, list[str]]
AGAIN = "run `geomi seeds run` with --force, or delete the checkpoint"
COLLECT = (
    "run `geomi seeds run`; if that fails, `geomi seeds dlq list` says why; if no message waits "
    "any more, add --force"
)
COLLECT_AGAIN = "run `geomi seeds run` with --force"


async def check_dataset(
    dataset: Dataset, config: CrawlConfig, which: PartitionFilter
) -> DatasetCheck:
    """Check the raw files, contracts and rejects of some partitions."""
    findings = DatasetFindings()
    wanted = await check_raw(dataset, config.seeds, which, findings)
    await check_prod(dataset, which, wanted, findings)
    await _check_rest(dataset, which, findings)
    return findings.report()


async def _check_rest(dataset: Dataset, which: PartitionFilter, findings: DatasetFindings) -> None:
    """Look at the rejects, and where everything is asked for at what lies beside the trees."""
    prefix = "" if which == _EVERYTHING else rejects_prefix(which)
    async for listed in dataset.list(prefix):
        if listed.key.startswith((RAW, PROD)):
            continue
        source = read_rejects_key(listed.key)
        if source is None:
            findings.foreign(listed.key)
        elif which.matches(source[0]) and source[1] not in findings.sums:
            findings.add(
                listed.key,
                f"it belongs to `{source[1]}`, which is missing",
                "put the raw file back, or delete this one",
            )


async def check_raw(
    dataset: Dataset, rules: SeedRules, which: PartitionFilter, findings: DatasetFindings
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
            findings.add(success_path(key), "its raw file is missing", "put the raw file back")
        if folder.metadata:
            await _check_metadata(dataset, folder, records, findings)
    findings.counts["domains"] += len(named)
    return wanted


@dataclass(slots=True)
class _Folder:
    partition: Partition
    files: list[DatasetFile] = field(default_factory=list)
    checkpoints: set[str] = field(default_factory=set)  # by the key of the raw file
    metadata: str = ""


async def _folders(
    dataset: Dataset, which: PartitionFilter, findings: DatasetFindings
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
    dataset: Dataset, rules: SeedRules, partition: Partition, key: str, findings: DatasetFindings
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
        remedy = "add a correct file under another name, and delete this one"
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
            "add a file with the corrected records under another name",
        )
    return found


async def _check_checkpoint(dataset: Dataset, key: str, findings: DatasetFindings) -> bool:
    """Check whether a raw file's checkpoint answers for it."""
    checkpoint = success_path(key)
    manifest = await checkpoint_at(dataset, checkpoint)
    if manifest is None:
        findings.add(checkpoint, "it is not a checkpoint of the seed engine", AGAIN)
        return False
    if manifest.inputs.get(key) != findings.sums[key]:
        findings.add(checkpoint, "it covers another file than the present one", AGAIN)
        return False
    findings.counts["processed"] += 1
    for output, wanted in manifest.outputs.items():
        if output != rejects_path(key) or await matching(dataset, output, wanted) is None:
            findings.add(output, f"it is not the file that `{checkpoint}` covers", AGAIN)
    return True


async def _check_metadata(
    dataset: Dataset, folder: _Folder, records: int, findings: DatasetFindings
) -> None:
    """Compare what a partition says of itself with what lies there (G-25)."""
    key = folder.metadata
    try:
        data = await dataset.read(key, max_bytes=MAX_METADATA_BYTES)
        told = read_raw_metadata(data or b"")
    except SeedError as error:
        findings.add(
            key, f"{error.kind}: {error.message}", "write it as docs/reference/dataset.md says"
        )
        return
    there = RawMetadata(folder.partition, len(folder.files), records, told.created_at)
    if told != there:
        findings.add(
            key,
            f"it counts {told.file_count} files and {told.record_count} records of "
            f"{'/'.join(_parts(told.partition))}; there are {there.file_count} and "
            f"{there.record_count} of {'/'.join(_parts(there.partition))}",
            "look for missing files, or correct the counts",
        )


def _parts(partition: Partition) -> tuple[str, str, str]:
    return partition.country, partition.category, partition.date


async def check_prod(
    dataset: Dataset, which: PartitionFilter, wanted: Wanted, findings: DatasetFindings
) -> None:
    """Check the contracts of some partitions, and which of those that are wanted are missing."""
    missing = dict(wanted)
    async for domain in _domains(dataset, which, findings):
        task = result_path(domain.partition, domain.name)
        await _check_domain(dataset, domain, missing.pop(task, []), findings)
    for task, files in missing.items():
        findings.add(task, f"`{files[0]}` names this domain, but it has no contract", COLLECT)


@dataclass(slots=True)
class _Domain:
    partition: Partition
    name: str
    keys: list[str] = field(default_factory=list)


async def _domains(
    dataset: Dataset, which: PartitionFilter, findings: DatasetFindings
) -> AsyncIterator[_Domain]:
    """Yield one domain after the other; what is in a folder is listed together."""
    domain: _Domain | None = None
    async for listed in dataset.list(prod_prefix(which)):
        named = read_prod_key(listed.key)
        if named is None:
            findings.foreign(listed.key)
            continue
        partition, name, _ = named
        if not which.matches(partition):
            continue
        if domain is None or (domain.partition, domain.name) != (partition, name):
            if domain is not None:
                yield domain
            domain = _Domain(partition, name)
        domain.keys.append(listed.key)
    if domain is not None:
        yield domain


async def _check_domain(
    dataset: Dataset, domain: _Domain, files: list[str], findings: DatasetFindings
) -> None:
    findings.counts["contracts"] += 1
    metadata = metadata_path(domain.partition, domain.name)
    standing = await read_contract_state(dataset, domain.partition, domain.name)
    if standing.contract is None or standing.manifest is None:
        findings.counts["unfinished"] += 1
        findings.add(metadata, _unfinished(domain, metadata, standing), COLLECT_AGAIN)
        return
    findings.counts["urls"] += len(standing.contract.urls)
    for key in domain.keys:
        if key not in (*standing.manifest.outputs, success_path(metadata)):
            findings.add(key, "no checkpoint covers it", "remove it")
    inputs = standing.manifest.inputs
    for file in files:
        if file not in inputs:
            findings.add(metadata, f"the URLs of `{file}` are not in it", COLLECT)
    for file, wanted in inputs.items():
        if file not in findings.sums:
            findings.add(metadata, f"it was made from `{file}`, which is missing", "put it back")
        elif findings.sums[file] not in (wanted, None):
            findings.add(metadata, f"it was made from another `{file}`", COLLECT_AGAIN)


def _unfinished(domain: _Domain, metadata: str, standing: ContractState) -> str:
    """Say why a contract does not hold."""
    if not standing.has_checkpoint:
        return "it has no checkpoint: it is unfinished"
    if metadata not in domain.keys:
        return "there is a checkpoint, but no contract"
    if standing.manifest is None:
        return "the file in place of its checkpoint is not one"
    return "its checkpoint covers other files than the present ones"


@dataclass(slots=True)
class DatasetFindings:
    """Counts by the names of `ProviderCheck`, problems, and what each raw file is."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[DatasetProblem] = field(default_factory=list)
    sums: dict[str, Checksum | None] = field(default_factory=dict)  # None: it cannot be read

    def add(self, key: str, what: str, remedy: str) -> None:
        """Note a problem."""
        self.counts["found"] += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(DatasetProblem(key, what, remedy))

    def foreign(self, key: str) -> None:
        """Note that something is no part of a dataset."""
        remedy = "delete it, or give it the correct name"
        if key.startswith(RAW):
            remedy = f"geomi does not read it: raw files are named {RAW_FORM}, in lower case"
        self.add(key, "it does not belong to a dataset", remedy)

    def report(self) -> DatasetCheck:
        """Return all of it."""
        return DatasetCheck(**self.counts, problems=tuple(self.problems))
