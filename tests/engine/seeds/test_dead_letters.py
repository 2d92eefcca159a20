"""Dead letters as people are shown them."""

from __future__ import annotations

from pathlib import Path

import orjson

from geomi.adapters.dataset.directory import DirectoryDataset
from geomi.engine.seeds.context import SeedContext
from geomi.engine.seeds.dead_letters import MAX_SHOWN_BYTES, drop, each, every, letter_json, retry
from geomi.model.config import CrawlConfig
from geomi.model.dataset.queue import DeadLetter, ErrorContext, ErrorInfo, Message
from geomi.model.dataset.seed import ErrorType, Partition
from tests.support.raw_files import given_up
from tests.support.timed_crawl import hand_in
from tests.support.waiting import waits

SG = Partition("sg", "news", "2026-01-28")


def shown(body: bytes) -> object:
    """Return what is shown of a message."""
    message = Message("domain", "name", "task", SG, body)
    why = ErrorInfo(ErrorType.PARSE, "broken", 3, "2026-01-28T10:00:00Z")
    letter = DeadLetter("L1", message, why, ErrorContext("domain", "1.0", 5))
    return letter_json(letter)["original_message"]


def test_a_message_is_an_object_as_long_as_it_is_no_burden() -> None:
    frame = orjson.dumps({"title": ""})
    whole = "x" * (MAX_SHOWN_BYTES - len(frame))
    assert shown(orjson.dumps({"title": whole})) == {"title": whole}
    assert shown(b"\xff{") == "\\xff{"


def test_of_one_that_is_larger_the_beginning_is_shown() -> None:
    text = shown(orjson.dumps({"title": "é" * MAX_SHOWN_BYTES}))
    assert isinstance(text, str)
    assert text.startswith('{"title":"éé') and text.endswith("é…")
    assert len(text.encode()) <= MAX_SHOWN_BYTES + len("…".encode())


@waits
async def test_what_somebody_else_has_taken_meanwhile_keeps_nobody_from_the_rest(
    tmp_path: Path,
) -> None:
    async with hand_in(tmp_path / "home") as hand:
        dataset = DirectoryDataset(tmp_path)
        seeding = SeedContext(hand.world, CrawlConfig(), hand.store.queues, dataset)
        first, second, _ = sorted(
            await given_up(seeding, "domain", [f"prod/{number}" for number in range(3)])
        )

        async def act(seeding: SeedContext, letter: str) -> None:
            if letter == first:
                await drop(seeding, second)
            await retry(seeding, letter)

        assert await each(seeding, act) == 2
        assert [letter async for letter in every(seeding)] == []
        depth = await seeding.queues.depth(dataset.name, "domain", now_s=hand.clock.now_s())
        assert depth.waiting == 2
