"""Signing in over the API: a tenant's own sites, and nobody else's."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.engine.host.sign_in import PLACE
from geomi.service.access.keys import KeyScope
from geomi.service.tenant_deletion import TENANT_NAMESPACES, erase_tenant
from tests.api.asking import Client, Ground, everything_in, serving
from tests.api.filling import EAGER, worked_off
from tests.support.crawl import page
from tests.support.server import Answer, Reply, Seen, Site
from tests.support.waiting import waits

SECRET = "kept-by-the-owner-alone"


def intranet() -> Site:
    """Make a site that serves the token it is given, and lets in whoever has the secret."""

    def inside(seen: Seen) -> Answer:
        is_in = seen.headers.get("authorization") == f"Bearer {SECRET}"
        return page("Inside", text="What is behind the door. " * 12) if is_in else Reply(status=401)

    return Site({"/robots.txt": Reply(status=404)}, inside)


async def prove(client: Client, site: Site) -> None:
    """Get a token, serve it and have it looked at."""
    asked = await client.post("/sign-ins", {"origin": site.url("/x"), "allowHttp": True})
    assert (asked.status, asked.json["verificationUrl"]) == (201, site.url(PLACE))
    site.routes = {**site.routes, PLACE: Reply(asked.json["token"].encode())}
    told = (await client.post("/sign-ins/verify", {"origin": site.url()})).json
    assert (told["verified"], told["problem"], told["kind"]) == (True, "", None)


async def crawled(client: Client, ground: Ground, tenant: str, site: Site) -> int:
    """Crawl a site as one who wants to sign in; return how many pages came."""
    config = {**EAGER, "signIn": True}
    order = {"collectionId": "inside", "seedUrls": [site.url()], "config": config}
    made = await client.post("/crawls", order)
    assert (made.status, made.json["config"]["signIn"]) == (202, True)
    job = await worked_off(ground.service.desk(tenant), made.json["jobId"])
    return job.stats.collected


@pytest.mark.req("FUT-21", "SEC-09")
@waits
async def test_a_tenant_signs_in_to_its_own_site_and_no_other_tenant_does(tmp_path: Path) -> None:
    with intranet() as site:
        async with serving(tmp_path) as ground:
            await prove(ground.mine, site)
            kept = {"origin": site.url(), "kind": "bearer", "secret": SECRET}
            told = await ground.mine.ask("PUT", "/sign-ins/secret", kept)
            assert (told.status, told.json["kind"]) == (200, "bearer")
            site.log.clear()
            assert await crawled(ground.other, ground, "umbrella", site) == 0
            assert not any("authorization" in seen.headers for seen in site.log)
            assert await crawled(ground.mine, ground, ground.desk.tenant, site) == 1
            listed = await ground.mine.get("/sign-ins")
            assert [one["origin"] for one in listed.json["signIns"]] == [site.url("")]
            assert (await ground.other.get("/sign-ins")).json == {"signIns": []}
            for answer in (told, listed):
                assert SECRET.encode() not in answer.body
            gone = await ground.mine.delete(f"/sign-ins?origin={site.url()}")
            assert gone.status == 204
            assert (await ground.mine.get("/sign-ins")).json == {"signIns": []}
        assert SECRET.encode() not in everything_in(tmp_path)


@pytest.mark.req("FUT-21")
@waits
async def test_what_may_not_be_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        reader = await ground.somebody(KeyScope.READ, KeyScope.WRITE)
        assert (await reader.get("/sign-ins")).status == 403
        plain = await ground.mine.post("/sign-ins", {"origin": "http://a.test/"})
        assert (plain.status, plain.json["errors"][0]["field"]) == (422, "origin")
        unproved = {"origin": "https://a.test", "kind": "basic", "secret": SECRET}
        assert (await ground.mine.ask("PUT", "/sign-ins/secret", unproved)).status == 404
        await ground.mine.post("/sign-ins", {"origin": "https://a.test/"})
        refused = await ground.mine.ask("PUT", "/sign-ins/secret", unproved)
        assert refused.status == 422
        assert "nothing proves now that `https://a.test` is yours" in refused.json["detail"]
        assert SECRET.encode() not in refused.body


@pytest.mark.req("FUT-21")
@waits
async def test_a_tenant_that_is_deleted_leaves_no_secret(tmp_path: Path) -> None:
    with intranet() as site:
        async with serving(tmp_path) as ground:
            await prove(ground.other, site)
            kept = {"origin": site.url(), "kind": "bearer", "secret": SECRET}
            assert (await ground.other.ask("PUT", "/sign-ins/secret", kept)).status == 200
            desk = ground.service.desk("umbrella")
            (row,) = await desk.named_values.list("sign-ins", limit=9)
            await erase_tenant(ground.service, "umbrella", "it asked us to")
            assert await desk.named_values.list("sign-ins", limit=9) == []
            assert "sign-ins" in TENANT_NAMESPACES
        assert row.body not in everything_in(tmp_path)
