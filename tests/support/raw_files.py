"""A dataset in a folder, with raw files and, where it is wanted, dead letters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from geomi.dataset.checkpoint import write_manifest
from geomi.engine.seeds.context import SeedContext
from geomi.model.dataset.queue import (
    DeadLetter,
    ErrorContext,
    ErrorInfo,
    LoanSettlement,
    Message,
    TaskResult,
)
from geomi.model.dataset.seed import Checksum, ErrorType, Manifest, Partition
from geomi.text.identifiers import new_ulid, sha256_hex

PARTITION = Partition("sg", "news", "2026-01-28")
FOLDER = "country=sg/category=news/date=2026-01-28"


def record(url: str, domain: str) -> dict[str, str]:
    """Return a record as research writes it (SED-07)."""
    return {
        "url": url,
        "title": f"About {domain}",
        "domain": domain,
        "registrable_domain": domain,
        "domain_id": f"gov:sg:{domain}",
        "source_type": "gov",
        "content_type": "news",
        "language": "en",
        "country": "sg",
        "discovered_at": "2026-01-28T10:00:00Z",
        "discovery_method": "google_search",
    }


def put_raw(root: Path, number: int, *domains: str, folder: str = FOLDER) -> str:
    """Write a raw file with one record for each domain; return its key."""
    key = f"raw/{folder}/raw_{number:04}.json"
    path = root / key
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [record(f"https://{domain}/{number}", domain) for domain in domains]
    path.write_text(json.dumps(records), encoding="utf-8")
    return key


def put_success(root: Path, key: str) -> None:
    """Write the checkpoint of a raw file, as if it were processed."""
    data = (root / key).read_bytes()
    manifest = Manifest("2026-01-28T15:30:00Z", {key: Checksum(sha256_hex(data), len(data))})
    (root / f"{key}.success").write_bytes(write_manifest(manifest))


def message(queue: str, task: str, body: bytes = b'{"domain": "a.test"}') -> Message:
    """Return a message about a task."""
    return Message(queue, task, task, PARTITION, body)


async def worked(seeding: SeedContext, queue: str, tasks: Sequence[str], done: TaskResult) -> None:
    """Let tasks be processed."""
    await _settled(seeding, queue, tasks, done=done)


async def given_up(
    seeding: SeedContext, queue: str, tasks: Sequence[str], why: str = "no answer"
) -> list[str]:
    """Let tasks fail for good; return the ids of their dead letters."""
    return await _settled(seeding, queue, tasks, why=why)


async def _settled(
    seeding: SeedContext,
    queue: str,
    tasks: Sequence[str],
    *,
    done: TaskResult | None = None,
    why: str = "",
) -> list[str]:
    name, now_s = seeding.dataset.name, seeding.world.clock.now_s()
    await seeding.queues.send(name, [message(queue, task) for task in tasks])
    loans = await seeding.queues.claim(
        name, queue, owner="test", tasks=len(tasks), lease_s=60.0, now_s=now_s
    )
    assert len(loans) == len(tasks)
    ids: list[str] = []
    for loan in loans:
        names = tuple(one.name for one in loan.messages)
        settlement = LoanSettlement(done=names, worked=done)
        if done is None:
            info = ErrorInfo(ErrorType.NETWORK, why, 3, "2026-01-28T15:30:00Z")
            context = ErrorContext(queue, "1.0", 1250)
            ids.append(new_ulid(seeding.world.clock.wall_s(), seeding.world.rng))
            letter = DeadLetter(ids[-1], loan.messages[0], info, context)
            settlement = LoanSettlement(dead=(letter,))
        assert await seeding.queues.settle(name, loan, settlement)
    return ids
