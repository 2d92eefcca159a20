"""Pages that repeat others: in the same job, in an earlier one, by their own word, or nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geomi.engine.inspect.why import explain
from geomi.engine.visit import parsing
from geomi.engine.visit.parsing import Soft404
from geomi.extract.page import extract
from geomi.model.config import Extraction
from geomi.model.page import Article, Fetched
from geomi.model.verdict import Outcome, State
from geomi.url.parse import split
from tests.support.crawl import Crawled, Ear, crawl_seeds, crawl_site, home_in, page, paths
from tests.support.server import Reply, Route, Seen, Site
from tests.support.waiting import waits

BASE = "<base href='/'>"
WORDS = " ".join(f"word{number} of a long and quiet text" for number in range(200))


def told(crawled: Crawled, url: str) -> dict[str, object]:
    """Return what a record says about repeating another page."""
    keys = ("duplicate_of", "duplicate_reason", "similarity")
    return {key: value for key, value in crawled.record(url)["metadata"].items() if key in keys}


def outcome_of(crawled: Crawled, url: str) -> tuple[State, Outcome | None]:
    """Return how a URL ended."""
    return crawled.entries[url].state, crawled.entries[url].outcome


def canonical(url: str) -> str:
    """Return the tag by which a page names another."""
    return f'<link rel="canonical" href="{url}">'


class TestInOneJob:
    """Copies that a job meets on its own way."""

    @pytest.mark.req("DUP-05", "G-23")
    def test_a_near_copy_names_its_original_and_how_alike_they_are(self, tmp_path: Path) -> None:
        """Every thirtieth word is another one: far more than 3 bits of a simhash."""
        edited = " ".join(
            f"{word}x" if number % 30 == 0 else word for number, word in enumerate(WORDS.split())
        )
        routes = {
            "/": page("home", "/a", "/b"),
            "/a": page("one", "/", text=WORDS),
            "/b": page("one", "/deeper", text=edited),
            "/deeper": page("deeper"),
        }
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"), delay=0.06)
        found = told(crawled, site.url("/b"))
        similarity = found.pop("similarity")
        assert found == {"duplicate_of": site.url("/a"), "duplicate_reason": "near"}
        assert isinstance(similarity, float) and 0.8 <= similarity < 0.95
        assert crawled.entries[site.url("/b")].detail.startswith(f"nearly repeats {site.url('/a')}")
        assert site.url("/deeper") in crawled.urls

    def test_a_copy_that_may_be_followed_is_not_hidden_by_one_that_may_not(
        self, tmp_path: Path
    ) -> None:
        """The original asks not to be followed; its copy does not, and leads on."""
        muted = '<meta name="robots" content="nofollow">'
        routes = {
            "/": page("home", "/one/", "/two/", "/three/"),
            "/one/": page("same", "/shared", head=BASE + muted),
            "/two/": page("same", "/shared", head=BASE),
            "/three/": page("same", "/shared", head=BASE + muted),
            "/shared": page("shared"),
        }
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"), delay=0.06)
        assert outcome_of(crawled, site.url("/two/")) == (State.COMPLETED, Outcome.OK)
        assert crawled.record(site.url("/shared"))["parent"] == site.url("/two/")
        assert outcome_of(crawled, site.url("/three/")) == (State.COMPLETED, Outcome.DUPLICATE)

    def test_links_that_are_not_followed_do_not_tell_pages_apart(self, tmp_path: Path) -> None:
        """A link that says nofollow may differ from copy to copy."""
        routes = {
            "/": page("home", "/one/", "/two/"),
            "/one/": page("same", '<a rel=nofollow href="/reply?to=1">x</a>'),
            "/two/": page("same", '<a rel=nofollow href="/reply?to=2">x</a>'),
        }
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"), delay=0.06)
        assert outcome_of(crawled, site.url("/two/")) == (State.COMPLETED, Outcome.DUPLICATE)

    @pytest.mark.parametrize("follows", [False, True])
    def test_a_job_may_follow_the_links_of_a_copy_c41(self, tmp_path: Path, follows: bool) -> None:
        """`scope.links_of_duplicates`: only the copy leads to the page that it names as canonical.

        The links of the two are the same, so that nothing else tells whether they are followed.
        """
        routes = {
            "/": page("home", "/one/", "/two/"),
            "/one/": page("same", "/shared", head=BASE),
            "/two/": page("same", "/shared", head=BASE + canonical("/named")),
            "/shared": page("shared"),
            "/named": page("named"),
        }
        options = [f"scope.links_of_duplicates={follows}"]
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"), delay=0.06, assignments=options)
        assert outcome_of(crawled, site.url("/two/")) == (State.COMPLETED, Outcome.DUPLICATE)
        assert (site.url("/named") in crawled.urls) is follows


class TestAcrossJobs:
    """Copies of what an earlier job of the tenant has."""

    def test_a_recrawl_is_no_copy_of_itself(self, tmp_path: Path) -> None:
        """The same pages again, once in another spelling."""
        other = "/a?utm_source=mail"
        routes = {
            "/": page("home", "/a"),
            "/a": page("a", "/b"),
            other: page("a", "/b"),
            "/b": page("b"),
        }
        with Site(routes) as site:
            crawl_site(tmp_path, site.url("/"))
            second = crawl_site(tmp_path, site.url("/"), site.url(other))
        assert site.url(other) in second.urls
        assert len(second.records) == 3
        assert [record["metadata"].get("duplicate_of") for record in second.records] == [None] * 3

    @pytest.mark.req("DUP-02")
    def test_an_exact_copy_of_an_earlier_job_is_named_and_its_links_count(
        self, tmp_path: Path
    ) -> None:
        """The second job never meets the original: it must reach everything by itself."""
        copy = page("same", "/shared", head=BASE)
        routes = {
            "/first": copy,
            "/second": copy,
            "/third": copy,
            "/hub": page("hub", "/second", "/third"),
            "/shared": page("shared"),
        }
        with Site(routes) as site:
            crawl_site(tmp_path, site.url("/first"))
            second = crawl_site(tmp_path, site.url("/hub"), delay=0.06)
        original = {"duplicate_of": site.url("/first"), "duplicate_reason": "exact"}
        assert told(second, site.url("/second")) == original
        assert outcome_of(second, site.url("/second")) == (State.COMPLETED, Outcome.OK)
        assert second.record(site.url("/shared"))["parent"] == site.url("/second")
        # The third repeats the second, which is of this job; all of them stand for the first.
        assert told(second, site.url("/third")) == original
        assert outcome_of(second, site.url("/third")) == (State.COMPLETED, Outcome.DUPLICATE)
        assert second.report.job.stats.duplicates == 1

    def test_an_original_stays_one_when_its_copy_is_met_first(self, tmp_path: Path) -> None:
        """Clusters do not turn round from crawl to crawl."""
        copy = page("same", "/shared", head=BASE)
        routes = {"/first": copy, "/second": copy, "/shared": page("shared")}
        with Site(routes) as site:
            crawl_site(tmp_path, site.url("/first"), site.url("/second"), delay=0.06)
            crawled = crawl_site(tmp_path, site.url("/second"), site.url("/first"), delay=0.06)
        assert crawled.urls[0] == site.url("/second")
        assert told(crawled, site.url("/second"))["duplicate_of"] == site.url("/first")
        assert told(crawled, site.url("/first")) == {}
        assert site.url("/shared") in crawled.urls

    def test_pages_without_a_sketch_are_fetched_anew(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What an older geomi has kept is read once more, and can be compared from then on."""
        home = replace(page("home"), headers=(("ETag", '"1"'),))
        with Site({"/": home}) as site:
            with monkeypatch.context() as older:
                older.setattr("geomi.dedup.decide.draw", lambda _: b"")
                crawl_site(tmp_path, site.url("/"))
            crawl_site(tmp_path, site.url("/"))
            crawl_site(tmp_path, site.url("/"))
            conditions = ["if-none-match" in seen.headers for seen in site.log if seen.path == "/"]
        assert conditions == [False, False, True]


