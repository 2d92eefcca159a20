"""robots.txt in a running crawl: before the first page, once a host, and always obeyed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geomi.engine.visit import sitemaps
from geomi.model.config import (
    CrawlConfig,
    Limits,
    OnUnreachable,
    Politeness,
    RobotsRules,
)
from geomi.model.event import RobotsFetched, RobotsJudged
from geomi.model.verdict import Outcome, State
from tests.support.crawl import (
    Ear,
    crawl_in,
    crawl_site,
    gaps,
    home_in,
    page,
    paths,
    plan,
    robots,
    to,
)
from tests.support.server import Answer, End, Raw, Reply, Route, Seen, Site
from tests.support.timed_crawl import Hand, hand_in
from tests.support.waiting import waits

CONFIG = CrawlConfig(politeness=Politeness(delay_s=1.0), limits=Limits(max_pages=0, max_depth=10))
FORBIDDING = robots("User-agent: *", "Allow: /private/open", "Disallow: /private")


@pytest.mark.req("ROB-01", "ROB-03", "ROB-28", "HTTP-14", "WF-09")
def test_what_is_forbidden_is_never_asked_for(tmp_path: Path) -> None:
    """robots.txt is the first request, the only one of its kind, and its winning line is kept."""
    links = ("/private", "/private/x", "/private/open", "/public")
    routes = {"/robots.txt": FORBIDDING, "/": page("home", *links)}
    routes |= {path: page(path, "/private/y") for path in links}
    with Site(routes) as site:
        crawled = crawl_site(tmp_path, site.url("/"))
        assert [seen.path for seen in site.log] == ["/robots.txt", "/", "/private/open", "/public"]
    states = crawled.states(site)
    assert {path for path, state in states.items() if state is State.BLOCKED} == {
        "/private",
        "/private/x",
        "/private/y",
    }
    entry = crawled.entries[site.url("/private/x")]
    assert entry.outcome is Outcome.ROBOTS
    assert entry.detail == "line 3: Disallow: /private (User-agent: *)"
    assert crawled.report.job.stats.blocked == 3
    assert crawled.report.job.stats.settled == 3, "what was not fetched uses up no page"
    assert crawled.report.job.stats.requests == len(site.log)


@pytest.mark.req("ROB-29", "MON-16")
def test_a_fetch_is_told_with_its_facts(tmp_path: Path) -> None:
    """Who, which status, from the cache or not, how old and how large."""
    with Site({"/robots.txt": FORBIDDING, "/": page("home")}) as site:
        first = crawl_site(tmp_path, site.url("/"))
        again = crawl_site(tmp_path, site.url("/"))
        assert [seen.path for seen in site.log] == ["/robots.txt", "/", "/"]
    (told,) = first.ear.of(RobotsFetched)
    assert (told.host, told.status, told.from_cache) == (f"127.0.0.1:{site.port}", 200, False)
    assert told.bytes == len(FORBIDDING.body)
    (told,) = again.ear.of(RobotsFetched)
    assert told.from_cache
    assert told.age_s > 0


@pytest.mark.req("ROB-12")
@pytest.mark.parametrize("status", [404, 410, 403])
def test_no_file_forbids_nothing(tmp_path: Path, status: int) -> None:
    """A site without robots.txt is crawled."""
    with Site(
        {"/robots.txt": Reply(status=status), "/": page("home", "/a"), "/a": page("a")}
    ) as site:
        crawled = crawl_site(tmp_path, site.url("/"))
    assert len(crawled.records) == 2


@pytest.mark.req("ROB-05")
def test_another_port_is_another_site(tmp_path: Path) -> None:
    """Each authority has its own file, each asked for once."""
    with Site({"/robots.txt": FORBIDDING, "/private": page("p")}) as one, Site({}) as two:
        two.routes = {"/": page("home", one.url("/private"), "/private"), "/private": page("own")}
        crawled = crawl_site(tmp_path, two.url("/"), one.url("/private"), scope="any")
        assert [seen.path for seen in one.log] == ["/robots.txt"]
        assert [seen.path for seen in two.log] == ["/robots.txt", "/", "/private"]
    assert crawled.entries[one.url("/private")].state is State.BLOCKED


@pytest.mark.req("SCP-04", "ROB-34", "LEG-07")
def test_our_own_rules_come_before_robots(tmp_path: Path) -> None:
    """What we exclude is not asked for though robots.txt allows it, and the other way round."""
    rules = robots("User-agent: *", "Allow: /ours", "Disallow: /theirs")
    routes = {"/": page("home", "/ours", "/theirs", "/free"), "/free": page("free")}
    with Site({"/robots.txt": rules, **routes}) as site:
        crawled = crawl_site(tmp_path, site.url("/"), exclude=("/ours",), include=("/**",))
        assert paths(site.log) == ["/", "/free"]
    assert crawled.exclusions["exclude"][0] == 1
    assert crawled.entries[site.url("/theirs")].state is State.BLOCKED


def test_a_job_may_leave_robots_alone(tmp_path: Path) -> None:
    """With `robots.respect` off nothing is asked and nothing is blocked."""
    with Site({"/robots.txt": robots("User-agent: *", "Disallow: /"), "/": page("home")}) as site:
        crawled = crawl_site(tmp_path, site.url("/"), assignments=["robots.respect=false"])
        assert [seen.path for seen in site.log] == ["/"]
    assert len(crawled.records) == 1


class TestOutOfReach:
    """A robots.txt that cannot be had now: wait for it, then give up (C-01)."""

    @waits
    async def test_nothing_is_fetched_and_it_is_asked_for_again(self, tmp_path: Path) -> None:
        """Three tries, ten minutes apart; then the URL is blocked and the reason is kept."""
        with Site({"/robots.txt": Reply(status=503), "/": page("home")}) as site:
            async with hand_in(tmp_path) as hand:
                job = await hand.crawl(CONFIG, site.url("/"))
                times = hand.asked("/robots.txt")
                entry = (await hand.entries(job))["/"]
            assert [seen.path for seen in site.log] == ["/robots.txt"] * 3
        assert min(gaps(times)) >= 600
        assert (entry.state, entry.outcome) == (State.BLOCKED, Outcome.ROBOTS)
        assert "503" in entry.detail

    @waits
    async def test_it_may_come_back(self, tmp_path: Path) -> None:
        """The file that comes at the second try decides."""
        answers = iter([Reply(status=500), FORBIDDING])

        routes: dict[str, Route] = {
            "/robots.txt": lambda _: next(answers),
            "/": page("home", "/private"),
        }
        with Site(routes) as site:
            async with hand_in(tmp_path) as hand:
                job = await hand.crawl(CONFIG, site.url("/"))
                entries = await hand.entries(job)
            assert [seen.path for seen in site.log] == ["/robots.txt", "/robots.txt", "/"]
        assert entries["/"].state is State.COMPLETED
        assert entries["/private"].state is State.BLOCKED

    @pytest.mark.req("ROB-13")
    @pytest.mark.parametrize(
        ("wish", "rest_s"),
        [(OnUnreachable.ALLOW, 1.0), (OnUnreachable.ALLOW_WITH_DELAY, 2.0)],
    )
    @waits
    async def test_a_profile_may_go_on(
        self, tmp_path: Path, wish: OnUnreachable, rest_s: float
    ) -> None:
        """The scanner at its own pace, documentation at least two seconds apart."""
        config = replace(CONFIG, robots=RobotsRules(on_unreachable=wish))

        routes = {"/robots.txt": Reply(status=503), "/": page("home", "/a"), "/a": page("a")}
        with Site(routes) as site:
            async with hand_in(tmp_path) as hand:
                job = await hand.crawl(config, site.url("/"))
                times = [one.at_s for one in hand.fetcher.asked]
        assert job.stats.collected == 2
        assert rest_s <= min(gaps(times)[1:]) < 1.5 * rest_s

    @pytest.mark.req("ERR-10")
    @waits
    async def test_a_host_out_of_reach_fails_as_itself(self, tmp_path: Path) -> None:
        """Nobody answers: the page's own outcome says so, and it is tried again by the table."""
        with Site({}, otherwise=Raw((), End.RESET)) as site:
            async with hand_in(tmp_path) as hand:
                job = await hand.crawl(CONFIG, site.url("/"))
                times = hand.asked("/robots.txt")
                entry = (await hand.entries(job))["/"]
        assert len(times) == 2
        assert times[1] - times[0] >= 27
        assert (entry.state, entry.outcome) == (State.FAILED, Outcome.CONNECT_ERROR)


