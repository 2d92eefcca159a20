"""Rules in a running crawl: what is never asked for, what is judged anew, and under which form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from geomi.model.site import Review, SiteRule
from geomi.model.verdict import Outcome, State
from tests.support.crawl import (
    Crawled,
    Ear,
    crawl_in,
    crawl_site,
    home_in,
    page,
    paths,
    plan,
    profile_config,
    robots,
    to,
)
from tests.support.server import End, Raw, Reply, Route, Site
from tests.support.waiting import waits


@pytest.mark.req("SCP-04", "SCP-13")
def test_an_excluded_url_is_no_entry_whatever_robots_says(tmp_path: Path) -> None:
    """The exclude list comes first: it is neither asked for nor kept, only counted (C-93)."""
    routes = {
        "/robots.txt": robots("User-agent: *", "Allow: /no/", "Disallow: /private/"),
        "/": page("home", "/no/x", "/private/x", "/a"),
        "/a": page("a"),
    }
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"), exclude=("/no/**",))
    assert paths(site.log) == ["/", "/a"]
    assert crawled.states(site) == {
        "/": State.COMPLETED,
        "/a": State.COMPLETED,
        "/private/x": State.BLOCKED,
    }
    assert crawled.exclusions["exclude"] == (1, (site.url("/no/x"),))


@pytest.mark.req("FUT-06")
def test_an_expression_keeps_urls_out(tmp_path: Path) -> None:
    """`re:` is searched in the path, and in path and query."""
    names = ["/v1", "/v22", "/v", "/a?session=7"]
    routes = {"/": page("home", *names), "/v": page("v"), "/v1": page("1"), "/a": page("a")}
    with Site(routes) as site:
        crawl_site(tmp_path, site.url("/"), exclude=("re:^/v[0-9]+$", "re:session=[0-9]"))
    assert paths(site.log) == ["/", "/v"]


@pytest.mark.req("SCP-11", "ERR-17", "ERR-18")
def test_a_url_that_gave_connection_errors_is_not_asked_again(tmp_path: Path) -> None:
    """After its tries it is over for the job, whoever links to it, and under whatever rules."""
    routes: dict[str, Route] = {
        "/": page("home", "/reset", "/a"),
        "/a": page("a", "/reset", "/b"),
        "/b": page("b", "/reset"),
        "/reset": Raw((), End.RESET),
    }
    with Site(routes) as site:
        once = ("http.max_retries=0",)
        crawled = crawl_site(tmp_path, site.url("/"), max_pages=2, assignments=once)
        asked_first = list(paths(site.log))
        crawl_site(tmp_path, site.url("/"), exclude=("/no/**",), assignments=once, resume=True)
    assert crawled.entries[site.url("/reset")].outcome is Outcome.CONNECT_ERROR
    assert 1 <= asked_first.count("/reset") <= 2
    assert paths(site.log)[len(asked_first) :] == ["/a", "/b"]


ROOMS = {
    "/": page("home", "/a/1", "/b/1", "/c"),
    "/a/1": page("a1", "/a/2"),
    "/a/2": page("a2"),
    "/b/1": page("b1", "/b/2"),
    "/b/2": page("b2"),
    "/c": page("c", "/c/1"),
    "/c/1": page("c1"),
}


@pytest.mark.parametrize(
    ("options", "asked_later", "rule"),
    [
        ({}, {"/a/1", "/b/1", "/c", "/a/2", "/b/2", "/c/1"}, ""),
        ({"exclude": ("/a/**",)}, {"/b/1", "/c", "/b/2", "/c/1"}, "exclude"),
        ({"include": ("/b/**",)}, {"/b/1", "/b/2"}, "include"),
        ({"depth": 0}, set(), "depth"),
    ],
)
@pytest.mark.req("SCP-02")
def test_what_waits_is_judged_by_the_rules_of_a_resumed_job(
    tmp_path: Path,
    options: dict[str, Any],
    asked_later: set[str],
    rule: str,
) -> None:
    """URLs queued before `--resume -x/-i/-d` obey what was said then, without a request."""
    with Site(ROOMS) as site:
        crawl_site(tmp_path, site.url("/"), max_pages=1)
        before = len(paths(site.log))
        assert paths(site.log) == ["/"]
        wider = {"max_pages": 100, **options}
        crawled = crawl_site(tmp_path, site.url("/"), resume=True, **wider)
    assert set(paths(site.log)[before:]) == asked_later
    dropped = {url for url, one in crawled.entries.items() if one.outcome is Outcome.EXCLUDED}
    waited = {site.url(path) for path in ("/a/1", "/b/1", "/c")}
    assert dropped == waited - {site.url(path) for path in asked_later}
    assert (rule in crawled.exclusions) is bool(rule)


@waits
async def reviewed(root: Path, site: Site, *rules: SiteRule, seed: str = "/") -> Crawled:
    """Crawl after somebody has looked at the site."""
    ear = Ear()
    async with home_in(root, ear) as home:
        for rule in rules:
            await home.world.store.sites.put(rule)
        return await crawl_in(home, ear, plan([site.url(seed)], scope="any"))


@pytest.mark.req("TRP-07")
def test_a_site_that_somebody_excluded_is_not_asked(tmp_path: Path) -> None:
    """Not even for its robots.txt; other hosts go on."""
    with Site({"/": page("other")}, address="127.0.0.2") as other:
        routes = {"/": page("home", other.url("/"), "/a"), "/a": page("a")}
        with Site(routes) as site:
            rule = SiteRule("127.0.0.2", "", Review.EXCLUDE, "ads")
            crawled = reviewed(tmp_path, site, rule)
    assert other.log == []
    assert paths(site.log) == ["/", "/a"]
    assert crawled.exclusions["site.excluded"][0] == 1


@pytest.mark.req("TRP-07")
def test_a_trap_that_somebody_allowed_is_entered(tmp_path: Path) -> None:
    """Both kinds: what one URL shows, and what is counted."""
    months = [f"/cal/{2020 + n // 12}/{n % 12 + 1:02}" for n in range(60)]
    text = "nothing happens here, as on every other day of the year, come again later" * 3
    routes = {"/": page("home", "/x/x/x/x", months[0]), "/x/x/x/x": page("loop")}
    for at, path in enumerate(months):
        routes[path] = page("", *months[at + 1 : at + 3], text=text)
    with Site(routes) as site:
        crawled = reviewed(tmp_path / "strict", site)
        assert {"trap.repeating_path", "trap.calendar"} <= set(crawled.exclusions)
        before = len(site.log)
        allowed = reviewed(tmp_path / "open", site, SiteRule("127.0.0.1", "", Review.ALLOW))
    assert set(paths(site.log[before:])) == set(routes)
    assert not [rule for rule in allowed.exclusions if rule.startswith("trap")]


@pytest.mark.req("SCP-15", "LEG-09")
def test_a_page_behind_a_login_is_not_collected(tmp_path: Path) -> None:
    """Neither the page nor the form it sends visitors to."""
    routes = {
        "/": page("home", "/docs/open", "/docs/closed", "/docs/secret"),
        "/docs/open": page("open"),
        "/docs/closed": to("/signin?next=/docs/closed"),
        "/docs/secret": Reply(b"<p>sign in", status=401),
        "/signin": page("form"),
    }
    with Site(routes) as site:
        rules = ("scope.block_defaults=false", "scope.personal_areas=false")
        crawled = crawl_site(tmp_path, site.url("/"), assignments=rules)
    assert sorted(crawled.urls) == [site.url("/"), site.url("/docs/open")]
    assert crawled.entries[site.url("/docs/closed")].outcome is Outcome.REDIRECT_EXCLUDED
    assert "/signin" not in {seen.path for seen in site.log}


@pytest.mark.req("URL-05", "URL-06", "URL-10")
def test_the_key_is_what_the_server_sees(tmp_path: Path) -> None:
    """Where the job says so; a server that wants its slash is given it, in the same visit."""
    routes = {
        "/": page("home", "/a?x=1", "/a/?y=2#z", "/b///c", "/d/"),
        "/a": page("a"),
        "/b/c": page("c"),
        "/d": to("/d/"),
        "/d/": page("d"),
    }
    keys = ("url.fetch_form=key", "url.query=strip_all")
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"), assignments=keys)
    assert sorted(paths(site.log)) == ["/", "/a", "/b/c", "/d", "/d/"]
    assert len(crawled.records) == 4


@pytest.mark.req("LNK-01", "FRN-02", "FRN-04")
def test_in_breadth_depth_by_depth(tmp_path: Path) -> None:
    """What a sitemap lists has no advantage, and one depth is first in, first out."""
    near = [f"/1/{number}" for number in range(25)]  # more than a host is lent for at once
    routes = {
        "/": page("home", *near),
        **{path: page(path) for path in near},
        "/1/0": page("1/0", "/2/a"),
        "/1/1": page("1/1", "/2/b"),
        "/1/listed": page("listed"),
        "/2/a": page("2a", "/3/a"),
        "/2/b": page("2b"),
        "/3/a": page("3a"),
    }
    with Site(routes) as site:
        listed = f"<urlset><url><loc>{site.url('/1/listed')}</loc></url></urlset>".encode()
        site.routes = routes | {
            "/robots.txt": robots(f"Sitemap: {site.url('/sitemap.xml')}"),
            "/sitemap.xml": Reply(listed, content_type="application/xml"),
        }
        order = profile_config("docs").order
        crawl_site(tmp_path, site.url("/"), assignments=(f"order={order}",))
    asked = [path for path in paths(site.log) if path in routes]
    assert asked == ["/", *near, "/1/listed", "/2/a", "/2/b", "/3/a"]


def test_a_sitemap_that_moved_twice_is_still_an_index(tmp_path: Path) -> None:
    """Redirects are hops, indexes are nesting; neither uses up the other (C-82)."""
    with Site({}) as site:
        index = "<sitemapindex><sitemap><loc>{}</loc></sitemap></sitemapindex>"
        listed = f"<urlset><url><loc>{site.url('/page')}</loc></url></urlset>"
        xml = "application/xml"
        site.routes = {
            "/robots.txt": robots("User-agent: *", f"Sitemap: {site.url('/s0')}"),
            "/": page("home"),
            "/s0": to("/s1"),
            "/s1": to("/s2"),
            "/s2": Reply(index.format(site.url("/t0")).encode(), content_type=xml),
            "/t0": to("/t1"),
            "/t1": Reply(index.format(site.url("/u")).encode(), content_type=xml),
            "/u": Reply(listed.encode(), content_type=xml),
            "/page": page("page"),
        }
        crawled = crawl_site(tmp_path, site.url("/"))
    assert site.url("/page") in crawled.urls