class TestCanonical:
    """What a page says of itself is a hint (C-42)."""

    @pytest.mark.req("META-02")
    def test_the_page_that_is_named_is_visited_and_stands_for_the_other(
        self, tmp_path: Path
    ) -> None:
        """Nothing links to it, and it lies no deeper than who names it."""
        routes = {
            "/": page("home", "/print", "/again"),
            "/print": page("text", head=canonical("/text"), text=WORDS),
            "/again": page("text", head=canonical("/text"), text=WORDS.replace("word7 ", "w ")),
            "/text": page("text", "/", text=WORDS + " and its frame"),
        }
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"), depth=1, delay=0.06)
        assert told(crawled, site.url("/print")) == {
            "duplicate_of": site.url("/text"),
            "duplicate_reason": "canonical",
        }
        assert crawled.record(site.url("/text"))["depth"] == 1
        assert crawled.record(site.url("/text"))["parent"] == site.url("/print")
        assert told(crawled, site.url("/text")) == {}

    @pytest.mark.req("META-02")
    @pytest.mark.parametrize(
        ("named", "assignment"),
        [
            ("http://elsewhere.test/text", "scope.honor_canonical=true"),
            ("/private/text", "scope.exclude=/private/**"),
            ("/text", "scope.honor_canonical=false"),
            ("/page?utm_source=mail", "scope.honor_canonical=true"),
            ("https://127.0.0.1/page", "scope.honor_canonical=true"),
            ("mailto:nobody@a.test", "scope.honor_canonical=true"),
        ],
        ids=["out-of-scope", "excluded", "switched-off", "itself", "itself-in-https", "no-page"],
    )
    def test_it_is_not_believed_everywhere(
        self, tmp_path: Path, named: str, assignment: str
    ) -> None:
        """A page that names nothing we may visit is a page of its own."""
        routes = {"/page": page("text", head=canonical(named)), "/text": page("text")}
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/page"), assignments=[assignment])
            assert paths(site.log) == ["/page"]
        assert told(crawled, site.url("/page")) == {}

    def test_a_template_that_names_the_front_page_everywhere_is_not_believed(
        self, tmp_path: Path
    ) -> None:
        """The two texts have nothing in common."""
        routes = {
            "/": page("home", "/a", head=canonical("/"), text=WORDS),
            "/a": page("a", head=canonical("/"), text=WORDS.upper().replace("O", "E")),
        }
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"), delay=0.06)
        assert told(crawled, site.url("/a")) == {}

    def test_pages_that_name_each_other_in_a_row_come_to_an_end(self, tmp_path: Path) -> None:
        """They lie at one depth, so hops are counted as with redirects."""

        def next_one(seen: Seen) -> Reply:
            number = int(seen.path.removeprefix("/p"))
            return page(f"p{number}", head=canonical(f"/p{number + 1}"))

        with Site({"/": page("home", "/p0")}, otherwise=_unless_robots(next_one)) as site:
            crawled = crawl_site(
                tmp_path, site.url("/"), depth=1, assignments=["http.max_redirects=3"]
            )
        assert sorted(crawled.urls)[1:] == [site.url(f"/p{number}") for number in range(4)]


