"""Every operation with ids of another tenant: nothing is told, nothing is changed.

The operations come from the document, so that a new one is in here by itself; one with an id of a
new kind fails until it is named below.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from geomi.app.use.datasets import seed_config
from geomi.service import deliveries, webhooks
from geomi.service.seeds import seeding_of
from tests.api.asking import LOCAL, Client, Ground, Json, serving
from tests.api.filling import WEB, filled
from tests.api.test_document import operations
from tests.support.raw_files import given_up
from tests.support.server import Site
from tests.support.waiting import waits

SECRET = "a-word-of-theirs"


async def _things_of(client: Client, ground: Ground, site: Site) -> dict[str, str]:
    """Give a tenant one of everything; return the ids by the names of parameters."""
    desk = ground.service.desk("umbrella")
    job = await filled(client, desk, site, SECRET)
    document = (await client.get("/documents")).json["documents"][0]["documentId"]
    crawl = {"collectionId": SECRET, "seedUrls": [site.url("/")]}
    schedule = await client.post("/schedules", {"title": SECRET, "cron": "@daily", "crawl": crawl})
    hook = await client.post("/webhooks", {"url": f"https://{SECRET}.example.com/"})
    hook_id = hook.json["webhookId"]
    events = await ground.service.home.store.unsent_events.list(100)
    named_values = [
        named
        for event in events
        for named in deliveries.deliveries_of(desk, event, await webhooks.every(desk))
    ]
    assert named_values, "the crawl has ended, which a hook is told"
    for named in named_values:
        await desk.named_values.add(
            named.namespace, named.name, named.body, due_at_s=named.due_at_s
        )
    key = (await client.post("/keys", {"label": SECRET})).json["keyId"]
    rules = seed_config(ground.service.settings).seeds
    (letter,) = await given_up(seeding_of(desk), rules.seed_queue, [f"raw/{SECRET}"])
    return {
        "jobId": job,
        "collectionId": SECRET,
        "documentId": document,
        "scheduleId": schedule.json["scheduleId"],
        "webhookId": hook_id,
        "deliveryId": named_values[0].name,
        "keyId": key,
        "letterId": letter,
        "tenant": "umbrella",
        "provider": "openai",
    }


def _request(path: str, told: Json, schemas: Json, ids: dict[str, str]) -> tuple[str, object]:
    """Make a request that names things of somebody else wherever it can."""
    query = []
    for parameter in told.get("parameters", ()):
        name = parameter["name"]
        if parameter["in"] == "path":
            path = path.replace(f"{{{name}}}", ids[name])
        elif name in ids:
            query.append(f"{name}={ids[name]}")
        elif parameter.get("required"):
            query.append(f"{name}=http://localhost/")
    body = None
    if "requestBody" in told:
        ref = told["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        body = dict(schemas[ref.rpartition("/")[2]]["examples"][0])
        if "collectionId" in body:
            body["collectionId"] = ids["collectionId"]
    return path + ("?" + "&".join(query) if query else ""), body


@pytest.mark.req("SEC-09", "DAT-08")
@waits
async def test_no_operation_knows_what_belongs_to_another(tmp_path: Path) -> None:
    with Site(WEB) as site:
        for name in ("umbrella", "acme"):
            (tmp_path / name).mkdir()
        roots = tuple(f"{name}={tmp_path / name}" for name in ("umbrella", "acme"))
        settings = replace(LOCAL, datasets=roots)
        async with serving(tmp_path / "data", settings) as ground:
            ids = await _things_of(ground.other, ground, site)
            before = await _state(ground.other, ids)
            stranger = ground.mine.without_prefix()
            document = ground.app.openapi()
            asked = 0
            # What makes things comes last: a collection of the same name would be one's own.
            for path, method, told in sorted(operations(document), key=_makes_something):
                if "x-required-scope" not in told:
                    continue
                target, body = _request(path, told, document["components"]["schemas"], ids)
                answer = await stranger.ask(method.upper(), target, body)
                asked += 1
                if told["x-required-role"] == "admin":
                    assert answer.status == 403, (method, path)
                elif "{" in path:
                    assert answer.status == 404, (method, path, answer.status)
                else:
                    assert answer.status < 500, (method, path)
                _tells_nothing(answer.body, ids, sent=orjson.dumps(body).decode() + target)
            assert asked > 50
            assert await _state(ground.other, ids) == before


def _makes_something(operation: tuple[str, str, Json]) -> bool:
    path, method, _ = operation
    return method == "post" and "{" not in path


def _tells_nothing(body: bytes, ids: dict[str, str], *, sent: str) -> None:
    """What was not sent by the stranger does not come back."""
    text = body.decode()
    for name, value in ids.items():
        if name != "provider" and value not in sent:
            assert value not in text, name


async def _state(client: Client, ids: dict[str, str]) -> list[Json]:
    """Return all that can be seen of a tenant's things."""
    paths = (
        f"/crawls/{ids['jobId']}",
        f"/crawls/{ids['jobId']}/urls",
        f"/collections/{ids['collectionId']}",
        f"/documents/{ids['documentId']}",
        f"/schedules/{ids['scheduleId']}",
        f"/webhooks/{ids['webhookId']}",
        f"/webhooks/{ids['webhookId']}/deliveries",
        "/usage",
        "/audit",
        f"/seeds/dlq/{ids['letterId']}",
        "/seeds/status",
    )
    state = [(await client.get(path)).json for path in paths]
    listed = (await client.get("/keys")).json["keys"]
    return [*state, [key for key in listed if key["keyId"] == ids["keyId"]]]
