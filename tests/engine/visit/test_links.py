"""The gate of one job: what it lets in, what it remembers, and what it says when a turn comes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from geomi.admit.trap import BUDGETS
from geomi.engine.visit.links import FoundLinks, LinkGate
from geomi.engine.visit.patterns import MARKS_PER_PATTERN, MAX_MARKED_PATTERNS, PatternMarks
from geomi.engine.visit.rules import JobRules
from geomi.engine.visit.sitemaps import SITEMAP_NESTING, SITEMAPS_PER_HOST
from geomi.model.config import (
    CrawlConfig,
    FetchForm,
    Limits,
    QueryPolicy,
    Scope,
    UrlOrder,
    UrlRules,
    Within,
)
from geomi.model.entry import Discovered, EntryKind, Novelty, Source, Tally, UrlEntry
from geomi.model.page import PageLink
from geomi.model.site import Review, SiteRule
from geomi.model.verdict import State, Verdict
from geomi.seed.sitemap import Sitemap
from geomi.url.parse import parse

SEED = "https://a.test/"
YEAR = 2026
DOCS = UrlRules(QueryPolicy.STRIP_ALL, force_https=True, strip_www=True, fetch_form=FetchForm.KEY)


def gate(
    config: CrawlConfig | None = None, reviews: Sequence[SiteRule] = (), seed: str = SEED
) -> LinkGate:
    config = config or CrawlConfig()
    return LinkGate(JobRules(config, [seed], now_year=YEAR, decisions=reviews))


def entry(url: str = SEED, **changes: object) -> UrlEntry:
    """Make an entry whose turn has come."""
    parsed = parse(url)
    assert parsed is not None
    made = UrlEntry(
        job="j",
        url_hash=b"0" * 16,
        url=url,
        host=parsed.authority,
        depth=0,
        priority=0,
        source=Source.LINK,
        kind=EntryKind.PAGE,
        parent=None,
        origin=None,
        hops=0,
        state=State.PENDING,
        attempts=0,
        due_s=0.0,
        discovered_s=0.0,
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # names are checked by replace


def admit(judge: LinkGate, *urls: str, depth: int = 0) -> FoundLinks:
    links = [PageLink(url, "x", "") for url in urls]
    return asyncio.run(judge.admit(entry(depth=depth), SEED, links, nofollow=False))


def urls(found: FoundLinks) -> list[str]:
    return [each.url for each in found.discovered]


def rules(found: FoundLinks) -> list[str]:
    return [each.rule for each in found.excluded]


def follow(judge: LinkGate, target: str, **changes: object) -> Discovered:
    answer = judge.rules.follow(entry(**changes), target)  # type: ignore[arg-type]  # as for `entry`
    assert isinstance(answer, Discovered)
    return answer


# what it remembers


@pytest.mark.req("SCP-12")
def test_what_is_known_changes_no_verdict() -> None:
    """Known strings are skipped before the rules, and the result is that of rules first.

    The rules are pure, so a URL that was refused stays refused, and only its depth can change that.
    """
    config = CrawlConfig(scope=Scope(exclude=("/no/**",)), limits=Limits(max_depth=2))
    links = ["https://a.test/x", "https://a.test/no/x", "https://b.test/", "https://a.test/y/"]
    forgetful: set[bytes] = set()
    mindful: set[bytes] = set()
    judge = gate(config)
    for depth in (5, 1, 0, 1):
        fresh = admit(gate(config), *links, depth=depth)
        found = admit(judge, *links, depth=depth)
        forgetful |= {each.url_hash for each in fresh.discovered}
        mindful |= {each.url_hash for each in found.discovered}
        judge.remember(found.discovered)
        assert set(rules(found)) <= set(rules(fresh))
    assert mindful == forgetful
    assert len(mindful) == 2


@pytest.mark.req("SCP-12", "SCP-13")
def test_the_rules_come_before_the_key() -> None:
    """A URL that shares its identity with a known page is judged all the same."""
    judge = gate(CrawlConfig(scope=Scope(exclude=("re:utm_source=bad",))))
    judge.remember(admit(judge, "https://a.test/p?x=1").discovered)
    assert rules(admit(judge, "https://a.test/p?x=1&utm_source=bad")) == ["exclude"]
    assert admit(judge, "https://a.test/p?x=1&utm_source=good") == FoundLinks(links=1)


def test_a_session_is_no_new_url() -> None:
    """A page is known whoever the visitor is, and so says nothing new about its pattern."""
    judge = gate()
    judge.remember(admit(judge, "https://a.test/p?sid=0a1b2c3d4e5f6789").discovered)
    assert urls(admit(judge, "https://a.test/p?sid=9z8y7x6w5v4u3t2s", "https://a.test/p")) == []


def test_what_may_name_a_page_is_one() -> None:
    """Talks and articles are told apart by what might be a session."""
    talks = [f"https://a.test/agenda?sessionId={n}" for n in range(1, 4)]
    talks += [f"https://a.test/talk?session=KEY{n:03}AI1" for n in range(1, 4)]
    talks += [f"https://a.test/kb?sid=a{n:07}" for n in range(1, 4)]
    assert urls(admit(gate(), *talks)) == talks


def test_links_beyond_the_limit_are_told_of() -> None:
    """Under the page that holds them; not where none of its links is followed."""
    judge = gate()
    for nofollow, expected in ((False, [("links.limit", SEED)]), (True, [])):
        found = asyncio.run(judge.admit(entry(), SEED, (), nofollow=nofollow, left_out=7))
        assert [(each.rule, each.url) for each in found.excluded] == expected


# which form is asked for


@pytest.mark.parametrize(
    ("found", "sent"),
    [
        ("http://www.a.test/x/?utm_source=1", "https://a.test/x"),
        ("http://a.test:8080//x", "https://a.test:8080/x"),
        ("https://a.test/%7ex", "https://a.test/~x"),
    ],
)
@pytest.mark.req("URL-04", "URL-05", "URL-06", "URL-09", "URL-10")
def test_the_key_is_sent_where_the_job_says_so(found: str, sent: str) -> None:
    """Documentation crawls fetch the normalised form; others what they found (C-15…C-22)."""
    docs = CrawlConfig(scope=Scope(Within.ANY), url=DOCS)
    assert urls(admit(gate(docs), found)) == [sent]
    href = parse(found)
    assert href is not None
    kept = CrawlConfig(scope=Scope(Within.ANY), url=replace(DOCS, fetch_form=FetchForm.FOUND))
    assert urls(admit(gate(kept), found)) == [href.href]
    (one,) = admit(gate(docs), found).discovered
    (other,) = admit(gate(kept), found).discovered
    assert one.url_hash == other.url_hash


def test_a_site_that_insists_on_its_www_is_asked_there() -> None:
    """A redirect to another spelling of the page is followed as the site spells it (C-16)."""
    judge = gate(CrawlConfig(url=DOCS))
    seed = parse("https://www.a.test/docs")
    assert seed is not None
    first = judge.rules.seed(seed)
    assert isinstance(first, Discovered)
    assert first.url == "https://a.test/docs"
    visited = entry(first.url, url_hash=first.url_hash)
    answer = judge.rules.follow(visited, "https://www.a.test/docs")
    assert isinstance(answer, Discovered)
    assert (answer.url, answer.host) == ("https://www.a.test/docs", "www.a.test:443")
    elsewhere = judge.rules.follow(visited, "http://www.a.test/other/")
    assert isinstance(elsewhere, Discovered)
    assert elsewhere.url == "https://a.test/other"


def test_what_was_sent_under_its_key_is_known_by_every_spelling() -> None:
    """A page's links are looked up as they stand, also where keys are sent."""
    judge = gate(CrawlConfig(url=DOCS))
    judge.remember(admit(judge, "http://a.test/x/").discovered)
    for spelling in ("http://a.test/x/", "http://www.a.test/x?y=1", "https://a.test/x"):
        assert admit(judge, spelling) == FoundLinks(links=1)


