"""Answers speak the names of the catalogue: a crawl, its URLs, documents, their analysis."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from tests.api.asking import TENANT, Client, Json, serving
from tests.service.working import carried_out, crawled, until
from tests.support.contract import assert_shape, shapes
from tests.support.crawl import page, robots
from tests.support.prose import prose
from tests.support.server import Reply, Route, Site
from tests.support.waiting import waits

QUICK = {"requestsPerSecond": 5}
WEEK_S = 7 * 86_400

KIT = {
    "@context": "https://schema.org",
    "@type": "Product",
    "name": "Orb Kit",
    "sku": "GSW-1",
    "brand": {"@type": "Brand", "name": "Silk Works"},
    "category": "Kits",
    "description": "A frame of beech, two hooks, and a booklet that explains how the orb is spun.",
    "image": "/kit.jpg",
    "offers": {
        "availability": "https://schema.org/InStock",
        "priceSpecification": [
            {"price": "49.50", "priceCurrency": "EUR", "priceType": "https://schema.org/ListPrice"},
            {"price": "39.50", "priceCurrency": "EUR"},
        ],
    },
    "additionalProperty": [{"name": "Frame", "value": "beech"}, {"name": "Pages", "value": 32}],
}
QUESTIONS = "".join(
    f"<h2>{question}?</h2><p>{answer}</p>"
    for question, answer in (
        ("How long does the delivery take", "Parcels leave every morning and arrive in two days."),
        ("Can I send a kit back", "Yes, within thirty days, as long as the thread was not cut."),
        ("Do you repair frames", "We repair frames of beech and ash, for the cost of the wood."),
        ("Where are the kits made", "In a workshop near the harbour, by four people and a cat."),
        (
            "Is there a printed catalogue",
            "There is one each spring; we send it without charge.",
        ),
    )
)
TERMS = "".join(
    f"<h2>{number}. {title}</h2><p>{prose(title)}</p>"
    for number, title in enumerate(("Data we collect", "How we use data", "Your rights"), 1)
)
STORY_HEAD = """
<meta name="description" content="How a bridge was built"><meta name="author" content="Ada Moor">
<link rel="canonical" href="/story">
<meta property="article:published_time" content="2026-01-02T03:04:05Z">
<meta property="article:modified_time" content="2026-02-03T04:05:06Z">"""
WEB: dict[str, Route] = {
    "/robots.txt": robots("User-agent: *", "Disallow: /secret"),
    "/": page(
        "Silk Works", "/kit", "/faq", "/privacy", '<a href="/story" rel="next">the story</a>',
        "/copy", "/gone", "/secret", "/moved", "/table", "/poor", "https://example.org/silk",
        text=prose("silk works"),
    ),
    "/kit": page(
        "Orb Kit", head=f'<script type="application/ld+json">{json.dumps(KIT)}</script>',
        text=prose("the orb kit"),
    ),
    "/faq": Reply(
        "<html lang=en><head><title>Frequently asked questions</title></head><body><main>"
        f"<h1>Frequently asked questions</h1>{QUESTIONS}</main></body></html>".encode()
    ),
    "/privacy": Reply(
        "<html lang=en><head><title>Privacy policy</title></head><body><main>"
        f"<h1>Privacy policy</h1><p>Effective date: March 1, 2026.</p>{TERMS}"
        "</main></body></html>".encode()
    ),
    "/story": page("The bridge", "/kit", head=STORY_HEAD, text=prose("the bridge")),
    "/copy": page("The bridge", "/kit", text=f"{prose('the bridge')} Nobody asked for more."),
    "/moved": Reply(status=301, headers=(("Location", "/story"),)),
    "/poor": page("poor", text="{{price}} {{name}} {{stock}} " * 6),
    "/table": Reply(b"a,b\n", content_type="text/csv; charset=utf-8"),
}  # fmt: skip


@dataclass(frozen=True)
class Answers:
    """What a service answered about one crawl; URLs and documents by the paths of their pages."""

    site: Site
    job: Json
    listed: Json
    parts: list[Json]
    urls: dict[str, Json]
    documents: dict[str, Json]
    document: Json


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    """Crawl a shop by the contract, and ask for all that came of it."""
    return _answers(tmp_path_factory.mktemp("wire"))


@waits
async def _answers(root: Path) -> Answers:
    with Site(WEB) as site:
        async with serving(root) as ground:
            await ground.mine.post("/collections", {"collectionId": "faq", "title": "Help"})
            asked = {"collectionId": "shop", "seedUrls": [site.url("/")], "config": QUICK}
            job = await carried_out(ground, "/crawler/crawls", asked)
            listed = (await ground.mine.without_prefix().get("/crawler/crawls?limit=5")).json
            parts = await _parts(ground.mine, f"/crawls/{job['jobId']}/urls?limit=4")
            urls = {
                row["url"].removeprefix(site.url("")): row for part in parts for row in part["urls"]
            }
            documents = {
                path: (await ground.mine.get(f"/documents/{row['documentId']}")).json
                for path, row in urls.items()
                if row["documentId"]
            }
            document = (await ground.mine.without_prefix().get("/openapi.json")).json
    return Answers(site, job, listed, parts, urls, documents, document)


async def _parts(client: Client, path: str) -> list[Json]:
    """Read a list part by part."""
    parts = [(await client.get(path)).json]
    while cursor := parts[-1]["nextCursor"]:
        parts.append((await client.get(f"{path}&cursor={cursor}")).json)
    return parts


@pytest.mark.req("DAT-02", "ANA-10", "ANA-15", "ANA-16", "ANA-21")
def test_every_answer_has_the_shape_that_the_catalogue_gives_it(answers: Answers) -> None:
    assert_shape(answers.job, "CrawlJob")
    assert_shape(answers.listed, "CrawlList")
    for part in answers.parts:
        assert_shape(part, "UrlList")
    assert len(answers.documents) == 7
    for document in answers.documents.values():
        assert_shape(document, "FetchResult")
        assert_shape(document["analysis"], "ContentAnalysis")


@pytest.mark.parametrize(
    ("shape", "component"),
    [
        ("CrawlJob", "CrawlResponse"),
        ("CrawlConfig", "CrawlConfigResponse"),
        ("UrlEntry", "UrlResponse"),
        ("FetchResult", "FullDocumentResponse"),
        ("ContentAnalysis", "ContentAnalysisResponse"),
        ("Classification", "ClassificationResponse"),
        ("Quality", "QualityResponse"),
        ("Extraction", "ExtractionResponse"),
        ("Preview", "PreviewResponse"),
    ],
)
def test_the_document_describes_every_name(answers: Answers, shape: str, component: str) -> None:
    described = answers.document["components"]["schemas"][component]["properties"]
    assert shapes()[shape]["properties"].keys() <= described.keys()


@pytest.mark.req("FRN-12", "DAT-02")
def test_a_url_tells_all_that_is_kept_of_it(answers: Answers) -> None:
    site, urls = answers.site, answers.urls
    story = urls["/story"]
    assert (story["crawlJobId"], story["tenantId"]) == (answers.job["jobId"], TENANT)
    assert (story["source"], story["parentUrl"], story["depth"]) == ("link", site.url("/"), 1)
    assert (story["status"], story["attempts"], story["httpStatus"]) == ("completed", 1, 200)
    assert story["priority"] == 90 and story["error"] is None
    assert story["contentType"] == "text/html"
    assert story["contentLength"] == len(_body("/story"))
    assert story["discoveredAt"] <= story["lastAttemptAt"] == story["processedAt"]
    assert story["nextAttemptAt"] is None
    assert answers.documents["/story"]["url"] == site.url("/story")
    assert urls["/"]["source"] == "seed" and urls["/"]["parentUrl"] is None
    gone = urls["/gone"]
    assert (gone["status"], gone["error"], gone["documentId"]) == ("failed", "gone", None)
    assert (gone["httpStatus"], gone["contentType"]) == (404, "text/html")
    table = urls["/table"]
    assert (table["status"], table["contentType"]) == ("skipped", "text/csv")
    assert table["contentLength"] == len(_body("/table"))
    secret = urls["/secret"]
    assert (secret["status"], secret["httpStatus"]) == ("blocked", None)
    assert secret["contentType"] is secret["contentLength"] is None
    ended_s = _seconds(answers.job["completedAt"])
    assert {round(row["ttl"] - ended_s) for row in urls.values()} == {WEEK_S}


@pytest.mark.req("FRN-12")
@waits
async def test_a_url_that_is_tried_again_tells_when(tmp_path: Path) -> None:
    """It has been tried and is not processed; before the end nobody knows how long it is kept."""
    busy = Reply(b"later", status=503, content_type="text/plain", headers=(("Retry-After", "60"),))
    with Site({"/": busy}) as site:
        async with serving(tmp_path) as ground:
            asked = {"collectionId": "c", "seedUrls": [site.url("/")], "config": QUICK}
            job_id = (await ground.mine.post("/crawls", asked)).json["jobId"]
            path, rows = f"/crawls/{job_id}", list[Json]()

            async def is_tried() -> bool:
                rows[:] = (await ground.mine.get(f"{path}/urls")).json["urls"]
                return bool(rows and rows[0]["attempts"])

            async with asyncio.TaskGroup() as group:
                group.create_task(crawled(ground.desk, job_id), name="crawl")
                await until(is_tried)
                assert (await ground.mine.post(f"{path}/cancel")).status == 200
    (row,) = rows
    assert (row["status"], row["attempts"], row["httpStatus"]) == ("pending", 1, 503)
    assert (row["contentType"], row["contentLength"]) == ("text/plain", 5)
    assert row["processedAt"] is row["ttl"] is None
    assert _seconds(row["nextAttemptAt"]) - _seconds(row["lastAttemptAt"]) >= 60


@pytest.mark.req("CFG-16", "CFG-17", "CFG-18")
@waits
async def test_a_crawl_indexes_what_it_was_asked_for(tmp_path: Path) -> None:
    """Pages of one type and of some length, whatever they are worth; the others say why not."""
    config = QUICK | {
        "targetContentTypes": ["policy"],
        "minContentLength": 600,
        "enableQualityCheck": False,
    }
    with Site(WEB) as site:
        async with serving(tmp_path) as ground:
            asked = {"collectionId": "shop", "seedUrls": [site.url("/")], "config": config}
            await carried_out(ground, "/crawler/crawls", asked)
            found = (await ground.mine.get("/documents?collectionId=shop&limit=100")).json
            told = [
                (await ground.mine.get(f"/documents/{one['documentId']}")).json
                for one in found["documents"]
            ]
    made = {one["url"].removeprefix(site.url("")): one["analysis"] for one in told}
    reasons = {path: one["decision"]["reason"] for path, one in made.items()}
    assert reasons == dict.fromkeys(("/", "/kit", "/story", "/copy"), "page_type") | {
        "/privacy": "accepted",
        "/faq": "too_short",
        "/poor": "too_short",
    }
    assert {one["quality"] for one in made.values()} == {None}


@pytest.mark.req("JOB-02", "JOB-01", "FRN-13")
def test_counters_are_what_a_list_of_the_urls_counts(answers: Answers) -> None:
    stats, rows = answers.job["stats"], list(answers.urls.values())
    by_status = Counter(row["status"] for row in rows)
    assert by_status == {"completed": 5, "skipped": 4, "failed": 1, "blocked": 1}
    # A copy and a poor page by their documents, a wrong type and a redirect by their answers.
    assert {path for path, row in answers.urls.items() if row["status"] == "skipped"} == {
        "/copy", "/poor", "/table", "/moved",
    }  # fmt: skip
    poor = answers.documents["/poor"]
    assert (poor["state"], poor["reason"]) == ("skipped", "quality")
    assert poor["quality"] < answers.job["config"]["qualityThreshold"]
    assert stats["urlsSkipped"] == by_status["skipped"]
    assert stats["urlsSucceeded"] == by_status["completed"]
    assert stats["urlsFailed"] == by_status["failed"]
    assert stats["urlsBlocked"] == by_status["blocked"]
    assert stats["urlsQueued"] == 0
    assert stats["urlsDiscovered"] == stats["urlsProcessed"] == len(rows)
    indexed = [one for one in answers.documents.values() if one["state"] == "indexed"]
    assert stats["pagesIndexed"] == len(indexed) == 5
    assert stats["chunksCreated"] == sum(one["chunks"] for one in indexed) > 5
    assert stats["bytesDownloaded"] > sum(row["contentLength"] or 0 for row in rows)
    assert stats["processingTimeMs"] > 0


@pytest.mark.req("HTTP-13", "EXT-09", "META-01")
def test_a_document_has_what_was_fetched(answers: Answers) -> None:
    story, site = answers.documents["/story"], answers.site
    assert (story["url"], story["finalUrl"]) == (site.url("/story"), site.url("/story"))
    assert (story["httpStatus"], story["contentLength"]) == (200, len(_body("/story")))
    assert story["contentType"].startswith("text/html")
    assert story["html"].encode() == _body("/story")
    assert "**" not in story["text"] and "the bridge" in story["text"]
    assert (story["title"], story["description"]) == ("The bridge", "How a bridge was built")
    assert (story["author"], story["language"]) == ("Ada Moor", "en")
    assert story["canonicalUrl"] == site.url("/story")
    assert story["publishedAt"].startswith("2026-01-02")
    assert story["modifiedAt"].startswith("2026-02-03")
    assert story["fetchTimeMs"] >= 0 and story["renderTimeMs"] is None
    links = {link["url"]: link for link in answers.documents["/"]["links"]}
    assert links["https://example.org/silk"]["isInternal"] is False
    assert links[site.url("/story")] == {
        "url": site.url("/story"), "text": "the story", "isInternal": True, "rel": "next",
    }  # fmt: skip


@pytest.mark.req("ANA-15", "ANA-16")
def test_a_product_has_the_fields_of_the_catalogue(answers: Answers) -> None:
    extraction = answers.documents["/kit"]["analysis"]["extraction"]
    assert extraction["modelUsed"] == "product"
    assert extraction["data"] == {
        "name": "Orb Kit",
        "description": KIT["description"],
        "price": {"amount": 49.5, "currency": "EUR"},
        "salePrice": {"amount": 39.5, "currency": "EUR"},
        "sku": "GSW-1",
        "brand": "Silk Works",
        "category": "Kits",
        "inStock": True,
        "specifications": [{"key": "Frame", "value": "beech"}, {"key": "Pages", "value": "32"}],
        "images": [answers.site.url("/kit.jpg")],
        "confidence": extraction["confidence"],
    }


@pytest.mark.req("ANA-14", "ANA-15")
def test_other_types_have_fields_by_their_own_schemas(answers: Answers) -> None:
    faq = answers.documents["/faq"]["analysis"]["extraction"]
    assert faq["modelUsed"] == "faq" and len(faq["data"]["items"]) == 5
    assert faq["data"]["items"][0]["question"] == "How long does the delivery take?"
    policy = answers.documents["/privacy"]["analysis"]["extraction"]
    assert policy["modelUsed"] == "policy"
    assert policy["data"]["effectiveDate"] == "2026-03-01"
    assert [one["heading"] for one in policy["data"]["sections"]][-1] == "3. Your rights"
    assert answers.documents["/story"]["analysis"]["extraction"] is None


@pytest.mark.req("DUP-05", "ANA-08", "ANA-10")
def test_a_page_much_like_another_is_flagged(answers: Answers) -> None:
    """Of what nobody can know, the answer says that nobody knows."""
    quality = {path: one["analysis"]["quality"] for path, one in answers.documents.items()}
    assert "duplicate_suspected" in quality["/copy"]["flags"]
    assert 0 < quality["/copy"]["originality"] < 2
    assert "duplicate_suspected" not in quality["/story"]["flags"]
    assert quality["/story"]["unknownFlags"] == ["auto_generated"]
    assert quality["/story"]["originality"] is None
    for told in quality.values():
        assert all(0 <= told[name] <= 10 for name in ("overall", "depth", "readability"))


@pytest.mark.req("ANA-21")
def test_a_decision_has_a_reason_and_names_a_collection_that_suits_better(
    answers: Answers,
) -> None:
    decisions = {path: one["analysis"]["decision"] for path, one in answers.documents.items()}
    faq, copy = decisions["/faq"], decisions["/copy"]
    assert (faq["shouldIndex"], faq["reason"]) == (True, "accepted")
    assert faq["suggestedCollection"] == "faq"
    assert (copy["shouldIndex"], copy["reason"]) == (False, "duplicate")
    assert answers.site.url("/story") in copy["detail"]
    suggested = [one["suggestedCollection"] for one in decisions.values()]
    assert suggested.count(None) == len(suggested) - 1


def _body(path: str) -> bytes:
    reply = WEB[path]
    assert isinstance(reply, Reply)
    return reply.body


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