GONE = page("Page not found", "/", text=f"Nothing was found at this address. {WORDS}")
SOFT = replace(GONE, body=GONE.body.replace(b"at this address", b"here"))


class TestSoft404:
    """Pages that come with status 200 and say that there is nothing."""

    @waits
    async def test_one_that_repeats_the_error_page_of_its_host(self, tmp_path: Path) -> None:
        """Nothing is asked to learn what that looks like; its links are not followed."""
        routes = {
            "/": page("home", "/gone", "/soft", "/real"),
            "/gone": replace(GONE, status=404),
            "/soft": replace(SOFT, body=SOFT.body.replace(b'"/"', b'"/lost"')),
            "/real": page("404 Not Found errors in nginx explained", "/more"),
            "/more": page("more"),
        }
        with Site(routes) as site:
            crawled = await crawl_seeds(tmp_path, site.url("/"), delay=0.06)
            assert "/lost" not in paths(site.log)

            async with home_in(tmp_path, Ear()) as home:
                url = split(site.url("/soft"))
                found = await explain(home.world, crawled.report.job, url, ())
                assert f"{found.answer} / {found.decided_by} / {found.detail}" == (
                    "visited, not kept / outcome.soft_404 / HTTP 200, "
                    "says that nothing was found, and repeats the error page of its host"
                )
        assert outcome_of(crawled, site.url("/soft")) == (State.SKIPPED, Outcome.SOFT_404)
        kept = ["/", "/more", "/real"]
        assert sorted(crawled.urls) == [site.url(path) for path in kept]

    @pytest.mark.parametrize(
        ("path", "reply", "is_kept"),
        [
            ("/x", page("Not Found", text="Sorry."), False),
            ("/x", page("페이지를 찾을 수 없습니다", text="죄송합니다."), False),
            ("/status/404", page("404 Not Found", text="A status of HTTP."), True),
            ("/x", SOFT, True),
            ("/x", page("Not Found", text=WORDS), True),
            ("/x", page("404 pages that we love", text="Short."), True),
            ("/x", Reply(b"Not found\n", content_type="text/plain"), True),
        ],
        ids=["sorry", "korean", "about-it", "no-template", "long", "other-words", "plain"],
    )
    def test_without_an_error_page_it_must_say_so_twice_and_nothing_else(
        self, tmp_path: Path, path: str, reply: Reply, is_kept: bool
    ) -> None:
        """Whatever else it may be is a page."""
        with Site({"/": page("home", path), path: reply}) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
        assert (site.url(path) in crawled.urls) is is_kept

    def test_what_is_remembered_of_hosts_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """One host more, and the oldest is forgotten; a huge error page is none."""
        monkeypatch.setattr(parsing, "MAX_HOSTS", 2)
        headers = (("content-type", "text/html"),)
        gone = Fetched("http://a.test/gone", 404, headers, GONE.body)
        soft = Fetched("http://a.test/soft", 200, headers, SOFT.body)
        read = Article("Page not found", "", f"Page not found Nothing was found here. {WORDS}", ())
        seen = Soft404(Extraction())
        for host in "abc":
            seen.learn(host, gone)
        assert [bool(seen.sign(host, soft, read)) for host in "abc"] == [False, True, True]
        monkeypatch.setattr(parsing, "MAX_TEMPLATE_BYTES", len(GONE.body) - 1)
        seen.learn("d", gone)
        assert seen.sign("d", soft, read) is None


