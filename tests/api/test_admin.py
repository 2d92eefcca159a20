"""What an administrator does: tenants, their keys and quotas, providers, and erasing on request."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.api.app import app_state_of, make_app
from geomi.model.dataset.queue import Message
from geomi.model.dataset.seed import Partition
from geomi.service.access import keys, tenants
from geomi.service.access.keys import KeyRole
from geomi.service.crawling.crawls import begin_waiting
from geomi.service.service import open_service
from tests.api.asking import CRAWL, LOCAL, OTHER, TENANT, Client, everything_in, serving
from tests.api.filling import WEB, filled, worked_off
from tests.support.crawl import page
from tests.support.server import Site
from tests.support.waiting import waits


@pytest.mark.req("SEC-09", "JOB-05")
@waits
async def test_a_tenant_is_registered_limited_and_given_a_key(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        plain = await ground.admin.post("/admin/tenants", {"name": "initech"})
        kept = [plain.json["quota"][name] for name in ("maxDailyPages", "maxStorageBytes")]
        assert kept == [1000, 1_000_000_000]
        asked = {"name": "globex", "title": "Globex", "quota": {"maxDailyPages": 7}}
        made = await ground.admin.post("/admin/tenants", asked)
        assert made.status == 201 and made.json["quota"]["maxConcurrentCrawls"] == 3
        assert (await ground.admin.post("/admin/tenants", asked)).status == 409
        for name in ("local", "No", "a_b", "-x", "a" * 64):
            refused = await ground.admin.post("/admin/tenants", {"name": name})
            assert refused.status in (400, 422), name
        text = (await ground.admin.post("/admin/tenants/globex/keys", {})).json["key"]
        theirs = Client(ground.app, text)
        used = (await theirs.get("/usage")).json
        assert used["quota"]["maxDailyPages"] == 7 and used["pagesToday"] == 0
        changed = await ground.admin.patch("/admin/tenants/globex", {"quota": {"maxDailyPages": 9}})
        assert changed.json["quota"]["maxDailyPages"] == 9
        standing = await ground.service.desk("globex").home.store.quotas.standing(
            wall_s=ground.desk.wall_s
        )
        assert standing.quota is not None and standing.quota.max_daily_pages == 9
        listed = (await ground.admin.get("/admin/tenants/globex/keys")).json["keys"]
        path = f"/admin/tenants/globex/keys/{listed[0]['keyId']}/revoke"
        assert (await ground.admin.post(path.replace("globex", "acme"))).status == 404
        assert (await ground.admin.post(path)).status == 200
        assert (await theirs.get("/usage")).status == 401
        names = [one["name"] for one in (await ground.admin.get("/admin/tenants")).json["tenants"]]
        assert names == ["acme", "default", "globex", "initech", "umbrella"]
        assert (await ground.admin.get("/admin/tenants/nobody")).status == 404


@waits
async def test_the_first_start_makes_one_administrator_and_no_second(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        assert await tenants.first_key(ground.service) is None
        listed = await keys.of_tenant(ground.service, "default")
        assert [key.role for key in listed] == [KeyRole.ADMIN]


@waits
async def test_limits_of_tenants_and_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenants, "MAX_TENANTS", 4)
    monkeypatch.setattr(keys, "MAX_KEYS", 2)

    async with serving(tmp_path) as ground:
        assert (await ground.admin.post("/admin/tenants", {"name": "four"})).status == 201
        assert (await ground.admin.post("/admin/tenants", {"name": "five"})).status == 429
        assert (await ground.mine.post("/keys", {})).status == 201
        assert (await ground.mine.post("/keys", {})).status == 429


OTHER_WEB = {"/": page("light", text="A lighthouse stands on the rock before the bay. " * 8)}
PROVIDER = {
    "key": "village",
    "name": "The village",
    "allowed_path_patterns": ["/**"],
    "request_delay_ms": 1000,
    "tos_reviewed_at": "2026-01-31",
    "tos_allows_crawling": True,
}


@pytest.mark.req("API-14", "CFG-02", "CFG-04", "CFG-11")
@waits
async def test_a_provider_is_registered_by_the_fields_of_the_catalogue(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        asked = PROVIDER | {"seed_url": "http://localhost:8080/"}
        made = await ground.admin.post("/admin/providers", asked)
        assert made.status == 201, made.json
        assert made.json["seed_urls"] == ["http://localhost:8080/"]
        assert (made.json["max_depth"], made.json["max_pages"]) == (3, 200)
        by_id = await ground.admin.get(f"/admin/providers/{made.json['provider_id']}")
        assert by_id.json == made.json | {"derived": {}}
        listed = (await ground.admin.get("/admin/providers")).json["providers"]
        assert len(listed) == 16 and {one["origin"] for one in listed} == {
            "preset",
            "registered",
        }
        for wrong, status in (
            ({"max_depth": 6}, 400),
            ({"request_delay_ms": 999}, 400),
            ({"colour": "blue"}, 400),
            ({"tos_allows_crawling": False}, 422),
            ({"tos_reviewed_at": "2999-01-01"}, 422),
            ({"blocked_path_patterns": ["/**"]}, 422),
        ):
            refused = await ground.admin.post("/admin/providers", asked | {"key": "other"} | wrong)
            assert refused.status == status, wrong
        assert (await ground.admin.get("/admin/providers/other")).status == 404
        forbids = await ground.admin.post("/admin/providers/village/review", {"allows": False})
        assert forbids.json["tos_allows_crawling"] is False
        crawl = await ground.admin.post("/admin/providers/village/crawls", {"collectionId": "apis"})
        assert crawl.status == 409 and "does not allow" in crawl.json["detail"]
        allows = await ground.admin.post("/admin/providers/village/review", {"allows": True})
        assert allows.status == 200
        assert (await ground.admin.delete("/admin/providers/village")).status == 204
        assert (await ground.admin.delete("/admin/providers/openai")).status == 422


@pytest.mark.req("CFG-02", "JOB-15")
@waits
async def test_every_seed_of_a_registration_is_in_the_queue_of_its_crawl(tmp_path: Path) -> None:
    seeds = ["http://localhost:8080/boat", "http://localhost:8080/car"]
    async with serving(tmp_path) as ground:
        await ground.admin.post("/admin/providers", PROVIDER | {"seed_urls": seeds})
        path, asked = "/admin/providers/village/crawls", {"collectionId": "apis"}
        assert (await ground.mine.post(path, asked)).status == 403
        begun = await ground.admin.post(path, asked)
        assert await begin_waiting(ground.service) == 1
        found = await ground.admin.get(f"/crawls/{begun.json['jobId']}/urls")
        waiting = {(one["url"], one["source"], one["status"]) for one in found.json["urls"]}
        assert {(seed, "seed", "pending") for seed in seeds} <= waiting


@pytest.mark.slow
@pytest.mark.req("JOB-15", "LEG-06")
@waits
async def test_a_providers_data_goes_on_request_from_every_tenant(tmp_path: Path) -> None:
    """G-20: an endpoint, and an audit record."""
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            asked = PROVIDER | {"seed_urls": [site.url("/boat")]}
            await ground.admin.post("/admin/providers", asked)
            path = "/admin/providers/village"
            begun = await ground.admin.post(f"{path}/crawls", {"collectionId": "apis"})
            assert begun.status == 202 and begun.json["provider"] == "village"
            await worked_off(ground.service.desk("default"), begun.json["jobId"])
            assert (await ground.admin.get("/documents")).json["documents"]
            assert (await ground.admin.delete(f"{path}/data")).status == 400  # no reason
            erased = await ground.admin.delete(f"{path}/data?reason=they+asked")
            assert erased.status == 200, erased.json
            assert (erased.json["crawls"], erased.json["pages"]) == (1, 1)
            assert (await ground.admin.get("/documents")).json["documents"] == []
            assert (await ground.admin.get("/crawls")).json["crawls"] == []
            again = await ground.admin.post(f"{path}/crawls", {"collectionId": "apis"})
            assert again.status == 409
            (line,) = [
                entry
                for entry in (await ground.admin.get("/admin/audit")).json["entries"]
                if entry["operation"] == "eraseProviderData"
            ]
            assert line["path"] == "/api/v1/admin/providers/village/data"
    kept = everything_in(tmp_path)
    assert b"The ferry leaves at noon" not in kept


@pytest.mark.slow
@pytest.mark.req("SEC-09")
@waits
async def test_a_tenant_goes_with_everything_and_no_other_loses_anything(tmp_path: Path) -> None:
    with Site(WEB) as site, Site(OTHER_WEB) as elsewhere:
        async with serving(tmp_path) as ground:
            await filled(ground.mine, ground.desk, site)
            await filled(ground.other, ground.service.desk(OTHER), elsewhere)
            hook = {"url": "https://hooks.example/secret-place"}
            await ground.mine.post("/webhooks", hook)
            message = Message("domain", "1", "1", Partition("sg", "x", "d"), b"seed-words")
            await ground.desk.home.store.queues.send("file:///data", [message])
            path = f"/admin/tenants/{TENANT}"
            assert (await ground.admin.delete(path)).status == 400  # no reason
            own = await ground.admin.delete("/admin/tenants/default?reason=tired")
            assert own.status == 409
            erased = await ground.admin.delete(f"{path}?reason=they+left")
            assert erased.status == 200, erased.json
            assert (erased.json["crawls"], erased.json["pages"]) == (1, 3)
            assert (await ground.mine.get("/crawls")).status == 401
            assert (await ground.admin.get(path)).status == 404
            assert (await ground.admin.delete(f"{path}?reason=again")).status == 404
            assert len((await ground.other.get("/documents")).json["documents"]) == 1
    kept = everything_in(tmp_path)
    assert b"The ferry leaves at noon" not in kept and b"secret-place" not in kept
    assert b"seed-words" not in kept
    assert b"A lighthouse stands" in kept


@waits
async def test_a_service_is_opened_again_with_everything(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        name = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]
        text = ground.mine.key
    async with open_service(tmp_path, LOCAL, lambda _: EventFanOut()) as service:
        app = make_app()
        app_state_of(app).open(service)
        assert (await Client(app, text).get(f"/crawls/{name}")).json["status"] == "pending"
