"""Read checkpoints: whether a raw file is processed, and what `prod/` has for a domain (C-92).

Rules kept:
- A checkpoint that is empty, unreadable, or about another file of that name is ignored. Then the
  raw file is processed again (SED-31).
- A contract is finished if its checkpoint covers all of its files. If a file is missing or differs,
  the contract counts as unfinished.
- The checkpoint of an unfinished contract still says which raw files it was made from. It does not
  if it belongs to another contract: either of the two may cover more than the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from geomi.dataset.checkpoint import MAX_MANIFEST_BYTES, read_manifest
from geomi.dataset.contract import MAX_CONTRACT_BYTES, read_contract
from geomi.dataset.partition import metadata_path, success_path
from geomi.dataset.raw_file import RawFile, read_raw
from geomi.engine.seeds.context import SeedContext
from geomi.engine.world import World
from geomi.errors import SeedError
from geomi.model.dataset.contract import Contract
from geomi.model.dataset.queue import TaskResult
from geomi.model.dataset.seed import Checksum, Manifest, Partition, PlacedUrl
from geomi.ports.dataset import Dataset
from geomi.text.identifiers import new_ulid, sha256_hex

# How far clocks of machines may differ. A run of a later time was named by a clock that was wrong,
# or by nobody: nothing would be forced any more until that time has come.
AHEAD_S = 86_400.0


@dataclass(frozen=True, slots=True)
class ContractState:
    """What was found.

    Args:
        has_checkpoint: whether there is one, even where it makes no sense.
        contract: None where it is unfinished.
        is_another: whether a contract stands there that the checkpoint does not answer for.
    """

    has_checkpoint: bool = False
    manifest: Manifest | None = None
    contract: Contract | None = None
    is_another: bool = False

    @property
    def placed(self) -> tuple[PlacedUrl, ...]:
        """The URLs of a contract, and where their records stand."""
        if self.manifest is None or self.contract is None:
            return ()
        # Which record names the domain is known of the first alone, and asked of no other.
        name = self.contract.domain_id
        pairs = zip(self.manifest.positions, self.contract.urls, strict=True)
        return tuple(PlacedUrl(at, name, url) for at, url in pairs)


async def read_contract_state(dataset: Dataset, partition: Partition, domain: str) -> ContractState:
    """Read the checkpoint of a domain's contract, and what it answers for."""
    metadata = metadata_path(partition, domain)
    checkpoint = success_path(metadata)
    if await dataset.size(checkpoint) is None:
        return ContractState()
    manifest = await checkpoint_at(dataset, checkpoint)
    if manifest is None or metadata not in manifest.outputs:
        return ContractState(True, manifest)
    others = {key: sum_ for key, sum_ in manifest.outputs.items() if key != metadata}
    data = await matching(dataset, metadata, manifest.outputs[metadata])
    if data is None:
        return ContractState(True, manifest, is_another=await dataset.size(metadata) is not None)
    contract = read_contract(data)
    if contract is None or not await _all_match(dataset, others):
        return ContractState(True, manifest)
    is_of = (contract.domain, contract.partition) == (domain, partition)
    is_placed = len(contract.urls) == len(manifest.positions)
    return ContractState(True, manifest, contract if is_of and is_placed else None)


def checksum_of(data: bytes) -> Checksum:
    """Say what a file has to be, for it to be this one."""
    return Checksum(sha256_hex(data), len(data))


async def _all_match(dataset: Dataset, sums: Mapping[str, Checksum]) -> bool:
    for key, wanted in sums.items():
        if await matching(dataset, key, wanted) is None:
            return False
    return True


async def matching(dataset: Dataset, key: str, wanted: Checksum) -> bytes | None:
    """Return a file that is what it has to be."""
    if wanted.size > MAX_CONTRACT_BYTES:
        return None
    data = await bytes_within(dataset, key, wanted.size)
    return data if data is not None and checksum_of(data) == wanted else None


async def checkpoint_at(dataset: Dataset, key: str) -> Manifest | None:
    """Read a checkpoint; None where there is none, or none that makes sense."""
    return read_manifest(await bytes_within(dataset, key, MAX_MANIFEST_BYTES) or b"")


async def bytes_within(dataset: Dataset, key: str, max_bytes: int) -> bytes | None:
    """Return a file that is there, and no larger than it may be."""
    try:
        return await dataset.read(key, max_bytes=max_bytes)
    except SeedError:
        return None


async def file_manifest(dataset: Dataset, key: str, *, size: int | None) -> Manifest | None:
    """Read the checkpoint of a raw file of a size; None where it does not answer for it."""
    manifest = await checkpoint_at(dataset, success_path(key))
    answered = manifest.inputs.get(key) if manifest is not None else None
    return manifest if answered is not None and answered.size == size else None


def read_raw_file(seeding: SeedContext, key: str, data: bytes, partition: Partition) -> RawFile:
    """Read a raw file; whatever is wrong with it is told with its name."""
    try:
        return read_raw(data, partition, max_records=seeding.config.seeds.max_records)
    except SeedError as error:
        raise SeedError(f"{key}: {error.message}", kind=error.kind, hint=error.hint) from error


def known_run(manifest: Manifest | None, world: World, *, run: str) -> str:
    """Say for which forced orchestration a checkpoint was made; empty where that is none.

    Args:
        run: the one that is asked about, which is done where it has just been done.
    """
    latest = max(run, new_ulid(world.clock.now_s() + AHEAD_S, world.rng))
    return manifest.run if manifest is not None and manifest.run <= latest else ""


def work_done(manifest: Manifest) -> TaskResult:
    """Say what a raw file has come to, for the tallies."""
    return TaskResult(urls=manifest.counts.get("urls", 0), duration_ms=manifest.duration_ms)
