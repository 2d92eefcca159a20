"""The chunks of a served crawl: over the API, in the dashboard, for Prometheus, as an alarm."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.service import deliveries
from tests.api.asking import LOCAL
from tests.api.filling import EAGER, worked_off
from tests.dashboard.visiting import serving, text
from tests.support import chunk_sites
from tests.support.crawl import Ear
from tests.support.server import Site
from tests.support.waiting import waits


@pytest.mark.slow
@pytest.mark.req("CHK-03", "MON-11")
@waits
async def test_chunks_are_measured_wherever_a_crawl_is_looked_at(tmp_path: Path) -> None:
    ear = Ear()
    with Site(chunk_sites.repeating()) as site:
        async with serving(tmp_path, LOCAL, ear) as house:
            mine = house.ground.mine
            asked = {"collectionId": "loom", "seedUrls": [site.url("/")], "config": EAGER}
            job_id = (await mine.post("/crawls", asked)).json["jobId"]
            await worked_off(house.ground.desk, job_id)
            await deliveries.queue_deliveries(house.ground.service)

            quality = (await mine.get(f"/crawls/{job_id}/quality")).json
            assert (quality["chunks"]["pages"], quality["chunks"]["chunks"]) == (12, 24)
            found = {one["measure"]: one for one in quality["chunks"]["indicators"]}
            repeated = found["repeated_chunks"]
            assert repeated["value"] == pytest.approx(11 / 24)
            assert (repeated["least"], repeated["most"]) == (0, 0.1)
            assert [name for name, one in found.items() if not one["healthy"]] == [
                "repeated_chunks"
            ]
            (alarm,) = quality["alarms"]
            assert alarm["rule"] == "repeated_chunks"
            (listed,) = (await mine.get("/alarms")).json["alarms"]
            assert (listed["rule"], listed["message"]) == ("repeated_chunks", alarm["message"])
            assert f"alarm repeated_chunks: {alarm['message']}" in ear.warnings

            shown = text(await house.mine.get(f"/crawls/{job_id}"))
            assert "Repeated chunks" in shown and "45.8 %" in shown and "≤ 10 %" in shown
            scraped = (await house.ground.admin.without_prefix().get("/metrics")).body.decode()
            labels = 'tenant="acme",collection="loom",measure="repeated_chunks"'
            assert f"geomi_chunk_measure{{{labels}}} 0.4583" in scraped
            assert (await house.ground.other.get(f"/crawls/{job_id}/quality")).status == 404
