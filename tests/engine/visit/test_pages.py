"""What becomes of a page that came: kept, passed over, a repetition of another; and its links."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from geomi.adapters.http import client
from geomi.adapters.http.room import FREE_BYTES, BodyMemory
from geomi.engine.visit import parsing
from geomi.engine.visit.parsing import INLINE_BYTES
from geomi.engine.worker import settler
from geomi.model.verdict import Outcome, State
from tests.support.crawl import Crawled, crawl_site, page, paths, profile_config
from tests.support.server import Reply, Site
from tests.support.timed_crawl import hand_in
from tests.support.waiting import waits


def outcome_of(crawled: Crawled, url: str) -> tuple[State, Outcome | None]:
    """Return how a URL ended."""
    entry = crawled.entries[url]
    return entry.state, entry.outcome


class TestContentTypes:
    """What a page may be, and how large."""

    @pytest.mark.req("CTY-01", "CTY-02", "ERR-01", "META-03")
    def test_html_and_plain_text_are_kept(self, tmp_path: Path) -> None:
        """Type, length and final URL stand in the record."""
        text = b"Plain words about an interface, as some documentation has them.\n" * 3
        routes = {
            "/": page("home", "/text", "/xhtml"),
            "/text": Reply(text, content_type="text/plain; charset=utf-8"),
            "/xhtml": replace(page("xhtml"), content_type="application/xhtml+xml"),
        }
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
        record = crawled.record(site.url("/text"))
        assert record["content_type"] == "text/plain; charset=utf-8"
        assert record["bytes"] == len(text)
        assert record["final_url"] == site.url("/text")
        assert "some documentation" in record["markdown"]
        assert crawled.report.job.stats.collected == 3

    @pytest.mark.req("CTY-04", "CTY-05")
    @pytest.mark.parametrize(
        "content_type",
        [
            "application/pdf",
            "image/png",
            "video/mp4",
            "application/zip",
            "application/octet-stream",
        ],
    )
    def test_other_types_end_before_their_body(self, tmp_path: Path, content_type: str) -> None:
        """A large file costs its headers and a little more."""
        large = Reply(b"x" * 8_000_000, content_type=content_type)
        with Site({"/": page("home", "/file"), "/file": large}) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
        assert outcome_of(crawled, site.url("/file")) == (State.SKIPPED, Outcome.WRONG_TYPE)
        assert crawled.report.job.stats.bytes_received < 4_000_000
        assert len(crawled.records) == 1

    def test_a_page_that_is_too_large_is_passed_over(self, tmp_path: Path) -> None:
        """The limit is on the type: one byte more is too many."""
        body = page("home", "/fits", "/over").body
        fits, over = (body + b" " * (size - len(body)) for size in (20_000, 20_001))
        routes = {"/": page("home", "/fits", "/over"), "/fits": Reply(fits), "/over": Reply(over)}
        with Site(routes) as site:
            crawled = crawl_site(
                tmp_path, site.url("/"), assignments=["limits.max_page_bytes=20000"]
            )
        assert outcome_of(crawled, site.url("/over")) == (State.SKIPPED, Outcome.TOO_LARGE)
        assert crawled.entries[site.url("/fits")].state is State.COMPLETED
        (warning,) = crawled.ear.warnings
        assert warning.startswith(f"{site.url('/over')} was skipped: ")
        assert "20000" in warning

    @pytest.mark.req("CTY-07", "CTY-08")
    @pytest.mark.parametrize(
        ("profile", "limit"),
        [("docs", 5 * 1024 * 1024), ("knowledge-base", 10 * 1024 * 1024)],
    )
    @waits
    async def test_a_profile_has_its_own_limit(
        self, tmp_path: Path, profile: str, limit: int
    ) -> None:
        """What fits to the byte is kept; one byte more is passed over, with a warning."""
        config = profile_config(profile)

        body = page("home").body
        fits, over = (Reply(body + b" " * (size - len(body))) for size in (limit, limit + 1))
        routes = {"/": page("start", "/fits", "/over"), "/fits": fits, "/over": over}
        with Site(routes) as site:
            async with hand_in(tmp_path) as hand:
                entries = await hand.entries(await hand.crawl(config, site.url("/")))
                assert [text for text in hand.ear.warnings if site.url("/over") in text]
        assert entries["/fits"].outcome is Outcome.OK
        assert entries["/over"].outcome is Outcome.TOO_LARGE

    @pytest.mark.req("CTY-06")
    @pytest.mark.parametrize(
        ("types", "kept"),
        [
            ("text/html", ["/", "/untyped"]),
            ("text/html,text/plain", ["/", "/plain", "/untyped"]),
            ("text/*", ["/", "/csv", "/plain", "/untyped"]),
        ],
    )
    def test_a_job_lists_the_types_it_takes_c35(
        self, tmp_path: Path, types: str, kept: list[str]
    ) -> None:
        """A page that names no type is given a chance."""
        routes = {
            "/": page("home", "/plain", "/csv", "/xhtml", "/untyped"),
            "/plain": Reply(b"Plain words.", content_type="text/plain"),
            "/csv": Reply(b"a,b\n1,2\n", content_type="text/csv"),
            "/xhtml": replace(page("xhtml"), content_type="application/xhtml+xml"),
            "/untyped": replace(page("untyped"), content_type=""),
        }
        with Site(routes) as site:
            crawled = crawl_site(
                tmp_path, site.url("/"), assignments=[f"http.content_types={types}"]
            )
        assert sorted(crawled.urls) == [site.url(path) for path in kept]
        assert outcome_of(crawled, site.url("/xhtml")) == (State.SKIPPED, Outcome.WRONG_TYPE)

    @pytest.mark.req("EXT-06", "WF-12")
    @pytest.mark.parametrize("body", [b"", b"<html><body></body></html>", b"   \n"])
    def test_nothing_to_read_is_skipped(self, tmp_path: Path, body: bytes) -> None:
        """An empty answer is final and is no page."""
        with Site({"/": page("home", "/empty"), "/empty": Reply(body)}) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
            assert paths(site.log) == ["/", "/empty"]
        assert outcome_of(crawled, site.url("/empty")) == (State.SKIPPED, Outcome.EMPTY)
        assert len(crawled.records) == 1

    @pytest.mark.req("CTY-11")
    def test_what_cannot_be_parsed_is_not_processed_further(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is not kept, and its links are not followed."""
        monkeypatch.setattr(parsing, "PARSE_DEADLINE_S", 0.001)
        hard = page("hard", "/never", text="words " * INLINE_BYTES)
        with Site({"/": page("home", "/hard"), "/hard": hard, "/never": page("never")}) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
            assert paths(site.log) == ["/", "/hard"]
        assert outcome_of(crawled, site.url("/hard")) == (State.SKIPPED, Outcome.TOO_COMPLEX)
        assert crawled.urls == [site.url("/")]

    def test_a_monstrous_page_does_not_end_the_crawl(self, tmp_path: Path) -> None:
        """Deep nesting, broken bytes and lone surrogates are one page's trouble (ERR-17)."""
        monsters = {
            "/deep": Reply(b"<div>" * 40_000 + b"deep"),
            "/bytes": Reply(bytes(range(256)) * 500),
            "/surrogates": Reply(
                b'<title>&#xD800;</title><script type="application/ld+json">'
                rb'{"headline": "\ud800", "datePublished": "x"}</script><p>text &#xDFFF;</p>'
            ),
            "/null": Reply(b"<p>a\x00b</p><a href='/x\x00y'>n</a>"),
        }
        with Site({"/": page("home", *monsters), **monsters}) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
        assert crawled.report.job.stats.settled >= len(monsters) + 1
        assert all(crawled.entries[site.url(path)].state is not State.PENDING for path in monsters)