class TestRedirected:
    """The rules at the end of a redirect hold for where it began (C-10)."""

    @pytest.mark.req("ROB-03")
    def test_on_another_host(self, tmp_path: Path) -> None:
        """The other host is asked in its own turn, and its requests are counted."""
        with Site({"/rules": FORBIDDING}, address="127.0.0.2") as other:
            routes = {"/robots.txt": to(other.url("/rules")), "/": page("home", "/private", "/a")}
            with Site({**routes, "/a": page("a"), "/private": page("p")}) as site:
                crawled = crawl_site(tmp_path, site.url("/"))
                assert [seen.path for seen in site.log] == ["/robots.txt", "/", "/a"]
            assert [seen.path for seen in other.log] == ["/rules"]
            assert crawled.report.job.stats.requests == len(site.log) + len(other.log)
        assert crawled.entries[site.url("/private")].state is State.BLOCKED

    def test_on_the_same_host(self, tmp_path: Path) -> None:
        """A hop on the same host stays inside its lease."""
        routes = {"/robots.txt": to("/rules"), "/rules": FORBIDDING, "/": page("home", "/private")}
        with Site(routes) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
            assert [seen.path for seen in site.log] == ["/robots.txt", "/rules", "/"]
        assert crawled.entries[site.url("/private")].state is State.BLOCKED

    def test_without_an_end_there_is_no_file(self, tmp_path: Path) -> None:
        """RFC 9309 §2.3.1.2: after five hops the file is unavailable."""
        with Site({"/robots.txt": to("/robots.txt"), "/": page("home")}) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
            assert [seen.path for seen in site.log] == ["/robots.txt"] * 6 + ["/"]
        assert len(crawled.records) == 1

    def test_to_a_host_of_the_same_crawl(self, tmp_path: Path) -> None:
        """A bare domain's robots.txt often lies on `www.`, which is crawled at that moment."""
        routes: dict[str, Route] = {"/robots.txt": FORBIDDING, "/": page("www", "/a", "/b", "/c")}
        routes |= {path: page(path) for path in ("/a", "/b", "/c")}
        with Site(routes, address="127.0.0.2") as www:
            bare = {"/robots.txt": to(www.url("/robots.txt")), "/": page("bare", "/private")}
            with Site(bare) as site:
                crawled = crawl_site(tmp_path, site.url("/"), www.url("/"), delay=0.05)
            assert [seen.path for seen in www.log].count("/robots.txt") == 1
        assert crawled.entries[site.url("/")].state is State.COMPLETED
        assert crawled.entries[site.url("/private")].state is State.BLOCKED
        assert len(crawled.records) == 5

    @pytest.mark.req("ROB-08")
    def test_to_a_file_that_is_on_its_way(self, tmp_path: Path) -> None:
        """Whoever comes second waits for the first, and one request serves both."""
        slow = Raw((_head(FORBIDDING.body), 0.5, FORBIDDING.body), End.KEEP)
        routes: dict[str, Route] = {"/robots.txt": slow, "/": page("www", "/private/www")}
        with Site(routes, address="127.0.0.2") as www:
            bare = {"/robots.txt": to(www.url("/robots.txt")), "/": page("bare", "/private")}
            with Site(bare) as site:
                crawled = crawl_site(tmp_path, www.url("/"), site.url("/"))
            assert [seen.path for seen in www.log] == ["/robots.txt", "/"]
        assert crawled.entries[site.url("/private")].state is State.BLOCKED
        assert crawled.entries[www.url("/private/www")].state is State.BLOCKED

    @pytest.mark.req("ROB-05", "ROB-08")
    @pytest.mark.parametrize("persist", ["true", "false"])
    def test_the_copy_is_kept_for_its_own_site_too(self, tmp_path: Path, persist: str) -> None:
        """What a bare domain was led to is the robots.txt of its `www.`, asked for once."""
        with Site({"/robots.txt": FORBIDDING, "/": page("www")}, address="127.0.0.2") as www:
            bare = {"/robots.txt": to(www.url("/robots.txt")), "/": page("bare", www.url("/"))}
            with Site(bare) as site:
                crawled = crawl_site(
                    tmp_path,
                    site.url("/"),
                    scope="any",
                    assignments=[f"robots.persist={persist}"],
                )
            assert [seen.path for seen in www.log] == ["/robots.txt", "/"]
        assert len(crawled.records) == 2

    def test_a_failing_answer_is_not_kept_for_others(self, tmp_path: Path) -> None:
        """A passing trouble on the way is no answer of theirs: they are asked themselves."""
        answers = iter([Reply(status=503), FORBIDDING])
        routes: dict[str, Route] = {"/robots.txt": lambda _: next(answers), "/": page("www")}
        with Site(routes, address="127.0.0.2") as www:
            bare = {"/robots.txt": to(www.url("/robots.txt")), "/": page("bare", www.url("/"))}
            with Site(bare) as site:
                crawl_site(
                    tmp_path,
                    site.url("/"),
                    scope="any",
                    assignments=["robots.on_unreachable=allow"],
                )
            assert [seen.path for seen in www.log] == ["/robots.txt", "/robots.txt", "/"]

    @waits
    async def test_to_a_host_that_is_busy(self, tmp_path: Path) -> None:
        """It is waited for a little, then counts as out of reach, and is asked again later."""
        with Site({"/rules": FORBIDDING}, address="127.0.0.2") as other:
            routes = {"/robots.txt": to(other.url("/rules")), "/": page("home", "/private")}
            with Site(routes) as site:
                async with hand_in(tmp_path) as hand:
                    await hand.store.frontier.reserve(
                        "",
                        f"127.0.0.2:{other.port}",
                        owner="somebody",
                        lease_s=300.0,
                        delay_s=0.0,
                        now_s=hand.clock.now_s(),
                    )
                    job = await hand.crawl(CONFIG, site.url("/"))
                    times = hand.asked("/robots.txt")
                    entries = await hand.entries(job)
            assert [seen.path for seen in other.log] == ["/rules"]
        assert len(times) == 2
        assert min(gaps(times)) >= 600
        assert entries["/private"].state is State.BLOCKED
        assert entries["/"].state is State.COMPLETED

    def test_two_files_that_lead_to_one_another(self, tmp_path: Path) -> None:
        """A circle has no file at its end, and nobody waits in it for ever."""
        with Site({}, address="127.0.0.2") as www, Site({}) as site:
            for one, other in ((www, site), (site, www)):
                one.routes = {"/robots.txt": to(other.url("/robots.txt")), "/": page("home")}
            crawled = crawl_site(tmp_path, site.url("/"), www.url("/"))
        assert {entry.state for entry in crawled.entries.values()} == {State.COMPLETED}


