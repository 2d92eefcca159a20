"""What nobody thought of asking: requests made from the document, against a real server.

Every check of schemathesis is on. A request that has the documented shape may still be refused (a
seed that its own rules exclude, a state that does not allow it), but never as misshapen, and never
with an answer that the document does not know.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import from_schema
from schemathesis.engine.events import NonFatalError, ScenarioFinished

from geomi.api.connections import ConnectionLimits
from geomi.api.http_server import HttpServer
from geomi.model.tenant import Quota
from geomi.service.access import tenants
from tests.api.asking import LOCAL, serving

FREE = replace(LOCAL, api_rate_per_minute=0, allow_private=False, contact="https://acme.example/")
# The first would ask other servers, the second need not end, the others take the key away.
LEFT_OUT = ["previewUrl", "crawlerPreviewUrl", "followCrawl", "revokeKey", "rotateKey"]
START_S = 30


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Serve a data directory in a thread of its own; return its URL and an administrator's key."""
    ready: Future[tuple[str, str]] = Future()
    ends: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
    root = tmp_path_factory.mktemp("served")
    thread = threading.Thread(target=lambda: asyncio.run(_serve(root, ready, ends)), daemon=True)
    thread.start()
    yield ready.result(START_S)
    loop, over = ends.result(START_S)
    loop.call_soon_threadsafe(over.set)
    thread.join(START_S)
    assert not thread.is_alive()


@pytest.mark.slow
@pytest.mark.req("API-15")
def test_no_request_finds_an_answer_that_is_not_documented(served: tuple[str, str]) -> None:
    url, key = served
    config = SchemathesisConfig.from_dict(
        {
            "seed": 1,
            "headers": {"Authorization": f"Bearer {key}"},
            "generation": {"max-examples": 5, "database": "none"},
            "phases": {"coverage": {"enabled": False}, "stateful": {"enabled": False}},
            "checks": {
                "positive_data_acceptance": {
                    "expected-statuses": ["2xx", "401", "403", "404", "409", "422", "429", "503"]
                },
            },
        }
    )
    schema = schemathesis.openapi.from_url(f"{url}openapi.json", config=config)
    chosen = schema.exclude(operation_id=LEFT_OUT)
    failures: list[str] = []
    asked: set[str] = set()
    for event in from_schema(chosen).execute():
        if isinstance(event, NonFatalError):
            failures.append(f"{event.label}: {event.info.format()}")
        if isinstance(event, ScenarioFinished):
            asked.add(str(event.label))
            failures += [
                f"{event.label}: {check.failure_info.failure}"
                for checks in event.recorder.checks.values()
                for check in checks
                if check.failure_info is not None
            ]
    assert failures == []
    assert len(asked) > 50


async def _serve(
    root: Path,
    ready: Future[tuple[str, str]],
    ends: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]],
) -> None:
    over = asyncio.Event()
    ends.set_result((asyncio.get_running_loop(), over))
    async with serving(root, FREE) as ground:
        await tenants.change(ground.service, "default", quota=Quota(0, 0, 0, 0))

        def tell(url: str) -> None:
            ready.set_result((url, ground.admin.key))

        front = HttpServer(ground.app, "127.0.0.1", 0, ConnectionLimits(100), on_ready=tell)
        async with asyncio.TaskGroup() as group:
            group.create_task(front.run(), name="http")
            await over.wait()
            front.leave()