class TestWishes:
    """What a page asks of us itself (C-42)."""

    @pytest.mark.req("LNK-10")
    def test_nofollow_links_are_not_followed(self, tmp_path: Path) -> None:
        """A URL that is linked both ways may be followed."""
        links = (
            '<a rel="nofollow" href="/no">x</a>',
            '<a rel="NoFollow ugc" href="/also-no">x</a>',
            '<a rel="nofollow" href="/both">x</a>',
            "/both",
        )
        with Site({"/": page("home", *links)}, otherwise=page("there")) as site:
            crawl_site(tmp_path, site.url("/"))
            assert paths(site.log) == ["/", "/both"]

    @pytest.mark.req("LNK-10")
    def test_a_job_may_follow_them(self, tmp_path: Path) -> None:
        """`scope.follow_nofollow` is the job's own decision."""
        links = ('<a rel="nofollow" href="/no">x</a>',)
        with Site({"/": page("home", *links)}, otherwise=page("there")) as site:
            crawl_site(tmp_path, site.url("/"), assignments=["scope.follow_nofollow=true"])
            assert paths(site.log) == ["/", "/no"]

    @pytest.mark.req("ROB-33", "LNK-12")
    @pytest.mark.parametrize(
        ("head", "header", "is_kept", "is_followed"),
        [
            ('<meta name="robots" content="noindex">', "", False, True),
            ('<meta name="ROBOTS" content="NOFOLLOW">', "", True, False),
            ('<meta name="robots" content="none">', "", False, False),
            ('<meta name="geomi" content="noindex">', "", False, True),
            ('<meta name="otherbot" content="noindex">', "", True, True),
            ("", "noindex", False, True),
            ("", "nofollow", True, False),
            ("", "none", False, False),
            ("", "geomi: noindex, nofollow", False, False),
            ("", "otherbot: noindex", True, True),
        ],
    )
    def test_meta_and_header_mean_the_same(
        self, tmp_path: Path, head: str, header: str, is_kept: bool, is_followed: bool
    ) -> None:
        """A page that is not kept is read all the same, and its links count."""
        headers = (("X-Robots-Tag", header),) if header else ()
        first = replace(page("home", "/a", head=head), headers=headers)
        with Site({"/": first, "/a": page("a")}) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
            assert paths(site.log) == (["/", "/a"] if is_followed else ["/"])
        assert (site.url("/") in crawled.urls) is is_kept
        if not is_kept:
            assert outcome_of(crawled, site.url("/")) == (State.SKIPPED, Outcome.NOINDEX)