def _head(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)


class TestWhatIsRead:
    """Bytes that are not as they should be."""

    @pytest.mark.req("ROB-11")
    def test_the_header_names_the_charset(self, tmp_path: Path) -> None:
        """A Korean file in the charset of its time; the stored copy is UTF-8."""
        body = "User-agent: *\nDisallow: /비밀".encode("euc-kr")
        rules = Reply(body, content_type="text/plain; charset=EUC-KR")
        with Site({"/robots.txt": rules, "/": page("home", "/비밀")}) as site:
            first = crawl_site(tmp_path, site.url("/"))
            again = crawl_site(tmp_path, site.url("/"))
            assert [seen.path for seen in site.log] == ["/robots.txt", "/", "/"]
        for crawled in (first, again):
            assert crawled.report.job.stats.blocked == 1

    def test_a_line_that_the_limit_cuts_is_no_rule(self, tmp_path: Path) -> None:
        """`Disallow: /private`, cut after the slash, would forbid the whole site (C-11)."""
        head = b"User-agent: *\nDisallow: /secret\n"
        last = b"Disallow: /"
        padding = b"#" * (524_288 - len(head) - len(last) - 1) + b"\n"
        rules = Reply(head + padding + last + b"private\n", content_type="text/plain")
        with Site({"/robots.txt": rules, "/": page("home", "/secret")}) as site:
            crawled = crawl_site(tmp_path, site.url("/"))
        assert crawled.states(site) == {"/": State.COMPLETED, "/secret": State.BLOCKED}
        assert any("above the limits" in told for told in crawled.ear.warnings)