def test_order() -> None:
    """In breadth the sources do not matter (C-40)."""
    seed = parse(SEED)
    assert seed is not None
    for order, expected in ((UrlOrder.SCORE, 150), (UrlOrder.BFS, 200)):
        first = gate(CrawlConfig(order=order)).rules.seed(seed)
        assert isinstance(first, Discovered)
        assert first.priority == expected


# sitemaps


def test_redirects_of_a_sitemap_are_no_nesting() -> None:
    """An index two deep is read, however often it was sent elsewhere (C-82)."""
    index = Sitemap(sitemaps=("https://a.test/s.xml",))
    for nesting in range(SITEMAP_NESTING + 1):
        listed = entry(kind=EntryKind.SITEMAP, nesting=nesting, hops=5)
        judged = asyncio.run(gate().admit_sitemap(listed, index))
        (found,) = judged.discovered or (None,)
        assert (found is None) is (nesting == SITEMAP_NESTING)
        assert rules(judged) == (["sitemap.nesting"] if found is None else [])
        if found is not None:
            assert (found.nesting, found.hops) == (nesting + 1, 0)
    moved = follow(gate(), "https://a.test/t.xml", kind=EntryKind.SITEMAP, nesting=1, hops=2)
    assert (moved.nesting, moved.hops) == (1, 3)