class TestDuplicates:
    """A page that repeats another."""

    @pytest.mark.req("DUP-02", "DUP-03")
    @pytest.mark.parametrize("linger_s", [0.0, 0.3])
    def test_an_exact_copy_adds_nothing_but_its_record(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linger_s: float
    ) -> None:
        """C-41: it has its record, which names the original.

        A copy may come before the original is committed.
        """
        monkeypatch.setattr(settler, "LINGER_S", linger_s)
        routes = {
            "/": page("home", "/one/", "/two/"),
            "/one/": page("same", "/shared", head="<base href='/'>"),
            "/two/": page("same", "/shared", head="<base href='/'>"),
            "/shared": page("shared"),
        }
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"), delay=0.02)
        first, second = crawled.record(site.url("/one/")), crawled.record(site.url("/two/"))
        assert second["metadata"]["duplicate_of"] == site.url("/one/")
        assert second["metadata"]["duplicate_reason"] == "exact"
        assert "duplicate_of" not in first["metadata"]
        assert second["content_hash"] == first["content_hash"]
        assert outcome_of(crawled, site.url("/two/")) == (State.COMPLETED, Outcome.DUPLICATE)
        stats = crawled.report.job.stats
        assert (stats.collected, stats.duplicates, stats.settled) == (4, 1, 4)
        assert crawled.record(site.url("/shared"))["parent"] == site.url("/one/")

    def test_a_page_that_is_not_kept_has_no_copies(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The print version asks not to be kept; the page itself is not its duplicate."""
        monkeypatch.setattr(settler, "LINGER_S", 0.3)
        routes = {
            "/": page("home", "/print", "/page"),
            "/print": page("same", head='<meta name="robots" content="noindex">'),
            "/page": page("same"),
        }
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
        assert crawled.report.job.stats.duplicates == 0
        assert set(crawled.urls) == {site.url("/"), site.url("/page")}

    def test_other_outlinks_make_another_page(self, tmp_path: Path) -> None:
        """C-41: the same text with other links is no copy; it is flagged as nearly one."""
        routes = {
            "/": page("home", "/a", "/b"),
            "/a": page("same", "/c"),
            "/b": page("same", "/d"),
            "/c": page("c"),
            "/d": page("d"),
        }
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"), delay=0.5)
        assert len(crawled.records) == 5
        assert crawled.report.job.stats.duplicates == 0
        metadata = crawled.record(site.url("/b"))["metadata"]
        assert metadata["duplicate_of"] == site.url("/a")
        assert (metadata["duplicate_reason"], metadata["similarity"]) == ("near", 1.0)

    def test_short_texts_are_never_copies(self, tmp_path: Path) -> None:
        """C-41: under a hundred characters a text proves nothing."""
        with Site({"/": page("home", "/a", "/b")}, otherwise=Reply(b"<p>Soon here.</p>")) as site:
            crawled = crawl_site(tmp_path, site.url("/"), delay=0.02)
        assert crawled.report.job.stats.duplicates == 0
        assert len(crawled.records) == 3


class TestRendering:
    """Whether a page wants a browser, and what is done without one (C-34)."""

    SHELL = Reply(b'<title>App</title><div id="root"></div><script src="/app.js"></script>')
    SHORT = Reply(
        b'<title>App</title><div id="root">Loading</div><script src="/app.js"></script>'
        b"<p>Some words that stand here before any script has run.</p>"
    )

    @pytest.mark.parametrize(
        ("render", "answer", "reason", "used"),
        [
            ("auto", SHELL, "empty application root", "static"),
            ("auto", SHORT, "empty application root", "static"),
            ("auto", page("full"), None, None),
            ("never", SHORT, "empty application root", "never"),
            ("never", page("full"), None, None),
            ("always", SHELL, "empty application root", "static"),
            ("always", page("full"), "the job renders every page", "static"),
        ],
        ids=[
            "auto-shell",
            "auto-short",
            "auto-full",
            "never-short",
            "never-full",
            "always-shell",
            "always-full",
        ],
    )
    def test_the_decision_stands_in_the_record(
        self, tmp_path: Path, render: str, answer: Reply, reason: str | None, used: str | None
    ) -> None:
        """The static page is kept, with the reason for a browser and what was used instead."""
        with Site({"/": answer}) as site:
            crawled = crawl_site(tmp_path, site.url("/"), assignments=[f"render={render}"])
        metadata = crawled.record(site.url("/"))["metadata"]
        assert (metadata.get("needs_browser"), metadata.get("render")) == (reason, used)
        assert outcome_of(crawled, site.url("/")) == (State.COMPLETED, Outcome.OK)

    def test_a_shell_is_nothing_to_a_job_that_renders_nothing(self, tmp_path: Path) -> None:
        """It is passed over like any page without text, and the reason is told."""
        with Site({"/": self.SHELL}) as site:
            crawled = crawl_site(tmp_path, site.url("/"), assignments=["render=never"])
        assert crawled.records == []
        assert outcome_of(crawled, site.url("/")) == (State.SKIPPED, Outcome.EMPTY)
        assert crawled.entries[site.url("/")].detail == "empty application root"


@pytest.mark.req("LNK-09")
@pytest.mark.parametrize("size_bytes", [0, INLINE_BYTES + 1])
def test_a_page_has_so_many_links(tmp_path: Path, size_bytes: int) -> None:
    """The limit holds for small pages and for those that are read in another process."""
    body = page("home", "/1", "/2", "/3", "/4").body + b" " * size_bytes
    with Site({"/": Reply(body)}, otherwise=page("there")) as site:
        crawled = crawl_site(tmp_path, site.url("/"), assignments=["limits.max_links_per_page=3"])
        assert paths(site.log) == ["/", "/1", "/2", "/3"]
    assert len(crawled.record(site.url("/"))["links"]) == 3


def test_a_host_does_not_wait_for_room_that_its_own_last_page_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one page that there is room for is let go before the next one of its host comes."""
    monkeypatch.setattr(client, "BodyMemory", partial(BodyMemory, FREE_BYTES))
    blank = b" " * FREE_BYTES
    routes = {f"/{n}": Reply(page(f"page {n}").body + blank) for n in range(3)}
    with Site({"/": page("home", *routes), **routes}) as site:
        crawled = crawl_site(tmp_path, site.url("/"), assignments=["http.total_timeout_s=5"])
        assert paths(site.log) == ["/", *routes]  # nothing was asked for twice
    assert crawled.report.job.stats.collected == 4
