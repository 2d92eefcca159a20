"""Sitemaps that others wrote: every one is read, and lists what it holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.sitemaps import read_sitemap

pytestmark = pytest.mark.corpus


@pytest.mark.req("LNK-15")
@pytest.mark.parametrize(
    ("name", "pages", "sitemaps"),
    [
        ("crawler-commons/atom.xml", 1, 0),
        ("crawler-commons/sitemap-with-bom.txt", 2, 0),
        ("crawler-commons/sitemap.badns.xml", 2, 0),
        ("crawler-commons/sitemap.index.xml", 0, 15),
        ("crawler-commons/sitemap.ns.xml", 2, 0),
        ("crawler-commons/sitemap.txt", 2, 0),
        ("crawler-commons/sitemap.txt.gz", 5, 0),
        ("crawler-commons/xmlSitemap.gz", 5, 0),
        ("crawler-commons/extension/hebdenbridgetimes-articles-sitemap.xml", 74, 0),
        ("crawler-commons/extension/sitemap-images.xml", 1, 0),
        ("crawler-commons/extension/sitemap-links.xml", 3, 0),
        ("crawler-commons/extension/sitemap-videos.xml", 3, 0),
        ("trafilatura/feed1.atom", 1, 0),
        ("trafilatura/feed2.rss", 1, 0),
        ("trafilatura/sitemap-hreflang.xml", 3, 1),
        ("trafilatura/sitemap.xml", 84, 0),
        ("trafilatura/sitemap.xml.gz", 84, 0),
        ("trafilatura/sitemap2.xml", 0, 2),
    ],
)
def test_a_file_lists_what_it_holds(corpus: Path, name: str, pages: int, sitemaps: int) -> None:
    found = read_sitemap((corpus / "sitemaps" / name).read_bytes())
    assert (len(found.pages), len(found.sitemaps), found.problem) == (pages, sitemaps, "")


def test_no_file_raises(corpus: Path) -> None:
    files = [file for file in (corpus / "sitemaps").rglob("*") if file.is_file()]
    assert len(files) >= 20
    understood = [file for file in files if not read_sitemap(file.read_bytes()).problem]
    assert len(understood) >= len(files) - 1  # a JSON feed is no sitemap
