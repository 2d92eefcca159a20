"""`why`: the chain again over what is stored, what decided, and what would turn it round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from geomi.admit.normalize import identity
from geomi.app.use import providers
from geomi.engine.inspect.status import status
from geomi.engine.inspect.why import Explanation, explain
from geomi.model.config import UrlRules
from geomi.model.job import CrawlJob
from geomi.model.site import Provider, Refusal, Review, SiteRule
from geomi.model.verdict import State, Verdict
from geomi.settings.providers import presets
from geomi.url.parse import parse, url_hash
from tests.support.crawl import Ear, crawl_in, home_in, page, plan, robots, to
from tests.support.server import Reply, Site
from tests.support.waiting import waits

ROUTES = {
    "/robots.txt": robots("User-agent: *", "Disallow: /private"),
    "/": page(
        "home",
        "/a",
        "/private/x",
        "/old",
        "/gone",
        "/out/1",
        "/login",
        "/pdf.pdf",
        "/empty",
        "/meta",
        "/header",
    ),
    "/a": page("a", "/a/b", "/r/r/r/r", "/s?sid=9f8e7d6c5b4a39281706f5e4d3c2b1a0", "/docs"),
    "/s": page("s"),
    "/a/b": page("b", "/a/b/c"),
    "/old": to("/new"),
    "/new": page("new"),
    "/empty": Reply(b"<p></p>"),
    "/meta": Reply(b"<meta name=robots content=noindex><p>words</p>"),
    "/header": Reply(b"<p>words</p>", headers=(("X-Robots-Tag", "noindex"),)),
    "/docs": to("/docs/"),
    "/docs/": page("docs"),
}


class Why:
    """A crawl of one site, and answers about it."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.root = root
        self._options = options
        self.site = Site(ROUTES)

    def __enter__(self) -> Why:
        self.site.__enter__()
        self.job = self.crawl()
        return self

    def __exit__(self, *error: object) -> None:
        self.site.__exit__(None, None, None)

    @waits
    async def crawl(self, **changes: Any) -> CrawlJob:
        ear = Ear()
        async with home_in(self.root, ear) as home:
            planned = plan([self.site.url("/")], **self._options | changes)
            return (await crawl_in(home, ear, planned)).report.job

    @waits
    async def __call__(self, path: str) -> Explanation:
        url = parse(path if "://" in path else self.site.url(path))
        assert url is not None
        async with home_in(self.root, Ear()) as home:
            reviews = await providers.read_site_decisions(home.store)
            return await explain(home.world, self.job, url, reviews)


@pytest.fixture(scope="module")
def why(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Why]:
    """Crawl once, ask often."""
    root = tmp_path_factory.mktemp("why")
    with Why(root, depth=2, exclude=("/out/**",)) as asked:
        yield asked


@pytest.mark.parametrize(
    ("path", "answer", "decided_by", "detail", "hint"),
    [
        ("/a", "fetched and kept", "outcome.ok", "HTTP 200", "--exclude '/a'"),
        (
            "/private/x",
            "not fetched: not allowed",
            "robots",
            "line 2: Disallow: /private (User-agent: *)",
            "only the site can allow it",
        ),
        (
            "/out/1",
            "not fetched",
            "exclude",
            "/out/**",
            "take '/out/**' out of scope.exclude (set by flag --exclude)",
        ),
        ("/a/b/c", "not fetched", "depth", "3; the limit is 2", "--depth 3"),
        (
            "/r/r/r/r",
            "not fetched",
            "trap.repeating_path",
            "/r",
            "geomi traps allow 127.0.0.1 trap.repeating_path",
        ),
        (
            "/s?sid=0a1b2c3d4e5f60718293a4b5c6d7e8f9",
            "fetched and kept",
            "outcome.ok",
            "HTTP 200",
            "",
        ),
        ("/s", "fetched and kept", "outcome.ok", "HTTP 200", ""),
        ("/login", "not fetched", "block.login", "login", "scope.block_defaults=false"),
        ("/pdf.pdf", "not fetched", "extension", ".pdf", ""),
        ("/nobody", "not fetched", "never_seen", "collected pages links to it", "scope.probe=true"),
        ("http://other.test/", "not fetched", "scope.host", "other.test", "--scope any"),
        ("/old", "visited, not kept", "outcome.redirected", "redirects to", ""),
        ("/new", "fetched and kept", "outcome.ok", "HTTP 200", ""),
        ("/gone", "fetched, but failed", "outcome.gone", "HTTP 404", ""),
        ("/empty", "visited, not kept", "outcome.empty", "HTTP 200", ""),
        ("/meta", "visited, not kept", "outcome.noindex", "its meta robots tag says", ""),
        ("/header", "visited, not kept", "outcome.noindex", "its X-Robots-Tag header says", ""),
        ("/docs", "fetched and kept", "outcome.ok", "HTTP 200", ""),
        ("/docs/", "fetched and kept", "outcome.ok", "HTTP 200", ""),
    ],
)
def test_every_answer_names_what_decided(
    why: Why, path: str, answer: str, decided_by: str, detail: str, hint: str
) -> None:
    """The answer, the rule, the value and the smallest change."""
    told = why(path)
    assert (told.answer, told.decided_by) == (answer, decided_by)
    assert detail in told.detail
    assert hint in told.hint
    assert told.job == why.job.id


