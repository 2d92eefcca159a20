"""What a raw file says, what its checkpoint says (SED-31, C-92), and for which run any was made.

A checkpoint that is empty, makes no sense, or speaks of another file of that name says nothing: the
raw file is processed again.
"""

from __future__ import annotations

from geomi.engine.seeds.checkpoints import checkpoint_at
from geomi.engine.seeds.context import Seeding
from geomi.engine.world import World
from geomi.errors import SeedError
from geomi.model.message import Worked
from geomi.model.seed import Manifest, Partition
from geomi.ports.dataset import Dataset
from geomi.seed.partition import success_path
from geomi.seed.record import RawFile, read_raw
from geomi.text.ulid import new_ulid

# How far clocks of machines may differ. A run of a later time was named by a clock that was wrong,
# or by nobody: nothing would be forced any more until that time has come.
AHEAD_S = 86_400.0


async def file_manifest(dataset: Dataset, key: str, *, size: int | None) -> Manifest | None:
    """Read the checkpoint of a raw file of a size; None where it does not answer for it."""
    manifest = await checkpoint_at(dataset, success_path(key))
    answered = manifest.inputs.get(key) if manifest is not None else None
    return manifest if answered is not None and answered.size == size else None


def read_named(seeding: Seeding, key: str, data: bytes, partition: Partition) -> RawFile:
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


def worked_of(manifest: Manifest) -> Worked:
    """Say what a raw file has come to, for the tallies."""
    return Worked(urls=manifest.counts.get("urls", 0), duration_ms=manifest.duration_ms)
