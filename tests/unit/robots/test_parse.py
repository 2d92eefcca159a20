"""Bytes of a robots.txt to groups, delays and sitemaps."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.model.config import RobotsRules
from geomi.robots.parse import (
    MAX_SITEMAP_CHARS,
    MAX_SITEMAPS,
    CrawlDelay,
    PathRule,
    RobotsGroup,
    parse,
    token_in,
)


def reading(max_bytes: int) -> RobotsRules:
    """Read less of a file than any job could ask for."""
    return replace(RobotsRules(), max_bytes=max_bytes)


def rules(text: str) -> list[tuple[tuple[str, ...], list[tuple[bool, str]]]]:
    file = parse(text.encode())
    return [
        (group.agents, [(rule.allows, rule.pattern) for rule in group.rules])
        for group in file.groups
    ]


@pytest.mark.req("ROB-16", "ROB-17", "ROB-19")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("User-agent: a\nDisallow: /x", [(("a",), [(False, "/x")])]),
        ("USER-AGENT: A\nallow: /X", [(("a",), [(True, "/X")])]),
        ("User-agent: a # us\nDisallow: /x # not this\n#all\n", [(("a",), [(False, "/x")])]),
        ("User-agent: a\nNoise: 1\nDisallow: /x\nHost: b", [(("a",), [(False, "/x")])]),
        ("User-agent: a\nDisallow:\nAllow:  \n", [(("a",), [])]),
        ("User-agent: a\nDisallow: #\n", [(("a",), [])]),
        ("  User-agent :\ta \n\tDisallow\t: /x ", [(("a",), [(False, "/x")])]),
        ("User-agent: Geomi/1.0 (x)\nDisallow: /x", [(("geomi",), [(False, "/x")])]),
        ("User-agent: *\nDisallow: /x", [(("*",), [(False, "/x")])]),
        ("User-agent a\nDisallow /x", [(("a",), [(False, "/x")])]),
        ("User-agent: a\nDissallow: /x\nDisalow: /y", [(("a",), [(False, "/x"), (False, "/y")])]),
        ("Disallow: /x\nUser-agent: a\nAllow: /", [(("a",), [(True, "/")])]),
        ("User-agent:\nDisallow: /x", []),
        ("User-agent: a", [(("a",), [])]),
        ("a line of prose that means nothing", []),
        ("", []),
    ],
)
def test_lines(text: str, expected: object) -> None:
    assert rules(text) == expected


@pytest.mark.parametrize(
    ("text", "agents"),
    [
        ("User-agent: a\nUser-agent: b\nDisallow: /", [("a", "b")]),
        ("User-agent: a\n\nUser-agent: b\n\nDisallow: /", [("a", "b")]),
        ("User-agent: a\nSitemap: https://s.test/\nUser-agent: b\nDisallow: /", [("a", "b")]),
        ("User-agent: a\nUnknown: 1\nUser-agent: b\nDisallow: /", [("a", "b")]),
        ("User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /", [("a",), ("b",)]),
        ("User-agent: a\nDisallow: /\n\nDisallow: /b\nUser-agent: c", [("a",), ("c",)]),
    ],
)
def test_only_a_rule_ends_a_row_of_agents(text: str, agents: list[tuple[str, ...]]) -> None:
    assert [group.agents for group in parse(text.encode()).groups] == agents


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_counts_one_line(end: str) -> None:
    text = end.join(["User-agent: a", "", "Disallow: /x"])
    assert parse(text.encode()).groups == (RobotsGroup(("a",), (PathRule(False, "/x", 3),)),)


@pytest.mark.req("ROB-21")
@pytest.mark.parametrize("pattern", ["/a b", "/a\\b", "/a\tb", "/a\x00b", "/a\x7fb"])
def test_a_malformed_pattern_is_no_rule_and_harms_no_other(pattern: str) -> None:
    text = f"User-agent: a\nDisallow: {pattern}\nDisallow: /x\n"
    assert rules(text) == [(("a",), [(False, "/x")])]


@pytest.mark.parametrize("extra", [0, 1])
def test_a_file_over_the_limit_is_cut_at_a_line(extra: int) -> None:
    kept = b"User-agent: a\nDisallow: /x\n"
    last = b"Disallow: /y"
    body = kept + last
    file = parse(body, reading(len(body) - extra))
    assert file.was_cut is bool(extra)
    assert [rule.pattern for rule in file.groups[0].rules] == ["/x"] + ["/y"] * (1 - extra)


def test_one_endless_line_over_the_limit_leaves_nothing() -> None:
    assert parse(b"Disallow: /" + b"x" * 100, reading(50)).groups == ()


@pytest.mark.parametrize(
    ("text", "delays"),
    [
        ("User-agent: a\nCrawl-delay: 10", (CrawlDelay("a", 10.0, 2),)),
        ("User-agent: a\nCrawl-delay: 0.5", (CrawlDelay("a", 0.5, 2),)),
        ("User-agent: a\nCrawl-delay: .5", (CrawlDelay("a", 0.5, 2),)),
        ("User-agent: a\nCrawl-delay: -1", ()),
        ("User-agent: a\nCrawl-delay: x\nCrawl-delay: 3\nCrawl-delay: 9",
         (CrawlDelay("a", 3.0, 3),)),
        ("User-agent: a\nCrawl-delay: soon", ()),
        ("User-agent: a\nCrawl-delay: nan", ()),
        ("User-agent: a\nCrawl-delay: 1e9", ()),
        ("Crawl-delay: 10\nUser-agent: a", ()),
        ("User-agent: a\nUser-agent: b\nCrawl-delay: 3",
         (CrawlDelay("a", 3.0, 3), CrawlDelay("b", 3.0, 3))),
        ("User-agent: a\nDisallow: /x\nCrawl-delay: 3", (CrawlDelay("a", 3.0, 3),)),
        # Yandex alone is asked to wait, although one group holds both (RFC 9309 §2.2.1).
        ("User-agent: yandex\nCrawl-delay: 9\nUser-agent: *\nDisallow: /x",
         (CrawlDelay("yandex", 9.0, 2),)),
    ],
)  # fmt: skip
def test_crawl_delay(text: str, delays: tuple[CrawlDelay, ...]) -> None:
    assert parse(text.encode()).delays == delays


@pytest.mark.req("ROB-27", "LNK-17")
def test_sitemaps_are_collected_wherever_they_stand() -> None:
    text = (
        "Sitemap: https://a.test/1\nUser-agent: a\nSITEMAP: https://a.test/2\nDisallow: /\nSitemap:"
    )
    assert parse(text.encode()).sitemaps == ("https://a.test/1", "https://a.test/2")


def test_sitemaps_have_limits() -> None:
    many = b"Sitemap: https://a.test/\n" * (MAX_SITEMAPS + 1)
    assert len(parse(many).sitemaps) == MAX_SITEMAPS
    for extra in (0, 1):
        long = "https://a.test/".ljust(MAX_SITEMAP_CHARS + extra, "x")
        assert len(parse(f"Sitemap: {long}".encode()).sitemaps) == 1 - extra


def test_many_agents_times_many_delays_do_not_multiply() -> None:
    body = b"User-agent: a\n" * 2000 + b"Crawl-delay: 1\n" * 2000
    assert len(parse(body).delays) == 2000


@given(st.binary(max_size=400), st.booleans(), st.integers(0, 2))
def test_no_bytes_raise(body: bytes, is_strict: bool, max_rules: int) -> None:
    parse(body, replace(reading(200), blank_line_ends_group=is_strict, max_rules=max_rules))


@pytest.mark.parametrize(
    ("identification", "token"),
    [
        ("Googlebot", "googlebot"),
        ("geomi/1.0 (+https://a.test)", "geomi"),
        (
            "Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)",
            "examplebot",
        ),
        ("Mozilla/5.0 (compatible; bingbot; x)", "bingbot"),
        ("Mozilla/5.0 (X11; Linux)", "mozilla"),
        ("Foo Bar", "foo"),
        ("  ", ""),
        ("Mozilla/5.0 (compatible;", ""),
        ("*", "*"),
    ],
)
def test_the_token_of_an_agent(identification: str, token: str) -> None:
    assert token_in(identification) == token


LINES = st.sampled_from(
    ["User-agent: a", "User-agent: *", "Disallow: /x*y$", "Allow: /%zz", "Crawl-delay: 1", "", "#"]
)


@given(st.lists(LINES, max_size=12))
def test_each_rule_knows_its_line(lines: list[str]) -> None:
    for group in parse("\n".join(lines).encode()).groups:
        for rule in group.rules:
            assert rule.pattern in lines[rule.line - 1]
