"""A document shows what its own crawl kept of its page, whatever another crawl of it kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.asking import Client, Json
from tests.api.filling import EAGER, worked_off
from tests.dashboard.visiting import House, serving, text
from tests.support.crawl import page
from tests.support.server import Site
from tests.support.waiting import waits

NEEDLES = ("John Smith", "221 Baker Street")
ASK = "The lighthouse is kept by Mr. John Smith of 221 Baker Street, Springfield, IL 62704. "
REDACT = {"pii": {"enabled": True, "action": "redact", "types": ["name", "address"]}}


async def crawled(house: House, site: Site, collection: str, **config: object) -> str:
    """Crawl the page into a collection; return the crawl's id."""
    asked = {
        "collectionId": collection,
        "seedUrls": [site.url("/priv")],
        "config": EAGER | {"maxDepth": 1} | config,
    }
    answer = await house.ground.mine.post("/crawls", asked)
    assert answer.status == 202, answer.json
    job_id = str(answer.json["jobId"])
    await worked_off(house.ground.desk, job_id)
    return job_id


async def document_of(client: Client, collection: str) -> Json:
    """Return the one document of a collection, whole."""
    (row,) = (await client.get(f"/collections/{collection}/documents")).json["documents"]
    return (await client.get(f"/documents/{row['documentId']}")).json


@pytest.mark.req("SAF-01")
@waits
async def test_a_document_is_that_of_its_own_crawl(tmp_path: Path) -> None:
    """A crawl that keeps everything gives nothing away of one that redacts, nor takes from it."""
    with Site({"/priv": page("keeper", text=ASK * 4)}) as site:
        async with serving(tmp_path) as house:
            mine = house.ground.mine
            first = await crawled(house, site, "red", contentSafety=REDACT)
            alone = await document_of(mine, "red")
            second = await crawled(house, site, "plain")
            red, plain = [await document_of(mine, name) for name in ("red", "plain")]
            shown = text(await house.mine.get(f"/documents/{red['documentId']}"))
            open_page = text(await house.mine.get(f"/documents/{plain['documentId']}"))
            found = (
                await mine.post("/search", {"query": "lighthouse", "collectionIds": ["red"]})
            ).json
    assert red == alone
    assert (red["crawlJobId"], red["html"]) == (first, None)
    assert (plain["crawlJobId"], plain["contentFlags"]["pii"]) == (second, [])
    assert "[redacted:name] of [redacted:address]" in red["markdown"]
    assert "[redacted:name]" in shown and len(found["results"]) == 1
    for needle in NEEDLES:
        assert needle in plain["html"] and needle in plain["markdown"] and needle in open_page
        assert needle not in json.dumps([red, found]) and needle not in shown
