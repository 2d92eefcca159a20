"""What a site repeats is learned while it is crawled, and remembered by the next crawl."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.extract.content.template import LESSON_PAGES
from tests.support.crawl import crawl_site
from tests.support.server import Reply, Site

PAGES = 14
BANNER = "<div>Subscribe to our letter, we send it every week.</div>"
NAMES = [f"{one}{two}" for one in "abcd" for two in "efgh"][:PAGES]


def story(name: str, links: str = "") -> Reply:
    words = " ".join(f"{name}{letter} {letter}{name}" for letter in "klmnopqrst")
    own = "".join(f"<p>{place} {words} {name} {place}</p>" for place in ("one", "two", "three"))
    return Reply(f"<title>{name}</title><main>{BANNER}{own}{links}</main>".encode())


@pytest.fixture
def routes() -> dict[str, Reply]:
    links = "".join(f'<p><a href="/{name}">Go to the story of {name}</a></p>' for name in NAMES)
    return {f"/{name}": story(name) for name in NAMES} | {"/": story("home", links)}


def test_a_crawl_learns_what_its_site_repeats(tmp_path: Path, routes: dict[str, Reply]) -> None:
    """The first pages have it still; the next crawl knows it from the start."""
    with Site(routes) as site:
        first = crawl_site(tmp_path / "a", site.url("/"))
        again = crawl_site(tmp_path / "a", site.url("/"))
    shown = [record for record in first.records if "Subscribe" in record["markdown"]]
    assert len(first.records) == PAGES + 1
    assert len(shown) == LESSON_PAGES
    assert not any("Subscribe" in record["markdown"] for record in again.records)
    assert {record["metadata"]["repeated_sections"] for record in again.records} == {1}


def test_pages_stay_whole_where_that_is_asked(tmp_path: Path, routes: dict[str, Reply]) -> None:
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"), assignments=["extract.template=false"])
    assert all("Subscribe" in record["markdown"] for record in crawled.records)
