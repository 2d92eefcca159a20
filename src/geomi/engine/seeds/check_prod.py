"""Check the contracts of a dataset: each holds, and covers every raw file that names its domain."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from geomi.engine.seeds.check_raw import Wanted
from geomi.engine.seeds.checkpoints import Standing, read_standing
from geomi.engine.seeds.findings import Findings
from geomi.model.seed import Partition, PartitionFilter
from geomi.ports.dataset import Dataset
from geomi.seed.partition import (
    metadata_path,
    prod_prefix,
    read_prod_key,
    result_path,
    success_path,
)

COLLECT = (
    "run `geomi seeds run`; where that fails, `geomi seeds dlq list` says why, and where nothing "
    "waits any more, --force sends it again"
)
COLLECT_AGAIN = "run `geomi seeds run` with --force"


async def check_prod(
    dataset: Dataset, which: PartitionFilter, wanted: Wanted, findings: Findings
) -> None:
    """Check the contracts of some partitions, and which of those that are wanted are missing."""
    missing = dict(wanted)
    async for domain in _domains(dataset, which, findings):
        task = result_path(domain.partition, domain.name)
        await _check_domain(dataset, domain, missing.pop(task, []), findings)
    for task, files in missing.items():
        findings.add(task, f"`{files[0]}` names this domain, and it has no contract", COLLECT)


@dataclass(slots=True)
class _Domain:
    partition: Partition
    name: str
    keys: list[str] = field(default_factory=list)


async def _domains(
    dataset: Dataset, which: PartitionFilter, findings: Findings
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
    dataset: Dataset, domain: _Domain, files: list[str], findings: Findings
) -> None:
    findings.counts["contracts"] += 1
    metadata = metadata_path(domain.partition, domain.name)
    standing = await read_standing(dataset, domain.partition, domain.name)
    if standing.contract is None or standing.manifest is None:
        findings.counts["unfinished"] += 1
        findings.add(metadata, _unfinished(domain, metadata, standing), COLLECT_AGAIN)
        return
    findings.counts["urls"] += len(standing.contract.urls)
    for key in domain.keys:
        if key not in (*standing.manifest.outputs, success_path(metadata)):
            findings.add(key, "no checkpoint answers for it", "remove it")
    inputs = standing.manifest.inputs
    for file in files:
        if file not in inputs:
            findings.add(metadata, f"the URLs of `{file}` are not in it", COLLECT)
    for file, wanted in inputs.items():
        if file not in findings.sums:
            findings.add(metadata, f"it is made of `{file}`, which is not there", "put it back")
        elif findings.sums[file] not in (wanted, None):
            findings.add(metadata, f"it is made of another `{file}`", COLLECT_AGAIN)


def _unfinished(domain: _Domain, metadata: str, standing: Standing) -> str:
    """Say why a contract does not hold."""
    if not standing.has_checkpoint:
        return "it has no checkpoint: nobody has finished it"
    if metadata not in domain.keys:
        return "there is a checkpoint, and no contract"
    if standing.manifest is None:
        return "what stands in the place of its checkpoint is none"
    return "its checkpoint answers for other files than those that are there"
