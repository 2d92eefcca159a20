"""Raw files: found, sent to their queue, processed, and told about."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from geomi.adapters.dataset.directory import DirectoryDataset
from geomi.dataset.checkpoint import MAX_MANIFEST_BYTES, read_manifest
from geomi.dataset.message import file_message, read_domain_message, read_seed_message
from geomi.dataset.partition import raw_path, rejects_path, success_path
from geomi.engine.seeds import orchestrate as orchestrating
from geomi.engine.seeds import raw_files as processing
from geomi.engine.seeds.context import SeedContext
from geomi.engine.seeds.orchestrate import orchestrate
from geomi.engine.seeds.raw_files import process_file
from geomi.errors import GeomiError, LeaseLost, SeedError, StoreError
from geomi.model.config import CrawlConfig
from geomi.model.dataset.queue import Loan, LoanSettlement, Message, TaskResult
from geomi.model.dataset.seed import (
    ErrorType,
    OrchestrationReport,
    Partition,
    PartitionFilter,
    SeedMessage,
    SeedRules,
    SeedUrl,
)
from geomi.model.event import SeedFileDone, SeedSendFailed, SeedSkipped
from geomi.ports.dataset import Dataset, SeedQueues
from geomi.text.identifiers import new_ulid
from tests.support.seed_dataset import InHand, record
from tests.support.timed_crawl import Hand, hand_in
from tests.support.waiting import waits

SG = Partition("sg", "news", "2026-01-28")
ALL = PartitionFilter()
FILE = raw_path(SG, 1)
RULES = SeedRules()


THREE = [
    record("https://mom.gov.sg/a"),
    record("https://moh.gov.sg/b?c"),
    record("https://mom.gov.sg/d", title="노동"),
]


@dataclass
class Taken:
    """Takes a task away when it is asked for the n-th time whether it is still ours."""

    at: int
    asked: int = 0

    def __call__(self) -> None:
        self.asked += 1
        if self.asked >= self.at:
            raise LeaseLost("taken away")


@dataclass
class Ground:
    """A dataset in a directory, queues in memory."""

    root: Path
    hand: Hand
    queues: SeedQueues
    rules: SeedRules = RULES

    @property
    def seeding(self) -> SeedContext:
        config = CrawlConfig(seeds=self.rules)
        return SeedContext(self.hand.world, config, self.queues, DirectoryDataset(self.root))

    def drop(self, data: object, key: str = FILE) -> bytes:
        """Let somebody drop a raw file."""
        raw = data if isinstance(data, bytes) else json.dumps(data).encode()
        path = self.root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
        return raw

    def file(self, key: str) -> Path:
        return self.root / key

    async def process(
        self, *messages: SeedMessage, on_keep: Callable[[], None] = lambda: None
    ) -> TaskResult:
        sent = tuple(file_message(self.rules, one) for one in messages or (SeedMessage(FILE, SG),))
        loan = Loan(self.rules.seed_queue, sent[0].task, 1, 0.0, sent)
        return await process_file(self.seeding, InHand(loan, on_keep))

    async def waiting(self, queue: str) -> list[Message]:
        """Take every message out of a queue."""
        found: list[Message] = []
        name = self.seeding.dataset.name
        now_s = self.hand.clock.now_s()
        while loans := await self.queues.claim(
            name, queue, owner="w", tasks=1000, lease_s=60, now_s=now_s
        ):
            for loan in loans:
                found += loan.messages
                done = LoanSettlement(done=tuple(one.name for one in loan.messages))
                assert await self.queues.settle(name, loan, done)
        return found


@asynccontextmanager
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    root = tmp_path / "dataset"
    root.mkdir()
    async with hand_in(tmp_path / "home") as hand:
        yield Ground(root, hand, hand.store.queues)


@dataclass
class Stubborn:
    """Queues that do not take certain messages, and count what they are sent together."""

    inner: SeedQueues
    refused: str = "nothing"
    takes_unknown: bool = True
    sizes: list[int] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def send(self, dataset: str, messages: Sequence[Message]) -> int:
        self.sizes.append(len(messages))
        if any(self.refused in message.name for message in messages):
            raise StoreError("the disk is full")
        return await self.inner.send(dataset, messages)

    async def send_unknown(self, dataset: str, messages: Sequence[Message]) -> int:
        if not self.takes_unknown:
            raise StoreError("the disk is full")
        return await self.inner.send_unknown(dataset, messages)


# --- finding raw files ---------------------------------------------------------------------------


@pytest.mark.req("SED-14", "SED-15", "SED-18", "SED-19", "C-77")
@waits
async def test_raw_files_without_checkpoint_are_sent(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        for number in (1, 2, 3):
            there.drop(THREE, raw_path(SG, number))
        await there.process(SeedMessage(raw_path(SG, 2), SG))
        for number in (1, 2):
            there.drop({}, f"{raw_path(SG, number)}.bak")  # which is listed before a checkpoint
        there.drop({}, FILE.replace("raw_0001.json", "raw_metadata.json"))
        there.drop(THREE, "raw/country=sg/category=news/date=2026-02-30/raw_0001.json")
        assert await orchestrate(there.seeding, ALL) == OrchestrationReport(3, 2, 1)
        sent = await there.waiting("seed")
        assert [read_seed_message(one.body) for one in sent] == [
            SeedMessage(FILE, SG),
            SeedMessage(raw_path(SG, 2), SG, again=True),  # the store has not heard of it
            SeedMessage(raw_path(SG, 3), SG),
        ]
        await orchestrate(there.seeding, ALL)
        assert len(await there.waiting("seed")) == 2  # now it has
        tally = await there.queues.tally(there.seeding.dataset.name, "seed", ALL)
        assert tally.processed == 3


@pytest.mark.req("SED-17", "C-51")
@pytest.mark.parametrize(
    ("which", "found"),
    [
        (PartitionFilter(), 4),
        (PartitionFilter("sg"), 3),
        (PartitionFilter(category="news"), 3),
        (PartitionFilter(date="2026-01-28"), 3),
        (PartitionFilter("sg", date="2026-01-29"), 1),
        (PartitionFilter("sg", "news"), 2),
        (PartitionFilter("sg", "news", "2026-01-28"), 1),
        (PartitionFilter("kr"), 0),
        (PartitionFilter("sg", "new"), 0),
    ],
)
@waits
async def test_any_subset_of_filters(tmp_path: Path, which: PartitionFilter, found: int) -> None:
    async with ground(tmp_path) as there:
        for parts in (
            ("sg", "news", "2026-01-28"),
            ("sg", "news", "2026-01-29"),
            ("sg", "law", "2026-01-28"),
            ("my", "news", "2026-01-28"),
        ):
            there.drop([], raw_path(Partition(*parts), 1))
        assert await orchestrate(there.seeding, which) == OrchestrationReport(found, found, 0)


@waits
async def test_what_waits_already_counts_as_sent_and_is_there_once(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        there.drop(THREE)
        for _ in range(2):
            assert await orchestrate(there.seeding, ALL) == OrchestrationReport(1, 1, 0)
        assert len(await there.waiting("seed")) == 1


@pytest.mark.req("SED-17", "SED-34", "C-50")
@waits
async def test_force_sends_everything_under_its_own_name(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        there.drop(THREE)
        await there.process()
        assert await orchestrate(there.seeding, ALL, force=True) == OrchestrationReport(1, 1, 0)
        (sent,) = await there.waiting("seed")
        message = read_seed_message(sent.body)
        assert message.force
        assert sent.name == f"{FILE}@{message.run}"
        there.hand.clock.advance(1)
        await orchestrate(there.seeding, ALL, force=True)
        (later,) = await there.waiting("seed")
        assert read_seed_message(later.body).run > message.run


@waits
async def test_a_file_is_looked_at_again_and_its_checkpoint_stays(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        there.drop([*THREE, 1])
        await there.process()
        first = await there.waiting("domain")
        before = there.file(success_path(FILE)).read_bytes()
        there.hand.clock.advance(10)
        worked = await there.process(SeedMessage(FILE, SG, again=True))
        assert await there.waiting("domain") == first
        assert there.file(success_path(FILE)).read_bytes() == before
        assert worked.urls == len(THREE)
        there.drop([THREE[0], THREE[1], {**THREE[2], "title": "취업"}, 1])  # of the same size
        await there.process(SeedMessage(FILE, SG, again=True))
        assert len(await there.waiting("domain")) == 2
        assert there.file(success_path(FILE)).read_bytes() != before


@pytest.mark.req("C-50")
@waits
async def test_a_run_of_a_time_to_come_keeps_nobody_from_forcing(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        there.drop(THREE)
        for name in ("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "~"):
            there.file(success_path(FILE)).unlink(missing_ok=True)
            for _ in range(2):  # delivered twice, done once
                await there.process(SeedMessage(FILE, SG, force=True, run=name))
            assert len(await there.waiting("domain")) == 2
            await orchestrate(there.seeding, ALL, force=True)
            (sent,) = await there.waiting("seed")
            for _ in range(2):
                await there.process(read_seed_message(sent.body))
            assert len(await there.waiting("domain")) == 2


@pytest.mark.req("SED-20")
@waits
async def test_a_file_that_cannot_be_sent_stops_no_other(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        for number in (1, 2, 3, 4):
            there.drop(THREE, raw_path(SG, number))
        await there.process(SeedMessage(raw_path(SG, 4), SG))
        there.queues = Stubborn(there.queues, "raw_0002", takes_unknown=False)
        assert await orchestrate(there.seeding, ALL) == OrchestrationReport(4, 2, 1)
        told = there.hand.ear.of(SeedSendFailed)
        assert [one.sentence for one in told] == [
            f"Queue send failed: {raw_path(SG, 4)}",
            f"Queue send failed: {raw_path(SG, 2)}",
        ]
        assert [one.task for one in await there.waiting("seed")] == [FILE, raw_path(SG, 3)]


@pytest.mark.req("SED-20")
@waits
async def test_a_store_that_takes_nothing_is_not_waited_for_at_every_file(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        for number in range(1, 6):
            there.drop(THREE, raw_path(SG, number))
        await there.process(SeedMessage(raw_path(SG, 5), SG))
        away = Stubborn(there.queues, "raw_", takes_unknown=False)
        there.queues = away
        assert await orchestrate(there.seeding, ALL) == OrchestrationReport(5, 0, 1)
        assert len(away.sizes) < orchestrating.MAX_REFUSALS, "the unknown one was refused, too"
        told = there.hand.ear.of(SeedSendFailed)
        assert sorted(one.key for one in told) == [raw_path(SG, number) for number in range(1, 6)]
        assert {one.message for one in told} == {"the disk is full"}


@dataclass
class Unreadable:
    """A dataset of which some files cannot be read."""

    inner: Dataset
    keys: set[str]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def read(self, key: str, *, max_bytes: int) -> bytes | None:
        if key in self.keys:
            raise StoreError(f"`{key}` cannot be used: Input/output error")
        return await self.inner.read(key, max_bytes=max_bytes)


@pytest.mark.req("SED-20", "C-92")
@waits
async def test_a_checkpoint_that_cannot_be_read_stops_no_other_file(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        for number in (1, 2, 3):
            there.drop(THREE, raw_path(SG, number))
            await there.process(SeedMessage(raw_path(SG, number), SG))
        dataset = Unreadable(there.seeding.dataset, {success_path(raw_path(SG, 2))})
        seeding = replace(there.seeding, dataset=dataset)
        assert await orchestrate(seeding, ALL) == OrchestrationReport(3, 1, 2)


@waits
async def test_a_dataset_that_is_away_is_not_waited_for_at_every_file(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        keys = [raw_path(SG, number) for number in range(1, 6)]
        for key in keys:
            there.drop(THREE, key)
            await there.process(SeedMessage(key, SG))
        dataset = Unreadable(there.seeding.dataset, set(map(success_path, keys)))
        with pytest.raises(StoreError, match="Input/output error"):
            await orchestrate(replace(there.seeding, dataset=dataset), ALL)


@pytest.mark.parametrize(
    "checkpoint",
    [b"", b"{}", b"x", b'{"processor": "another"}', b" " * (MAX_MANIFEST_BYTES + 1)],
    ids=["empty", "nothing", "broken", "foreign", "too large"],
)
@pytest.mark.req("C-92")
@waits
async def test_a_checkpoint_that_makes_no_sense_is_none(tmp_path: Path, checkpoint: bytes) -> None:
    async with ground(tmp_path) as there:
        there.drop(THREE)
        there.drop(checkpoint, success_path(FILE))
        assert await orchestrate(there.seeding, ALL) == OrchestrationReport(1, 1, 0)
        await there.process()
        assert await orchestrate(there.seeding, ALL) == OrchestrationReport(1, 0, 1)


@waits
async def test_a_checkpoint_with_numbers_that_no_store_takes_is_none(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        there.drop(THREE)
        await there.process()
        manifest = json.loads(there.file(success_path(FILE)).read_bytes())
        there.drop({**manifest, "duration_ms": 2**64 - 1}, success_path(FILE))
        assert await orchestrate(there.seeding, ALL) == OrchestrationReport(1, 1, 0)


@pytest.mark.req("C-92")
@waits
async def test_a_checkpoint_of_another_file_of_that_name_is_none(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        there.drop(THREE)
        await there.process()
        there.drop(THREE[:1])
        assert await orchestrate(there.seeding, ALL) == OrchestrationReport(1, 1, 0)


@waits
async def test_more_files_than_are_sent_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orchestrating, "AT_ONCE", 3)

    async with ground(tmp_path) as there:
        for number in range(7):
            there.drop([], raw_path(SG, number))
        assert await orchestrate(there.seeding, ALL) == OrchestrationReport(7, 7, 0)
        assert len(await there.waiting("seed")) == 7


# --- processing one ------------------------------------------------------------------------------


@pytest.mark.req("SED-22", "SED-23", "SED-24", "SED-33", "C-59")
@waits
async def test_domains_are_sent_and_the_checkpoint_says_so(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        raw = there.drop([*THREE, record("https://moh.gov.sg/x", country="my"), THREE[0]])
        worked = await there.process()
        sent = [read_domain_message(one.body) for one in await there.waiting("domain")]
        moh, mom = sorted(sent, key=lambda one: one.domain)
        assert (mom.domain, mom.domain_id) == ("mom.gov.sg", "gov:sg:mom.gov.sg")
        assert mom.urls == (
            SeedUrl("https://mom.gov.sg/a", "A page", "/a"),
            SeedUrl("https://mom.gov.sg/d", "노동", "/d"),
        )
        assert (mom.indexes, moh.indexes) == ((0, 2), (1,))
        assert moh.urls[0].path == "/b"
        assert mom.partition_info == SG
        assert not mom.force
        manifest = read_manifest(there.file(success_path(FILE)).read_bytes())
        assert manifest is not None
        assert manifest.inputs == {FILE: mom.file}
        assert mom.file.size == len(raw)
        assert manifest.processor == "seed-engine"
        assert manifest.processed_at.endswith("Z")
        assert manifest.counts == {
            "records": 5,
            "rejected": 1,
            "duplicates": 1,
            "domains": 2,
            "urls": 3,
        }
        assert set(manifest.outputs) == {rejects_path(FILE)}
        (line,) = there.file(rejects_path(FILE)).read_bytes().splitlines()
        assert json.loads(line)["index"] == 3
        assert worked.urls == 3
        (told,) = there.hand.ear.of(SeedFileDone)
        assert told.sentence == f"Processed {FILE}: 2 domains"
        assert told.rejected == 1


@pytest.mark.req("MON-14")
@waits
async def test_what_a_file_took_is_told_everywhere(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        there.drop(THREE)
        # Messages are sent and rejects looked at before the duration is taken.
        worked = await there.process(on_keep=lambda: there.hand.clock.advance(0.25))
        manifest = read_manifest(there.file(success_path(FILE)).read_bytes())
        assert manifest is not None
        (told,) = there.hand.ear.of(SeedFileDone)
        assert worked.duration_ms == manifest.duration_ms == told.ms == 500


@pytest.mark.req("SED-03", "SED-23", "SED-31")
@waits
async def test_a_processed_file_is_passed_over(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        raw = there.drop(THREE)
        first = await there.process()
        await there.waiting("domain")
        checkpoint = there.file(success_path(FILE)).read_bytes()
        there.hand.clock.advance(10)
        assert await there.process() == first
        assert await there.waiting("domain") == []
        (told,) = there.hand.ear.of(SeedSkipped)
        assert told.sentence == f"Already processed, skipping: {FILE}"
        assert there.file(success_path(FILE)).read_bytes() == checkpoint
        assert there.file(FILE).read_bytes() == raw


@pytest.mark.req("SED-34", "C-50")
@waits
async def test_a_forced_file_is_processed_once_for_its_run(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        there.drop([*THREE, 1])
        await there.process()
        await there.waiting("domain")
        now_s, rng = there.hand.clock.now_s(), there.hand.world.rng
        early, late = (new_ulid(now_s + seconds, rng) for seconds in (1, 2))
        forced = SeedMessage(FILE, SG, force=True, run=late)
        there.hand.clock.advance(10)
        await there.process(SeedMessage(FILE, SG), replace(forced, run=early), forced)
        sent = await there.waiting("domain")
        assert {read_domain_message(one.body).run for one in sent} == {late}
        assert all(read_domain_message(one.body).force for one in sent)
        assert all(re.search(f"#raw_0001.json:[0-9a-f]{{16}}@{late}$", one.name) for one in sent)
        manifest = read_manifest(there.file(success_path(FILE)).read_bytes())
        assert manifest is not None
        assert manifest.run == late
        for again in (forced, replace(forced, run=early), SeedMessage(FILE, SG)):
            await there.process(again)
        assert await there.waiting("domain") == []
        assert len(there.hand.ear.of(SeedSkipped)) == 3


@waits
async def test_rejects_are_those_of_the_last_time(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        there.drop([*THREE, 1])
        await there.process()
        assert there.file(rejects_path(FILE)).exists()
        there.drop(THREE)
        await there.process()
        assert not there.file(rejects_path(FILE)).exists()


@waits
async def test_a_file_of_nothing_but_rejects_is_processed(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        there.drop([1, 2])
        assert (await there.process()).urls == 0
        assert len(there.file(rejects_path(FILE)).read_bytes().splitlines()) == 2
        assert await there.waiting("domain") == []


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (None, ErrorType.STORAGE, f"File not found: {FILE}"),
        (b"[", ErrorType.PARSE, f"{FILE}: line 1 column 2"),
        (b"\xff", ErrorType.PARSE, "not UTF-8"),
        (b"{}", ErrorType.VALIDATION, "not a JSON array"),
        (b"[0,0,0,0]", ErrorType.VALIDATION, "more than 3 records"),
        (b"[" + b" " * 1023 + b"]", ErrorType.VALIDATION, "has 1025 bytes; the limit is 1024"),
    ],
)
@pytest.mark.req("SED-23", "SED-42", "ERR-15")
@waits
async def test_a_file_that_cannot_be_processed(
    tmp_path: Path, data: bytes | None, kind: ErrorType, message: str
) -> None:
    async with ground(tmp_path) as there:
        there.rules = SeedRules(max_records=3, max_file_bytes=1024)
        if data is not None:
            there.drop(data)
        with pytest.raises(SeedError) as failed:
            await there.process()
        assert failed.value.kind is kind
        assert message in failed.value.message
        assert await there.waiting("domain") == []
        assert not there.file(success_path(FILE)).exists()
        assert not there.file("rejects").exists()


@waits
async def test_messages_that_are_none(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        message = file_message(RULES, SeedMessage(FILE, SG))
        for broken in (replace(message, body=b"{}"), replace(message, task=raw_path(SG, 2))):
            loan = Loan("seed", broken.task, 1, 0.0, (broken,))
            with pytest.raises(SeedError) as failed:
                await process_file(there.seeding, InHand(loan))
            assert failed.value.kind is ErrorType.VALIDATION


@pytest.mark.req("SED-23", "SED-32")
@waits
async def test_whoever_dies_does_it_again_and_nothing_is_there_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processing, "SENT_AT_ONCE", 1)

    async with ground(tmp_path) as there:
        there.drop([*THREE, 1])
        for step in (1, 2, 3, 4):
            with pytest.raises(LeaseLost):
                await there.process(on_keep=Taken(step))
            assert not there.file(success_path(FILE)).exists()
            assert there.file(rejects_path(FILE)).exists() == (step == 4)
        await there.process(on_keep=Taken(5))
        assert len(await there.waiting("domain")) == 2


@waits
async def test_a_send_that_fails_fails_the_file(tmp_path: Path) -> None:
    async with ground(tmp_path) as there:
        there.drop(THREE)
        there.queues = Stubborn(there.queues, "moh.gov.sg")
        with pytest.raises(GeomiError, match="the disk is full"):
            await there.process()
        assert not there.file(success_path(FILE)).exists()


@waits
async def test_large_messages_are_sent_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processing, "SENT_BYTES", 1000)

    async with ground(tmp_path) as there:
        there.queues = counting = Stubborn(there.queues)
        large = [record(f"https://a.sg/{number}", "x" * 500) for number in range(3)]
        small: list[Mapping[str, str]] = [record(f"https://{name}.sg/") for name in "bcd"]
        there.drop([*large, *small])
        await there.process()
        assert counting.sizes == [1, 2, 1]
