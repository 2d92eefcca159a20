"""Every way into a crawl × every spelling of a forbidden address: the canary is never reached.

One crawl tries all spellings by one way in. What was refused is checked by name: a URL that got
lost for another reason proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import pytest

from geomi.app import make_plan
from geomi.cli.collect.plan import survey_sites
from geomi.cli.options import Configured
from geomi.errors import ConfigError, NothingFetched
from geomi.library import Crawler
from geomi.model.entry import EntryKind, UrlEntry
from geomi.model.event import RobotsFetched
from geomi.model.verdict import Outcome
from geomi.settings.layers import flags_layer, resolve, settings_layer
from geomi.settings.options import Settings
from tests.security.ground import ALONE, EVIL, Ground, Numbered, in_one_line, numbered
from tests.security.spellings import SCHEMES, SPELLINGS
from tests.support.crawl import LOCAL, crawl_site, page, robots, to
from tests.support.server import Reply, Route, Seen, Site
from tests.support.waiting import waits

HOME = f"http://{EVIL}/"
MAP = f"http://{EVIL}/map.xml"
SITEMAPS_A_HOST = 40  # of the fifty that a crawl takes from one


def test_the_tables_are_what_they_say() -> None:
    """A spelling that our parser does not read names no rule, and the other way round."""
    base = {True: HOME, False: None}
    assert [
        one.written
        for n, one in numbered()
        if (one.url(n, 8080, base[one.needs_base]) is None) != (one.rule == "")
    ] == []
    assert sum(one.rule != "" for one in SPELLINGS) >= 90
    assert len({scheme.partition(":")[0].lower() for scheme in SCHEMES}) >= 20


@pytest.mark.req("SEC-01", "SEC-02", "SEC-03")
def test_start_urls(ground: Ground) -> None:
    """What can be read is refused by the gate, what cannot before anything is opened."""
    readable, unreadable = [], []
    for each in _typed():
        try:
            make_plan([ground.text(each)], resolve([]), flags_layer({}))
        except ConfigError:
            unreadable.append(each)
        else:
            readable.append(each)
    assert [one.written for _, one in readable if not one.rule] == []
    assert [one.written for _, one in unreadable if one.rule] == []
    crawled = ground.crawl({}, *map(ground.text, readable), scope="any")
    ground.assert_refused(crawled.entries.values(), readable, "https://x.example/")
    assert crawled.report.nothing_reached


@pytest.mark.req("SEC-01", "SEC-02", "SEC-03")
def test_links(ground: Ground) -> None:
    tried = numbered()
    crawled = ground.crawl({"/": _linking(ground, tried)}, HOME, scope="any")
    ground.assert_refused(crawled.entries.values(), tried, HOME)


@pytest.mark.req("SEC-02")
def test_links_of_a_page_that_moves_its_base(ground: Ground) -> None:
    """Relative links are where `<base>` says, and that is judged like any other place."""
    head = f'<base href="http://127.1:{ground.port}/">'
    crawled = ground.crawl({"/": page("home", "s0", "/s1", head=head)}, HOME, scope="any")
    ground.assert_refused(crawled.entries.values(), numbered(SPELLINGS[:2]))


@pytest.mark.req("SEC-01", "SEC-02", "SEC-03")
def test_redirects(ground: Ground) -> None:
    tried = in_one_line(numbered())
    routes: dict[str, Route] = {f"/r{n}": _to(ground.text((n, one))) for n, one in tried}
    routes["/"] = page("home", *[f"/r{n}" for n, _ in tried])
    crawled = ground.crawl(routes, HOME, scope="any")
    ground.assert_refused(crawled.entries.values(), tried, HOME)
    ends = {n: crawled.entries[f"{HOME}r{n}"].outcome for n, _ in tried}
    assert ends == {
        n: Outcome.REDIRECTED if one.url(n, ground.port, HOME) else Outcome.REDIRECT_EXCLUDED
        for n, one in tried
    }


@pytest.mark.req("SEC-02")
def test_redirects_in_a_row(ground: Ground) -> None:
    """The second hop is judged as the first was."""
    routes = {"/": to("/a"), "/a": to("/b", 307), "/b": to(f"http://0x7f.1:{ground.port}/s0", 308)}
    crawled = ground.crawl(routes, HOME, scope="any")
    ground.assert_refused(crawled.entries.values(), numbered(SPELLINGS[:1]))


@pytest.mark.req("SEC-01", "SEC-02", "SEC-03")
@pytest.mark.parametrize("kind", ["xml", "text"])
def test_pages_of_a_sitemap(ground: Ground, kind: str) -> None:
    """The hosts are named by the scope list, so that only the gate is left to say no."""
    tried = [each for each in in_one_line(numbered()) if _is_location(ground.text(each))]
    texts = [ground.text(each) for each in tried]
    listing = _sitemap("urlset", "url", texts) if kind == "xml" else _plain("\n".join(texts))
    routes = {"/robots.txt": robots(f"Sitemap: {MAP}"), "/": page("home"), "/map.xml": listing}
    urls = [one.url(n, ground.port) for n, one in tried]
    hosts = ",".join(sorted({url.authority for url in urls if url}))
    crawled = ground.crawl(routes, HOME, scope="list", assignments=[f"scope.hosts={hosts}"])
    ground.assert_refused(crawled.entries.values(), tried)


@pytest.mark.req("SEC-01", "SEC-02")
def test_pages_of_a_listing(ground: Ground) -> None:
    """What an /llms.txt names is judged like any link."""
    tried = [each for each in in_one_line(numbered()) if _fits_markdown(ground.text(each))]
    assert len(tried) > 90
    lines = [f"- [x]({ground.text(each)})" for each in tried]
    routes = {"/": page("home"), "/llms.txt": _plain("\n".join(lines))}
    probing = ["scope.probe=true"]
    crawled = ground.crawl(routes, HOME, scope="any", assignments=probing)
    ground.assert_refused(crawled.entries.values(), tried, HOME)


@pytest.mark.req("SEC-02")
def test_a_look_before_the_crawl(ground: Ground) -> None:
    """`geomi map` and `geomi plan` follow no redirect to where a crawl may not go."""
    canary = f"http://127.1:{ground.port}/s0"
    routes = {
        "/": to(canary),
        "/sitemap.xml": to(canary),
        "/llms.txt": to(canary),
        "/robots.txt": robots(f"Sitemap: {canary}"),
    }
    with ground.evil(routes) as overrides:
        flags = flags_layer({"scope": "any", "delay": 0.0}, [*ALONE, "scope.probe=true"])
        settings = Settings(contact="https://crawler.test/about", resolve=overrides)
        configured = Configured(settings, resolve([flags, settings_layer(settings)]), flags)
        found = survey_sites([HOME], configured, ground.root, samples=5)
    assert {one.problem.partition(":")[0] for one in found.lists} == {Outcome.ADDRESS_REFUSED}


@pytest.mark.req("SEC-01", "SEC-02", "SEC-03")
def test_sitemap_lines_of_robots_txt(ground: Ground) -> None:
    tried = in_one_line(numbered())
    parts = _parts(tried)
    files = {
        host: robots(*[f"Sitemap: {ground.text(each)}" for each in part])
        for host, part in parts.items()
    }
    routes: dict[str, Route] = {
        "/robots.txt": lambda seen: files[seen.host],
        "/": lambda seen: page(seen.host),
    }
    crawled = ground.crawl(routes, *[f"http://{host}/" for host in parts], hosts=[*parts])
    ground.assert_refused(crawled.entries.values(), tried)
    assert _kinds(crawled.entries.values()) == {EntryKind.PAGE, EntryKind.SITEMAP}


@pytest.mark.req("SEC-02")
def test_sitemaps_of_a_sitemap(ground: Ground) -> None:
    """A sitemap may name others of its own host alone; the rule is counted (C-82)."""
    tried = in_one_line(numbered())
    index = _sitemap("sitemapindex", "sitemap", [ground.text(each) for each in tried])
    routes = {"/robots.txt": robots(f"Sitemap: {MAP}"), "/": page("home"), "/map.xml": index}
    crawled = ground.crawl(routes, HOME)
    ground.assert_refused(crawled.entries.values(), [])
    count, _ = crawled.exclusions["sitemap.host"]
    assert count >= sum(_is_location(ground.text(each)) for each in tried)


@pytest.mark.req("SEC-01", "SEC-02", "SEC-03")
def test_redirects_of_sitemaps(ground: Ground) -> None:
    tried = in_one_line(numbered())
    parts = _parts(tried)
    routes: dict[str, Route] = {f"/m{n}.xml": _to(ground.text((n, one))) for n, one in tried}
    files = {
        host: robots(*[f"Sitemap: http://{host}/m{n}.xml" for n, _ in part])
        for host, part in parts.items()
    }
    routes |= {
        "/robots.txt": lambda seen: files[seen.host],
        "/": lambda seen: page(seen.host),
    }
    crawled = ground.crawl(routes, *[f"http://{host}/" for host in parts], hosts=[*parts])
    ground.assert_refused(crawled.entries.values(), tried, HOME)


@pytest.mark.req("SEC-01", "SEC-02", "SEC-03")
def test_redirects_of_robots_txt(ground: Ground) -> None:
    """What robots.txt redirects to is asked for before any page, so it is refused before any."""
    tried = in_one_line(numbered())
    names = {f"s{n}.{EVIL}": (n, one) for n, one in tried}

    def file(seen: Seen) -> Reply:
        return _to(ground.text(names[seen.host]))

    routes: dict[str, Route] = {"/robots.txt": file, "/": lambda seen: page(seen.host)}
    crawled = ground.crawl(routes, *[f"http://{name}/" for name in names], hosts=[*names])
    told = {event.host: event.detail for event in crawled.ear.of(RobotsFetched)}
    for name, (n, one) in names.items():
        entry = crawled.entries[f"http://{name}/"]
        if one.url(n, ground.port, HOME) is not None:
            assert entry.outcome is Outcome.ADDRESS_REFUSED, one
            assert f"({one.rule}:" in entry.detail and f"({one.rule}:" in told[f"{name}:80"]


@pytest.mark.req("SEC-01", "SEC-02", "SEC-03")
@pytest.mark.parametrize("half", [0, 1])
@waits
async def test_one_page_alone(ground: Ground, half: int) -> None:
    """`geomi scrape`, the preview, has no way of its own to the network."""
    tried = _typed()[half::2]

    async with Crawler() as crawler:
        told = {n: await _problem(crawler, ground.text((n, one))) for n, one in tried}
    ground.assert_untouched()
    assert [one.written for n, one in tried if one.rule and f"({one.rule}:" not in told[n]] == []
    assert [one.written for n, one in tried if not one.rule and "not a URL" not in told[n]] == []


@pytest.mark.req("SEC-02")
@waits
async def test_one_page_alone_follows_no_redirect_inside(ground: Ground) -> None:
    routes = {"/": to(f"http://localhost:{ground.port}/s0")}
    with ground.evil(routes) as overrides:
        async with Crawler(resolve=overrides, delay=0.0) as crawler:
            assert "address_refused" in await _problem(crawler, HOME)


def test_the_guard_is_what_keeps_the_canary_safe(ground: Ground) -> None:
    """Without it, every spelling of loopback gets through: the suite can see what it looks for."""
    places = {"127.0.0.1": 0, "localhost": 0, "[::1]": 1}
    tried = [
        (n, one)
        for n, one in numbered()
        if (url := one.url(n, ground.port, HOME)) is not None
        and url.scheme == "http"
        and places.get(url.host, len(ground.sites)) < len(ground.sites)
    ]
    with Site({"/": _linking(ground, tried)}) as site:
        crawl_site(ground.root, site.url("/"), scope="any", settings=LOCAL)
    reached = {seen.path for canary in ground.sites for seen in canary.log}
    assert len(tried) > 40
    assert {f"/s{n}" for n, _ in tried} <= {
        path.removesuffix("/@public.example/") for path in reached
    }


def _typed() -> list[Numbered]:
    """Leave out what nobody can give as a start URL: it would be read as a host name."""
    return [(n, one) for n, one in numbered() if not set(" \t\x01") & set(one.written)]


def _fits_markdown(text: str) -> bool:
    """Whether a text can stand between the brackets of a link."""
    return not set(" \t()<>") & set(text)


def _is_location(text: str) -> bool:
    """Say whether a text begins like the URL of a sitemap, which nobody reads otherwise."""
    return text.strip().lower().startswith(("http://", "https://"))


def _linking(ground: Ground, tried: list[Numbered]) -> Reply:
    return page("home", *[f'<a href="{escape(ground.text(each))}">x</a>' for each in tried])


def _to(location: str) -> Reply:
    """Redirect; a header is written octet by octet."""
    return to(location.encode().decode("latin-1"))


def _sitemap(root: str, item: str, urls: list[str]) -> Reply:
    items = "".join(f"<{item}><loc>{escape(url)}</loc></{item}>" for url in urls)
    xml = f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{items}</{root}>'
    return Reply(xml.encode(), content_type="application/xml")


def _plain(text: str) -> Reply:
    return Reply(text.encode(), content_type="text/plain; charset=utf-8")


def _parts(tried: list[Numbered]) -> dict[str, list[Numbered]]:
    """Spread spellings over hosts, each of which may name only so many sitemaps."""
    starts = range(0, len(tried), SITEMAPS_A_HOST)
    return {f"h{start}.{EVIL}": tried[start : start + SITEMAPS_A_HOST] for start in starts}


def _kinds(entries: Iterable[UrlEntry]) -> set[EntryKind]:
    return {entry.kind for entry in entries}


async def _problem(crawler: Crawler, url: str) -> str:
    """Return why a page could not be had."""
    try:
        await crawler.scrape(url)
    except (ConfigError, NothingFetched) as error:
        return error.message
    return "it came"
