"""Hand the contracts of a dataset over to a crawl: start URLs, sitemaps, copies of robots.txt.

Rules kept:
- A contract that is unfinished is left out, and so are hosts whose robots.txt forbids crawling.
- No more is taken than a job may start from; what was left is told.
- A copy of robots.txt counts from when the collector fetched it, and never takes the place of a
  newer one. A host that could not be asked is asked by the crawl itself.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from geomi.engine.jobs import MAX_SEEDS
from geomi.engine.privacy import Privacy
from geomi.engine.requests import Requests
from geomi.engine.seeds.hearing import name_of
from geomi.engine.seeds.standing import checkpoint_at, matching
from geomi.engine.world import World
from geomi.model.config import CrawlConfig
from geomi.model.contract import Contract, HostFacts
from geomi.model.handover import Handover, HostCopy, LeftOut
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.seed import Manifest, Partition, PartitionFilter
from geomi.ports.dataset import Dataset
from geomi.seed.contract import read_contract
from geomi.seed.partition import (
    METADATA,
    SUCCESS,
    host_paths,
    metadata_path,
    prod_prefix,
    read_prod_key,
    success_path,
)
from geomi.url.parse import parse as parse_url

MAX_CONTRACTS = 10_000  # that are looked at for one crawl
# More URLs than a crawl may start from; eight contracts are in memory at once.
MAX_TAKEN_BYTES = 64 * 1024 * 1024
READERS = 8

UNFINISHED = "its contract is unfinished"
FORBIDDEN = "its robots.txt does not allow crawling"

_Named = tuple[Partition, str]


async def read_handover(dataset: Dataset, which: PartitionFilter) -> Handover:
    """Read the contracts of some partitions, in order, as far as one crawl can take them."""
    named, unread = await _named(dataset, which)
    taken = _Taken()
    for start in range(0, len(named), READERS):
        if taken.is_full:
            unread += len(named) - start
            break
        async with asyncio.TaskGroup() as group:
            reading = [
                group.create_task(_read(dataset, *one), name=f"contract of {one[1]}")
                for one in named[start : start + READERS]
            ]
        for (_, domain), task in zip(named[start : start + READERS], reading, strict=True):
            taken.take(domain, task.result())
    return Handover(
        _source(dataset.name, prod_prefix(which)),
        tuple(taken.seeds),
        tuple(taken.sitemaps),
        tuple(taken.robots.values()),
        taken.contracts,
        tuple(taken.left_out),
        unread,
    )


def _source(name: str, prefix: str) -> str:
    """Name a part of a dataset; the server of a bucket stands behind it."""
    root, mark, server = name.partition("?")
    return f"{root}/{prefix}".removesuffix("/") + mark + server


async def keep_copies(
    world: World, dataset: Dataset, copies: Sequence[HostCopy], config: CrawlConfig
) -> int:
    """Keep copies of robots.txt for whoever crawls under a configuration; return how many."""
    if not (config.robots.respect and config.robots.persist):
        return 0
    token = Requests(config, [], version=world.version).token
    privacy, now_s, kept = Privacy(config.safety), world.clock.now_s(), 0
    for copy in copies:
        key = RobotsKey(copy.scheme, copy.host, token)
        fetched_s = min(copy.fetched_s, now_s)
        known = await world.robots.get(key)
        if known is not None and known.fetched_s >= fetched_s:
            continue
        body: bytes | None = b""
        if copy.checksum is not None:
            body = await matching(dataset, copy.key, copy.checksum)
        if body is not None:
            await world.robots.put(privacy.robots(RobotsCopy(key, copy.status, body, fetched_s)))
            kept += 1
    return kept


async def _named(dataset: Dataset, which: PartitionFilter) -> tuple[list[_Named], int]:
    """Name the domains that have a contract, or the beginning of one; count those beyond."""
    found: dict[_Named, None] = {}
    unread = 0
    last: _Named | None = None
    async for listed in dataset.list(prod_prefix(which)):
        named = read_prod_key(listed.key)
        if named is None or named[2] not in (METADATA, METADATA + SUCCESS):
            continue
        partition, domain, _ = named
        if which.matches(partition) and (partition, domain) != last:
            last = partition, domain
            if len(found) < MAX_CONTRACTS:
                found[last] = None
            else:
                unread += 1
    return list(found), unread


@dataclass(frozen=True, slots=True)
class _Finished:
    contract: Contract
    manifest: Manifest


async def _read(dataset: Dataset, partition: Partition, domain: str) -> _Finished | str:
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
    return _Finished(contract, manifest)


@dataclass(slots=True)
class _Taken:
    """What was taken of the contracts so far."""

    seeds: dict[str, None] = field(default_factory=dict)
    sitemaps: dict[str, None] = field(default_factory=dict)
    robots: dict[tuple[str, str], HostCopy] = field(default_factory=dict)
    contracts: int = 0
    left_out: list[LeftOut] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return len(self.seeds) >= MAX_SEEDS

    def take(self, domain: str, found: _Finished | str) -> None:
        if isinstance(found, str):
            self.left_out.append(LeftOut(domain, found))
            return
        contract = found.contract
        facts = {contract.domain: contract.facts, **contract.hosts}
        forbidden = {name for name, host in facts.items() if _forbids(host)}
        hosts: dict[str, None] = {}
        left = 0
        for number, one in enumerate(contract.urls):
            url = parse_url(one.url)  # somebody else may have written it
            if url is None or name_of(url) in forbidden:
                continue
            if self.is_full and url.href not in self.seeds:
                left = len(contract.urls) - number
                break
            self.seeds[url.href] = None
            hosts[name_of(url)] = None
        self.contracts += bool(hosts)
        self.left_out += [LeftOut(name, FORBIDDEN) for name in facts if name in forbidden]
        if left:
            reason = f"{left} of its URLs are beyond the {MAX_SEEDS} that a crawl may start from"
            self.left_out.append(LeftOut(domain, reason))
        for name in hosts:
            if name in facts:
                self._learn(found, name, facts[name])

    def _learn(self, found: _Finished, name: str, facts: HostFacts) -> None:
        """Note a host's sitemap and robots.txt; of one that several contracts know, the latest."""
        if facts.sitemap_xml.exists and parse_url(facts.sitemap_xml.url) is not None:
            self.sitemaps[facts.sitemap_xml.url] = None
        copy = _copy(found, name, facts)
        if copy is None:
            return
        known = self.robots.get((copy.scheme, copy.host))
        if known is None or known.fetched_s < copy.fetched_s:
            self.robots[copy.scheme, copy.host] = copy


def _forbids(facts: HostFacts) -> bool:
    return facts.robots_txt.exists and not facts.robots_txt.allows_crawling


def _copy(found: _Finished, name: str, facts: HostFacts) -> HostCopy | None:
    """Say what a host's robots.txt is; None where that is not known, or not any more."""
    robots = facts.robots_txt
    root = parse_url(f"{'https' if facts.server_info.supports_https else 'http'}://{name}/")
    fetched_s = _seconds(robots.fetched_at)
    if root is None or fetched_s is None:
        return None
    if not robots.exists:
        missing = _MISSING.fullmatch(robots.error)
        return (
            HostCopy(root.scheme, root.authority, int(missing[1]), fetched_s) if missing else None
        )
    contract = found.contract
    key = host_paths(contract.partition, contract.domain, name)[0]
    checksum = found.manifest.outputs.get(key)
    if checksum is None:
        return None
    return HostCopy(root.scheme, root.authority, 200, fetched_s, key, checksum)


def _seconds(text: str | None) -> float | None:
    try:
        at = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return at.timestamp() if at.tzinfo is not None else None


# An answer that there is no such file; of 429 and failures nothing follows for long.
_MISSING = re.compile(r"HTTP (4(?!29)[0-9]{2})")
