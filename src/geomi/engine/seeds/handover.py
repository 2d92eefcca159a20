"""Hand the contracts of a dataset over to a crawl: start URLs, sitemaps, robots copies.

Rules kept:
- An unfinished contract is left out. So is a host whose robots.txt forbids crawling to the crawl's
  own agent. Its copy is handed over all the same, so that `geomi why` can show the line.
- The crawl takes no more URLs than a job may start from, and reports what it left out.
- A copy of robots.txt counts from when the collector fetched it, and never replaces a newer one.
- The crawl itself requests the robots.txt of a host that did not answer or refused, and of a host
  whose copy may be incomplete.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from geomi.dataset.contract import read_contract
from geomi.dataset.partition import (
    METADATA,
    SUCCESS,
    host_paths,
    metadata_path,
    prod_prefix,
    read_prod_key,
    success_path,
)
from geomi.engine.host.robots import read_copy
from geomi.engine.jobs import MAX_SEEDS
from geomi.engine.seeds.checkpoints import checkpoint_at, matching
from geomi.engine.seeds.hosts import contract_host_name
from geomi.engine.visit.privacy import Privacy
from geomi.engine.world import World
from geomi.errors import GeomiError, first_error
from geomi.fetch.request import Requests
from geomi.model.config import CrawlConfig
from geomi.model.dataset.contract import Contract, Handover, HostFacts, HostRobots, SkippedDomain
from geomi.model.dataset.seed import Checksum, Manifest, Partition, PartitionFilter
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.ports.dataset import Dataset
from geomi.url.parse import parse as parse_url
from geomi.url.parse import split

MAX_CONTRACTS = 10_000  # that are looked at for one crawl
READERS = 8  # contracts in memory at once
CLOCKS_DIFFER_S = 300.0  # a copy of a later time was fetched nobody knows when
FORBIDDEN = "its robots.txt does not allow crawling"
_DomainKey = tuple[Partition, str]
# An answer that there is no such file, for anybody. Of other failures nothing follows for long, and
# a refusal (403) is about who has asked.
_MISSING = re.compile(r"HTTP (404|410)")
MAX_TAKEN_BYTES = 64 * 1024 * 1024  # more URLs than a crawl may start from
# The least that `robots.max_bytes` may be: a copy that has more may end where its collector's did.
WHOLE_BYTES = 512_000
UNFINISHED = "its contract is unfinished"
_ANY = split("https://any.invalid/")  # whose root a robots.txt is asked about


async def read_handover(dataset: Dataset, which: PartitionFilter, config: CrawlConfig) -> Handover:
    """Read the contracts of some partitions, in order, as far as one crawl can take them.

    Args:
        config: that of the crawl, as far as contracts have no say in it.
    """
    named, unread = await _named(dataset, which)
    taken = _Taken()
    for start in range(0, len(named), READERS):
        if taken.is_full:
            unread += len(named) - start
            break
        some = named[start : start + READERS]
        for (_, domain), found in zip(some, await _read_some(dataset, some, config), strict=True):
            taken.take(domain, found)
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
    world: World, dataset: Dataset, copies: Sequence[HostRobots], config: CrawlConfig
) -> int:
    """Keep copies of robots.txt for whoever crawls under a configuration; return how many."""
    if not (config.robots.respect and config.robots.persist):
        return 0
    token = Requests(config, [], version=world.version).token
    privacy, now_s, kept = Privacy(config.safety), world.clock.now_s(), 0
    for copy in copies:
        if copy.fetched_s > now_s + CLOCKS_DIFFER_S:
            continue
        key = RobotsKey(copy.scheme, copy.host, token)
        fetched_s = min(copy.fetched_s, now_s)
        known = await world.store.robots.get(key)
        if known is not None and known.fetched_s >= fetched_s:
            continue
        body: bytes | None = b""
        if copy.checksum is not None:
            body = await whole_copy(dataset, copy.key, copy.checksum)
        if body is not None:
            own = RobotsCopy(key, copy.status, body, fetched_s, max_age_s=copy.max_age_s)
            await world.store.robots.put(privacy.robots(own))
            kept += 1
    return kept


async def _named(dataset: Dataset, which: PartitionFilter) -> tuple[list[_DomainKey], int]:
    """Name the domains that have a contract, or the beginning of one; count those beyond."""
    found: dict[_DomainKey, None] = {}
    unread = 0
    last: _DomainKey | None = None
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


async def _read_some(
    dataset: Dataset, named: Sequence[_DomainKey], config: CrawlConfig
) -> list[FinishedContract | str]:
    try:
        async with asyncio.TaskGroup() as group:
            reading = [
                group.create_task(
                    read_finished(dataset, *one, config), name=f"contract of {one[1]}"
                )
                for one in named
            ]
    except* GeomiError as failures:
        raise first_error(failures) from failures
    return [task.result() for task in reading]


@dataclass(slots=True)
class _Taken:
    """What was taken of the contracts so far."""

    seeds: dict[str, None] = field(default_factory=dict)
    sitemaps: dict[str, None] = field(default_factory=dict)
    robots: dict[tuple[str, str], HostRobots] = field(default_factory=dict)
    contracts: int = 0
    left_out: list[SkippedDomain] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return len(self.seeds) >= MAX_SEEDS

    def take(self, domain: str, found: FinishedContract | str) -> None:
        if isinstance(found, str):
            self.left_out.append(SkippedDomain(domain, found))
            return
        facts = found.contract.every_host
        hosts, left = self._take_urls(found)
        self.contracts += bool(hosts)
        forbidden = [name for name in facts if name in found.forbidden]
        self.left_out += [SkippedDomain(name, FORBIDDEN) for name in forbidden]
        if left:
            reason = f"{left} of its URLs exceed the {MAX_SEEDS} that a crawl may start from"
            self.left_out.append(SkippedDomain(domain, reason))
        for name in hosts:
            if name in facts:
                self._learn_sitemap(facts[name])
        for name in (*hosts, *forbidden):
            if name in facts:
                self._learn_robots(found, name, facts[name])

    def _take_urls(self, found: FinishedContract) -> tuple[list[str], int]:
        """Take the URLs of hosts that may be crawled; return these hosts, and what was left."""
        urls, hosts = found.contract.urls, dict[str, None]()
        for number, url in enumerate(split(one.url) for one in urls):
            if contract_host_name(url) in found.forbidden:
                continue
            if self.is_full and url.href not in self.seeds:
                return list(hosts), len(urls) - number
            self.seeds[url.href] = None
            hosts[contract_host_name(url)] = None
        return list(hosts), 0

    def _learn_sitemap(self, facts: HostFacts) -> None:
        url = parse_url(facts.sitemap_xml.url) if facts.sitemap_xml.exists else None
        if url is not None:
            self.sitemaps[url.href] = None

    def _learn_robots(self, found: FinishedContract, name: str, facts: HostFacts) -> None:
        """Note a host's robots.txt; of one that several contracts know, the latest."""
        copy = _copy(found, name, facts)
        if copy is None:
            return
        known = self.robots.get((copy.scheme, copy.host))
        if known is None or known.fetched_s < copy.fetched_s:
            self.robots[copy.scheme, copy.host] = copy