class DetailedEar(Ear):
    """An ear at the level of debugging."""

    wants_details = True


@pytest.mark.req("ROB-30", "MON-16")
@pytest.mark.parametrize("ear", [Ear, DetailedEar])
@waits
async def test_matches_are_told_to_whoever_wants_them(tmp_path: Path, ear: type[Ear]) -> None:
    """Path, decision, winning pattern and its length; otherwise such an event is not made."""
    routes = {"/robots.txt": FORBIDDING, "/": page("home", "/private/open", "/private?x=1")}
    listener = ear()

    with Site({**routes, "/private/open": page("open")}) as site:
        async with home_in(tmp_path, listener) as home:
            await crawl_in(home, listener, plan([site.url("/")]))
    told = [
        (each.path, each.decision, each.winner_pattern, each.match_len)
        for each in listener.of(RobotsJudged)
    ]
    expected = [
        ("/", "ALLOW", "", 0),
        ("/private/open", "ALLOW", "/private/open", 13),
        ("/private?x=1", "DISALLOW", "/private", 8),
    ]
    assert sorted(told) == (expected if ear is DetailedEar else [])


@waits
async def test_who_only_records_waits_for_nothing(tmp_path: Path) -> None:
    """`record`: a robots.txt out of reach is asked for once, and no page is fetched."""
    config = replace(CONFIG, robots=RobotsRules(on_unreachable=OnUnreachable.RECORD))

    with Site({"/robots.txt": Reply(status=503), "/": page("home")}) as site:
        async with hand_in(tmp_path) as hand:
            job = await hand.crawl(config, site.url("/"))
            entry = (await hand.entries(job))["/"]
        assert [seen.path for seen in site.log] == ["/robots.txt"]
    assert (entry.state, entry.outcome) == (State.BLOCKED, Outcome.ROBOTS)


