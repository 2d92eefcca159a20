"""Raw files that were processed before, read once more for one of their domains.

Their messages were sent and settled long ago. They are asked where a contract does not stand any
more, or where somebody has changed one of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from geomi.engine.seeds.checkpoints import Standing, checksum_of
from geomi.engine.seeds.context import Seeding
from geomi.engine.seeds.filed import file_manifest, read_named
from geomi.errors import SeedError
from geomi.model.seed import DomainMessage, ErrorType, Partition, PartitionFilter
from geomi.seed.partition import metadata_path, raw_prefix, read_raw_key


async def read_again(seeding: Seeding, first: DomainMessage, path: str) -> DomainMessage:
    """Make the message of a raw file once more; without URLs where it does not name the domain.

    Args:
        first: any message about the domain.
    """
    data = await seeding.dataset.read(path, max_bytes=seeding.config.seeds.max_file_bytes)
    if data is None:
        raise SeedError(f"File not found: {path}", kind=ErrorType.STORAGE)
    file = await asyncio.to_thread(read_named, seeding, path, data, first.partition_info)
    group = next((one for one in file.groups if one.domain == first.domain), None)
    return DomainMessage(
        first.domain,
        group.domain_id if group else "",
        group.urls if group else (),
        first.partition_info,
        path,
        checksum_of(data),
        group.indexes if group else (),
    )


async def covered_files(
    seeding: Seeding, standing: Standing, first: DomainMessage
) -> dict[str, bool]:
    """Name the raw files that a contract was made of, and whether that is known of each.

    Where a contract has lost its checkpoint, or has one of another contract, any raw file that is
    processed may be one of them.
    """
    known = dict.fromkeys(standing.manifest.inputs if standing.manifest else (), True)
    if standing.manifest is not None and not standing.is_another:
        return known
    metadata = metadata_path(first.partition_info, first.domain)
    if not standing.has_checkpoint and await seeding.dataset.size(metadata) is None:
        return {}  # nobody has ever begun one
    return {key: False async for key in _processed(seeding, first.partition_info)} | known


async def _processed(seeding: Seeding, partition: Partition) -> AsyncIterator[str]:
    which = PartitionFilter(partition.country, partition.category, partition.date)
    async for listed in seeding.dataset.list(raw_prefix(which)):
        if read_raw_key(listed.key) is None:
            continue
        if await file_manifest(seeding.dataset, listed.key, size=listed.size) is not None:
            yield listed.key
