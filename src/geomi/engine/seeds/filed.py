"""What the checkpoint of a raw file says (SED-31, C-92).

One that is empty, makes no sense, or speaks of another file of that name says nothing: the raw file
is processed again.
"""

from __future__ import annotations

from geomi.engine.seeds.standing import checkpoint_at
from geomi.model.message import Worked
from geomi.model.seed import Manifest
from geomi.ports.dataset import Dataset
from geomi.seed.partition import success_path


async def file_manifest(dataset: Dataset, key: str, *, size: int | None) -> Manifest | None:
    """Read the checkpoint of a raw file of a size; None where it does not answer for it."""
    manifest = await checkpoint_at(dataset, success_path(key))
    answered = manifest.inputs.get(key) if manifest is not None else None
    return manifest if answered is not None and answered.size == size else None


def worked_of(manifest: Manifest) -> Worked:
    """Say what a raw file has come to, for the tallies."""
    return Worked(urls=manifest.counts.get("urls", 0), duration_ms=manifest.duration_ms)