class TestCrawlDelay:
    """What robots.txt asks us to wait is waited (POL-14)."""

    @pytest.mark.req("POL-14", "ROB-26")
    @pytest.mark.parametrize(
        ("asked_s", "cap_s", "waited_s"),
        [(7, 60, 7), (40, 60, 40), (90, 60, 60), (4000, 1e6, 4000)],
    )
    @waits
    async def test_between_all_requests(
        self, tmp_path: Path, asked_s: int, cap_s: float, waited_s: float
    ) -> None:
        """The first page rests after robots.txt itself; the cap holds; no lease is lost over it."""
        config = replace(CONFIG, robots=RobotsRules(max_crawl_delay_s=cap_s))

        rules = robots("User-agent: *", f"Crawl-delay: {asked_s}")
        routes = {"/robots.txt": rules, "/": page("home", "/a", "/b")}
        with Site({**routes, "/a": page("a"), "/b": page("b")}) as site:
            async with hand_in(tmp_path) as hand:
                job = await hand.crawl(config, site.url("/"))
                times = [one.at_s for one in hand.fetcher.asked]
                warnings = hand.ear.warnings
            assert paths(site.log) == ["/", "/a", "/b"]
        assert all(waited_s <= gap < waited_s * 1.1 + 2 for gap in gaps(times))
        assert job.stats.collected == 3
        told = f"asks for {asked_s} s; {cap_s:g} s are obeyed"  # C-05
        assert [each for each in warnings if told in each] == warnings
        assert len(warnings) == (asked_s > cap_s)

    @pytest.mark.req("ROB-26")
    @waits
    async def test_not_where_the_job_does_not_care(self, tmp_path: Path) -> None:
        """`respect_crawl_delay` off: the job's own delay is enough."""
        config = replace(CONFIG, robots=RobotsRules(respect_crawl_delay=False))

        routes = {
            "/robots.txt": robots("User-agent: *", "Crawl-delay: 30"),
            "/": page("home", "/a"),
            "/a": page("a"),
        }
        with Site(routes) as site:
            async with hand_in(tmp_path) as hand:
                await hand.crawl(config, site.url("/"))
                assert _seconds(hand) < 10

    @waits
    async def test_a_long_delay_and_a_redirected_robots(self, tmp_path: Path) -> None:
        """Hops of robots.txt rest as long, and the lease outlives them."""
        config = replace(CONFIG, politeness=Politeness(delay_s=400.0))

        routes = {"/robots.txt": to("/r"), "/r": FORBIDDING, "/": page("home", "/private")}
        with Site(routes) as site:
            async with hand_in(tmp_path) as hand:
                job = await hand.crawl(config, site.url("/"))
                times = [one.at_s for one in hand.fetcher.asked]
                assert hand.ear.warnings == []
            assert [seen.path for seen in site.log] == ["/robots.txt", "/r", "/"]
        assert job.stats.collected == 1
        assert min(gaps(times)) >= 400


