"""geomi as a library: pages as they are committed, one page alone, and leaving early."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import geomi
from geomi.library.options import read_options
from tests.support.server import End, Raw, Reply, Route, Site
from tests.support.waiting import waits
from tests.support.webs import random_web

WEB = random_web(7, pages=12)
HERE: dict[str, Any] = {"allow_private": True, "delay": 0.0}
FAST = HERE | {"max_pages": 0, "depth": 50}


def test_a_crawl_yields_every_reachable_page_once() -> None:
    with Site(WEB.routes) as site:
        pages = list(geomi.crawl(site.url("/"), **FAST))
    assert sorted(page.url for page in pages) == sorted(site.url(path) for path in WEB.reachable)
    assert all(page.status == 200 and page.markdown and page.title for page in pages)


def test_pages_come_while_the_crawl_is_still_running() -> None:
    """The last page is held back until the first one has been seen by the reader."""
    first_seen = threading.Event()

    def last(_: object) -> Reply:
        assert first_seen.wait(20)
        return Reply(b"<title>Last</title><p>The last page of all.")

    routes: dict[str, Route] = {
        "/": Reply(b'<title>First</title><p>Only one link: <a href="/last">last</a>'),
        "/last": last,
    }
    with Site(routes) as site:
        titles = []
        for page in geomi.crawl(site.url("/"), **FAST):
            first_seen.set()
            titles.append(page.title)
    assert titles == ["First", "Last"]


def test_a_page_is_its_record_and_writes_it_again() -> None:
    with Site(
        {"/": Reply(b'<title>T</title><p>Some words here. <a href="/a" rel="me">A</a>')}
    ) as site:
        page = geomi.scrape(site.url("/"), **HERE)
    assert page.links == (geomi.Link(site.url("/a"), "A", "me", True),)
    assert geomi.Page.from_record(page.to_json().encode()) == page


def test_one_page_takes_no_links_and_no_sitemaps_but_obeys_robots() -> None:
    routes = {
        "/robots.txt": Reply(
            b"User-agent: *\nDisallow: /no\nSitemap: /map.xml\n", content_type="text/plain"
        ),
        "/login": Reply(b'<title>L</title><p>A page that a crawl leaves out. <a href="/b">B</a>'),
    }
    with Site(routes) as site:
        assert geomi.scrape(site.url("/login"), **HERE).title == "L"
        with pytest.raises(geomi.NothingFetched, match="robots: line 2: Disallow: /no"):
            geomi.scrape(site.url("/no"), **HERE)
        asked = [seen.path for seen in site.log]
    assert asked == ["/robots.txt", "/login", "/robots.txt"]


def test_one_page_follows_its_redirects_to_another_host() -> None:
    with Site(
        {"/": Reply(b"<title>Here</title><p>The page itself.")}, address="127.0.0.2"
    ) as there:
        moved = Reply(status=301, headers=(("Location", there.url("/")),))
        with Site({"/": moved}) as here:
            page = geomi.scrape(here.url("/"), **HERE)
    assert (page.url, page.final_url) == (here.url("/"), there.url("/"))


@pytest.mark.parametrize(
    ("route", "told"),
    [
        (Reply(b"", status=404), "gone: HTTP 404"),
        (Reply(b"", status=503), "server_error: HTTP 503"),
        (Raw((b"HTTP/1.1 200 OK\r\nContent-Le",), End.CLOSE), "protocol_error"),
        (Reply(b"%PDF", content_type="application/pdf"), "wrong_type: HTTP 200"),
        (Reply(b"<meta name=robots content=noindex><p>Words."), "noindex: HTTP 200"),
    ],
)
def test_one_page_that_does_not_come_says_why_and_is_not_tried_again(
    route: Route, told: str
) -> None:
    with Site({"/": route}) as site:
        with pytest.raises(geomi.NothingFetched, match=told):
            geomi.scrape(site.url("/"), **HERE)
        assert [seen.path for seen in site.log].count("/") == 1


def test_one_page_does_not_wait_for_a_robots_txt_that_is_out_of_order() -> None:
    began_s = time.monotonic()
    with Site({"/robots.txt": Reply(status=500), "/": Reply(b"<p>never")}) as site:
        with pytest.raises(geomi.NothingFetched, match="robots"):
            geomi.scrape(site.url("/"), **HERE)
        assert "/" not in [seen.path for seen in site.log]
    assert time.monotonic() - began_s < 30


def test_leaving_early_ends_the_crawl_and_what_came_is_committed(tmp_path: Path) -> None:
    web = random_web(3, pages=60)
    options = FAST | {"delay": 0.02}
    with Site(web.routes) as site:
        pages = geomi.crawl(site.url("/"), output=tmp_path, **options)
        first = next(pages)
        pages.close()  # type: ignore[attr-defined]  # what a `for` that is left does
        asked = len(site.log)
        assert asked < 60
        assert (tmp_path / "pages.jsonl").read_text("utf-8").count("\n") < 60
        rest = list(geomi.crawl(site.url("/"), output=tmp_path, resume=True, **options))
        assert len(site.log) > asked
    assert rest[0] == first, "a resumed job yields its earlier pages first"
    assert {page.url for page in rest} == {site.url(path) for path in web.reachable}


@waits
async def test_the_crawler_shares_politeness_and_a_directory(tmp_path: Path) -> None:
    with Site(WEB.routes) as site:
        async with geomi.Crawler(tmp_path, allow_private=True, delay=0.2, max_pages=3) as crawler:
            crawled = [page.url async for page in crawler.crawl(site.url("/"))]
            assert crawler.report is not None
            assert crawler.report.stop == "max_pages"
            scraped = await crawler.scrape(site.url("/"))
            assert len([*crawled, scraped.url]) == 4
        gaps = [
            later.started_s - (earlier.ended_s or earlier.started_s)
            for earlier, later in zip(site.log, site.log[1:], strict=False)
        ]
    assert min(gaps) >= 0.199
    assert (tmp_path / "geomi.db").exists()


@waits
async def test_leaving_the_crawler_ends_a_crawl_that_nobody_reads() -> None:
    web = random_web(4, pages=300)

    with Site(web.routes) as site:
        async with geomi.Crawler(**(FAST | {"delay": 0.02})) as crawler:
            async for _ in crawler.crawl(site.url("/")):
                break
        assert len(site.log) < 300


def test_two_crawls_of_one_crawler_run_side_by_side() -> None:
    async def titles(crawler: geomi.Crawler, url: str) -> set[str]:
        return {page.url async for page in crawler.crawl(url)}

    async def work(first: Site, second: Site) -> tuple[set[str], set[str]]:
        async with geomi.Crawler(**FAST) as crawler, asyncio.TaskGroup() as group:
            one = group.create_task(titles(crawler, first.url("/")))
            two = group.create_task(titles(crawler, second.url("/")))
        return one.result(), two.result()

    with Site(WEB.routes) as first, Site(WEB.routes, address="127.0.0.2") as second:
        one, two = asyncio.run(work(first, second))
    assert one == {first.url(path) for path in WEB.reachable}
    assert two == {second.url(path) for path in WEB.reachable}


def test_a_start_url_that_cannot_be_reached_is_an_error_at_the_end() -> None:
    with Site({}) as gone:
        pass
    with pytest.raises(geomi.NothingFetched, match="connect_error"):
        list(geomi.crawl(gone.url("/"), allow_private=True, http__max_retries=0))


@pytest.mark.parametrize(
    ("options", "told", "hint"),
    [
        ({"max_page": 1}, "unknown option: `max_page`", "`max_pages`"),
        ({"dept": 1}, "unknown option: `dept`", "`depth`"),
        ({"http__max_retrys": 1}, "unknown option: `http__max_retrys`", "`http__max_retries`"),
        ({"http__max_retries": 11}, "http.max_retries = `11` (option http__max_retries)", ""),
        ({"output": "x"}, "unknown option: `output`", ""),
        ({"max_pages": -1}, "limits.max_pages = `-1`", ""),
        ({"profile": "fast"}, "no profile `fast`", "default"),
        ({"allow_private": "perhaps"}, "`perhaps`", ""),
    ],
)
def test_wrong_options_are_refused_with_the_nearest_name(
    options: dict[str, object], told: str, hint: str
) -> None:
    with pytest.raises(geomi.ConfigError) as refused:
        read_options(options)
    assert told in refused.value.message
    assert hint in refused.value.hint


def test_wrong_options_and_urls_are_refused_where_they_are_given() -> None:
    with pytest.raises(geomi.ConfigError):
        geomi.crawl("https://example.org/", max_page=1)
    with pytest.raises(geomi.ConfigError):
        geomi.scrape("ftp://example.org/")


def test_a_directory_that_cannot_be_used_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(geomi.StoreError):
        next(geomi.crawl("http://127.0.0.1/", output=tmp_path / "file" / "below"))


def test_importing_geomi_loads_nothing_else() -> None:
    code = "import geomi, sys; print(geomi.__version__, 'asyncio' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == [geomi.__version__, "False"]


def test_every_public_name_is_there() -> None:
    assert all(getattr(geomi, name) for name in geomi.__all__)
    with pytest.raises(AttributeError):
        geomi.nothing_of_that_name  # noqa: B018


@pytest.mark.req("MD-12", "FUT-04")
def test_markdown_rules_of_ones_own() -> None:
    def shout(tag: geomi.Tag, markdown: str) -> str:
        return markdown.upper() if tag.attr("class") == "loud" else markdown

    html = b"<title>T</title><p class=loud>Some words.</p><p>And some more.</p>"
    with Site({"/": Reply(html)}) as site:
        page = geomi.scrape(site.url("/"), markdown_rules={"p": shout}, **HERE)
        pages = list(geomi.crawl(site.url("/"), markdown_rules={"p": shout}, **FAST))
    assert page.markdown == "SOME WORDS.\n\nAnd some more."
    assert [page.markdown for page in pages] == [page.markdown]


@pytest.mark.parametrize(
    ("rules", "options", "told"),
    [
        ({"li": str}, {}, "`li`"),
        ({"p": "upper"}, {}, "not a function"),
        ({"p": str}, {"workers": 2}, "`workers` is 2"),
    ],
)
def test_markdown_rules_that_cannot_work_are_refused(
    rules: Any, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(geomi.ConfigError, match=told):
        geomi.Crawler(markdown_rules=rules, **options)
