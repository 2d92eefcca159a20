"""Write the contract of one domain: merge its messages, collect facts, write once.

Rules kept (C-50, C-52, C-92):
- A raw file that the contract covers needs no work. A forced one is collected again, once a run.
- The facts of a finished contract are not requested again; only new hosts get requests.
- An unfinished contract is collected again as a whole. The URLs of the raw files that it covered
  are read from those files. If its checkpoint is lost or belongs to another contract, all processed
  raw files are read.
- A raw file should never change. If one has changed, its present content counts, not the messages.
- The checkpoint is written last. Before each write, the worker checks that it still has the loan.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from geomi.dataset.checkpoint import write_manifest
from geomi.dataset.contract import MAX_CONTRACT_BYTES, merge_urls, write_contract
from geomi.dataset.message import read_domain_message
from geomi.dataset.partition import (
    ROBOTS,
    SITEMAP,
    host_paths,
    metadata_path,
    raw_prefix,
    read_raw_key,
    result_path,
    success_path,
)
from geomi.engine.seeds.checkpoints import (
    ContractState,
    checksum_of,
    file_manifest,
    known_run,
    read_contract_state,
    read_raw_file,
)
from geomi.engine.seeds.collect import CollectedHost, collect
from geomi.engine.seeds.context import HeldTask, SeedContext
from geomi.engine.seeds.hosts import contract_host_name
from geomi.engine.visit.rules import read_site_decisions
from geomi.errors import SeedError
from geomi.model.dataset.contract import Contract, HostFacts
from geomi.model.dataset.queue import Loan, TaskResult
from geomi.model.dataset.seed import (
    Checksum,
    DomainMessage,
    ErrorType,
    Manifest,
    Partition,
    PartitionFilter,
    PlacedUrl,
)
from geomi.model.event import SeedDomainDone, SeedSkipped
from geomi.text.encoding import iso_utc
from geomi.url.parse import split


async def collect_domain(seeding: SeedContext, held: HeldTask) -> TaskResult:
    """Work on a domain until its contract covers every message that waited for it."""
    messages = await asyncio.to_thread(_read_messages, held.loan)
    return await _Domain(seeding, held, messages, seeding.world.clock.now_s()).work()


@dataclass(frozen=True, slots=True)
class _Urls:
    """What the messages of a domain and the contract that stands say together."""

    placed: tuple[PlacedUrl, ...]
    inputs: Mapping[str, Checksum]
    hosts: tuple[str, ...]  # the domain itself first


@dataclass(frozen=True, slots=True)
class _Domain:
    seeding: SeedContext
    held: HeldTask
    messages: tuple[DomainMessage, ...]
    began_s: float

    @property
    def _first(self) -> DomainMessage:
        return self.messages[0]

    async def work(self) -> TaskResult:
        first = self._first
        standing = await read_contract_state(
            self.seeding.dataset, first.partition_info, first.domain
        )
        run = max((one.run for one in self.messages if one.force), default="")
        run_before = known_run(standing.manifest, self.seeding.world, run=run)
        is_forced = run > run_before
        if standing.contract is not None and not is_forced and self._is_covered(standing):
            self.seeding.world.sink.emit(SeedSkipped(first.domain))
            return self._worked(standing.contract, standing.contract.processing_duration_ms)
        urls = await self._urls(standing)
        known = {} if standing.contract is None or is_forced else standing.contract.every_host
        missing = [name for name in urls.hosts if name not in known]
        found = await self._collect(missing)
        facts = {name: found[name].facts if name in found else known[name] for name in urls.hosts}
        return await self._write(standing, urls, facts, found, run=max(run, run_before))

    def _is_covered(self, standing: ContractState) -> bool:
        inputs = standing.manifest.inputs if standing.manifest else {}
        return all(inputs.get(one.file_path) == one.file for one in self.messages)

    async def _collect(self, names: Sequence[str]) -> dict[str, CollectedHost]:
        if not names:
            return {}
        decided = await read_site_decisions(self.seeding.world.store)
        alone = self.held.alone
        return await collect(self.seeding, self._first.domain, names, decided, alone=alone)

    async def _urls(self, standing: ContractState) -> _Urls:
        """Bring together the URLs of the messages, and of the raw files before them."""
        own = {one.file_path: one for one in self.messages}
        before = standing.manifest.inputs if standing.manifest else {}
        for path in _disputed(self.messages, before):
            message = await read_again(self.seeding, self._first, path)
            own[path] = message if message.urls else own[path]
        is_same = all(before.get(path, one.file) == one.file for path, one in own.items())
        inputs = {path: one.file for path, one in own.items()}
        placed = [one for message in own.values() for one in _placed(message)]
        if standing.contract is not None and is_same:
            placed += standing.placed
            inputs |= before
        else:
            covered = await covered_files(self.seeding, standing, self._first)
            for path in covered.keys() - own.keys():
                message = await read_again(self.seeding, self._first, path)
                if message.urls or covered[path]:
                    inputs[path] = message.file
                placed += _placed(message)
        return await asyncio.to_thread(
            _folded, placed, inputs, self._first.domain, self.seeding.config.seeds.max_hosts
        )

    async def _write(
        self,
        standing: ContractState,
        urls: _Urls,
        facts: Mapping[str, HostFacts],
        found: Mapping[str, CollectedHost],
        *,
        run: str,
    ) -> TaskResult:
        """Write files, the contract, and its checkpoint last."""
        first, dataset, clock = self._first, self.seeding.dataset, self.seeding.world.clock
        outputs = await self._write_files(standing, urls.hosts, found)
        duration_ms = round((clock.now_s() - self.began_s) * 1000)
        contract = Contract(
            domain=first.domain,
            domain_id=urls.placed[0].domain_id,
            partition=first.partition_info,
            urls=tuple(one.seed for one in urls.placed),
            facts=facts[first.domain],
            processed_at=iso_utc(clock.wall_s()),
            processing_duration_ms=duration_ms,
            hosts={name: one for name, one in facts.items() if name != first.domain},
        )
        metadata = metadata_path(first.partition_info, first.domain)
        data = await asyncio.to_thread(_written, contract)
        await self.held.keep()
        await dataset.put(metadata, data)
        worked = self._worked(contract, duration_ms)
        manifest = Manifest(
            processed_at=contract.processed_at,
            inputs=urls.inputs,
            outputs={**outputs, metadata: checksum_of(data)},
            counts={"urls": len(contract.urls)},
            positions=tuple(one.at for one in urls.placed),
            run=run,
            facts={"robots": bool(worked.robots), "sitemap": bool(worked.sitemap)},
            duration_ms=duration_ms,
        )
        await self._check_in(success_path(metadata), manifest, replaces=standing.has_checkpoint)
        self.seeding.world.sink.emit(
            SeedDomainDone(
                first.domain,
                worked.urls,
                bool(worked.robots),
                bool(worked.sitemap),
                worked.duration_ms,
            )
        )
        return worked

    async def _write_files(
        self, standing: ContractState, hosts: Sequence[str], found: Mapping[str, CollectedHost]
    ) -> dict[str, Checksum]:
        """Write what was collected; return what the contract has then, with what it had before."""
        first, outputs = self._first, dict[str, Checksum]()
        before = standing.manifest.outputs if standing.manifest else {}
        for name in hosts:
            paths = host_paths(first.partition_info, first.domain, name)
            if name not in found:
                outputs |= {key: before[key] for key in paths if key in before}
                continue
            for key, data in zip(paths, (found[name].robots, found[name].sitemap), strict=True):
                if data is not None:
                    await self.held.keep()
                    await self.seeding.dataset.put(key, data)
                    outputs[key] = checksum_of(data)
        await self._clear(outputs)
        return outputs

    async def _clear(self, outputs: Mapping[str, Checksum]) -> None:
        """Remove copies that an earlier attempt, or run, has left and that hold no longer."""
        folder = result_path(self._first.partition_info, self._first.domain)
        copies = [
            listed.key
            async for listed in self.seeding.dataset.list(f"{folder}/")
            if listed.key.rpartition("/")[2] in (ROBOTS, SITEMAP)
        ]
        for key in copies:
            if key not in outputs:
                await self.held.keep()
                await self.seeding.dataset.remove(key)

    async def _check_in(self, key: str, manifest: Manifest, *, replaces: bool) -> None:
        """Write the checkpoint: the first one only where there is none (C-92)."""
        data = write_manifest(manifest)
        await self.held.keep()
        if replaces:
            await self.seeding.dataset.put(key, data)
        elif not await self.seeding.dataset.add(key, data):
            raise SeedError(
                f"`{key}` exists already: another program wrote it, or it is not a file",
                kind=ErrorType.STORAGE,
            )

    def _worked(self, contract: Contract, duration_ms: int) -> TaskResult:
        facts = contract.facts
        return TaskResult(
            len(contract.urls), facts.robots_txt.exists, facts.sitemap_xml.exists, duration_ms
        )


def _read_messages(loan: Loan) -> tuple[DomainMessage, ...]:
    """Read the messages of a domain; of those about one raw file the latest run's comes last."""
    messages = tuple(read_domain_message(one.body) for one in loan.messages)
    for one in messages:
        if result_path(one.partition_info, one.domain) != loan.task:
            raise SeedError(
                f"a message about `{one.domain}` waits for `{loan.task}`", kind=ErrorType.VALIDATION
            )
    return tuple(sorted(messages, key=lambda one: one.run))