def test_the_parent_of_a_url_too_deep_is_named(why: Why) -> None:
    """A URL without an entry is found in the links of the pages that were kept."""
    steps = {step.name: step.verdict for step in why("/a/b/c").steps}
    assert steps["frontier"].detail == (f"linked from {why.site.url('/a/b')}, which is at depth 2")
    assert steps["robots"].admitted
    assert not steps["depth"].admitted


@pytest.mark.parametrize("asked", ["/s", "/s?utm_source=x", "/s?PHPSESSID=7"])
def test_the_url_that_stood_for_another_is_named(why: Why, asked: str) -> None:
    """Both are one page, and only one of them was asked for."""
    told = why(asked)
    assert told.answer == "fetched and kept"
    (frontier,) = [step for step in told.steps if step.name == "frontier"]
    first = why.site.url("/s?sid=9f8e7d6c5b4a39281706f5e4d3c2b1a0")
    assert frontier.verdict.detail.startswith(f"the same page as {first}, which geomi requests; ")
    same = why("/a").steps
    assert not any("the same page" in step.verdict.detail for step in same)


def test_the_chain_is_in_the_order_of_the_road(why: Why) -> None:
    """Rules, then robots, the frontier, the visit, and when another is due."""
    names = [step.name for step in why("/a").steps]
    assert names[:3] == ["url_length", "blocked_host", "scope"]
    assert names[-4:] == ["robots", "frontier", "visit", "due"]


def test_a_url_that_waits_says_so(tmp_path: Path) -> None:
    """A page limit leaves URLs pending: nothing forbids them."""
    with Why(tmp_path, max_pages=1) as asked:
        told = asked("/a")
    assert told.answer == "waiting to be fetched"
    assert told.decided_by == "frontier"
    assert "its turn has not come" in told.detail
    assert "--resume" in told.hint


@pytest.mark.req("TRP-07")
def test_a_pattern_is_told_with_its_counts(tmp_path: Path) -> None:
    """How much of its budget a pattern has used; a review shows, and turns the answer round."""
    with Why(tmp_path) as asked:
        step = {step.name: step.verdict for step in asked("/list?page=7").steps}["pattern"]
        assert step == Verdict(
            True, "pattern", "pagination /list?page: 0 visited, the first 100 are not judged"
        )
        decided(tmp_path, SiteRule("127.0.0.1", "", Review.ALLOW))
        steps = {step.name: step.verdict for step in asked("/r/r/r/r").steps}
        assert steps["trap"].detail == "trap.repeating_path, allowed by a review"
        assert asked("/login").decided_by == "block.login"
        told = asked("/list?page=7")
        assert (
            "allowed by a review"
            in {each.name: each.verdict for each in told.steps}["pattern"].detail
        )


@pytest.mark.req("TRP-07")
def test_an_excluded_site_says_so_first(tmp_path: Path) -> None:
    """What a person decided comes before every rule."""
    with Why(tmp_path, max_pages=1) as asked:
        decided(tmp_path, SiteRule("127.0.0.1", "", Review.EXCLUDE, "only ads"))
        told = asked("/a")
    assert told.answer == "waiting, but excluded now"
    assert (told.decided_by, told.detail) == ("site.excluded", "only ads")
    assert told.hint == "geomi traps reset 127.0.0.1"
    assert told.steps[0].name == "site"


