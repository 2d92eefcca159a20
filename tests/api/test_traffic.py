"""A tenant's own table of views: over the API it is put, shown, obeyed by a crawl, and deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.app.use.own_traffic import stored_table
from geomi.engine.visit.traffic import NAMESPACE
from geomi.service.tenant_deletion import erase_tenant
from tests.api.asking import LOCAL, TENANT, serving
from tests.api.filling import EAGER, worked_off
from tests.support.crawl import page
from tests.support.server import Route, Site
from tests.support.waiting import waits

QUIET = [f"/quiet-{number}" for number in range(3)]


@pytest.mark.req("PRI-06")
@waits
async def test_a_crawl_begins_with_what_is_viewed_most(tmp_path: Path) -> None:
    """Of the links of one page, those below a prefix with many views are asked for first."""
    busy = ["/shop/a", "/shop/b"]
    routes: dict[str, Route] = {path: page(path) for path in (*QUIET, *busy)}
    routes["/"] = page("start", *QUIET, *busy)
    with Site(routes) as site:
        async with serving(tmp_path, LOCAL) as ground:
            assert (await ground.mine.get("/traffic")).json == {"ranks": None, "own": None}
            places = [{"place": site.url("/shop/"), "views": 900}, {"place": "b.test", "views": 1}]
            told = (await ground.mine.ask("PUT", "/traffic", {"places": places})).json
            assert (told["own"]["places"], told["own"]["origin"]) == (2, "the API")
            assert (await ground.other.get("/traffic")).json["own"] is None
            config = EAGER | {"order": "weighted", "purpose": "shop"}
            asked = {"collectionId": "shop", "seedUrls": [site.url("/")], "config": config}
            made = await ground.mine.post("/crawls", asked)
            assert made.status == 202, made.json
            await worked_off(ground.desk, made.json["jobId"])
            assert (await ground.mine.delete("/traffic")).status == 204
            assert (await ground.mine.get("/traffic")).json["own"] is None
        order = [seen.path for seen in site.log if seen.path in routes]
    assert sorted(order[1:3]) == busy
    assert sorted(order[3:]) == QUIET


@waits
async def test_a_place_that_is_none_is_refused_and_the_table_goes_with_its_tenant(
    tmp_path: Path,
) -> None:
    async with serving(tmp_path) as ground:
        wrong = {"places": [{"place": "a.test", "views": 1}, {"place": "no place", "views": 1}]}
        refused = await ground.mine.ask("PUT", "/traffic", wrong)
        assert (refused.status, "place 2: `no place`" in refused.json["detail"]) == (422, True)
        assert (await ground.mine.get("/traffic")).json["own"] is None
        await ground.mine.ask("PUT", "/traffic", {"places": wrong["places"][:1]})
        assert await stored_table(ground.desk.home) is not None
        await erase_tenant(ground.service, TENANT, "asked")
        assert await ground.desk.named_values.count(NAMESPACE) == 0
