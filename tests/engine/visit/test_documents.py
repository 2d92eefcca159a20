"""Bodies that are no HTML: which are kept, what of them, and what leads on from them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from geomi.model.verdict import Outcome, State
from tests.support.crawl import Crawled, crawl_site, page, profile_config
from tests.support.pdf import pdf_of
from tests.support.server import Reply, Site
from tests.unit.extract.content.test_strategy import LONG, PAGE

API = {
    "openapi": "3.0.0",
    "info": {"title": "Pets", "version": "1"},
    "paths": {"/pets": {"get": {"summary": "All pets", "responses": {"200": {}}}}},
}
YAML = b"openapi: 3.0.0\ninfo: {title: Cats}\npaths: {/cats: {get: {summary: All cats}}}\n"


def outcome_of(crawled: Crawled, url: str) -> tuple[State, Outcome | None]:
    """Return how a URL ended."""
    entry = crawled.entries[url]
    return entry.state, entry.outcome


@pytest.mark.req("CTY-03", "C-35")
@pytest.mark.parametrize("profile", ["default", "docs"])
def test_json_is_kept_where_it_describes_an_api(tmp_path: Path, profile: str) -> None:
    """Any other JSON is the wrong type, and why is told."""
    routes = {
        "/": page("home", "/api.json", "/data.json", "/api.yaml"),
        "/api.json": Reply(json.dumps(API).encode(), content_type="application/json"),
        "/data.json": Reply(b'{"openapi": 3}', content_type="application/json"),
        "/api.yaml": Reply(YAML, content_type="application/yaml"),
    }
    with Site(routes) as site:
        types = ",".join(profile_config(profile).http.content_types)
        crawled = crawl_site(tmp_path, site.url("/"), assignments=[f"http.content_types={types}"])
        api = crawled.record(site.url("/api.json"))
        assert api["markdown"].startswith("# Pets\n\nVersion 1\n\n## GET /pets\n\n**All pets**")
        assert api["metadata"]["strategy"] == "openapi"
        assert [heading["text"] for heading in api["metadata"]["headings"]] == ["Pets", "GET /pets"]
        assert "All cats" in crawled.record(site.url("/api.yaml"))["markdown"]
        url = site.url("/data.json")
        assert outcome_of(crawled, url) == (State.SKIPPED, Outcome.WRONG_TYPE)
        assert "describes no API" in crawled.entries[url].detail


@pytest.mark.req("FUT-09", "FUT-16", "CTY-04")
def test_pdf_is_read_where_it_is_asked_for(tmp_path: Path) -> None:
    """A link to a PDF is followed once its type is listed; a broken one is the wrong type."""
    paper = pdf_of([[(20, "On Pets"), (10, "They are kept by people, and that is all.")]])
    routes = {
        "/": page("home", "/paper.pdf", "/broken.pdf"),
        "/paper.pdf": Reply(paper, content_type="application/pdf"),
        "/broken.pdf": Reply(b"%PDF-1.4", content_type="application/pdf"),
    }
    types = "http.content_types=text/html,application/pdf"
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"), assignments=[types])
        record = crawled.record(site.url("/paper.pdf"))
        assert record["markdown"].startswith("# On Pets\n\nThey are kept")
        assert (record["title"], record["metadata"]["author"]) == ("A paper", "Kim")
        url = site.url("/broken.pdf")
        assert outcome_of(crawled, url) == (State.SKIPPED, Outcome.WRONG_TYPE)


def test_a_crawl_goes_on_from_markdown(tmp_path: Path) -> None:
    """Front matter is not text, and links of a markdown file are links."""
    text = b"---\ntitle: Guide\n---\n# Start\n\nGo [on](next.md), there is more to read here.\n"
    routes = {
        "/": page("home", "/docs/index.md"),
        "/docs/index.md": Reply(text, content_type="text/markdown"),
        "/docs/next.md": Reply(b"# Next\n\nAnd this is the end.", content_type="text/plain"),
    }
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"))
        record = crawled.record(site.url("/docs/index.md"))
        assert (record["title"], record["markdown"].partition("\n")[0]) == ("Guide", "# Start")
        assert crawled.record(site.url("/docs/next.md"))["title"] == "Next"


@pytest.mark.req("FUT-03", "EXT-07")
def test_the_text_of_a_page_is_found_among_its_menus(tmp_path: Path) -> None:
    with Site({"/": Reply(PAGE.encode())}) as site:
        crawled = crawl_site(tmp_path, site.url("/"))
        record = crawled.record(site.url("/"))
        assert record["metadata"]["strategy"] == "blocks"
        assert record["markdown"].startswith("# Title\n\nWords that a reader")
        assert record["markdown"].count(LONG.strip()) == 6
        assert "Topic" not in record["markdown"]


@pytest.mark.req("EXT-09", "META-01", "META-03")
def test_a_record_says_what_the_page_says_of_itself(tmp_path: Path) -> None:
    """Everything that is known stands in `metadata`, under the names of the reference."""
    html = (
        b'<html lang="en"><title>T</title><link rel=alternate hreflang=ko href=/ko>'
        b'<link rel=alternate type="application/rss+xml" href=/feed.xml>'
        b'<script type="application/ld+json">{"@type": "Article", "headline": "H",'
        b' "datePublished": "May 6, 2024"}</script>'
        b"<article><h1>One</h1><p>The page has some words of the language that it is in.</p>"
    )
    with Site({"/": Reply(html)}) as site:
        crawled = crawl_site(tmp_path, site.url("/"))
        (record,) = crawled.records
        said = record["metadata"]
        assert said["published_at"] == "2024-05-06"
        assert said["headings"] == [{"level": 1, "text": "One"}]
        assert (said["words"], said["types"]) == (13, ["Article"])
        assert said["alternates"] == {"ko": site.url("/ko")}
        assert said["feeds"] == [site.url("/feed.xml")]
        assert said["ld:Article.headline"] == "H"
        assert (record["language"], said["language_detected"]) == ("en", "en")


def test_xhtml_is_read_as_it_is_meant(tmp_path: Path) -> None:
    """An empty script of XML does not swallow the page."""
    body = page("xhtml").body.replace(b"<body>", b"<body><script src='x.js'/>")
    assert b"<script" in body
    with Site({"/": replace(Reply(body), content_type="application/xhtml+xml")}) as site:
        crawled = crawl_site(tmp_path, site.url("/"))
        assert len(crawled.records) == 1