def test_sitemaps_beyond_the_limit_are_told_of_once() -> None:
    """One more than the limit of a host is counted, however often it is named."""
    judge = gate()
    named = tuple(f"https://a.test/s{n}.xml" for n in range(SITEMAPS_PER_HOST + 1))
    sitemap = Sitemap(sitemaps=named)
    found = asyncio.run(judge.admit_sitemap(entry(kind=EntryKind.SITEMAP), sitemap))
    assert len(found.discovered) == SITEMAPS_PER_HOST
    assert [(each.rule, each.url) for each in found.excluded] == [("sitemap.limit", named[-1])]
    judge.remember(found.discovered)
    home = parse(SEED)
    assert home is not None
    assert judge.sitemaps(named, home) == FoundLinks()
    other = judge.sitemaps(["https://b.test/s.xml", "https://a.test/t.xml"], home)
    assert (urls(other), rules(other)) == (["https://b.test/s.xml"], ["sitemap.limit"])


def test_a_sitemap_tells_dates_and_other_languages() -> None:
    """`lastmod` travels with the URL; alternates are pages too."""
    content = Sitemap(
        pages=(("https://a.test/x", "2024-05-06"), ("https://a.test/y", "nonsense")),
        alternates=("https://a.test/ko/x",),
    )
    sitemap = entry(kind=EntryKind.SITEMAP)
    found = asyncio.run(gate().admit_sitemap(sitemap, content, wall_s=2e9))
    assert {each.url: each.lastmod_s for each in found.discovered} == {
        "https://a.test/x": 1714953600.0,
        "https://a.test/y": None,
        "https://a.test/ko/x": None,
    }


def test_a_listing_is_resolved_against_itself() -> None:
    """What /llms.txt lists is judged like the pages of a sitemap."""
    hrefs = ["docs", "https://b.test/", "#x"]
    listing = entry(kind=EntryKind.LISTING)
    found = asyncio.run(gate().admit_listing(listing, "https://a.test/llms.txt", hrefs))
    (one,) = found.discovered
    assert (one.url, one.source, one.depth) == ("https://a.test/docs", Source.SITEMAP, 1)
    assert rules(found) == ["scope.host"]


def test_a_blocked_host_is_asked_for_no_sitemap() -> None:
    """Neither found, nor when its turn comes."""
    config = CrawlConfig(scope=Scope(blocked_hosts=("spam.test",)))
    home = parse(SEED)
    assert home is not None
    judge = gate(config)
    listed = ["https://spam.test/s.xml", "https://a.test/s.xml"]
    found = judge.sitemaps(listed, home)
    assert (urls(found), rules(found)) == (["https://a.test/s.xml"], ["blocked_host"])
    refused = judge.recheck(entry("https://spam.test/s.xml", kind=EntryKind.SITEMAP))
    assert refused is not None
    assert refused.rule == "blocked_host"
    assert judge.recheck(entry("https://c.test/s.xml", kind=EntryKind.SITEMAP)) is None


# when its turn comes


@pytest.mark.parametrize(
    ("config", "changes", "rule"),
    [
        (CrawlConfig(), {}, ""),
        (CrawlConfig(scope=Scope(exclude=("/x/**",))), {}, "exclude"),
        (CrawlConfig(scope=Scope(include=("/y/**",))), {}, "include"),
        (CrawlConfig(scope=Scope(include=("/y/**",))), {"source": Source.SEED}, ""),
        (CrawlConfig(limits=Limits(max_depth=1)), {"depth": 2}, "depth"),
        (CrawlConfig(scope=Scope(blocked_hosts=("a.test",))), {}, "blocked_host"),
    ],
)
@pytest.mark.req("SCP-13")
def test_rules_that_are_stricter_now_count(
    config: CrawlConfig, changes: dict[str, object], rule: str
) -> None:
    """A URL that waits is judged by the rules of the day."""
    verdict = gate(config).recheck(entry("https://a.test/x/1", **changes))
    assert (verdict.rule if verdict else "") == rule


