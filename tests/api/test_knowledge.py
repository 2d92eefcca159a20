"""What a crawl brought, over REST: URLs, documents, search, reasons, live events, previews."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from geomi.model.index.document import DocumentFilter
from geomi.service.access import keys
from geomi.service.access.keys import KeyScope, NewKey
from geomi.service.crawling import exports
from geomi.service.service import MAX_EXPORTS, MAX_PREVIEWS, MAX_STREAMS
from tests.api.asking import CRAWL, TENANT, Answered, Client, Ground, Json, serving
from tests.api.filling import FERRY, WEB, filled, started, worked_off
from tests.service.working import until
from tests.support.crawl import page
from tests.support.server import Reply, Seen, Site
from tests.support.waiting import waits


@pytest.mark.req("API-08", "API-11", "JOB-02", "JOB-11", "IDX-06")
@waits
async def test_a_crawl_tells_what_became_of_every_url(tmp_path: Path) -> None:
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            job = await filled(ground.mine, ground.desk, site)
            crawl = (await ground.mine.get(f"/crawls/{job}")).json
            assert crawl["status"] == "completed" and crawl["stopReason"] == "done"
            stats = crawl["stats"]
            assert stats["urlsDiscovered"] == 4 and stats["urlsQueued"] == 0
            assert (stats["urlsSucceeded"], stats["urlsFailed"]) == (3, 1)
            assert stats["pagesIndexed"] == 3 and stats["chunksCreated"] == 3
            urls = (await ground.mine.get(f"/crawls/{job}/urls")).json["urls"]
            by_path = {url["url"].removeprefix(site.url("")): url for url in urls}
            assert by_path["/gone"]["status"] == "failed"
            assert by_path["/gone"]["httpStatus"] == 404
            assert by_path["/car"]["status"] == "completed"
            assert by_path["/car"]["parentUrl"] == site.url("/")
            document = by_path["/car"]["documentId"]
            assert (await ground.mine.get(f"/documents/{document}")).json["title"] == "car"
            for status, many in (
                ("completed", 3),
                ("failed", 1),
                ("pending", 0),
                ("queued", 0),
            ):
                part = await ground.mine.get(f"/crawls/{job}/urls?status={status}")
                assert len(part.json["urls"]) == many, status


@pytest.mark.req("WF-05", "WF-06")
@waits
async def test_each_url_is_fetched_indexed_or_skipped_and_its_links_are_taken(
    tmp_path: Path,
) -> None:
    """What is too thin to be found still leads on; what fails ends there."""
    web = {
        "/": page("start", "/thin", "/gone", text="A village by the sea. " * 12),
        "/thin": page("thin", "/boat", text="Hardly anything."),
        "/boat": WEB["/boat"],
    }
    with Site(web) as site:
        async with serving(tmp_path) as ground:
            job = await filled(ground.mine, ground.desk, site)
            urls = (await ground.mine.get(f"/crawls/{job}/urls")).json["urls"]
            by_path = {url["url"].removeprefix(site.url("")): url for url in urls}
            assert {path: url["status"] for path, url in by_path.items()} == {
                "/": "completed", "/thin": "skipped", "/gone": "failed", "/boat": "completed",
            }  # fmt: skip
            assert by_path["/boat"]["parentUrl"] == site.url("/thin")
            found = {
                words: [hit["url"] for hit in answer.json["results"]]
                for words in ("hardly anything", "ferry")
                for answer in [await ground.mine.post("/search", {"query": words})]
            }
            assert found == {"hardly anything": [], "ferry": [site.url("/boat")]}


@pytest.mark.req("STO-01")
@waits
async def test_an_export_is_its_tenants_own_and_has_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            job = await filled(ground.mine, ground.desk, site)
            path = f"/crawls/{job}/export"
            whole = await ground.mine.get(path)
            assert (whole.status, whole.headers["content-type"]) == (200, "application/zip")
            with ZipFile(BytesIO(whole.body)) as packed:
                assert len([one for one in packed.namelist() if "/extracted/" in one]) == 3
                assert packed.testzip() is None
            stranger = await ground.somebody(KeyScope.READ, tenant="stranger")
            assert (await stranger.get(path)).status == 404
            with ExitStack() as others:
                for _ in range(MAX_EXPORTS):
                    others.enter_context(ground.desk.exports.taken())
                assert (await ground.mine.get(path)).status == 429
            monkeypatch.setattr(exports, "MAX_EXPORT_BYTES", 500)
            refused = await ground.mine.get(path)
            assert refused.status == 409 and "more than 500 bytes" in refused.json["detail"]


@pytest.mark.req("API-11", "FRN-16")
@waits
async def test_urls_come_in_parts_and_a_fetched_page_is_being_processed(tmp_path: Path) -> None:
    """C-43, C-75: one status over the frontier and the documents."""
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            job = await filled(ground.mine, ground.desk, site)
            seen: list[str] = []
            path = f"/crawls/{job}/urls?limit=3"
            while path:
                part = (await ground.mine.get(path)).json
                seen += [url["url"] for url in part["urls"]]
                cursor = part["nextCursor"]
                path = f"/crawls/{job}/urls?limit=3&cursor={cursor}" if cursor else ""
            assert len(seen) == len(set(seen)) == 4
            for status, wanted in (("completed", ["/", "/boat", "/car"]), ("failed", ["/gone"])):
                part = (await ground.mine.get(f"/crawls/{job}/urls?status={status}")).json
                assert sorted(one["url"] for one in part["urls"]) == list(map(site.url, wanted))
            skipped = await ground.desk.world.store.documents.list(
                DocumentFilter(), after="", limit=10
            )
            await ground.mine.delete(f"/documents/village:{skipped[0].url_hash.hex()}")
            assert (await ground.mine.get(f"/crawls/{job}/urls?status=processing")).json[
                "urls"
            ] == []  # it is over: nobody will look at the page any more


@pytest.mark.req("IDX-02", "IDX-05")
@waits
async def test_documents_are_found_read_and_deleted(tmp_path: Path) -> None:
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            await filled(ground.mine, ground.desk, site)
            told = (await ground.mine.get("/collections/village")).json
            assert (told["indexed"], told["chunks"]) == (3, 3)
            answer = await ground.mine.post("/search", {"query": "when does the ferry leave"})
            best = answer.json["results"][0]
            assert best["url"] == site.url("/boat") and len(best["quotation"]) <= 200
            read = (await ground.mine.get(f"/documents/{best['documentId']}")).json
            assert FERRY in read["markdown"]
            assert read["analysis"]["classification"]["pageType"] == read["pageType"]
            listed = (await ground.mine.get("/collections/village/documents?limit=2")).json
            assert len(listed["documents"]) == 2
            rest = await ground.mine.get(f"/documents?limit=2&cursor={listed['nextCursor']}")
            assert len(rest.json["documents"]) == 1 and rest.json["nextCursor"] is None
            assert (await ground.mine.delete(f"/documents/{best['documentId']}")).status == 204
            assert (await ground.mine.get(f"/documents/{best['documentId']}")).status == 404
            again = await ground.mine.post("/search", {"query": "ferry"})
            assert again.json["results"] == []
            elsewhere = {"query": "automobile", "collectionIds": ["elsewhere"]}
            assert (await ground.mine.post("/search", elsewhere)).json["results"] == []
            assert (await ground.mine.delete("/collections/village")).status == 204
            assert (await ground.mine.post("/search", {"query": "car"})).json["results"] == []
            assert (await ground.mine.get("/documents")).json["documents"] == []


@waits
async def test_a_collection_is_not_taken_away_from_a_crawl(tmp_path: Path) -> None:
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            job = (await started(ground.mine, site))["jobId"]
            assert (await ground.mine.delete("/collections/village")).status == 409
            await ground.mine.post(f"/crawls/{job}/cancel")
            assert (await ground.mine.delete("/collections/village")).status == 204
            assert (await ground.mine.get("/collections/village")).status == 404


@waits
async def test_collections_have_names_of_their_own(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        for name in ("b", "a", "c"):
            made = await ground.mine.post("/collections", {"collectionId": name, "title": "T"})
            assert made.status == 201 and made.json["indexed"] == 0
        assert (await ground.mine.post("/collections", {"collectionId": "a"})).status == 409
        first = (await ground.mine.get("/collections?limit=2")).json
        assert [one["collectionId"] for one in first["collections"]] == ["a", "b"]
        rest = (await ground.mine.get(f"/collections?cursor={first['nextCursor']}")).json
        assert [one["collectionId"] for one in rest["collections"]] == ["c"]
        assert (await ground.other.post("/collections", {"collectionId": "a"})).status == 201


@waits
async def test_a_reason_is_given_for_every_url(tmp_path: Path) -> None:
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            job = await filled(ground.mine, ground.desk, site)
            told = (await ground.mine.get(f"/crawls/{job}/why?url={site.url('/car')}")).json
            assert told["answer"] == "fetched and kept" and told["jobId"] == job
            never = await ground.mine.get(f"/crawls/{job}/why?url={site.url('/nowhere')}")
            assert never.json["decidedBy"] == "never_seen"
            assert (await ground.mine.get(f"/crawls/{job}/why?url=ftp://a/")).status == 400


@waits
async def test_a_crawl_is_followed_and_resumed_at_any_event(tmp_path: Path) -> None:
    """Whoever comes back with an event misses nothing and is told nothing twice."""
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            job = (await started(ground.mine, site))["jobId"]
            path = f"/crawls/{job}/events"
            first = _events(await ground.mine.get(f"{path}?follow=false"))
            assert [kind for _, kind in first] == ["progress", "state"]
            await worked_off(ground.desk, job)
            whole = _events(await ground.mine.get(path))  # it ends by itself: all is told
            assert whole[0][1] == "progress"
            told = whole[1:]
            assert [kind for _, kind in told].count("page") == 3
            assert told[-1][1] == "state" and len({name for name, _ in told}) == len(told)
            for at, (name, _) in enumerate(told):
                again = await ground.mine.sending(last_event_id=name).get(path)
                assert _events(again)[1:] == told[at + 1 :]
            strange = ground.mine.sending(last_event_id="yesterday")
            assert (await strange.get(path)).status == 400


@pytest.mark.parametrize("end", ["revoked", "expired", "deleted"])
@waits
async def test_a_stream_ends_with_its_key(tmp_path: Path, end: str) -> None:
    async with serving(tmp_path) as ground:
        service = ground.service
        job = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]  # it waits, without end
        lasts_s = 1.5 if end == "expired" else 3600.0
        wish = NewKey(TENANT, expires_at_s=service.office.wall_s + lasts_s)
        minted = await keys.create(service, wish)
        guest = Client(ground.app, minted.text)
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            stream = group.create_task(guest.get(f"/crawls/{job}/events"))
            await until(lambda: _is_followed(ground))
            if end == "revoked":
                await keys.revoke(service, TENANT, minted.key.id)
            elif end == "deleted":
                await keys.delete(service, [minted.key])
        told = _events(stream.result())
        assert [kind for _, kind in told[:2]] == ["progress", "state"]
        assert (await guest.get("/crawls")).status == 401
        assert not await _is_followed(ground)


async def _is_followed(ground: Ground) -> bool:
    return ground.desk.streams._taken > 0


@pytest.mark.req("API-12")
@waits
async def test_a_preview_stores_nothing_and_obeys_robots(tmp_path: Path) -> None:
    web = WEB | {
        "/robots.txt": Reply(b"User-agent: *\nDisallow: /car\n", content_type="text/plain")
    }
    web["/away"] = Reply(status=302, headers=(("Location", "http://elsewhere.localhost/"),))

    with Site(web) as site:
        async with serving(tmp_path) as ground:
            seen = (await ground.mine.post("/preview", {"url": site.url("/")})).json
            assert seen["title"] == "start" and "by the sea" in seen["contentPreview"]
            assert seen["classification"]["pageType"] and seen["quality"]["overall"] > 0
            links = {link["url"]: link["isInternal"] for link in seen["links"]}
            assert links[site.url("/car")] is True
            for path, word in (("/car", "robots"), ("/away", "redirects to")):
                refused = await ground.mine.post("/preview", {"url": site.url(path)})
                assert refused.status == 422 and word in refused.json["detail"], path
            assert (await ground.mine.get("/crawls")).json["crawls"] == []
            assert (await ground.mine.get("/documents")).json["documents"] == []
            assert (await ground.mine.get("/collections")).json["collections"] == []


@pytest.mark.req("CFG-24")
@waits
async def test_a_knowledge_base_adds_pages_and_sitemaps_and_syncs(tmp_path: Path) -> None:
    def listed(_: Seen) -> Reply:
        xml = f"<urlset><url><loc>{site.url('/pier')}</loc></url></urlset>"
        return Reply(xml.encode(), content_type="application/xml")

    site = Site({**WEB, "/map.xml": listed, "/pier": page("pier", text="No link leads here. " * 9)})

    with site:
        async with serving(tmp_path) as ground:
            asked = {"collectionId": "kb", "url": site.url("/car")}
            one = await ground.mine.post("/scraping/addUrl", asked)
            assert one.status == 202 and one.json["config"]["maxPages"] == 1
            await worked_off(ground.desk, one.json["jobId"])
            assert await _paths(ground.mine, site) == {"/car"}
            asked = {"collectionId": "kb", "sitemapUrl": site.url("/map.xml")}
            many = await ground.mine.post("/scraping/addSitemap", asked)
            assert many.status == 202
            await worked_off(ground.desk, many.json["jobId"])
            assert {"/pier", "/boat"} <= await _paths(ground.mine, site)
            synced = await ground.mine.post("/scraping/sync", {"collectionId": "kb"})
            assert synced.status == 202 and len(synced.json["crawls"]) == 2
            assert {crawl["tenantId"] for crawl in synced.json["crawls"]} == {TENANT}
            anew = [crawl for crawl in synced.json["crawls"] if crawl["status"] == "pending"]
            before = {answer.json["jobId"] for answer in (one, many)}
            assert len({crawl["jobId"] for crawl in anew} - before) == 2
            nothing = await ground.mine.post("/scraping/sync", {"collectionId": "unknown"})
            assert nothing.status == 404


async def _paths(client: Json, site: Site) -> set[str]:
    documents = (await client.get("/documents?collectionId=kb")).json["documents"]
    return {one["url"].removeprefix(site.url("")) for one in documents}


def _events(answer: Answered) -> list[tuple[str, str]]:
    """Read a stream: the id and the kind of each event."""
    assert answer.status == 200 and answer.headers["content-type"].startswith("text/event-stream")
    found = []
    for block in answer.body.decode().strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line[0] != ":")
        found.append((fields.get("id", ""), fields["event"]))
    return found


@waits
async def test_one_look_and_one_stream_too_many_wait(tmp_path: Path) -> None:
    async with serving(tmp_path) as ground:
        job = (await ground.mine.post("/crawls", CRAWL)).json["jobId"]
        path = f"/crawls/{job}/events?follow=false"
        with ExitStack() as others:
            for _ in range(MAX_STREAMS - 1):
                others.enter_context(ground.desk.streams.taken())
            assert (await ground.mine.get(path)).status == 200
            others.enter_context(ground.desk.streams.taken())
            assert (await ground.mine.get(path)).status == 429
            for _ in range(MAX_PREVIEWS):
                others.enter_context(ground.desk.looks.taken())
            look = await ground.mine.post("/preview", {"url": "http://localhost:1/"})
            assert look.status == 429 and int(look.headers["retry-after"]) > 0
            assert (
                await ground.other.post("/preview", {"url": "http://localhost:1/"})
            ).status == 422
        assert (await ground.mine.get(path)).status == 200
