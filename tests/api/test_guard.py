"""What every request meets: keys, scopes, rates, sizes, idempotency, audit, ETags, headers."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.api.app import make_app
from geomi.api.guard import MAX_BODY_BYTES
from geomi.service.access import keys
from geomi.service.access.idempotency import AT_WORK_S, KEPT_S
from geomi.service.access.keys import KeyRole, KeyScope, NewKey
from geomi.service.service import open_service
from tests.api.asking import CRAWL, LOCAL, TENANT, Client, everything_in, serving
from tests.support.waiting import waits


@pytest.mark.req("SEC-09")
@waits
async def test_without_a_valid_key_there_is_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        good = ground.mine.key
        prefix, name, secret = good.split("_", 2)
        strangers = [
            "", "geomi", good[:-1], good + "x", f"{prefix}_{name}_", "geomi_" + "a" * 5000,
            f"{prefix}_{'0' * 12}_{secret}", f"{prefix}_ключ_{secret}",
            f"{prefix}_{name}_{secret.upper()}",
        ]  # fmt: skip
        for text in strangers:
            refused = await Client(ground.app, text).get("/crawls")
            assert refused.status == 401, text
            assert refused.headers["www-authenticate"].startswith("Bearer")
            assert refused.headers["content-type"] == "application/problem+json"
        basic = Client(ground.app, extra={"authorization": f"Basic {good}"})
        assert (await basic.get("/crawls")).status == 401
        assert (await ground.mine.get("/crawls")).status == 200


@pytest.mark.req("SEC-09")
@waits
async def test_a_key_is_kept_as_a_digest_and_ends_when_it_should(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        soon = NewKey(TENANT, expires_at_s=ground.desk.wall_s + 0.2)
        short = Client(ground.app, (await keys.create(ground.service, soon)).text)
        while (await short.get("/crawls")).status == 200:
            pass  # its time is nearly over
        assert (await short.get("/crawls")).status == 401
        made = (await ground.mine.post("/keys", {"scopes": ["read"], "label": "wiki"})).json
        reader = Client(ground.app, made["key"])
        assert (await reader.get("/crawls")).status == 200
        turned = await ground.mine.post(f"/keys/{made['keyId']}/rotate")
        assert turned.status == 201 and turned.json["scopes"] == ["read"]
        assert (await reader.get("/crawls")).status == 401
        again = Client(ground.app, turned.json["key"])
        assert (await again.get("/crawls")).status == 200
        revoked = await ground.mine.post(f"/keys/{turned.json['keyId']}/revoke")
        assert revoked.json["revokedAt"] and (await again.get("/crawls")).status == 401
        assert (await ground.mine.post(f"/keys/{made['keyId']}/rotate")).status == 409
        listed = (await ground.mine.get("/keys")).json["keys"]
        assert {key["keyId"] for key in listed} >= {made["keyId"], turned.json["keyId"]}
        assert all("key" not in key for key in listed)
        secrets = [made["key"].split("_", 2)[2], turned.json["key"].split("_", 2)[2]]
    kept = everything_in(tmp_path)
    assert not [secret for secret in secrets if secret.encode() in kept]


@waits
async def test_a_key_was_used_within_the_hour(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        name = ground.mine.key.split("_")[1]
        await ground.mine.get("/crawls")
        first = await keys.find(ground.service, TENANT, name)
        assert first.used_at_s is not None
        await ground.mine.get("/crawls")
        assert await keys.find(ground.service, TENANT, name) == first


@pytest.mark.req("SEC-09")
@waits
async def test_scopes_and_roles_say_what_a_key_may_do(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        reader = await ground.somebody(KeyScope.READ)
        writer = await ground.somebody(KeyScope.WRITE)
        assert (await reader.get("/crawls")).status == 200
        assert (await reader.post("/crawls", CRAWL)).status == 403
        assert (await writer.post("/crawls", CRAWL)).status == 202
        assert (await writer.get("/crawls")).status == 403
        assert (await writer.get("/keys")).status == 403
        assert (await ground.mine.get("/admin/tenants")).status == 403  # no administrator
        assert (await ground.admin.get("/admin/tenants")).status == 200
        weak = await keys.create(ground.service, NewKey("default", KeyRole.ADMIN, (KeyScope.READ,)))
        assert (await Client(ground.app, weak.text).get("/admin/tenants")).status == 403
        made = await ground.mine.post("/keys", {"scopes": ["admin"]})
        assert made.json["role"] == "tenant"  # nobody makes an administrator over the API


@pytest.mark.req("SEC-09")
@waits
async def test_a_key_that_asks_too_often_waits(tmp_path: Path) -> None:
    async with serving(tmp_path, replace(LOCAL, api_rate_per_minute=3)) as ground:
        left = [(await ground.mine.get("/crawls")).headers["ratelimit-remaining"] for _ in range(3)]
        assert left == ["2", "1", "0"]
        refused = await ground.mine.get("/crawls")
        assert refused.status == 429 and 0 < int(refused.headers["retry-after"]) <= 20
        assert refused.headers["ratelimit-limit"] == "3"
        spare = await keys.create(ground.service, NewKey(TENANT))
        assert (await Client(ground.app, spare.text).get("/crawls")).status == 429
        assert (await ground.other.get("/crawls")).status == 200
    async with serving(tmp_path / "free", replace(LOCAL, api_rate_per_minute=0)) as ground:
        assert "ratelimit-limit" not in (await ground.mine.get("/crawls")).headers


@waits
async def test_the_same_request_is_carried_out_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        once = ground.mine.sending(idempotency_key="monday")
        first, second = await once.post("/crawls", CRAWL), await once.post("/crawls", CRAWL)
        assert second.status == 202 and second.json == first.json
        assert second.headers["idempotent-replayed"] == "true"
        assert second.headers["location"] == first.headers["location"]
        assert len((await ground.mine.get("/crawls")).json["crawls"]) == 1
        other = await once.post("/crawls", CRAWL | {"collectionId": "other"})
        assert other.status == 409 and "Idempotency-Key" in other.json["detail"]
        theirs = ground.other.sending(idempotency_key="monday")
        assert (await theirs.post("/crawls", CRAWL)).json["jobId"] != first.json["jobId"]
        elsewhere = await once.post("/collections", {"collectionId": "c"})
        assert elsewhere.status == 201
        failed = ground.mine.sending(idempotency_key="tuesday")
        assert (await failed.post("/crawls", CRAWL | {"seedUrls": []})).status == 400
        assert (await failed.post("/crawls", CRAWL)).status == 202  # it was never carried out
        long = ground.mine.sending(idempotency_key="k" * 256)
        assert (await long.post("/crawls", CRAWL)).status == 422


@waits
async def test_a_secret_is_not_kept_for_whoever_asks_again(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        once = ground.mine.sending(idempotency_key="key")
        made = await once.post("/keys", {})
        assert made.status == 201
        assert (await once.post("/keys", {})).status == 409
        named_values = await ground.desk.named_values.list("idempotency", limit=10)
        assert made.json["key"].encode() not in b"".join(named.body for named in named_values)


@waits
async def test_whoever_died_over_a_request_is_followed_by_another(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        once = ground.mine.sending(idempotency_key="k")
        made = await once.post("/crawls", CRAWL)
        (named,) = await ground.desk.named_values.list("idempotency", limit=10)
        began = re.sub(rb'"status":\d+', b'"status":0', named.body)
        assert await ground.desk.named_values.change(replace(named, body=began))
        assert (await once.post("/crawls", CRAWL)).status == 409
        (named,) = await ground.desk.named_values.list("idempotency", limit=10)
        at = re.search(rb'"at_s":([0-9.]+)', named.body)
        assert at is not None
        old = named.body.replace(at[1], str(float(at[1]) - AT_WORK_S).encode())
        assert await ground.desk.named_values.change(replace(named, body=old))
        again = await once.post("/crawls", CRAWL)
        assert again.status == 202 and again.json["jobId"] != made.json["jobId"]
        (named,) = await ground.desk.named_values.list("idempotency", limit=10)
        assert named.due_at_s is not None and named.due_at_s <= ground.desk.wall_s + KEPT_S
        assert await ground.desk.named_values.change(replace(named, due_at_s=1.0))
        await ground.mine.sending(idempotency_key="new").post("/crawls", CRAWL)
        names = [one.name for one in await ground.desk.named_values.list("idempotency", limit=10)]
        assert len(names) == 1 and named.name not in names  # its day was over


@waits
async def test_reads_are_tagged(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        first = await ground.mine.get("/crawls")
        tag = first.headers["etag"]
        same = await ground.mine.sending(if_none_match=f'"other", W/{tag}').get("/crawls")
        assert same.status == 304 and same.body == b"" and same.headers["etag"] == tag
        await ground.mine.post("/crawls", CRAWL)
        changed = await ground.mine.sending(if_none_match=tag).get("/crawls")
        assert changed.status == 200 and changed.headers["etag"] != tag


@pytest.mark.parametrize(
    "at", ["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "2020-01-01T00:00:00Z"]
)
@waits
async def test_a_key_of_no_time_is_refused_and_not_kept(tmp_path: Path, at: str) -> None:
    async with serving(tmp_path) as ground:
        before = (await ground.mine.get("/keys")).json["keys"]
        refused = await ground.mine.post("/keys", {"expiresAt": at})
        assert refused.status in (400, 422), refused.json
        assert refused.json["errors"][0]["field"] == "expiresAt"
        assert (await ground.mine.get("/keys")).json["keys"] == before


@waits
async def test_nobody_else_reads_what_is_served(tmp_path: Path) -> None:
    async with open_service(tmp_path / "served", LOCAL, lambda _: EventFanOut()):
        pass
    assert (tmp_path / "served").stat().st_mode & 0o077 == 0


@waits
async def test_a_body_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        padded = b'{"collectionId": "a"}' + b" " * (MAX_BODY_BYTES - 21)
        assert (await ground.mine.post("/collections", padded)).status == 201
        refused = await ground.mine.post("/collections", padded + b" ")
        assert refused.status == 413
        assert refused.headers["content-type"] == "application/problem+json"
        told = ground.mine.sending(content_length=str(MAX_BODY_BYTES + 1))
        assert (await told.post("/collections", b"{}")).status == 413


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"collectionId": "\\ud800"}',
        b"NaN",
    ],
)
@waits
async def test_nonsense_is_answered_with_a_problem(tmp_path: Path, body: bytes) -> None:
    async with serving(tmp_path) as ground:
        answer = await ground.mine.post("/collections", body)
        assert answer.status == 400, answer.body
        assert answer.json["status"] == 400 and answer.json["title"] == "Bad Request"


@waits
async def test_every_change_is_written_down(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        name = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]
        await ground.mine.post(f"/crawls/{name}/cancel")
        await ground.mine.post(f"/crawls/{name}/cancel")  # refused: nothing was changed
        await ground.mine.post("/search", {"query": "a"})  # changes nothing
        log = (await ground.mine.get("/audit")).json["entries"]
        assert {entry["operation"] for entry in log} == {"startCrawl", "cancelCrawl"}
        assert len(log) == 2 and log[0]["keyId"] == ground.mine.key.split("_")[1]
        await ground.other.post("/crawls", CRAWL)
        assert len((await ground.mine.get("/audit")).json["entries"]) == 2
        whole = (await ground.admin.get("/admin/audit?limit=2")).json
        rest = await ground.admin.get(f"/admin/audit?cursor={whole['nextCursor']}")
        every = whole["entries"] + rest.json["entries"]
        assert {entry["tenant"] for entry in every} == {"acme", "umbrella"} and len(every) == 3


@waits
async def test_answers_are_closed_to_others(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        plain = ground.mine.without_prefix()
        for path in ("/api/v1/crawls", "/healthz", "/nowhere", "/docs", "/openapi.json"):
            headers = (await plain.get(path)).headers
            assert headers["x-content-type-options"] == "nosniff", path
            assert headers["x-frame-options"] == "DENY"
            assert "default-src 'none'" in headers["content-security-policy"]
            assert not [name for name in headers if name.startswith("access-control")]
        asked = ground.mine.sending(origin="https://evil.test")
        assert (await asked.ask("OPTIONS", "/crawls")).status == 405


@waits
async def test_an_app_without_a_service_lives_and_is_not_ready() -> None:
    client = Client(make_app(), prefix="")
    assert (await client.get("/healthz")).json == {"status": "ok"}
    refused = await client.get("/readyz")
    assert refused.status == 503 and "retry-after" in refused.headers
    assert (await client.get("/api/v1/crawls")).status == 503
