"""What the checkpoint of a raw file says (SED-31, C-92).

One that is empty, makes no sense, or speaks of another file of that name says nothing: the raw file
is processed again.
"""

from __future__ import annotations

from geomi.errors import SeedError
from geomi.model.message import Worked
from geomi.model.seed import Manifest
from geomi.ports.dataset import Dataset
from geomi.seed.checkpoint import MAX_MANIFEST_BYTES, read_manifest
from geomi.seed.partition import success_path


async def file_manifest(dataset: Dataset, key: str, *, size: int | None) -> Manifest | None:
    """Read the checkpoint of a raw file of a size; None where it does not answer for it."""
    try:
        data = await dataset.read(success_path(key), max_bytes=MAX_MANIFEST_BYTES)
    except SeedError:  # too large to be one
        return None
    manifest = read_manifest(data or b"")
    answered = manifest.inputs.get(key) if manifest is not None else None
    return manifest if answered is not None and answered.size == size else None


def worked_of(manifest: Manifest) -> Worked:
    """Say what a raw file has come to, for the tallies."""
    return Worked(urls=manifest.counts.get("urls", 0), duration_ms=manifest.duration_ms)
