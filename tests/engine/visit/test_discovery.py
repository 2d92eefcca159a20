"""Where a crawl learns of URLs beside links: sitemaps, /llms.txt, and what it is told to probe."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.model.verdict import Outcome, State
from tests.support.crawl import crawl_site, page, robots
from tests.support.server import Reply, Route, Seen, Site

ROBOTS = robots("User-agent: *", "Disallow:")


def listing(*lines: str) -> Reply:
    return Reply("\n".join(lines).encode(), content_type="text/plain")


def sitemap(*paths: str, extra: str = "") -> Route:
    def answer(asked: Seen) -> Reply:
        home = f"http://{asked.host}"
        urls = "".join(f"<url><loc>{home}{path}</loc>{extra}</url>" for path in paths)
        return Reply(f"<urlset>{urls}</urlset>".encode(), content_type="text/xml")

    return answer


@pytest.mark.req("LNK-11", "LNK-15")
def test_a_probe_finds_what_nobody_links_to(tmp_path: Path) -> None:
    routes: dict[str, Route] = {
        "/": page("home"),
        "/robots.txt": ROBOTS,
        "/sitemap.xml": sitemap("/hidden"),
        "/llms.txt": listing(
            "# Us", "- [Told](told.md): worth reading", "- [Far](https://x.test/)"
        ),
        "/hidden": page("hidden"),
        "/told.md": page("told"),
    }
    with Site(routes) as site:
        found = crawl_site(tmp_path, site.url("/"), assignments=["scope.probe=true"])
    assert sorted(url.removeprefix(site.url("")) for url in found.urls) == [
        "/",
        "/hidden",
        "/told.md",
    ]
    assert found.exclusions["scope.host"][1] == ("https://x.test/",)


def test_what_is_not_there_is_no_failure(tmp_path: Path) -> None:
    with Site({"/": page("home"), "/robots.txt": ROBOTS}) as site:
        found = crawl_site(tmp_path, site.url("/"), assignments=["scope.probe=true"])
    assert found.report.job.stats.failed == 0
    entries = {url.rpartition("/")[2]: entry for url, entry in found.entries.items()}
    for name in ("sitemap.xml", "llms.txt"):
        assert (entries[name].state, entries[name].outcome) == (State.SKIPPED, Outcome.EMPTY)


def test_nobody_is_probed_unasked(tmp_path: Path) -> None:
    with Site({"/": page("home"), "/robots.txt": ROBOTS}) as site:
        crawl_site(tmp_path, site.url("/"))
    assert [seen.path for seen in site.log] == ["/robots.txt", "/"]


def test_the_date_of_a_sitemap_is_kept_with_its_url_c82(tmp_path: Path) -> None:
    routes: dict[str, Route] = {
        "/": page("home"),
        "/robots.txt": ROBOTS,
        "/sitemap.xml": sitemap("/old", extra="<lastmod>2020-01-02</lastmod>"),
        "/old": page("old"),
    }
    with Site(routes) as site:
        found = crawl_site(tmp_path, site.url("/"), assignments=["scope.probe=true"])
    assert found.entries[site.url("/old")].lastmod_s == 1577923200.0


def test_what_a_limit_leaves_out_is_told(tmp_path: Path) -> None:
    """Links beyond the limit of a page, by the page; sitemaps that lie too deep, by themselves."""

    def index(name: str) -> Route:
        def answer(asked: Seen) -> Reply:
            listed = f"<sitemap><loc>http://{asked.host}/{name}.xml</loc></sitemap>"
            body = f"<sitemapindex>{listed}</sitemapindex>"
            return Reply(body.encode(), content_type="text/xml")

        return answer

    routes: dict[str, Route] = {
        "/": page("home", "/a", "/b", "/c"),
        "/robots.txt": ROBOTS,
        "/sitemap.xml": index("one"),
        "/one.xml": index("two"),
        "/two.xml": index("three"),
        "/three.xml": sitemap("/hidden"),
        **{path: page(path) for path in ("/a", "/b", "/c", "/hidden")},
    }
    switches = ["scope.probe=true", "limits.max_links_per_page=2"]
    with Site(routes) as site:
        found = crawl_site(tmp_path, site.url("/"), assignments=switches)
    assert found.exclusions["links.limit"] == (1, (site.url("/"),))
    assert found.exclusions["sitemap.nesting"] == (1, (site.url("/three.xml"),))
    assert not {site.url("/c"), site.url("/hidden")} & set(found.urls)


@pytest.mark.req("LNK-03")
def test_a_manual_in_frames_is_collected(tmp_path: Path) -> None:
    """Its first page has no words, and leads on all the same (LNK-12)."""
    frames = b'<frameset><frame src="nav.html"><frame src="/intro"></frameset>'
    moved = b'<meta http-equiv="Refresh" content="0; URL=\'/moved\'"><p>It has moved.</p>'
    routes: dict[str, Route] = {
        "/": Reply(frames),
        "/robots.txt": Reply(status=404),
        "/nav.html": page("nav", "/old"),
        "/intro": page("intro"),
        "/old": Reply(moved),
        "/moved": page("moved"),
    }
    with Site(routes) as site:
        found = crawl_site(tmp_path, site.url("/"))
    collected = {url.removeprefix(site.url("")) for url in found.urls}
    assert collected == {"/nav.html", "/intro", "/old", "/moved"}
