"""The sample web is whole: every link leads somewhere, and what is broken is broken on purpose."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest

from geomi.demo.pages import (
    BLOG,
    DOCS,
    HOSTS,
    REDIRECTS,
    SHOP,
    WWW,
    Flaw,
    answer,
    load_site,
)

SITE = load_site()
PAGES = sorted(key for key, given in SITE.items() if given.content_type.startswith("text/html"))
DELIBERATELY_MISSING = {(WWW, "/careers"), (SHOP, "/products/moon-thread")}
REACHED_BY_SITEMAP_ONLY = {(DOCS, "/guide/field-notes")}
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Reader(HTMLParser):
    """Collect links and check that every element is closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.open: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name == "id" and value:
                self.anchors.add(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing, line {self.getpos()[0]}")


def read(key: tuple[str, str]) -> Reader:
    reader = Reader()
    given = SITE[key]
    reader.feed(given.body.decode(given.content_type.rpartition("=")[2]))
    reader.close()
    return reader


def targets(key: tuple[str, str]) -> set[tuple[str, str]]:
    here = f"http://{key[0]}{key[1]}"
    found = (urlsplit(urljoin(here, link)) for link in read(key).links)
    return {(url.hostname or "", url.path) for url in found if url.scheme == "http"}


@pytest.mark.parametrize("key", PAGES, ids=lambda key: "".join(key))
def test_every_page_is_well_formed_and_its_links_lead_somewhere(key: tuple[str, str]) -> None:
    reader = read(key)
    assert reader.faults == []
    assert reader.open == []
    for host, path in targets(key):
        assert host in HOSTS, f"a link leaves the sample web: {host}"
        is_missing = answer(SITE, host, path).status == 404
        assert is_missing == ((host, path) in DELIBERATELY_MISSING), f"http://{host}{path}"


@pytest.mark.parametrize("key", PAGES, ids=lambda key: "".join(key))
def test_fragments_name_something_on_their_page(key: tuple[str, str]) -> None:
    reader = read(key)
    named = {urldefrag(link).fragment for link in reader.links if link.startswith("#")}
    assert named <= reader.anchors


def test_every_page_is_linked_but_the_one_for_the_sitemap() -> None:
    reached = {target for key in PAGES for target in targets(key) - {key}}
    orphans = set(PAGES) - reached
    assert orphans == REACHED_BY_SITEMAP_ONLY
    sitemap = SITE[DOCS, "/sitemap.xml"].body.decode()
    for host, path in orphans:
        assert f"<loc>http://{host}{path}</loc>" in sitemap


@pytest.mark.parametrize("source", REDIRECTS, ids=lambda key: "".join(key))
def test_redirects_end_at_a_page(source: tuple[str, str]) -> None:
    host, path = source
    for _ in range(3):
        given = answer(SITE, host, path)
        if given.status == 200:
            return
        url = urlsplit(urljoin(f"http://{host}{path}", given.location))
        host, path = url.hostname or "", url.path
    pytest.fail("the chain is longer than three hops")


def test_the_copies_are_exact_and_the_revision_nearly_so() -> None:
    assert SITE[BLOG, "/posts/measuring-tension"] == SITE[BLOG, "/archive/measuring-tension"]
    first = SITE[BLOG, "/posts/web-in-the-rain"].body.split()
    second = SITE[BLOG, "/posts/web-in-the-rain-revised"].body.split()
    changed = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
    assert len(changed) == 1


def test_the_old_letter_is_euc_kr_and_only_its_header_says_so() -> None:
    letter = SITE[BLOG, "/ko/letter-1998"]
    assert letter.content_type == "text/html; charset=euc-kr"
    assert "할머니" in letter.body.decode("euc-kr")
    assert b"charset" not in letter.body
    with pytest.raises(UnicodeDecodeError):
        letter.body.decode("utf-8")


def test_robots_rules_name_the_drafts_and_the_sitemap() -> None:
    rules = SITE[DOCS, "/robots.txt"].body.decode()
    assert "Disallow: /internal/" in rules
    assert "Sitemap: http://docs.geomi.test/sitemap.xml" in rules
    assert answer(SITE, BLOG, "/robots.txt").status == 404


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/loop/a/b/", 200),
        ("/loop/" + "a/b/" * 200, 200),
        ("/calendar/2025/03", 200),
        ("/calendar/2025/03/28", 200),
        ("/calendar/9999/12", 200),
        ("/calendar/10000/01", 404),
        ("/calendar/2025/13", 404),
        ("/calendar/2025/x", 404),
        ("/calendar/２０２５/03", 404),
        ("/calendar/", 404),
        ("/static/../robots.txt", 404),
    ],
)
def test_endless_places_answer_within_their_bounds(path: str, status: int) -> None:
    assert answer(SITE, SHOP, path).status == status


def test_the_calendar_never_ends() -> None:
    december = answer(SITE, SHOP, "/calendar/2025/12").body.decode()
    assert '"/calendar/2025/11"' in december
    assert '"/calendar/2026/01"' in december


def test_the_shop_has_a_torn_page_a_tangled_page_a_hidden_page_and_an_empty_shell() -> None:
    assert answer(SITE, SHOP, "/torn").flaw is Flaw.TORN
    assert answer(SITE, SHOP, "/tangled").flaw is Flaw.TANGLED
    assert b'<meta name="robots" content="noindex">' in SITE[SHOP, "/wholesale"].body
    assert b'<div id="root"></div>' in SITE[SHOP, "/configurator"].body


def test_a_host_that_does_not_live_here_is_misdirected() -> None:
    given = answer(SITE, "<b>.test", "/")
    assert given.status == 421
    assert b"<b>" not in given.body