def _disputed(messages: Iterable[DomainMessage], before: Mapping[str, Checksum]) -> set[str]:
    """Name raw files of which something else was known: only they can say what they hold now."""
    first = dict(before)
    return {
        one.file_path for one in messages if first.setdefault(one.file_path, one.file) != one.file
    }


def _placed(message: DomainMessage) -> Iterable[PlacedUrl]:
    named = read_raw_key(message.file_path)
    assert named is not None, "a message names a raw file"
    for index, url in zip(message.indexes, message.urls, strict=True):
        yield PlacedUrl((named[1], index), message.domain_id, url)


def _folded(
    placed: Iterable[PlacedUrl], inputs: Mapping[str, Checksum], domain: str, max_hosts: int
) -> _Urls:
    """Order URLs, and name the hosts that are looked at: the domain, then others by position."""
    urls = merge_urls(placed)
    hosts = {domain: None}
    for one in urls:
        if len(hosts) == max_hosts:
            break
        hosts.setdefault(contract_host_name(split(one.seed.url)))
    return _Urls(urls, dict(sorted(inputs.items())), tuple(hosts))


def _written(contract: Contract) -> bytes:
    data = write_contract(contract)
    if len(data) > MAX_CONTRACT_BYTES:
        raise SeedError(
            f"the contract of `{contract.domain}` has {len(data)} bytes; the limit is "
            f"{MAX_CONTRACT_BYTES}",
            kind=ErrorType.VALIDATION,
        )
    return data


async def read_again(seeding: SeedContext, first: DomainMessage, path: str) -> DomainMessage:
    """Make the message of a raw file once more; without URLs where it does not name the domain.

    Args:
        first: any message about the domain.
    """
    data = await seeding.dataset.read(path, max_bytes=seeding.config.seeds.max_file_bytes)
    if data is None:
        raise SeedError(f"File not found: {path}", kind=ErrorType.STORAGE)
    file = await asyncio.to_thread(read_raw_file, seeding, path, data, first.partition_info)
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
    seeding: SeedContext, standing: ContractState, first: DomainMessage
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


async def _processed(seeding: SeedContext, partition: Partition) -> AsyncIterator[str]:
    which = PartitionFilter(partition.country, partition.category, partition.date)
    async for listed in seeding.dataset.list(raw_prefix(which)):
        if read_raw_key(listed.key) is None:
            continue
        if await file_manifest(seeding.dataset, listed.key, size=listed.size) is not None:
            yield listed.key