def _copy(found: FinishedContract, name: str, facts: HostFacts) -> HostRobots | None:
    """Say what a host's robots.txt is; None where that is not known, or not any more."""
    robots = facts.robots_txt
    root = parse_url(f"{'https' if facts.server_info.supports_https else 'http'}://{name}/")
    fetched_s = _seconds(robots.fetched_at)
    if root is None or fetched_s is None:
        return None
    if not robots.exists:
        missing = _MISSING.fullmatch(robots.error)
        return (
            HostRobots(root.scheme, root.authority, int(missing[1]), fetched_s) if missing else None
        )
    contract = found.contract
    key = host_paths(contract.partition, contract.domain, name)[0]
    checksum = found.manifest.outputs.get(key)
    if checksum is None:
        return None
    age_s = robots.max_age_s
    return HostRobots(root.scheme, root.authority, 200, fetched_s, key, checksum, age_s)


def _seconds(text: str | None) -> float | None:
    try:
        at = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return at.timestamp() if at.tzinfo is not None else None


@dataclass(frozen=True, slots=True)
class FinishedContract:
    """A contract that holds.

    Args:
        forbidden: those of its hosts that forbid crawling.
    """

    contract: Contract
    manifest: Manifest
    forbidden: frozenset[str]


async def read_finished(
    dataset: Dataset, partition: Partition, domain: str, config: CrawlConfig
) -> FinishedContract | str:
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
    return FinishedContract(contract, manifest, frozenset(forbidden))


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