def test_a_url_that_is_left_alone_says_until_when(tmp_path: Path) -> None:
    """A site that said 403 is not asked again for a while, and a person can lift that."""
    with Why(tmp_path, max_pages=1) as asked:
        refused(tmp_path, asked.site.url("/a"), until_s=None)
        told = asked("/a")
        assert told.decided_by == "blocked_urls"
        assert told.detail == "HTTP 403 on 2001-09-09; left alone for good"
        assert told.hint == f"geomi blocked remove {asked.site.url('/a')}"
        refused(tmp_path, asked.site.url("/a"), until_s=2e9)
        assert asked("/a").detail == "HTTP 403 on 2001-09-09; left alone until 2033-05-18"


def test_what_was_left_alone_was_not_fetched_and_says_how_to_lift_it(tmp_path: Path) -> None:
    """Its reason is told once; when it has been lifted, the next crawl asks."""
    with Why(tmp_path, max_pages=1) as asked:
        url = asked.site.url("/a")
        refused(tmp_path, url, until_s=None)
        asked.job = asked.crawl(max_pages=0)
        told = asked("/a")
        assert told.answer == "not fetched: it is blocked"
        assert told.decided_by == "blocked_urls"
        assert told.hint == f"geomi blocked remove {url}"
        assert told.steps[-1].verdict.detail == "HTTP 403 on 2001-09-09; left alone for good"
        forgiven(tmp_path, url)
        told = asked("/a")
        assert told.answer == "not fetched: it is blocked"
        assert told.decided_by == "outcome.left_alone"
        assert told.hint.startswith("start another crawl")


def test_what_a_stricter_rule_dropped_was_not_fetched(tmp_path: Path) -> None:
    """It had an entry, and nothing was ever asked."""
    with Why(tmp_path, max_pages=1) as asked:
        asked.job = asked.crawl(max_pages=0, resume=True, exclude=("/a",))
        told = asked("/a")
    assert (told.answer, told.decided_by) == ("not fetched", "exclude")


@pytest.mark.req("LEG-04")
def test_a_host_of_a_provider_that_forbids_it_names_the_review(tmp_path: Path) -> None:
    """The decision is the provider's, so that `traps reset` would not help."""
    with Why(tmp_path, max_pages=1) as asked:
        provider = replace(
            presets()["stripe"], seed_urls=(asked.site.url("/"),), tos_allows_crawling=False
        )
        forbidden(tmp_path, provider)
        told = asked("/a")
    assert told.steps[0].name == "site"
    assert not told.steps[0].verdict.admitted
    assert told.detail == "provider stripe forbids crawling"
    assert told.hint == "geomi providers review stripe --allows"


@waits
async def forbidden(root: Path, provider: Provider) -> None:
    async with home_in(root, Ear()) as home:
        await home.world.store.providers.put(provider)


@waits
async def forgiven(root: Path, url: str) -> None:
    async with home_in(root, Ear()) as home:
        assert await home.world.store.refusals.remove(_hash(url))


@waits
async def decided(root: Path, rule: SiteRule) -> None:
    async with home_in(root, Ear()) as home:
        await home.world.store.sites.put(rule)


@waits
async def refused(root: Path, url: str, *, until_s: float | None) -> None:
    async with home_in(root, Ear()) as home:
        await home.world.store.refusals.put(Refusal(_hash(url), url, 403, "HTTP 403", 1e9, until_s))


def _hash(url: str) -> bytes:
    parsed = parse(url)
    assert parsed is not None
    return url_hash(identity(parsed, UrlRules()))


@waits
async def test_status_tells_the_same(why: Why) -> None:
    """Counters by state, outcomes, hosts, problems and the rules that kept links out."""
    async with home_in(why.root, Ear()) as home:
        told = await status(home.world, why.job)
    assert told.is_whole
    assert told.states[State.COMPLETED] == told.outcomes["ok"] == 6
    assert told.states[State.BLOCKED] == told.outcomes["robots"] == 1
    assert told.outcomes["redirected"] == 1
    assert {problem.url for problem in told.problems} == {
        why.site.url(path) for path in ("/private/x", "/old", "/gone", "/empty", "/meta", "/header")
    }
    assert told.exclusions["exclude"] == (1, (why.site.url("/out/1"),))
    assert list(told.hosts) == [f"127.0.0.1:{why.site.port}"]
    assert (told.leased, told.next_in_s) == (0, None)
