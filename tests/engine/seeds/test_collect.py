"""The technical facts of a host: what is asked, in which order, and what becomes of trouble."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import trustme

from geomi.engine.audit.audit import audit
from geomi.engine.seeds import hosts, sitemaps
from geomi.engine.seeds.collect import facts_config
from geomi.engine.seeds.hosts import why_no_file as told_error
from geomi.errors import SeedError
from geomi.model.config import CrawlConfig
from geomi.model.dataset.queue import MAX_ERROR_CHARS
from geomi.model.dataset.seed import ErrorType
from geomi.model.entry import Lease
from geomi.model.page import Fetched, Request
from geomi.model.request_log import RequestPurpose
from geomi.model.site import Review, SiteRule
from geomi.model.verdict import Outcome
from geomi.ports.web import Fetcher
from tests.support.crawl import robots, to
from tests.support.seed_dataset import BEGIN_S, Ground, ground, record, seed_config
from tests.support.seed_servers import (
    SHOP,
    endless,
    impatient,
    index,
    packed_bomb,
    slowly,
    trickling,
    urlset,
    xml,
)
from tests.support.server import Raw, Reply, Route, Seen
from tests.support.waiting import waits

HTTPS, HTTP = f"https://{SHOP}", f"http://{SHOP}"
ALLOWED = robots("User-agent: *", "Disallow: /admin")
Web = Mapping[str, Mapping[str, Route] | None]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@waits
async def collected(
    root: Path,
    authority: trustme.CA,
    web: Web,
    config: CrawlConfig | None = None,
    *records: str,
) -> tuple[Any, Ground]:
    """Collect one domain; return its technical metadata, and the ground for more questions."""
    async with ground(root, authority, web, config) as found:
        await found.collect(*found.raw(1, *(record(url) for url in records or (HTTPS,))))
        proof = await audit(found.hand.world)
        assert proof.broken == 0
        purposes = {row.purpose for row in await found.log()}
        assert RequestPurpose.PAGE not in purposes, "no page is ever fetched"
        return found.contract(SHOP)["technical_metadata"], found


@dataclass
class Noting:
    """The real fetcher, with a note of every request as it is sent."""

    inner: Fetcher
    requests: list[Request]

    async def fetch(self, request: Request) -> Fetched:
        """Send the request."""
        self.requests.append(request)
        return await self.inner.fetch(request)

    async def aclose(self) -> None:
        """Close every connection."""
        await self.inner.aclose()


def note_requests(found: Ground, requests: list[Request]) -> None:
    world = found.seeding.world
    fetcher = Noting(world.fetcher, requests)
    found.seeding = replace(found.seeding, world=replace(world, fetcher=fetcher))


def paths(found: Ground) -> list[str]:
    return [one.path for one in found.requests]


# order, names and time-outs


@pytest.mark.req("SED-01", "SED-26", "SED-27", "SED-45", "HTTP-16")
@waits
async def test_robots_then_sitemap_then_server(tmp_path: Path, authority: trustme.CA) -> None:
    requests: list[Request] = []

    web = {HTTPS: {"/robots.txt": ALLOWED, "/sitemap.xml": urlset("/a")}}
    async with ground(tmp_path, authority, web) as found:
        note_requests(found, requests)
        await found.collect(*found.raw(1, record(HTTPS)))
        wanted = [f"{HTTPS}/robots.txt", f"{HTTPS}/sitemap.xml", f"{HTTPS}/"]
        assert [one.url for one in requests] == wanted
        times = [
            (one.connect_timeout_s, one.read_timeout_s, one.total_timeout_s) for one in requests
        ]
        robots, *others = times
        assert robots == (10.0, 10.0, 10.0), "no part of one ends sooner"
        assert others == [(15.0, 15.0, 15.0)] * 2
        agents = {seen.headers["user-agent"] for seen in found.sites[HTTPS].log}
        assert agents == {"NewsforkBot/1.0 (+https://newsfork.com/bot)"}


@pytest.mark.req("SED-28", "SED-11", "C-58")
def test_sitemaps_that_robots_names_come_first(tmp_path: Path, authority: trustme.CA) -> None:
    named = robots("Sitemap: /gone.xml", f"sitemap: {HTTPS}/map.txt", f"Sitemap: {HTTPS}/map.txt")
    web = {
        HTTPS: {
            "/robots.txt": named,
            "/map.txt": Reply(f"{HTTPS}/a\n{HTTPS}/b\n".encode(), content_type="text/plain"),
            "/sitemap.xml": urlset("/never"),
        }
    }
    told, found = collected(tmp_path, authority, web)
    assert told["robots_txt"]["sitemap_urls"] == [f"{HTTPS}/gone.xml", f"{HTTPS}/map.txt"]
    assert paths(found) == ["/robots.txt", "/gone.xml", "/map.txt"]
    sitemap = told["sitemap_xml"]
    assert (sitemap["url"], sitemap["url_count"]) == (f"{HTTPS}/map.txt", 2)
    assert found.file(SHOP, "sitemap.xml").read_bytes() == f"{HTTPS}/a\n{HTTPS}/b\n".encode()


@pytest.mark.req("SED-27", "C-58")
def test_where_no_named_sitemap_is_there_the_usual_place_is_looked_at(
    tmp_path: Path, authority: trustme.CA
) -> None:
    named = robots(f"Sitemap: {HTTPS}/gone.xml")
    web = {HTTPS: {"/robots.txt": named, "/sitemap.xml": urlset("/a", "/b", "/c")}}
    told, found = collected(tmp_path, authority, web)
    assert paths(found) == ["/robots.txt", "/gone.xml", "/sitemap.xml"]
    sitemap = told["sitemap_xml"]
    assert (sitemap["url"], sitemap["url_count"]) == (f"{HTTPS}/sitemap.xml", 3)


@pytest.mark.req("SED-10", "C-53")
@pytest.mark.parametrize(
    ("lines", "allows"),
    [
        (("User-agent: *", "Disallow: /admin"), True),
        (("User-agent: *", "disallow:/"), False),
        (("User-agent: OtherBot", "Disallow: /"), True),
        (("User-agent: NewsforkBot", "Disallow: /", "User-agent: *", "Allow: /"), False),
        (("User-agent: *", "Disallow: /", "Allow: /$"), True),
        ((), True),
    ],
)
def test_whether_crawling_is_allowed_is_asked_of_the_real_matcher(
    tmp_path: Path, authority: trustme.CA, lines: tuple[str, ...], allows: bool
) -> None:
    told, _ = collected(tmp_path, authority, {HTTPS: {"/robots.txt": robots(*lines)}})
    assert told["robots_txt"]["allows_crawling"] is allows


@pytest.mark.req("C-03")
@pytest.mark.parametrize(("header", "seconds"), [("public, max-age=60", 60), ("no-store", 0)])
def test_how_long_a_file_may_be_kept_is_noted(
    tmp_path: Path, authority: trustme.CA, header: str, seconds: int
) -> None:
    brief = replace(ALLOWED, headers=(("Cache-Control", header),))
    found, _ = collected(tmp_path, authority, {HTTPS: {"/robots.txt": brief}})
    assert found["robots_txt"]["max_age_s"] == seconds
    assert list(found["robots_txt"])[-2:] == ["fetched_at", "max_age_s"]


@pytest.mark.req("SED-11")
def test_a_sitemap_that_robots_forbids_is_not_asked_for(
    tmp_path: Path, authority: trustme.CA
) -> None:
    forbidding = robots("User-agent: *", "Disallow: /sitemap")
    web = {HTTPS: {"/robots.txt": forbidding, "/sitemap.xml": urlset("/a")}}
    told, found = collected(tmp_path, authority, web)
    assert paths(found) == ["/robots.txt"]
    assert told["sitemap_xml"] == {
        "exists": False,
        "error": "robots.txt: line 2: Disallow: /sitemap (User-agent: *)",
        "fetched_at": None,
    }


def test_what_a_server_wrote_is_quoted_briefly(tmp_path: Path, authority: trustme.CA) -> None:
    long = robots(
        "User-agent: *", "Disallow: /*" + "x*" * 900, "Disallow: /sitemap.xml" + "*" * 900
    )
    told, _ = collected(tmp_path, authority, {HTTPS: {"/robots.txt": long}})
    assert len(told["sitemap_xml"]["error"]) == MAX_ERROR_CHARS


@pytest.mark.parametrize(
    "date",
    ["Fri, 31 Dec 9999 23:59:59 -2359", "9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:59"],
)
def test_a_date_of_no_year_there_is_tells_nothing(
    tmp_path: Path, authority: trustme.CA, date: str
) -> None:
    dated = ("Last-Modified", date)
    web = {
        "/robots.txt": Reply(ALLOWED.body, content_type="text/plain", headers=(dated,)),
        "/sitemap.xml": xml(f"<urlset><url><loc>{HTTPS}/a</loc></url></urlset>", dated),
    }
    told, _ = collected(tmp_path, authority, {HTTPS: web})
    for name in ("robots_txt", "sitemap_xml"):
        assert told[name]["exists"] and told[name]["last_modified"] is None


# what is not there, and what fails


@pytest.mark.req("SED-10", "SED-11", "SED-26", "SED-27", "ERR-14")
@pytest.mark.parametrize("status", [300, 400, 401, 403, 404, 410, 499])
def test_what_is_not_there_is_a_fact(tmp_path: Path, authority: trustme.CA, status: int) -> None:
    refusal = Reply(b"User-agent: *", status=status)
    web = {HTTPS: {"/robots.txt": refusal, "/sitemap.xml": refusal}}
    told, found = collected(tmp_path, authority, web)
    missing = {
        "exists": False,
        "error": f"HTTP {status}",
        "fetched_at": "2026-01-28T15:30:00Z",
    }
    assert (told["robots_txt"], told["sitemap_xml"]) == (missing, missing)
    assert paths(found) == ["/robots.txt", "/sitemap.xml"], "each is asked for once"
    names = [path.rpartition("/")[2] for path in found.tree()]
    assert names == ["domain_metadata.json", "domain_metadata.json.success"]


@pytest.mark.req("SED-29")
def test_a_failure_that_nobody_can_name_has_a_name() -> None:
    assert told_error(0, Outcome.CONNECT_ERROR, "") == "Unknown error"
    assert told_error(0, Outcome.CONNECT_ERROR, "nobody is there") == "nobody is there"


@pytest.mark.req("ERR-13", "ERR-14", "C-85")
def test_a_server_error_is_tried_again_and_then_a_fact(
    tmp_path: Path, authority: trustme.CA
) -> None:
    told, found = collected(tmp_path, authority, {HTTPS: {"/robots.txt": Reply(status=503)}})
    asked = found.requests
    assert paths(found) == ["/robots.txt"] * 4
    waits = [round(later.at_s - sooner.at_s) for sooner, later in pairwise(asked)]
    assert waits == [1, 2, 4]
    assert told["robots_txt"]["error"] == "HTTP 503"
    assert told["sitemap_xml"]["error"] == "robots.txt is out of reach: HTTP status 503"
    assert told["server_info"]["supports_https"] is True


@pytest.mark.req("ERR-13", "ERR-14")
def test_what_passes_leaves_no_trace(tmp_path: Path, authority: trustme.CA) -> None:
    def unsteady(good: Reply) -> Route:
        answers = iter((Raw((b"HTTP/1.1 200 OK\r\nContent-Le",)), Reply(status=500), good))
        return lambda _: next(answers)

    web = {HTTPS: {"/robots.txt": unsteady(ALLOWED), "/sitemap.xml": unsteady(urlset("/a", "/b"))}}
    told, found = collected(tmp_path, authority, web)
    assert told["robots_txt"]["exists"]
    assert told["sitemap_xml"]["url_count"] == 2
    assert len(found.asked) == 6


def test_a_host_that_wants_a_long_rest_is_left_alone(tmp_path: Path, authority: trustme.CA) -> None:
    busy = Reply(status=503, headers=(("Retry-After", "3000"),))
    web = {
        HTTPS: {
            "/robots.txt": robots(f"Sitemap: {HTTPS}/map.xml"),
            "/map.xml": busy,
            "/sitemap.xml": urlset("/a"),
        }
    }
    told, found = collected(tmp_path, authority, web)
    assert paths(found) == ["/robots.txt", "/map.xml"]
    assert told["sitemap_xml"]["error"] == "HTTP 503"


def test_a_crawl_delay_is_kept(tmp_path: Path, authority: trustme.CA) -> None:
    patient = robots("User-agent: *", "Crawl-delay: 45")
    web = {HTTPS: {"/robots.txt": patient, "/sitemap.xml": urlset("/a")}}
    told, found = collected(tmp_path, authority, web)
    first, second = found.requests
    assert second.at_s - first.at_s >= 45
    assert told["sitemap_xml"]["exists"]


def test_a_cap_on_all_requests_is_waited_for(tmp_path: Path, authority: trustme.CA) -> None:
    config = seed_config()
    config = replace(config, politeness=replace(config.politeness, max_per_hour=1))
    web = {HTTPS: {"/robots.txt": ALLOWED, "/sitemap.xml": urlset("/a")}}
    _, found = collected(tmp_path, authority, web, config)
    first, second = found.requests
    assert second.at_s - first.at_s >= 3000


# https and http


@pytest.mark.req("SED-12", "SED-30", "C-57")
def test_who_speaks_no_https_is_asked_over_http(tmp_path: Path, authority: trustme.CA) -> None:
    routes = {"/robots.txt": ALLOWED, "/sitemap.xml": urlset("/a")}
    told, found = collected(tmp_path, authority, {HTTPS: None, HTTP: routes})
    assert told["robots_txt"]["exists"]
    assert told["sitemap_xml"]["url"] == f"{HTTP}/sitemap.xml"
    assert told["server_info"]["supports_https"] is False
    assert found.asked == [f"{HTTPS}/robots.txt", f"{HTTP}/robots.txt", f"{HTTP}/sitemap.xml"]


@waits
async def test_a_certificate_of_somebody_else_is_no_https(
    tmp_path: Path, authority: trustme.CA
) -> None:
    routes = {"/robots.txt": ALLOWED}

    web = {HTTP: routes, HTTPS: routes}
    async with ground(tmp_path, authority, web, server_authority=trustme.CA()) as found:
        await found.collect(*found.raw(1, record(HTTPS)))
        told = found.contract(SHOP)["technical_metadata"]
        assert told["server_info"]["supports_https"] is False
        assert told["robots_txt"]["exists"]


@pytest.mark.req("SED-29", "SED-12", "ERR-14")
def test_a_host_that_nobody_reaches_has_a_contract_all_the_same(
    tmp_path: Path, authority: trustme.CA
) -> None:
    told, found = collected(tmp_path, authority, {HTTPS: None, HTTP: None})
    assert "cannot connect to `shop.test` port 80" in told["robots_txt"]["error"]
    assert told["sitemap_xml"]["error"].startswith("robots.txt is out of reach: connect_error")
    assert told["server_info"] == {
        "server": None,
        "content_encoding": None,
        "supports_https": False,
        "response_time_avg_ms": None,
    }
    assert len(found.asked) == 8
    assert [path.rpartition("/")[2] for path in found.tree()] == [
        "domain_metadata.json",
        "domain_metadata.json.success",
    ]


def test_an_unusual_port_is_a_host_of_its_own(tmp_path: Path, authority: trustme.CA) -> None:
    odd = f"{HTTPS}:8443"
    web = {HTTPS: {}, odd: {"/robots.txt": ALLOWED}}
    told, found = collected(tmp_path, authority, web, None, f"{odd}/x")
    assert told["hosts"]["shop.test:8443"]["robots_txt"]["exists"]
    assert found.file(SHOP, "hosts/shop.test_8443/robots.txt").exists()


@pytest.mark.req("SED-12", "SED-30", "C-87")
@waits
async def test_what_answers_show_of_a_server(tmp_path: Path, authority: trustme.CA) -> None:
    here: list[Ground] = []
    mapped = replace(urlset("/a"), headers=(("Server", "nginx/1.18.0"), ("Server", "other")))
    squeezed = replace(
        ALLOWED, body=gzip.compress(ALLOWED.body), headers=(("Content-Encoding", "gzip"),)
    )
    web = {
        HTTPS: {
            "/robots.txt": slowly(here, 0.1, squeezed),
            "/sitemap.xml": slowly(here, 0.4, mapped),
        }
    }

    async with ground(tmp_path, authority, web) as found:
        here.append(found)
        await found.collect(*found.raw(1, record(HTTPS)))
        assert found.contract(SHOP)["technical_metadata"]["server_info"] == {
            "server": "nginx/1.18.0",
            "content_encoding": "gzip",
            "supports_https": True,
            "response_time_avg_ms": 250,
        }


@pytest.mark.req("SED-10", "SED-11", "C-55", "C-56")
def test_sizes_are_bytes_and_dates_are_iso(tmp_path: Path, authority: trustme.CA) -> None:
    rules = robots("User-agent: *", "Disallow: /관리자")
    dated = (("Last-Modified", "Tue, 20 Jan 2026 23:30:00 GMT"),)
    listing = replace(urlset("/소식"), headers=dated)
    web = {HTTPS: {"/robots.txt": replace(rules, headers=dated), "/sitemap.xml": listing}}
    told, found = collected(tmp_path, authority, web)
    at = "2026-01-20T23:30:00Z"
    assert (told["robots_txt"]["size"], told["robots_txt"]["last_modified"]) == (
        len(rules.body),
        at,
    )
    assert told["robots_txt"]["fetched_at"] == "2026-01-28T15:30:00Z"
    sitemap = told["sitemap_xml"]
    assert (sitemap["size"], sitemap["last_modified"]) == (len(listing.body), at)
    assert sitemap["last_updated"] == at, "no page says when it changed"
    written = found.file(SHOP, "domain_metadata.json").read_text("utf-8")
    assert "관리자" not in written and "소식" not in written, "bodies are files of their own"
    assert "content" not in {*told["robots_txt"], *told["sitemap_xml"]}
    assert found.file(SHOP, "robots.txt").read_bytes() == rules.body
    assert found.file(SHOP, "sitemap.xml").read_bytes() == listing.body


# redirects and guests


def test_robots_and_sitemap_may_lie_elsewhere(tmp_path: Path, authority: trustme.CA) -> None:
    www = "https://www.shop.test"
    moved = {path: to(www + path, 301) for path in ("/robots.txt", "/sitemap.xml")}
    web = {HTTPS: moved, www: {"/robots.txt": ALLOWED, "/sitemap.xml": urlset("/a")}}
    told, found = collected(tmp_path, authority, web)
    assert told["robots_txt"]["exists"]
    assert told["sitemap_xml"]["url_count"] == 1
    assert told["server_info"]["response_time_avg_ms"] == 0
    assert found.file(SHOP, "robots.txt").read_bytes() == ALLOWED.body


@pytest.mark.parametrize(
    ("location", "error"),
    [
        ("/robots.txt", "robots.txt redirects more than 5 times"),
        ("ftp://shop.test/", "HTTP 301"),
    ],
)
def test_robots_that_lead_nowhere_are_told(
    tmp_path: Path, authority: trustme.CA, location: str, error: str
) -> None:
    told, _ = collected(tmp_path, authority, {HTTPS: {"/robots.txt": to(location, 301)}})
    assert told["robots_txt"]["error"] == error


# what people decided


@pytest.mark.parametrize("by", ["rule", "person"])
@waits
async def test_a_blocked_host_is_not_asked(tmp_path: Path, authority: trustme.CA, by: str) -> None:
    config = seed_config()
    if by == "rule":
        config = replace(config, scope=replace(config.scope, blocked_hosts=(SHOP,)))
    async with ground(tmp_path, authority, {HTTPS: {}}, config) as found:
        if by == "person":
            await found.hand.world.store.sites.put(SiteRule(SHOP, "", Review.EXCLUDE, note="no"))
        await found.collect(*found.raw(1, record(HTTPS)))
        assert found.asked == []
        error = "site.excluded: no" if by == "person" else f"blocked_host: {SHOP}"
        told = found.contract(SHOP)["technical_metadata"]
        unasked = {"exists": False, "error": error, "fetched_at": None}
        assert told["robots_txt"] == told["sitemap_xml"] == unasked


def test_a_sitemap_on_a_blocked_host_is_not_asked_for(
    tmp_path: Path, authority: trustme.CA
) -> None:
    config = seed_config()
    config = replace(config, scope=replace(config.scope, blocked_hosts=("evil.test",)))
    web: Web = {
        HTTPS: {"/robots.txt": robots("Sitemap: https://evil.test/map.xml")},
        "https://evil.test": {"/map.xml": urlset("/a")},
    }
    _, found = collected(tmp_path, authority, web, config)
    assert paths(found) == ["/robots.txt", "/sitemap.xml"]
    assert not found.sites["https://evil.test"].log


async def lend(found: Ground, host: str, *, lease_s: float = 10_000) -> Lease:
    """Let somebody else have a host."""
    lent = await found.hand.world.store.frontier.reserve(
        "", host, owner="w-other", lease_s=lease_s, delay_s=0, now_s=found.clock.now_s()
    )
    assert isinstance(lent, Lease)
    return lent


@waits
async def test_a_host_that_others_ask_for_too_long_is_tried_later(
    tmp_path: Path, authority: trustme.CA
) -> None:
    async with ground(tmp_path, authority, {HTTPS: {}}) as found:
        await lend(found, f"{SHOP}:443")
        with pytest.raises(SeedError, match="had no turn in time") as error:
            await found.collect(*found.raw(1, record(HTTPS)))
        assert error.value.kind == ErrorType.TIMEOUT
        assert found.asked == []
        assert found.clock.now_s() - BEGIN_S == pytest.approx(hosts.LONGEST_TURN_S, abs=1)


@pytest.mark.parametrize(
    "routes",
    [
        {"/robots.txt": to("https://cdn.test/robots.txt")},
        {"/robots.txt": robots("Sitemap: https://cdn.test/map.xml")},
    ],
    ids=["robots", "sitemap"],
)
@waits
async def test_that_another_host_is_busy_is_no_fact(
    tmp_path: Path, authority: trustme.CA, routes: dict[str, Route]
) -> None:
    async with ground(tmp_path, authority, {HTTPS: routes}) as found:
        await lend(found, "cdn.test:443")
        with pytest.raises(SeedError, match="leads to a host that had no turn in time") as error:
            await found.collect(*found.raw(1, record(HTTPS)))
        assert error.value.kind == ErrorType.TIMEOUT
        assert found.tree() == {}


# sitemaps of every kind


@pytest.mark.req("SED-11", "C-54", "C-56")
def test_an_index_counts_the_pages_of_its_sitemaps(tmp_path: Path, authority: trustme.CA) -> None:
    web = {
        HTTPS: {
            "/robots.txt": ALLOWED,
            "/sitemap.xml": index("/1.xml", "/nested.xml", "/1.xml", "/gone.xml", "/feed.xml"),
            "/1.xml": urlset("/a", "/b", date="2026-01-02"),
            "/nested.xml": index("/deep.xml"),
            "/deep.xml": index("/too-deep.xml"),
            "/feed.xml": xml(
                "<rss><channel><item><link>https://shop.test/n</link>"
                "<pubDate>Mon, 05 Jan 2026 00:00:00 GMT</pubDate></item></channel></rss>"
            ),
        }
    }
    told, found = collected(tmp_path, authority, web)
    sitemap = told["sitemap_xml"]
    assert sitemap["sitemap_count"] == 5
    assert sitemap["sitemaps_read"] == 4
    assert sitemap["url_count"] == 3
    assert sitemap["last_updated"] == "2026-01-05T00:00:00Z"
    assert "/too-deep.xml" not in paths(found)
    assert found.file(SHOP, "sitemap.xml").read_bytes().startswith(b"<sitemapindex>")


@pytest.mark.req("SED-11", "C-54")
def test_an_index_of_which_nothing_could_be_read_has_no_count(
    tmp_path: Path, authority: trustme.CA
) -> None:
    foreign = index("/1.xml", host="other.test")
    told, found = collected(tmp_path, authority, {HTTPS: {"/sitemap.xml": foreign}})
    assert told["sitemap_xml"]["exists"]
    assert told["sitemap_xml"]["url_count"] is None
    assert told["sitemap_xml"]["sitemaps_read"] == 0
    assert paths(found) == ["/robots.txt", "/sitemap.xml"]


@pytest.mark.req("SED-11", "C-54")
def test_pages_are_counted_whatever_their_tags_look_like(
    tmp_path: Path, authority: trustme.CA
) -> None:
    page = f'<s:url id="1"><s:loc>{HTTPS}/a</s:loc></s:url>'
    tagged = xml(f'<s:urlset xmlns:s="urn:any">{page}<!-- <url> --><s:url/>{page}</s:urlset>')
    told, _ = collected(tmp_path, authority, {HTTPS: {"/sitemap.xml": tagged}})
    assert told["sitemap_xml"]["url_count"] == 2


@pytest.mark.parametrize(("limit", "asked", "counted"), [(4, 3, 3), (3, 2, 2), (0, 0, None)])
def test_no_more_sitemaps_are_read_than_that(
    tmp_path: Path, authority: trustme.CA, limit: int, asked: int, counted: int | None
) -> None:
    names = [f"/{number}.xml" for number in range(3)]
    web = {HTTPS: {"/sitemap.xml": index(*names)} | {name: urlset(name) for name in names}}
    told, found = collected(tmp_path, authority, web, seed_config(max_sitemaps=limit))
    assert sum(path in names for path in paths(found)) == asked
    assert told["sitemap_xml"].get("url_count") == counted
    assert told["sitemap_xml"]["exists"] is bool(limit)
    if not limit:
        assert "seeds.max_sitemaps" in told["sitemap_xml"]["error"]


@pytest.mark.parametrize(
    "answer",
    [
        Reply(b"<!doctype html><html><body>Welcome</body></html>"),
        Reply(b"<html><body><p>Welcome</p></body></html>"),
        Reply(b"nothing to see"),
        Reply(b""),
        Reply(status=204),
        xml('<!DOCTYPE x [<!ENTITY a "aaaa">]><urlset><url><loc>&a;</loc></url></urlset>'),
        Reply(gzip.compress(b"<urlset>" + b" " * 20_000_000), content_type="application/gzip"),
        Reply(gzip.compress(urlset("/a").body)[:40], content_type="application/gzip"),
    ],
    ids=["html", "plain-html", "words", "empty", "204", "entities", "bomb", "cut"],
)
def test_what_lists_nothing_is_no_sitemap(
    tmp_path: Path, authority: trustme.CA, answer: Reply
) -> None:
    told, found = collected(tmp_path, authority, {HTTPS: {"/sitemap.xml": answer}})
    assert told["sitemap_xml"]["exists"] is False
    assert told["sitemap_xml"]["error"]
    assert not found.file(SHOP, "sitemap.xml").exists()


def test_a_packed_sitemap_is_kept_as_it_came(tmp_path: Path, authority: trustme.CA) -> None:
    body = gzip.compress(urlset("/a", "/b").body)
    told, found = collected(
        tmp_path, authority, {HTTPS: {"/sitemap.xml": Reply(body, content_type="text/xml")}}
    )
    assert told["sitemap_xml"]["url_count"] == 2
    assert told["sitemap_xml"]["size"] == len(body)
    assert found.file(SHOP, "sitemap.xml").read_bytes() == body


def test_a_sitemap_above_its_limit_is_described_as_far_as_it_was_read(
    tmp_path: Path, authority: trustme.CA
) -> None:
    many = urlset(*(f"/{number}" for number in range(50_001)))
    told, found = collected(tmp_path, authority, {HTTPS: {"/sitemap.xml": many}})
    assert told["sitemap_xml"]["url_count"] == 50_000
    assert told["sitemap_xml"]["error"] == "it lists more than 50000 URLs; the rest was not read"
    assert found.file(SHOP, "sitemap.xml").read_bytes() == many.body


@pytest.mark.parametrize("over", [0, 1])
def test_what_is_kept_of_sitemaps_has_a_limit(
    tmp_path: Path, authority: trustme.CA, monkeypatch: pytest.MonkeyPatch, over: int
) -> None:
    answer = urlset("/a")
    monkeypatch.setattr(sitemaps, "MAX_KEPT_BYTES", len(answer.body) - over)
    told, found = collected(tmp_path, authority, {HTTPS: {"/sitemap.xml": answer}})
    assert told["sitemap_xml"]["url_count"] == 1
    copy = found.file(SHOP, "sitemap.xml")
    assert (copy.read_bytes() if copy.exists() else None) == (None if over else answer.body)
    assert ("error" in told["sitemap_xml"]) is bool(over)


# hostile servers


@pytest.mark.parametrize("answer", [packed_bomb, endless], ids=["bomb", "endless"])
def test_a_robots_txt_without_end_is_read_as_far_as_its_limit(
    tmp_path: Path, authority: trustme.CA, answer: Callable[[Seen], Reply | Raw]
) -> None:
    told, found = collected(tmp_path, authority, {HTTPS: {"/robots.txt": answer}})
    assert told["robots_txt"]["exists"]
    assert told["robots_txt"]["size"] == 524_288
    assert found.file(SHOP, "robots.txt").stat().st_size == 524_288


@pytest.mark.req("SED-29", "ERR-14")
def test_a_tar_pit_ends_by_its_time(tmp_path: Path, authority: trustme.CA) -> None:
    web = {HTTPS: {"/robots.txt": trickling}}
    told, found = collected(tmp_path, authority, web, impatient(0.4))
    assert paths(found) == ["/robots.txt"] * 4
    assert told["robots_txt"]["exists"] is False
    assert "time" in told["robots_txt"]["error"]
    assert told["server_info"]["supports_https"] is True


def test_facts_are_asked_for_whatever_a_crawl_would_do() -> None:
    config = seed_config()
    lax = replace(config, robots=replace(config.robots, respect=False, persist=True))
    rules = facts_config(lax).robots
    assert (rules.respect, rules.persist, rules.collect_sitemaps) == (True, False, True)


@pytest.mark.req("SED-36", "C-86")
@pytest.mark.parametrize(("config", "limit_s"), [(None, 60), (seed_config(domain_timeout_s=8), 8)])
@waits
async def test_the_servers_of_a_domain_have_one_time_together(
    tmp_path: Path, authority: trustme.CA, config: CrawlConfig | None, limit_s: int
) -> None:
    here: list[Ground] = []
    web = {HTTPS: {"/robots.txt": slowly(here, limit_s, ALLOWED), "/sitemap.xml": urlset("/a")}}

    async with ground(tmp_path, authority, web, config) as found:
        here.append(found)
        told = rf"took {limit_s}\.0 s; the limit is {limit_s} s"
        with pytest.raises(SeedError, match=told) as error:
            await found.collect(*found.raw(1, record(HTTPS)))
        assert error.value.kind == ErrorType.TIMEOUT
        assert found.tree() == {}
        assert paths(found) == ["/robots.txt"]
        now_s = found.clock.now_s() + limit_s  # a slow host rests as long as it took
        lent = await found.hand.world.store.frontier.reserve(
            "", f"{SHOP}:443", owner="w", lease_s=1, delay_s=0, now_s=now_s
        )
        assert isinstance(lent, Lease), "the host was given back"


@waits
async def test_what_is_whole_when_the_time_is_over_is_a_contract(
    tmp_path: Path, authority: trustme.CA
) -> None:
    here: list[Ground] = []

    web = {
        HTTPS: {
            "/robots.txt": ALLOWED,
            "/sitemap.xml": slowly(here, 59, index("/1.xml", "/2.xml")),
            "/1.xml": slowly(here, 2, urlset("/a", "/b")),
            "/2.xml": urlset("/c"),
        }
    }
    async with ground(tmp_path, authority, web) as found:
        here.append(found)
        await found.collect(*found.raw(1, record(HTTPS)))
        sitemap = found.contract(SHOP)["technical_metadata"]["sitemap_xml"]
        assert (sitemap["sitemaps_read"], sitemap["url_count"]) == (1, 2)


@pytest.mark.req("SED-29")
@waits
async def test_servers_that_only_take_time_do_not_fail_their_domain(
    tmp_path: Path, authority: trustme.CA
) -> None:
    here: list[Ground] = []
    web = {HTTPS: {"/robots.txt": slowly(here, 31, Reply(status=500))}}

    async with ground(tmp_path, authority, web) as found:
        here.append(found)
        await found.collect(*found.raw(1, record(HTTPS)))
        assert paths(found) == ["/robots.txt"] * 2
        told = found.contract(SHOP)["technical_metadata"]
        assert told["robots_txt"]["error"] == "HTTP 500"


@waits
async def test_no_request_has_more_time_than_is_left(tmp_path: Path, authority: trustme.CA) -> None:
    here: list[Ground] = []
    requests: list[Request] = []
    web = {HTTPS: {"/robots.txt": slowly(here, 57, ALLOWED), "/sitemap.xml": urlset("/a")}}

    async with ground(tmp_path, authority, web) as found:
        here.append(found)
        note_requests(found, requests)
        await found.collect(*found.raw(1, record(HTTPS)))
        assert [one.total_timeout_s for one in requests] == pytest.approx([10.0, 3.0])


@waits
async def test_an_address_that_has_enough_to_do_is_waited_for(
    tmp_path: Path, authority: trustme.CA
) -> None:
    config = seed_config()
    config = replace(config, politeness=replace(config.politeness, per_ip=1))

    web: Web = {HTTPS: {}, "https://other.test": {}}
    async with ground(tmp_path, authority, web, config) as found:
        frontier, now_s = found.hand.world.store.frontier, found.clock.now_s()
        other = await lend(found, "other.test:443", lease_s=30)
        assert await frontier.place(other, "127.0.0.1", per_ip=1, now_s=now_s)
        await found.collect(*found.raw(1, record(HTTPS)))
        assert found.hand.fetcher.asked[0].at_s - now_s >= 30


def test_a_sitemap_that_leads_where_robots_forbids_is_not_followed(
    tmp_path: Path, authority: trustme.CA
) -> None:
    forbidding = robots("User-agent: *", "Disallow: /admin")
    web = {HTTPS: {"/robots.txt": forbidding, "/sitemap.xml": to("/admin/map.xml")}}
    told, found = collected(tmp_path, authority, web)
    assert told["sitemap_xml"]["error"] == ("robots.txt: line 2: Disallow: /admin (User-agent: *)")
    assert paths(found) == ["/robots.txt", "/sitemap.xml"]


CDN = "https://cdn.test"


@pytest.mark.req("ROB-28", "C-58")
@pytest.mark.parametrize(
    "routes",
    [
        {"/robots.txt": robots("User-agent: *", "Allow: /", f"Sitemap: {CDN}/map.xml")},
        {"/robots.txt": ALLOWED, "/sitemap.xml": to(f"{CDN}/map.xml")},
    ],
    ids=["named", "led to"],
)
def test_another_host_is_asked_for_nothing_that_its_own_robots_forbids(
    tmp_path: Path, authority: trustme.CA, routes: dict[str, Route]
) -> None:
    forbidding = {"/robots.txt": robots("User-agent: *", "Disallow: /"), "/map.xml": urlset("/a")}
    told, found = collected(tmp_path, authority, {HTTPS: routes, CDN: forbidding})
    assert f"{CDN}/robots.txt" in found.asked and f"{CDN}/map.xml" not in found.asked
    assert not told["sitemap_xml"]["exists"]


def test_another_host_is_asked_once_for_its_robots(tmp_path: Path, authority: trustme.CA) -> None:
    named = robots("User-agent: *", *(f"Sitemap: {CDN}/{number}.xml" for number in range(5)))
    lists = {"/robots.txt": ALLOWED, "/4.xml": urlset("/a")}
    told, found = collected(tmp_path, authority, {HTTPS: {"/robots.txt": named}, CDN: lists})
    assert told["sitemap_xml"]["url"] == f"{CDN}/4.xml"
    assert found.asked == [
        f"{HTTPS}/robots.txt",
        f"{CDN}/robots.txt",
        *(f"{CDN}/{number}.xml" for number in range(5)),
    ]


def test_another_host_that_nobody_reaches_is_told(tmp_path: Path, authority: trustme.CA) -> None:
    named = robots("User-agent: *", f"Sitemap: {CDN}/map.xml")
    told, found = collected(tmp_path, authority, {HTTPS: {"/robots.txt": named}, CDN: None})
    assert found.asked.count(f"{CDN}/robots.txt") == 4  # ERR-13
    assert f"{CDN}/map.xml" not in found.asked
    assert told["sitemap_xml"]["error"] == "HTTP 404"  # of /sitemap.xml, which comes after it
