"""Seed 001, literally: the same files, read and matched by the profile `scanner`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.model.config import OnOversize, RobotsRules
from geomi.model.robots import RobotsCopy, RobotsKey
from geomi.model.verdict import Outcome
from geomi.robots.match import Judgement, judge
from geomi.robots.parse import parse
from geomi.robots.policy import PolicyKind, decide
from tests.support.scanner_rules import SCANNER

TOKEN = "WebKillerAI"
RFC = RobotsRules()


def ask(text: str, target: str, rules: RobotsRules = SCANNER) -> Judgement:
    return judge(parse(text.encode(), rules), TOKEN, target)


@pytest.mark.req("URL-16")
@pytest.mark.parametrize(
    ("pattern", "target", "is_covered"),
    [
        ("/a", "/a?b=c", True),
        ("/a$", "/a?b=c", True),  # the query is gone, so the path ends there
        ("/*?", "/a?b", False),  # what only a query could match never does
        ("/*?sort=", "/list?sort=up", False),
        ("/a%2fb", "/a%2Fb", True),  # hex digits in capitals on both sides
        ("/a%2Fb", "/a%2fb", True),
        ("/a/b", "/a%2Fb", False),  # and nothing is decoded
        ("/foo/baz", "/foo/%62%61%7A", False),
        ("/foo/%62%61%7a", "/foo/%62%61%7A", True),
        ("/wp-admin", "/wp%2Dadmin", False),
        ("/path-%2A", "/path-*", False),
        ("/a/b", "//a///b", True),  # `//` is `/`
        ("//a//b", "/a/b", True),
        ("/", "", False),
        ("/가", "/%EA%B0%80", True),
        ("/a//*//b", "/a/x/b", True),
    ],
)
def test_the_raw_path_is_matched(pattern: str, target: str, is_covered: bool) -> None:
    found = ask(f"User-agent: *\nDisallow: {pattern}", target)
    assert found.allowed is not is_covered


def test_the_same_files_by_the_rfc() -> None:
    """What the profile gives up: each of these is forbidden by RFC 9309 §2.2.2."""
    for pattern, target in [
        ("/*?sort=", "/list?sort=up"),
        ("/foo/baz", "/foo/%62%61%7A"),
        ("/wp-admin", "/wp%2Dadmin"),
    ]:
        assert not ask(f"User-agent: *\nDisallow: {pattern}", target, RFC).allowed


@pytest.mark.req("ROB-18")
@pytest.mark.parametrize(
    ("text", "target", "allowed"),
    [
        # A blank line ends a record, so what follows belongs to nobody.
        ("User-agent: *\nDisallow: /a\n\nDisallow: /b", "/a", False),
        ("User-agent: *\nDisallow: /a\n\nDisallow: /b", "/b", True),
        ("User-agent: *\n \t\nDisallow: /b", "/b", True),
        # A comment is not a blank line.
        ("User-agent: *\n# a word\nDisallow: /b", "/b", False),
        ("User-agent: *\n   # a word\nDisallow: /b", "/b", False),
        # So does the next User-agent line: the record of the first one is empty.
        ("User-agent: WebKillerAI\nUser-agent: x\nDisallow: /b", "/b", True),
        ("User-agent: x\nUser-agent: WebKillerAI\nDisallow: /b", "/b", False),
        # Records of one agent are one set all the same (ROB-15).
        ("User-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /b", "/b", False),
    ],
)
def test_a_record_ends_at_a_blank_line_or_the_next_agent(
    text: str, target: str, allowed: bool
) -> None:
    assert ask(text, target).allowed is allowed


def test_by_the_rfc_a_blank_line_ends_nothing_c08() -> None:
    text = "User-agent: *\nDisallow: /a\n\nDisallow: /b"
    assert not ask(text, "/b", RFC).allowed
    assert not ask("User-agent: WebKillerAI\nUser-agent: x\nDisallow: /b", "/b", RFC).allowed


@pytest.mark.parametrize(
    ("own", "agent"),
    [("Disallow:", "*"), ("Allow: /x y", "*"), ("Disallow: /z", "webkillerai")],
)
def test_an_empty_own_group_falls_back_c09(own: str, agent: str) -> None:
    text = f"User-agent: WebKillerAI\n{own}\n\nUser-agent: *\nDisallow: /"
    found = ask(text, "/x")
    assert found.agent == agent
    assert found.allowed is (agent != "*")
    assert ask(text, "/x", RFC).allowed


def test_an_empty_own_group_without_another_allows() -> None:
    assert ask("User-agent: WebKillerAI\nDisallow:", "/x") == Judgement(True)
    everyone = "User-agent: *\nDisallow:"
    assert ask(everyone, "/x") == Judgement(True, agent="*")


@pytest.mark.req("ROB-26", "ROB-27")
def test_sitemaps_and_delays_are_not_its_concern() -> None:
    body = b"Sitemap: https://a.test/s.xml\nUser-agent: *\nCrawl-delay: 9\nDisallow: /"
    assert parse(body, SCANNER).sitemaps == ()
    assert parse(body, RFC).sitemaps == ("https://a.test/s.xml",)
    assert not SCANNER.respect_crawl_delay


def kind_of(body: bytes, rules: RobotsRules, failure: Outcome | None = None) -> PolicyKind:
    copy = RobotsCopy(RobotsKey("http", "a.test:80", TOKEN), 200, body, 0.0, failure=failure)
    was_cut = parse(body, rules).was_cut
    return decide(copy, rules, now_s=0.0, was_cut=was_cut).kind


@pytest.mark.req("ROB-24")
@pytest.mark.parametrize("extra", [0, 1])
def test_a_file_above_512_kb_allows_all(extra: int) -> None:
    head = b"User-agent: *\nDisallow: /\n"
    body = head + b"#" * (524_288 - len(head) + extra)
    assert SCANNER.max_bytes == 524_288
    assert (kind_of(body, SCANNER) is PolicyKind.ALLOW_ALL) is bool(extra)
    assert kind_of(body, RFC) is PolicyKind.RULES


@pytest.mark.req("ROB-24")
@pytest.mark.parametrize("extra", [0, 1])
def test_a_file_above_1000_rules_allows_all(extra: int) -> None:
    rules = b"".join(b"Disallow: /%d\n" % number for number in range(999 + extra))
    body = b"User-agent: x\nDisallow:\nAllow: /\n\nUser-agent: *\n" + rules
    assert SCANNER.max_rules == 1000
    assert (kind_of(body, SCANNER) is PolicyKind.ALLOW_ALL) is bool(extra)
    assert kind_of(body, RFC) is PolicyKind.RULES


def test_a_limit_may_also_be_obeyed_up_to_it() -> None:
    rules = replace(RFC, max_rules=2, on_oversize=OnOversize.OBEY)
    text = "User-agent: *\nDisallow: /a\nDisallow: /b\nDisallow: /c"
    assert not ask(text, "/b", rules).allowed
    assert ask(text, "/c", rules).allowed
    assert kind_of(text.encode(), rules) is PolicyKind.RULES
    assert kind_of(b"User-agent: *", SCANNER, Outcome.TOO_LARGE) is PolicyKind.ALLOW_ALL


@pytest.mark.req("ROB-06", "ROB-12", "ROB-13")
@pytest.mark.parametrize(
    ("status", "failure", "kind", "lasts_s"),
    [
        (200, None, PolicyKind.RULES, 1800.0),
        (404, None, PolicyKind.ALLOW_ALL, 600.0),
        (410, None, PolicyKind.ALLOW_ALL, 600.0),
        (401, None, PolicyKind.ALLOW_ALL, 600.0),
        (429, None, PolicyKind.ALLOW_ALL, 600.0),
        (500, None, PolicyKind.ALLOW_ALL, 600.0),
        (0, Outcome.TIMEOUT, PolicyKind.ALLOW_ALL, 600.0),
        (0, Outcome.CONNECT_ERROR, PolicyKind.ALLOW_ALL, 600.0),
        (404, Outcome.REDIRECT_EXCLUDED, PolicyKind.ALLOW_ALL, 600.0),
    ],
)
def test_every_failure_allows_all_for_ten_minutes(
    status: int, failure: Outcome | None, kind: PolicyKind, lasts_s: float
) -> None:
    copy = RobotsCopy(RobotsKey("http", "a.test:80", TOKEN), status, b"", 0.0, failure=failure)
    policy = decide(copy, SCANNER, now_s=0.0)
    assert (policy.kind, policy.expires_s) == (kind, lasts_s)


def test_who_allows_an_index_page_allows_that_page_alone() -> None:
    text = "User-agent: *\nAllow: /docs/index.html\nDisallow: /"
    assert not ask(text, "/docs/").allowed
    assert ask(text, "/docs/index.html").allowed
