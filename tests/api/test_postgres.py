"""The same over PostgreSQL: namespaces, quotas and journals of a server, behind the same API."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geomi.model.tenant import Quota
from geomi.service.access import tenants
from geomi.service.crawling import schedules
from tests.api.asking import CRAWL, LOCAL, TENANT, serving
from tests.api.filling import WEB, filled
from tests.api.test_schedules import WEEKLY
from tests.support.postgres import Cluster
from tests.support.server import Site
from tests.support.waiting import waits

pytestmark = pytest.mark.slow


@pytest.mark.req("SEC-09", "DAT-08")
@waits
async def test_a_service_on_a_database_does_the_same(tmp_path: Path, cluster: Cluster) -> None:
    with Site(WEB) as site:
        settings = replace(LOCAL, db=cluster.new_schema())
        async with serving(tmp_path, settings) as ground:
            job = await filled(ground.mine, ground.desk, site)
            crawl = (await ground.mine.get(f"/crawls/{job}")).json
            assert crawl["status"] == "completed" and crawl["stats"]["pagesIndexed"] == 3
            assert (await ground.other.get(f"/crawls/{job}")).status == 404
            urls = (await ground.mine.get(f"/crawls/{job}/urls?limit=3")).json
            rest = await ground.mine.get(f"/crawls/{job}/urls?cursor={urls['nextCursor']}")
            assert len(urls["urls"]) + len(rest.json["urls"]) == 4
            found = await ground.mine.post("/search", {"query": "ferry at noon"})
            assert found.json["results"][0]["url"] == site.url("/boat")
            assert (await ground.other.post("/search", {"query": "ferry"})).json["results"] == []
            events = await ground.mine.get(f"/crawls/{job}/events")
            assert events.body.count(b"event: page") == 3
            assert events.body.count(b'"status":"completed"') == 2  # progress, and the end
            assert (await ground.mine.get("/usage")).json["pagesToday"] == 4
            once = ground.mine.sending(idempotency_key="k")
            first, again = await once.post("/crawls", CRAWL), await once.post("/crawls", CRAWL)
            assert first.json["jobId"] == again.json["jobId"]
            name = (await ground.mine.post("/schedules", WEEKLY)).json["scheduleId"]
            named = await ground.desk.named_values.get("schedules", name)
            assert named is not None
            await schedules.start_due(ground.service, named)
            assert (await ground.mine.get(f"/schedules/{name}")).json["lastJobId"]
            await tenants.change(ground.service, TENANT, quota=Quota(max_waiting=2))
            assert (await ground.mine.post("/crawls", CRAWL)).status == 429
            assert (await ground.mine.get("/audit")).json["entries"]
