"""`geomi map` lists URLs, `geomi plan` says what a crawl would take; neither keeps a page."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from geomi.engine.survey.survey import MAX_LISTS
from tests.e2e.command import run
from tests.support.server import Reply, Route, Seen, Site

QUICK = ("--allow-private", "--set", "politeness.delay_s=0")


def page(*hrefs: str) -> Reply:
    links = "".join(f'<a href="{href}">{href}</a>' for href in hrefs)
    return Reply(f"<title>x</title><main><p>{'words ' * 40}</p>{links}</main>".encode())


def urlset(*urls: str) -> bytes:
    return f"<urlset>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</urlset>".encode()


@pytest.fixture
def site() -> Iterator[Site]:
    def sitemap(asked: Seen) -> Reply:
        home = f"http://{asked.host}"
        return Reply(
            gzip.compress(urlset(f"{home}/docs/a", f"{home}/docs/b", f"{home}/private/x")),
            content_type="application/gzip",
        )

    def index(asked: Seen) -> Reply:
        home = f"http://{asked.host}"
        body = f"<sitemapindex><sitemap><loc>{home}/pages.xml.gz</loc></sitemap></sitemapindex>"
        return Reply(body.encode(), content_type="text/xml")

    robots = Reply(b"User-agent: *\nDisallow: /private\n", content_type="text/plain")
    listing = Reply(b"# X\n- [D](/docs/d): the fourth\n", content_type="text/plain")
    routes: dict[str, Route] = {
        "/": page("/docs/c", "/login", "https://elsewhere.test/"),
        "/robots.txt": robots,
        "/sitemap.xml": index,
        "/pages.xml.gz": sitemap,
        "/llms.txt": listing,
        "/docs/a": page(),
    }
    with Site(routes, otherwise=page()) as running:
        yield running


def test_map_lists_what_a_crawl_would_take(site: Site) -> None:
    told = run("map", site.url("/"), *QUICK)
    assert told.returncode == 0, told.stderr
    found = [line.removeprefix(site.url("")) for line in told.stdout.split()]
    assert sorted(found) == ["/", "/docs/a", "/docs/b", "/docs/c", "/docs/d"]
    asked = [seen.path for seen in site.log]
    assert sorted(asked) == ["/", "/llms.txt", "/pages.xml.gz", "/robots.txt", "/sitemap.xml"]
    assert asked[0] == "/robots.txt"


def test_map_takes_a_limit_and_patterns(site: Site) -> None:
    told = run("map", site.url("/"), *QUICK, "-x", "/docs/a", "-n", "2", "--json")
    listed = [json.loads(line) for line in told.stdout.splitlines()]
    assert len(listed) == 2
    assert all("/docs/a" not in one["url"] for one in listed)
    assert {one["source"] for one in listed} <= {"seed", "sitemap", "link"}


def test_map_tells_of_lists_that_are_there_and_cannot_be_read() -> None:
    def robots(asked: Seen) -> Reply:
        named = (
            f"Sitemap: http://{asked.host}/{name}.xml" for name in ("broken", "gone", "private")
        )
        lines = ("User-agent: *", "Disallow: /private", *named)
        return Reply("\n".join(lines).encode(), content_type="text/plain")

    routes: dict[str, Route] = {
        "/": page("/a"),
        "/robots.txt": robots,
        "/llms.txt": Reply(b"[a](/b) " * 200_000, content_type="text/plain"),
        "/broken.xml": Reply(status=500),
    }
    with Site(routes) as site:  # where a list is not there, that is no news
        told = run("map", site.url("/"), *QUICK, "--set", "limits.max_page_bytes=1000000")
    assert told.returncode == 0, told.stderr
    assert told.stdout.split() == [site.url("/"), site.url("/a")]
    assert [line.removeprefix(f"warning: {site.url('')}") for line in told.stderr.splitlines()] == [
        "/broken.xml: server_error: HTTP 500",
        "/private.xml: robots.txt: line 2: Disallow: /private (User-agent: *)",
        "/llms.txt: too_large: the body has 1600000 bytes; the limit is 1000000",
    ]


@pytest.mark.req("ROB-28")
def test_a_redirect_to_another_host_is_judged_by_its_own_robots() -> None:
    forbidding = Reply(b"User-agent: *\nDisallow: /map.xml\n", content_type="text/plain")
    with Site({"/robots.txt": forbidding}) as other:
        there = Reply(status=302, headers=(("Location", other.url("/map.xml")),))
        with Site({"/": page(), "/sitemap.xml": there}) as site:
            done = run("map", site.url(), "--allow-private")
            assert done.returncode == 0, done.stderr
            assert "/sitemap.xml" in [seen.path for seen in site.log]
        assert [seen.path for seen in other.log] == ["/robots.txt"]


def plan(site: Site, *arguments: str) -> dict[str, Any]:
    told = run("plan", site.url("/"), "--allow-private", "--json", *arguments)
    assert told.returncode == 0, told.stderr
    answer: dict[str, Any] = json.loads(told.stdout)
    return answer


def test_plan_counts_what_is_left_out_and_by_whom(site: Site) -> None:
    answer = plan(site, "--delay", "0.01", "--samples", "2")
    assert answer["pages"] == answer["found"] == 5
    assert answer["folders"][f"{site.address}/docs/*"] == 4
    (line,) = answer["robots"]
    assert "Disallow: /private" in line
    assert answer["robots"][line]["examples"] == [site.url("/private/x")]
    assert answer["excluded"]["block.login"]["count"] == 1
    assert answer["excluded"]["scope.host"]["count"] == 1
    assert len(answer["samples"]) == 2
    assert answer["bytes"] > 0
    assert "/private/x" not in [seen.path for seen in site.log]


def test_plan_in_words(site: Site) -> None:
    told = run("plan", site.url("/"), *QUICK)
    assert told.returncode == 0, told.stderr
    assert "5 pages" in told.stdout
    assert "excluded by robots.txt" in told.stdout
    assert "excluded by rules" in told.stdout


def test_nobody_there() -> None:
    told = run("map", "http://127.0.0.1:1/", *QUICK)
    assert told.returncode != 0
    assert "error:" in told.stderr
    assert "Traceback" not in told.stderr


def test_lists_that_were_left_unread_are_told() -> None:
    """An index may name more sitemaps than a look reads."""

    def index(asked: Seen) -> Reply:
        names = (f"<loc>http://{asked.host}/{n}.xml</loc>" for n in range(MAX_LISTS))
        named = "".join(f"<sitemap>{name}</sitemap>" for name in names)
        body = f"<sitemapindex>{named}</sitemapindex>".encode()
        return Reply(body, content_type="text/xml")

    empty = Reply(urlset(), content_type="text/xml")
    with Site({"/": page(), "/sitemap.xml": index}, otherwise=empty) as site:
        told = run("map", site.url("/"), *QUICK)
    assert told.returncode == 0, told.stderr
    assert f"more lists were not read; a survey reads {MAX_LISTS}" in told.stderr