def _unless_robots(route: Route) -> Route:
    def answer(seen: Seen) -> Reply:
        if seen.path == "/robots.txt":
            return Reply(status=404)
        found = route(seen) if callable(route) else route
        assert isinstance(found, Reply)
        return found

    return answer


@pytest.mark.parametrize("circle", ["ab", "xyz"])
def test_pages_that_name_one_another_in_a_circle_have_one_that_stands_for_them(
    tmp_path: Path, circle: str
) -> None:
    """Also where the first of them are not yet committed when the last one comes."""
    following = dict(zip(circle, circle[1:] + circle[0], strict=True))
    routes = {
        f"/{one}": page(one, head=canonical(f"/{other}"), text=f"{WORDS} {one}")
        for one, other in following.items()
    }
    with Site({"/": page("home", *routes)} | routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"))
        copies = {one: told(crawled, site.url(f"/{one}")).get("duplicate_of") for one in circle}
        originals = [site.url(f"/{one}") for one, of in copies.items() if of is None]
    assert len(originals) == 1
    assert {of for of in copies.values() if of} <= {*originals, *map(site.url, routes)}


@pytest.mark.req("ERR-17")
def test_a_page_that_cannot_be_read_costs_itself_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong in reading a page is told of that page; the crawl goes on."""

    def fail(body: bytes, *rest: object, **named: object) -> Article:
        if b"broken" in body:
            raise RecursionError("too deep")
        return extract(body, *rest, **named)  # type: ignore[arg-type]  # handed through

    monkeypatch.setattr(parsing, "extract", fail)
    with Site(
        {"/": page("home", "/bad", "/good"), "/bad": page("broken"), "/good": page("g")}
    ) as s:
        crawled = crawl_site(tmp_path, s.url("/"))
        assert outcome_of(crawled, s.url("/bad")) == (State.SKIPPED, Outcome.WRONG_TYPE)
        assert "RecursionError: too deep" in crawled.entries[s.url("/bad")].detail
        assert outcome_of(crawled, s.url("/good")) == (State.COMPLETED, Outcome.OK)
