"""Redirects: each hop is a URL of its own, asked once, judged like any other."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from geomi.model.verdict import Outcome, State
from tests.support.crawl import crawl_site, page, paths, profile_config, robots, to
from tests.support.server import Reply, Site
from tests.support.timed_crawl import hand_in
from tests.support.waiting import waits


@pytest.mark.req("ERR-02", "HTTP-07", "META-03", "LNK-19", "URL-17")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_chain_ends_in_one_record(tmp_path: Path, status: int) -> None:
    """The record names what was asked for and what came; every hop is asked for once."""
    routes = {
        "/": page("home", "/one"),
        "/one": to("/two", status),
        "/two": to("/three?x=1", status),
        "/three": page("three", "deeper"),
        "/deeper": page("deeper"),
    }
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"))
        assert paths(site.log) == ["/", "/one", "/two", "/three?x=1", "/deeper"]
    record = crawled.record(site.url("/one"))
    assert record["final_url"] == site.url("/three?x=1")
    assert record["status"] == 200
    assert record["depth"] == 1
    assert crawled.record(site.url("/deeper"))["parent"] == site.url("/three?x=1")
    assert crawled.report.job.stats.redirected == 2
    hop = crawled.entries[site.url("/one")]
    assert (hop.state, hop.outcome, hop.status) == (State.SKIPPED, Outcome.REDIRECTED, status)
    assert hop.detail == f"redirects to {site.url('/two')}"


def test_a_target_that_is_known_is_not_asked_again(tmp_path: Path) -> None:
    """Two ways to one page make one request and one record."""
    routes = {"/": page("home", "/old", "/new", "/older"), "/old": to("/new"), "/older": to("/old")}
    with Site({**routes, "/new": page("new")}) as site:
        crawled = crawl_site(tmp_path, site.url("/"))
        assert Counter(paths(site.log)) == Counter(["/", "/old", "/new", "/older"])
    assert crawled.urls.count(site.url("/new")) == 1
    assert len(crawled.records) == 2


@pytest.mark.req("HTTP-07")
def test_a_loop_ends(tmp_path: Path) -> None:
    """Each URL of a loop is asked for once, and none becomes a page."""
    routes = {
        "/": page("home", "/a", "/self"),
        "/a": to("/b"),
        "/b": to("/a"),
        "/self": to("/self"),
    }
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"))
        assert Counter(paths(site.log)) == Counter(["/", "/a", "/b", "/self"])
    assert len(crawled.records) == 1
    assert crawled.report.job.stats.settled == 1, "a redirect uses up no page"


@pytest.mark.req("HTTP-07", "WF-10", "WF-11")
@pytest.mark.parametrize("limit", [0, 3])
def test_too_many_hops_fail(tmp_path: Path, limit: int) -> None:
    """The hop after the last allowed one is not asked for."""
    routes = {f"/{n}": to(f"/{n + 1}") for n in range(10)}
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url("/0"), assignments=[f"http.max_redirects={limit}"])
        assert paths(site.log) == [f"/{n}" for n in range(limit + 1)]
    last = crawled.entries[site.url(f"/{limit}")]
    assert (last.state, last.outcome) == (State.FAILED, Outcome.TOO_MANY_REDIRECTS)
    assert site.url(f"/{limit + 1}") in last.detail


@pytest.mark.req("HTTP-07", "ERR-02", "LNK-19")
@pytest.mark.parametrize(("hops", "is_kept"), [(3, True), (4, False)])
@waits
async def test_a_documentation_crawl_follows_three(
    tmp_path: Path, hops: int, is_kept: bool
) -> None:
    """The limit of seed 000: three hops are followed, a fourth ends in `failed`."""
    routes = {f"/{n}": to(f"/{n + 1}") for n in range(hops)}

    with Site({**routes, f"/{hops}": page("there")}) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(profile_config("docs"), site.url("/0"))
            states = [entry.state for entry in (await hand.entries(job)).values()]
    assert job.stats.collected == int(is_kept)
    assert (State.FAILED in states) is not is_kept


@pytest.mark.req("URL-17", "ERR-02")
@pytest.mark.parametrize(
    "location",
    ["/page#part", "/page/", "/./x/../page", "/page?utm_source=mail", "/p%61ge", "//HOST/page"],
)
def test_the_target_has_one_identity_however_it_is_spelled(tmp_path: Path, location: str) -> None:
    """The final URL goes through the same rules as a link: one page, one record."""
    with Site({}) as site:
        there = location.replace("HOST", f"127.0.0.1:{site.port}")
        site.routes = {
            "/": page("home", "/page", "/old"),
            "/page": page("page"),
            "/old": to(there),
        }
        crawled = crawl_site(tmp_path, site.url("/"))
        assert paths(site.log) == ["/", "/page", "/old"]
    assert sorted(crawled.urls) == [site.url("/"), site.url("/page")]
    assert crawled.record(site.url("/page"))["final_url"] == site.url("/page")


@pytest.mark.req("SEC-04")
def test_out_of_scope_is_recorded_and_not_fetched(tmp_path: Path) -> None:
    """The rule that excludes the target is named, and the other host is left alone."""
    with Site({"/": page("other")}, address="127.0.0.2") as other:
        routes = {
            "/": page("home", "/away", "/mail"),
            "/away": to(other.url("/")),
            "/mail": to("mailto:a@b"),
        }
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
        assert other.log == []
    entry = crawled.entries[site.url("/away")]
    assert (entry.state, entry.outcome) == (State.SKIPPED, Outcome.REDIRECT_EXCLUDED)
    assert other.url("/") in entry.detail
    assert "scope.host" in entry.detail
    assert crawled.exclusions["scope.host"] == (1, (other.url("/"),))
    assert crawled.entries[site.url("/mail")].outcome is Outcome.REDIRECT_EXCLUDED


@pytest.mark.req("ERR-02", "ROB-03")
def test_another_host_is_asked_in_its_own_turn(tmp_path: Path) -> None:
    """A target on another host is an entry of that host: its robots.txt comes first."""
    forbidding = {
        "/robots.txt": robots("User-agent: *", "Disallow: /secret"),
        "/open": page("open"),
    }
    with Site(forbidding, address="127.0.0.2") as other:
        routes = {
            "/": page("home", "/to-open", "/to-secret"),
            "/to-open": to(other.url("/open")),
            "/to-secret": to(other.url("/secret")),
        }
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"), scope="any")
        assert [seen.path for seen in other.log] == ["/robots.txt", "/open"]
    assert crawled.record(site.url("/to-open"))["final_url"] == other.url("/open")
    assert crawled.entries[other.url("/secret")].state is State.BLOCKED


@pytest.mark.parametrize(
    ("asked", "location"),
    [
        ("/docs", "/docs/"),
        ("/docs/", "/docs"),
        ("/p?utm_source=x&id=1", "/p?id=1"),
        ("//twice//over", "/twice/over"),
        ("/%7Eme", "/~me"),
    ],
)
def test_another_spelling_of_itself_is_followed(tmp_path: Path, asked: str, location: str) -> None:
    """`/docs` and `/docs/` are one entry, so what one redirects to must not count as known."""
    with Site({}) as site:
        here = site.url("")
        answers = {
            "/": page("home", here + asked),
            asked: to(location),
            location: page("there", "sub"),
        }
        site.otherwise = lambda seen: answers.get(seen.target, Reply(status=404))
        crawled = crawl_site(tmp_path, site.url("/"))
        assert paths(site.log)[:3] == ["/", asked, location]
    record = crawled.record(here + asked)
    assert record["final_url"] == here + location
    assert [link["url"] for link in record["links"]] == [here + _sibling(location, "sub")]
    assert crawled.entries[here + asked].state is State.COMPLETED


def test_spellings_that_lead_to_each_other_end(tmp_path: Path) -> None:
    """A server that cannot decide on a slash is asked twice and given up."""
    with Site({"/": page("home", "/a"), "/a": to("/a/"), "/a/": to("/a")}) as site:
        crawled = crawl_site(tmp_path, site.url("/"))
        assert paths(site.log) == ["/", "/a", "/a/"]
    assert crawled.entries[site.url("/a")].state is State.SKIPPED


@pytest.mark.req("HTTP-14")
def test_another_spelling_is_judged_again(tmp_path: Path) -> None:
    """robots.txt may allow `/docs` and forbid `/docs/`."""
    routes = {
        "/robots.txt": robots("User-agent: *", "Disallow: /docs/"),
        "/": page("home", "/docs", "/x"),
        "/docs": to("/docs/"),
        "/x": to("/x/"),
        "/x/": page("x"),
    }
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"), exclude=("/x/*",))
        assert paths(site.log) == ["/", "/docs", "/x", "/x/"]
    assert crawled.entries[site.url("/docs")].state is State.BLOCKED
    assert "line 2" in crawled.entries[site.url("/docs")].detail


def _sibling(location: str, name: str) -> str:
    return location.partition("?")[0].rpartition("/")[0] + "/" + name