BUDGET = BUDGETS["calendar"]
OVER = Tally(BUDGET.visits, BUDGET.stale, BUDGET.stale)
CALENDAR = "calendar:/cal/{date}"


def caught(judge: LinkGate, **changes: object) -> str:
    waiting = entry(
        "https://a.test/cal/2024/01/02", **{"pattern": CALENDAR, "tally": OVER, **changes}
    )
    verdict = judge.recheck(waiting)
    return verdict.rule if verdict else ""


@pytest.mark.req("TRP-02", "TRP-07")
def test_an_exhausted_pattern_goes_on_only_for_a_reason() -> None:
    """A seed, a sitemap, a review, the switch; and a pattern that still brings something."""
    judge = gate()
    assert caught(judge) == "trap.calendar"
    assert caught(judge, tally=replace(OVER, stale_text=0)) == ""
    assert caught(judge, pattern="") == ""
    assert caught(judge, source=Source.SEED) == caught(judge, source=Source.SITEMAP) == ""
    assert caught(gate(CrawlConfig(scope=Scope(avoid_traps=False)))) == ""
    for pattern in (CALENDAR, ""):
        assert caught(gate(reviews=[SiteRule("a.test", pattern, Review.ALLOW)])) == ""
    for host, pattern in (("b.test", CALENDAR), ("a.test", "calendar:/other")):
        assert caught(gate(reviews=[SiteRule(host, pattern, Review.ALLOW)])) == "trap.calendar"


def test_a_talkative_space_ends_only_inside() -> None:
    """What an ordinary page links to is finite, whatever it looks like."""
    talkative = Tally(BUDGET.cap or 0, BUDGET.stale, 0)
    inside: dict[str, object] = {"tally": talkative, "depth": BUDGET.cap_depth}
    config = CrawlConfig(limits=Limits(max_depth=50))
    assert caught(gate(config), parent="https://a.test/cal/2024/01/01", **inside) == "trap.calendar"
    assert caught(gate(config), parent="https://a.test/archive", **inside) == ""
    assert caught(gate(config), **inside) == ""


def test_a_long_path_is_inside_where_it_grew() -> None:
    """A long name that follows another long name is a page."""
    budget = BUDGETS["long"]
    long = f"https://a.test/news/{'x' * 120}"
    told = Tally(budget.cap or 0, budget.stale, 0)
    waiting = entry(
        f"{long}y", pattern="long:/news/*", tally=told, depth=budget.cap_depth, parent=long
    )
    judge = gate(CrawlConfig(limits=Limits(max_depth=50)))
    refused = judge.recheck(waiting)
    assert refused is not None
    assert refused.rule == "trap.long"
    assert judge.recheck(replace(waiting, parent=f"{long}z")) is None


@pytest.mark.req("TRP-07")
def test_reviews() -> None:
    """An excluded site is asked for nothing; an allowed one has no traps of any kind."""
    excluded = gate(reviews=[SiteRule("a.test", "", Review.EXCLUDE, note="only ads")])
    found = admit(excluded, "https://a.test/x")
    assert [(each.rule, each.detail) for each in found.excluded] == [("site.excluded", "only ads")]
    refused = excluded.recheck(entry("https://a.test/x"))
    assert refused is not None
    assert (refused.rule, refused.hint) == ("site.excluded", "geomi traps reset a.test")
    seed = parse(SEED)
    assert seed is not None
    assert isinstance(excluded.rules.seed(seed), Verdict)
    assert rules(excluded.sitemaps(["https://a.test/s.xml"], seed)) == ["site.excluded"]

    loop = "https://a.test/x/x/x"
    assert rules(admit(gate(), loop)) == ["trap.repeating_path"]
    for pattern in ("", "trap.repeating_path"):
        allowed = gate(reviews=[SiteRule("a.test", pattern, Review.ALLOW)])
        assert urls(admit(allowed, loop)) == [loop]
        assert rules(admit(allowed, loop, depth=9)) == ["depth"]
    other = gate(reviews=[SiteRule("a.test", "trap.deep_path", Review.ALLOW)])
    assert rules(admit(other, loop)) == ["trap.repeating_path"]


def test_a_redirect_to_a_login_is_not_followed() -> None:
    """The page lies behind it (SCP-15)."""
    config = CrawlConfig(scope=Scope(block_defaults=False, personal_areas=False))
    answer = gate(config).rules.follow(
        entry("https://a.test/docs"), "https://a.test/login?next=/docs"
    )
    assert isinstance(answer, Verdict)
    assert answer.rule == "personal.login"


