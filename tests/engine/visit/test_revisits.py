"""Pages that were collected before: asked for with conditions, and kept where nothing changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from email.utils import formatdate, parsedate_to_datetime
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from geomi.adapters.store.tables.pages import PageTable
from geomi.model.config import CrawlConfig, Limits, Politeness
from geomi.model.page import PageRecord
from geomi.model.verdict import Outcome, State
from tests.support.crawl import Crawled, crawl_site, page, paths, robots, to
from tests.support.server import Answer, Reply, Route, Seen, Site
from tests.support.timed_crawl import hand_in
from tests.support.waiting import waits

DATE = "Tue, 01 Oct 2024 10:00:00 GMT"
NOT_MODIFIED = Reply(status=304, content_type="")

CONDITIONS = ("if-none-match", "if-modified-since")


def tagged(reply: Reply, *headers: tuple[str, str]) -> Callable[[Seen], Answer]:
    """Answer with a page and its validators, or "not modified" to whoever sends them back."""
    told = dict(headers) or {"ETag": f'"{crc32(reply.body):x}"'}

    def answer(seen: Seen) -> Answer:
        if "ETag" in told and seen.headers.get("if-none-match") == told["ETag"]:
            return NOT_MODIFIED
        since = seen.headers.get("if-modified-since")
        if "ETag" not in told and since is not None and since in told.values():
            return NOT_MODIFIED
        return replace(reply, headers=tuple(told.items()))

    return answer


def sent(seen: Seen) -> dict[str, str]:
    """Return the conditions of a request."""
    return {name: seen.headers[name] for name in CONDITIONS if name in seen.headers}


def twice(
    root: Path, site: Site, *seeds: str, change: Callable[[], None] = lambda: None, **options: Any
) -> tuple[Crawled, Crawled]:
    """Crawl a site, forget who asked, and crawl it again."""
    urls = [site.url(seed) for seed in seeds or ("/",)]
    first = crawl_site(root, *urls)
    change()
    site.log.clear()
    return first, crawl_site(root, *urls, **options)


class TestNotModified:
    """A page that is as it was."""

    @pytest.mark.req("HTTP-03", "HTTP-08", "ERR-03", "META-04", "CHG-09")
    def test_it_is_a_page_of_the_new_job_all_the_same(self, tmp_path: Path) -> None:
        """The second crawl sees what the first saw, for the price of the headers."""
        routes: dict[str, Route] = {
            "/": tagged(page("home", "/a", "/b")),
            "/a": tagged(page("a", "/c")),
            "/b": tagged(page("b")),
            "/c": tagged(page("c")),
        }
        with Site(routes) as site:
            first, second = twice(tmp_path, site)
            asked = [seen for seen in site.log if seen.path != "/robots.txt"]
        assert sorted(seen.path for seen in asked) == ["/", "/a", "/b", "/c"]
        assert all(sent(seen) for seen in asked), "the links of unchanged pages lead on"
        assert sorted(second.urls) == sorted(first.urls)
        for old in first.records:
            new = second.record(old["url"])
            kept = ("markdown", "links", "content_hash", "simhash", "status", "title", "bytes")
            assert [new[key] for key in kept] == [old[key] for key in kept]
            assert new["metadata"] == old["metadata"] | {"not_modified": True}
            assert new["fetched_at"] >= old["fetched_at"]
        for entry in second.entries.values():
            assert (entry.state, entry.outcome) == (State.COMPLETED, Outcome.NOT_MODIFIED)
            assert entry.status == 304
        stats = second.report.job.stats
        assert (stats.collected, stats.settled, stats.failed) == (4, 4, 0)
        assert stats.bytes_received < first.report.job.stats.bytes_received / 2

    def test_its_place_is_that_of_the_new_job(self, tmp_path: Path) -> None:
        """Depth, parent and source belong to the crawl, not to the page."""
        routes: dict[str, Route] = {"/": tagged(page("home", "/a")), "/a": tagged(page("a"))}
        with Site(routes) as site:
            crawl_site(tmp_path, site.url("/"))
            again = crawl_site(tmp_path, site.url("/a"))
        record = again.record(site.url("/a"))
        assert record["metadata"]["not_modified"]
        assert (record["depth"], record["parent"], record["source"]) == (0, None, "seed")

    def test_it_can_be_found_unchanged_again_and_again(self, tmp_path: Path) -> None:
        """What was written down anew is itself good for the next visit."""
        with Site({"/": tagged(page("home"), ("ETag", '"1"'))}) as site:
            crawls = [crawl_site(tmp_path, site.url("/")) for _ in range(4)]
            statuses = [sent(seen) for seen in site.log if seen.path == "/"]
        assert statuses == [{}, *[{"if-none-match": '"1"'}] * 3]
        texts = {crawled.record(site.url("/"))["markdown"] for crawled in crawls}
        assert len(texts) == 1

    def test_its_own_wishes_hold(self, tmp_path: Path) -> None:
        """A page that asked not to be followed is not followed, though it is not read again."""
        shy = page("shy", "/hidden", head='<meta name="robots" content="nofollow">')
        routes: dict[str, Route] = {"/": tagged(shy), "/hidden": page("hidden")}
        with Site(routes) as site:
            _, second = twice(tmp_path, site)
            assert paths(site.log) == ["/"]
        assert second.record(site.url("/"))["metadata"]["robots"] == "nofollow"

    def test_a_new_wish_in_its_headers_is_heard(self, tmp_path: Path) -> None:
        """A site may ask for `noindex` without touching the page."""
        wish = replace(NOT_MODIFIED, headers=(("X-Robots-Tag", "noindex"),))
        first = tagged(page("home"), ("ETag", '"1"'))
        with Site({"/": lambda seen: wish if sent(seen) else first(seen)}) as site:
            _, second = twice(tmp_path, site)
        assert second.records == []
        assert second.entries[site.url("/")].outcome is Outcome.NOINDEX

    def test_a_copy_stays_a_copy(self, tmp_path: Path) -> None:
        """C-41 in the new job: it names the original and adds no links."""
        copy = page("same", "/shared", head="<base href='/'>")
        routes: dict[str, Route] = {
            "/": tagged(page("home", "/one/", "/two/")),
            "/one/": tagged(copy),
            "/two/": tagged(copy),
            "/shared": tagged(page("shared")),
        }
        with Site(routes) as site:
            first, second = twice(tmp_path, site, delay=0.02)
        assert second.record(site.url("/two/"))["metadata"]["duplicate_of"] == site.url("/one/")
        assert second.record(site.url("/two/"))["metadata"]["not_modified"]
        assert second.entries[site.url("/two/")].outcome is Outcome.DUPLICATE
        assert (first.report.job.stats.duplicates, second.report.job.stats.duplicates) == (1, 1)
        assert second.record(site.url("/shared"))["parent"] == site.url("/one/")

    @waits
    async def test_what_nobody_asked_about_is_no_answer(self, tmp_path: Path) -> None:
        """A 304 to a first visit breaks the protocol; it is tried once more, and then failed."""
        config = CrawlConfig(politeness=Politeness(delay_s=1.0))
        with Site({"/": NOT_MODIFIED}) as site:
            async with hand_in(tmp_path) as hand:
                job = await hand.crawl(config, site.url("/"))
                entry = (await hand.entries(job))["/"]
                assert len(hand.asked("/")) == 2
        assert (entry.state, entry.outcome) == (State.FAILED, Outcome.PROTOCOL_ERROR)


class TestConditions:
    """What a second visit says, and when it says nothing."""

    @pytest.mark.req("HTTP-03", "META-04", "DAT-07")
    @pytest.mark.parametrize(
        ("headers", "expected"),
        [
            ((("ETag", 'W/"x"'), ("Last-Modified", DATE)), ('W/"x"', DATE)),
            ((("ETag", '"x"'),), ('"x"', None)),
            ((("Last-Modified", DATE), ("Date", "Wed, 02 Oct 2024 10:00:00 GMT")), (None, DATE)),
            ((("Date", DATE),), (None, DATE)),
            ((), (None, None)),
        ],
        ids=["both", "etag", "last-modified", "date", "none"],
    )
    def test_what_came_with_the_page_goes_back_c69(
        self,
        tmp_path: Path,
        headers: tuple[tuple[str, str], ...],
        expected: tuple[str | None, str | None],
    ) -> None:
        """The stored ETag, Last-Modified or else Date; nothing on the first visit."""
        with Site({"/": replace(page("home"), headers=headers)}) as site:
            crawl_site(tmp_path, site.url("/"))
            crawl_site(tmp_path, site.url("/"))
            one, two = [seen for seen in site.log if seen.path == "/"]
        assert sent(one) == {}
        assert tuple(two.headers.get(name) for name in CONDITIONS) == expected

    @pytest.mark.req("HTTP-03")
    def test_a_job_may_send_the_date_of_its_last_crawl(self, tmp_path: Path) -> None:
        """`http.since = last_crawled`, as seed 000 has it."""
        with Site({"/": replace(page("home"), headers=(("Last-Modified", DATE),))}) as site:
            first, _ = twice(tmp_path, site, assignments=["http.since=last_crawled"])
            (seen,) = [seen for seen in site.log if seen.path == "/"]
        crawled_at = parsedate_to_datetime(seen.headers["if-modified-since"])
        assert crawled_at.isoformat() == first.record(site.url("/"))["fetched_at"].replace(
            "Z", "+00:00"
        )

    @pytest.mark.parametrize(
        "assignment",
        [
            "http.conditional=false",
            "extract.links=text",
            "extract.content=h1",
            "limits.max_links_per_page=1",
            "limits.max_page_bytes=2000",
            "http.accept_language=ko",
            "http.user_agent=other/1.0",
            "http.content_types=text/html",
        ],
    )
    def test_a_job_that_would_read_it_otherwise_fetches_it_whole(
        self, tmp_path: Path, assignment: str
    ) -> None:
        """A record made under other rules is not this job's."""
        with Site({"/": tagged(page("home", "/x", "/y", text="word " * 100))}) as site:
            _, second = twice(tmp_path, site, assignments=[assignment])
            assert [sent(seen) for seen in site.log if seen.path == "/"] == [{}]
        assert "not_modified" not in second.record(site.url("/"))["metadata"]

    def test_a_record_that_is_lost_is_fetched_anew(self, tmp_path: Path) -> None:
        """Without its record, "not modified" would leave the job without the page."""

        def lose() -> None:
            for segment in (tmp_path / "jobs").glob("*/warc/*"):
                segment.unlink()

        with Site({"/": tagged(page("home"))}) as site:
            _, second = twice(tmp_path, site, change=lose)
            assert [sent(seen) for seen in site.log if seen.path == "/"] == [{}]
        assert second.record(site.url("/"))["markdown"]

    def test_a_redirect_is_asked_nothing(self, tmp_path: Path) -> None:
        """Validators go to the URL that sent them: not to one that leads there."""
        routes: dict[str, Route] = {
            "/": page("home", "/old", "/docs"),
            "/old": to("/new"),
            "/new": tagged(page("new"), ("ETag", '"n"')),
            "/docs": to("/docs/"),
            "/docs/": tagged(page("docs"), ("ETag", '"d"')),
        }
        with Site(routes) as site:
            twice(tmp_path, site)
            asked = {seen.path: sent(seen) for seen in site.log if seen.path != "/robots.txt"}
        assert asked == {
            "/": {},
            "/old": {},
            "/new": {"if-none-match": '"n"'},
            "/docs": {},
            "/docs/": {"if-none-match": '"d"'},
        }

    def test_the_store_is_asked_once_for_a_page_it_has(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What is known of a page serves the request, the next visit's date and the record."""
        asked: list[bytes] = []
        get = PageTable.get

        async def noted(self: PageTable, url_hash: bytes) -> PageRecord | None:
            asked.append(url_hash)
            return await get(self, url_hash)

        monkeypatch.setattr(PageTable, "get", noted)
        with Site({"/": page("home", "/a"), "/a": tagged(page("a"))}) as site:
            twice(tmp_path, site)
        assert len(asked) == 2  # the second time only: the claim knew that there was nothing


def test_a_page_that_changed_comes_whole(tmp_path: Path) -> None:
    """Another ETag: another record, and a sooner visit."""
    with Site({"/": tagged(page("before"), ("ETag", '"1"'))}) as site:

        def change() -> None:
            site.routes = {"/": tagged(page("after", "/new"), ("ETag", '"2"')), "/new": page("n")}

        first, second = twice(tmp_path, site, change=change)
    old, new = first.record(site.url("/")), second.record(site.url("/"))
    assert "after" in new["markdown"]
    assert new["content_hash"] != old["content_hash"]
    assert second.entries[site.url("/")].outcome is Outcome.OK
    assert site.url("/new") in second.urls


def test_a_page_that_is_gone_says_when_it_was_there(tmp_path: Path) -> None:
    """404 and 410: no retry, and the entry tells that there was a page once."""
    with Site({"/": page("home", "/a"), "/a": page("a")}) as site:

        def remove() -> None:
            site.routes = {"/": page("home", "/a"), "/a": Reply(status=410)}

        _, second = twice(tmp_path, site, change=remove)
        assert paths(site.log) == ["/", "/a"]
    entry = second.entries[site.url("/a")]
    assert (entry.state, entry.outcome, entry.status) == (State.FAILED, Outcome.GONE, 410)
    assert entry.detail.startswith("collected on 20")


@pytest.mark.req("HTTP-14")
@waits
async def test_what_robots_forbids_now_is_not_even_asked_about(tmp_path: Path) -> None:
    """A page that the tenant has needs leave like any other."""
    config = CrawlConfig(politeness=Politeness(delay_s=1.0))
    routes: dict[str, Route] = {"/": page("home", "/a"), "/a": tagged(page("a"))}
    with Site(routes) as site:
        async with hand_in(tmp_path) as hand:
            await hand.crawl(config, site.url("/"))
            site.routes = {**routes, "/robots.txt": robots("User-agent: *", "Disallow: /a")}
            hand.clock.advance(2 * 86_400)
            site.log.clear()
            job = await hand.crawl(config, site.url("/"))
            entries = await hand.entries(job)
        assert [seen.path for seen in site.log] == ["/robots.txt", "/"]
    assert entries["/a"].state is State.BLOCKED


class TestShorterWays:
    """A page that is found again on a shorter way leads deeper than before."""

    @waits
    async def test_its_links_are_followed_without_asking_for_it(self, tmp_path: Path) -> None:
        """The page that is slow to come makes the first way the longer one."""
        config = CrawlConfig(
            politeness=Politeness(delay_s=1.0), limits=Limits(max_pages=0, max_depth=3)
        )
        slow: list[Answer] = [Reply(status=503), page("slow", "/p")]
        routes: dict[str, Route] = {
            "/": page("home", "/slow", "/a"),
            "/slow": lambda _: slow.pop(0),
            "/a": page("a", "/b"),
            "/b": page("b", "/p"),
            "/p": page("p", "/q", head='<meta name="x" content="y">'),
            "/q": page("q", "/too-deep"),
        }

        with Site(routes) as site:
            async with hand_in(tmp_path) as hand:
                job = await hand.crawl(config, site.url("/"))
                entries = await hand.entries(job)
                assert len(hand.asked("/p")) == 1
        assert (entries["/p"].state, entries["/p"].outcome) == (State.COMPLETED, Outcome.OK)
        assert (entries["/p"].depth, entries["/q"].depth) == (2, 3)
        assert "/too-deep" not in entries
        assert (job.stats.collected, job.stats.settled) == (6, 6)


def test_the_date_of_a_page_is_a_date(tmp_path: Path) -> None:
    """Whatever a server sends as a date is sent back as it came, or not at all."""
    odd = formatdate(0, usegmt=True).replace("1970", "19\u00e970")
    with Site({"/": replace(page("home"), headers=(("Last-Modified", odd),))}) as site:
        twice(tmp_path, site)
        assert [sent(seen) for seen in site.log if seen.path == "/"] == [{}]