def sitemap(*urls: str) -> Reply:
    """Make a sitemap."""
    items = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Reply(f"<urlset>{items}</urlset>".encode(), content_type="application/xml")


def index(*urls: str) -> Reply:
    """Make a sitemap index."""
    items = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return Reply(f"<sitemapindex>{items}</sitemapindex>".encode(), content_type="text/xml")


class TestSitemaps:
    """`Sitemap:` lines lead to pages that nobody links to."""

    @pytest.mark.req("LNK-11", "LNK-15", "ROB-27")
    def test_pages_are_found(self, tmp_path: Path) -> None:
        """A sitemap goes before the links of its site, is no page, and obeys the scope."""
        with Site({}) as site:
            site.routes = {
                "/robots.txt": robots(f"Sitemap: {site.url('/map.xml')}"),
                "/map.xml": sitemap(site.url("/hidden"), "http://elsewhere.test/", site.url("/")),
                "/": page("home", "/a"),
                "/a": page("a"),
                "/hidden": page("hidden"),
            }
            crawled = crawl_site(tmp_path, site.url("/"))
            assert paths(site.log)[:2] == ["/", "/map.xml"]
        assert set(crawled.urls) == {site.url("/"), site.url("/a"), site.url("/hidden")}
        assert crawled.record(site.url("/hidden"))["source"] == "sitemap"
        assert crawled.record(site.url("/hidden"))["depth"] == 1
        assert crawled.report.job.stats.settled == 3, "a sitemap is not a page"
        assert crawled.exclusions["scope.host"][0] == 1

    def test_a_job_may_do_without(self, tmp_path: Path) -> None:
        """`scope.sitemaps` off: the line is not followed."""
        with Site({}) as site:
            site.routes = {
                "/robots.txt": robots(f"Sitemap: {site.url('/map.xml')}"),
                "/": page("home"),
            }
            crawl_site(tmp_path, site.url("/"), assignments=["scope.sitemaps=false"])
            assert paths(site.log) == ["/"]

    def test_nesting_has_a_limit(self, tmp_path: Path) -> None:
        """C-82: an index below an index is read, a third one's children are not."""
        with Site({}) as site:
            site.routes = {
                "/robots.txt": robots(f"Sitemap: {site.url('/0.xml')}"),
                "/": page("home"),
                **{f"/{n}.xml": index(site.url(f"/{n + 1}.xml")) for n in range(9)},
            }
            crawl_site(tmp_path, site.url("/"))
            assert paths(site.log) == ["/", "/0.xml", "/1.xml", "/2.xml"]

    def test_an_index_names_sitemaps_of_its_own_host(self, tmp_path: Path) -> None:
        """C-82: only robots.txt may name a sitemap elsewhere; otherwise any index could send us."""
        with Site({}, address="127.0.0.2") as victim, Site({}) as site:
            elsewhere = victim.url("/told.xml")
            victim.routes = {"/told.xml": sitemap(site.url("/hidden"))}
            site.routes = {
                "/robots.txt": robots(f"Sitemap: {site.url('/i.xml')}", f"Sitemap: {elsewhere}"),
                "/i.xml": index(victim.url("/untold.xml"), site.url("/own.xml")),
                "/own.xml": sitemap(site.url("/a")),
                "/": page("home"),
                "/a": page("a"),
                "/hidden": page("hidden"),
            }
            crawled = crawl_site(tmp_path, site.url("/"))
            assert [seen.path for seen in victim.log] == ["/robots.txt", "/told.xml"]
        assert set(crawled.urls) == {site.url("/"), site.url("/a"), site.url("/hidden")}
        assert crawled.exclusions["sitemap.host"] == (1, (victim.url("/untold.xml"),))

    def test_a_host_has_so_many_sitemaps(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Sitemaps use up no page, so an index of indexes must not be endless."""

        def endless(seen: Seen) -> Answer:
            if not seen.path.endswith(".xml"):
                return page(seen.path)
            name = seen.path.removesuffix(".xml")
            return index(*(site.url(f"{name}-{n}.xml") for n in range(60)))

        monkeypatch.setattr(sitemaps, "SITEMAPS_PER_HOST", 50)
        with Site({}, otherwise=endless) as site:
            site.routes = {
                "/robots.txt": robots(*(f"Sitemap: {site.url(f'/{n}.xml')}" for n in range(3)))
            }
            crawled = crawl_site(tmp_path, site.url("/"))
            asked = [path for path in paths(site.log) if path.endswith(".xml")]
        assert len(asked) == len(set(asked)) == 50
        assert crawled.exclusions["sitemap.limit"][0] > 0

    def test_a_web_wide_crawl_does_without(self, tmp_path: Path) -> None:
        """Sitemaps are for the sites a crawl is about."""
        with Site({}) as site:
            site.routes = {
                "/robots.txt": robots(f"Sitemap: {site.url('/map.xml')}"),
                "/": page("home"),
            }
            crawl_site(tmp_path, site.url("/"), scope="any")
            assert paths(site.log) == ["/"]


def _seconds(hand: Hand) -> float:
    return hand.clock.now_s() - hand.began_s


def test_a_sitemap_takes_no_page_s_place(tmp_path: Path) -> None:
    """One that redirects to the front page does not keep the front page from being collected."""
    with Site({}) as site:
        site.routes = {
            "/robots.txt": robots("User-agent: *", "Disallow:", f"Sitemap: {site.url('/map.xml')}"),
            "/map.xml": Reply(status=302, headers=(("Location", "/"),)),
            "/docs": page("docs", "/"),
            "/": page("home"),
        }
        crawled = crawl_site(tmp_path, site.url("/docs"))
    assert {record["url"] for record in crawled.records} == {site.url("/docs"), site.url("/")}


def test_a_host_asked_for_a_sitemap_alone_leads_no_further(tmp_path: Path) -> None:
    """Otherwise one robots.txt after the other could name sitemaps on the next host, for ever."""
    with Site({}) as site, Site({}, address="127.0.0.2") as other, Site({}) as third:
        site.routes = {
            "/robots.txt": robots("User-agent: *", "Disallow:", f"Sitemap: {other.url('/1.xml')}"),
            "/": page("home"),
        }
        other.routes = {
            "/robots.txt": robots("User-agent: *", "Disallow:", f"Sitemap: {third.url('/2.xml')}"),
            "/1.xml": sitemap(site.url("/hidden")),
        }
        crawl_site(tmp_path, site.url("/"))
    assert [seen.path for seen in other.log] == ["/robots.txt", "/1.xml"]
    assert third.log == []


@pytest.mark.parametrize("answer", [Raw((), End.RESET), Reply(status=500)])
def test_a_job_may_go_on_without_robots(tmp_path: Path, answer: Answer) -> None:
    """With `on_unreachable` set to allow, a robots.txt that does not answer forbids nothing."""
    with Site({"/robots.txt": answer, "/": page("home")}) as site:
        crawled = crawl_site(tmp_path, site.url("/"), assignments=["robots.on_unreachable=allow"])
    assert [record["url"] for record in crawled.records] == [site.url("/")]