# what a visit brought


def brought(judge: LinkGate, text: str, *links: str, repeats: bool = False) -> Novelty:
    visited = entry("https://a.test/cal/2024/01/02", pattern=CALENDAR)
    named = [PageLink(url, "x", "") for url in links]
    found = asyncio.run(judge.admit(visited, visited.url, named, nofollow=False))
    _, told = judge.weigh(visited, found, text, repeats=repeats)
    assert told is not None
    return told


def test_an_ordinary_page_is_not_counted() -> None:
    """No pattern, no novelty."""
    assert gate().weigh(entry(), FoundLinks(), "text", repeats=False) == (FoundLinks(), None)


@pytest.mark.parametrize(
    ("link", "is_new"),
    [
        ("https://a.test/a-story", True),
        ("https://a.test/item/7", True),
        ("https://a.test/view?id=7", True),
        ("https://a.test/2024/01/02/a-story", True),
        ("https://a.test/cal/2024/01/03", False),
        ("https://a.test/other/2024/01/03", False),
        ("https://a.test/list?page=2", False),
        ("https://a.test/shop?a=1&b=2", False),
        ("https://a.test/p?sid=1", False),
        ("https://a.test/x/y/x", False),
        ("https://b.test/", False),
    ],
)
def test_new_places(link: str, is_new: bool) -> None:
    """A thing is a new place, another list is none."""
    assert brought(gate(), "text", link).links is is_new


@pytest.mark.parametrize(
    ("target", "is_new"),
    [
        ("https://a.test/a-story", True),
        ("https://a.test/view?id=7", True),
        ("https://a.test/known", False),
        ("https://a.test/known?utm_source=x", False),
        ("https://a.test/cal/2024/01/03", False),
        ("https://a.test/list?page=2", False),
    ],
)
def test_a_redirect_may_lead_to_a_new_place(target: str, is_new: bool) -> None:
    """Short links that send on to stories are no trap; those that all lead home are."""
    judge = gate()
    judge.remember(admit(judge, "https://a.test/known").discovered)
    visited = entry("https://a.test/cal/2024/01/02", pattern=CALENDAR)
    answer = judge.rules.follow(visited, target)
    assert isinstance(answer, Discovered)
    told = judge.redirect_novelty(visited, FoundLinks((answer,)))
    assert told is not None
    assert (told.links, told.text, told.text_mark) == (is_new, False, b"")
    assert judge.redirect_novelty(entry(), FoundLinks((answer,))) is None


def test_kin() -> None:
    """A space goes on by URLs of its own kind, on its own host."""
    for link, kin in (
        ("https://a.test/cal/2024/01/03", {CALENDAR}),
        ("https://a.test/month?date=2024-02", {"calendar:/month?date"}),
        ("https://a.test/list?page=2", set()),
        ("https://a.test/story", set()),
        ("https://b.a.test/cal/2024/01/03", set()),
    ):
        config = CrawlConfig(scope=Scope(Within.ANY))
        assert brought(gate(config), "text", link).kin == kin


def test_new_texts() -> None:
    """A text counts once, also where others come in between; a twin counts never."""
    judge = gate()
    assert [brought(judge, text).text for text in ("sun", "rain", "sun", "rain", "snow")] == [
        True, True, False, False, True,
    ]  # fmt: skip
    assert not brought(gate(), "sun", repeats=True).text
    visited = entry("https://a.test/cal/2024/01/02", pattern=CALENDAR)
    mark = brought(gate(), "sun").text_mark
    _, again = gate().weigh(
        replace(visited, tally=Tally(text_mark=mark)), FoundLinks(), "sun", repeats=False
    )
    assert again is not None
    assert not again.text


def test_the_memory_of_texts_is_bounded() -> None:
    """One more than the limit, and the oldest is forgotten."""
    marks = PatternMarks()
    for number in range(MARKS_PER_PATTERN + 1):
        assert not marks.is_told("a", "p", b"%d" % number)
    assert marks.is_told("a", "p", b"1")
    assert not marks.is_told("a", "p", b"0")
    for number in range(MAX_MARKED_PATTERNS):
        marks.is_told("a", f"q{number}", b"")
    assert not marks.is_told("a", "p", b"1")
    assert marks.is_told("a", f"q{MAX_MARKED_PATTERNS - 1}", b"")
