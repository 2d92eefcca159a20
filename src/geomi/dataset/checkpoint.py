"""Read and write a checkpoint (`.success`): a manifest of what was done, as JSON (C-92).

A checkpoint that is empty, broken, or of another program or form counts as absent: the seed engine
does the work again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from geomi.dataset.json_fields import (
    Fields,
    as_count,
    as_object,
    checksum,
    count,
    flag,
    inner,
    read_object,
    rows,
    text,
    wrong,
)
from geomi.dataset.partition import read_prod_key, read_raw_key, read_rejects_key
from geomi.errors import SeedError
from geomi.model.dataset.seed import PROCESSOR, Checksum, Manifest, Position

FORM = 1  # of the manifest; raised when an older reader would misunderstand it
MAX_MANIFEST_BYTES = 64 * 1024 * 1024  # some four million positions


def write_manifest(manifest: Manifest) -> bytes:
    """Write a checkpoint; the same manifest is always the same bytes."""
    written = {
        "processor": manifest.processor,
        "processed_at": manifest.processed_at,
        "form": FORM,
        "run": manifest.run,
        "duration_ms": manifest.duration_ms,
        "inputs": _sums(manifest.inputs),
        "outputs": _sums(manifest.outputs),
        "counts": dict(manifest.counts),
        "facts": dict(manifest.facts),
        "positions": manifest.positions,
    }
    return orjson.dumps(written, option=orjson.OPT_APPEND_NEWLINE)


def read_manifest(data: bytes) -> Manifest | None:
    """Read a checkpoint; None where it answers for nothing."""
    if len(data) > MAX_MANIFEST_BYTES:
        return None
    try:
        return _manifest(read_object(data))
    except SeedError:
        return None


def _manifest(found: Fields) -> Manifest:
    if text(found, "processor") != PROCESSOR or count(found, "form") != FORM:
        raise wrong("another program wrote it")
    counts, facts = inner(found, "counts"), inner(found, "facts")
    return Manifest(
        processed_at=text(found, "processed_at"),
        inputs=_read_sums(inner(found, "inputs"), read_raw_key),
        outputs=_read_sums(inner(found, "outputs"), _read_output),
        counts={name: count(counts, name) for name in counts},
        positions=tuple(map(_position, rows(found, "positions"))),
        run=text(found, "run"),
        facts={name: flag(facts, name) for name in facts},
        duration_ms=count(found, "duration_ms"),
    )


def _sums(sums: Mapping[str, Checksum]) -> dict[str, dict[str, object]]:
    return {key: {"sha256": it.sha256, "size": it.size} for key, it in sums.items()}


def _read_sums(found: Fields, is_ours: Callable[[str], object]) -> dict[str, Checksum]:
    """Read what files have to be; whoever reads these must not be led to others."""
    if not all(map(is_ours, found)):
        raise wrong("it covers files that are not in a dataset")
    return {key: checksum(as_object(value, key)) for key, value in found.items()}


def _read_output(key: str) -> object:
    return read_prod_key(key) or read_rejects_key(key)


def _position(value: object) -> Position:
    if not isinstance(value, list) or len(value) != 2:
        raise wrong("a position is a pair")
    return as_count(value[0], "a position"), as_count(value[1], "a position")
