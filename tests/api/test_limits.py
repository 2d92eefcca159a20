"""Limits one above: buckets, bodies that do not come, collections, what is kept for a time."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geomi.api import guard
from geomi.api.app import make_app
from geomi.api.guard import RateLimiter
from geomi.service import collections
from geomi.service.deliveries import KEPT_S, Attempt, Delivery, DeliveryState, record_attempt
from geomi.service.service import ValueNamespace
from geomi.service.webhooks import HookEvent
from tests.api.asking import CRAWL, serving
from tests.support.waiting import waits


def test_a_bucket_fills_evenly_and_never_beyond_its_size() -> None:
    buckets = RateLimiter(60)
    for _ in range(60):
        taken = buckets.take("a", now_s=0.0)
        assert taken is not None and taken.is_granted
    empty = buckets.take("a", now_s=0.0)
    assert empty is not None and not empty.is_granted and empty.wait_s == pytest.approx(1.0)
    later = buckets.take("a", now_s=2.5)
    assert later is not None and later.is_granted and later.left == 1
    back = buckets.take("a", now_s=1.0)  # whatever a clock does, nothing is taken away
    assert back is not None and back.is_granted
    rested = buckets.take("a", now_s=10_000.0)
    assert rested is not None and rested.left == 59
    assert RateLimiter(0).take("a", now_s=0.0) is None


def test_buckets_that_were_used_least_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MAX_BUCKETS", 2)
    buckets = RateLimiter(1)
    for key in ("a", "b", "c"):
        buckets.take(key, now_s=0.0)
    again, kept = buckets.take("a", now_s=0.0), buckets.take("c", now_s=0.0)
    assert again is not None and again.is_granted
    assert kept is not None and not kept.is_granted


@waits
async def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LONGEST_BODY_S", 0.01)
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError("nothing ever comes")

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/v1/crawls", "headers": []}
    await make_app()(scope, receive, send)
    assert sent[0]["status"] == 408


@waits
async def test_one_collection_too_many_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collections, "MAX_COLLECTIONS", 1)

    async with serving(tmp_path) as ground:
        assert (await ground.mine.post("/crawls", CRAWL)).status == 202
        assert (await ground.mine.post("/crawls", CRAWL)).status == 202
        refused = await ground.mine.post("/crawls", CRAWL | {"collectionId": "second"})
        assert refused.status == 429
        assert len((await ground.mine.get("/crawls")).json["crawls"]) == 2


@waits
async def test_deliveries_and_audits_are_kept_for_a_time(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        desk = ground.desk
        namespace = ValueNamespace(desk.named_values, "deliveries", Delivery)
        now = Delivery("", "h", HookEvent.FAILED, "j", 1, "{}", desk.wall_s)
        old = replace(now, created_at_s=desk.wall_s - KEPT_S - 1)
        kept = {
            "0NEW": replace(now, state=DeliveryState.DEAD),
            "1OLD": replace(old, state=DeliveryState.DEAD),
            "2WAITS": old,
        }
        for name, one in kept.items():
            await namespace.add(name, replace(one, id=name))
        await record_attempt(desk, replace(now, id="0NEW"), Attempt(desk.wall_s, 200))
        assert [one.name for one in await namespace.every()] == ["0NEW", "2WAITS"]
        await ground.mine.post("/crawls", CRAWL)
        (entry,) = await desk.named_values.list("audit", limit=10)
        assert await desk.named_values.change(replace(entry, due_at_s=1.0))
        await ground.mine.post("/crawls", CRAWL)
        names = [named.name for named in await desk.named_values.list("audit", limit=10)]
        assert len(names) == 1 and entry.name not in names
