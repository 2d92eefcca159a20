"""One contract as a crawl may take it: finished, and read for the crawl's own agent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from geomi.engine.host.requests import Requests
from geomi.engine.host.robots import read_copy
from geomi.engine.seeds.checkpoints import checkpoint_at, matching
from geomi.model.config import CrawlConfig
from geomi.model.contract import Contract
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.seed import Checksum, Manifest, Partition
from geomi.ports.dataset import Dataset
from geomi.seed.contract import read_contract
from geomi.seed.partition import host_paths, metadata_path, success_path
from geomi.url.parse import split

MAX_TAKEN_BYTES = 64 * 1024 * 1024  # more URLs than a crawl may start from
# The least that `robots.max_bytes` may be: a copy that has more may end where its collector's did.
WHOLE_BYTES = 512_000

UNFINISHED = "its contract is unfinished"


@dataclass(frozen=True, slots=True)
class Finished:
    """A contract that holds.

    Args:
        forbidden: those of its hosts that forbid crawling.
    """

    contract: Contract
    manifest: Manifest
    forbidden: frozenset[str]


async def read_finished(
    dataset: Dataset, partition: Partition, domain: str, config: CrawlConfig
) -> Finished | str:
    """Read a contract that its checkpoint answers for, or say why it is left out."""
    metadata = metadata_path(partition, domain)
    manifest = await checkpoint_at(dataset, success_path(metadata))
    if manifest is None or metadata not in manifest.outputs:
        return UNFINISHED
    size = manifest.outputs[metadata].size
    if size > MAX_TAKEN_BYTES:
        return f"its contract has {size} bytes; the limit is {MAX_TAKEN_BYTES}"
    data = await matching(dataset, metadata, manifest.outputs[metadata])
    contract = None if data is None else await asyncio.to_thread(read_contract, data)
    if contract is None or (contract.partition, contract.domain) != (partition, domain):
        return UNFINISHED
    for key, wanted in manifest.outputs.items():
        if await dataset.size(key) != wanted.size:
            return UNFINISHED
    forbidden = [
        name
        for name, facts in contract.every_host.items()
        if facts.robots_txt.exists
        and not facts.robots_txt.allows_crawling
        and await _forbids(dataset, manifest, host_paths(partition, domain, name)[0], config)
    ]
    return Finished(contract, manifest, frozenset(forbidden))


async def _forbids(dataset: Dataset, manifest: Manifest, key: str, config: CrawlConfig) -> bool:
    """Whether the crawl's own agent may not fetch `/`: the collector has asked for another one."""
    checksum = manifest.outputs.get(key)
    body = await whole_copy(dataset, key, checksum) if checksum is not None else None
    if body is None:
        return True
    token = Requests(config, (), version="").token
    copy = RobotsCopy(RobotsKey(_ANY.scheme, _ANY.authority, token), 200, body, 0.0)
    return not read_copy(copy, config.robots, now_s=0.0).judge(_ANY).admitted


async def whole_copy(dataset: Dataset, key: str, checksum: Checksum) -> bytes | None:
    """Return a copy of a robots.txt; None where it may be a part of one, or is another."""
    return await matching(dataset, key, checksum) if checksum.size < WHOLE_BYTES else None


_ANY = split("https://any.invalid/")  # whose root a robots.txt is asked about
