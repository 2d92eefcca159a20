"""Which line decides a URL."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.robots.match import MAX_TOKENS, Judgement, crawl_delay_s, judge, matching
from geomi.robots.parse import parse


def ask(text: str, target: str, token: str = "geomi") -> Judgement:
    return judge(parse(text.encode()), token, target)


@pytest.mark.req("ROB-23")
@pytest.mark.parametrize(
    ("lines", "target", "allowed", "line"),
    [
        ("Disallow: /a\nAllow: /a/b", "/a/b/c", True, 3),
        ("Allow: /a/b\nDisallow: /a", "/a/c", False, 3),
        ("Disallow: /page\nAllow: /page", "/page", True, 3),
        ("Allow: /page\nDisallow: /page", "/page", True, 2),
        ("Allow: /page\nDisallow: /*.htm", "/page.htm", False, 3),
        ("Allow: /$\nDisallow: /", "/", True, 2),
        ("Allow: /$\nDisallow: /", "/x", False, 3),
        ("Disallow: /x", "/y", True, None),
    ],
)
def test_the_longest_pattern_wins(lines: str, target: str, allowed: bool, line: int | None) -> None:
    verdict = ask(f"User-agent: *\n{lines}", target)
    assert (verdict.allowed, verdict.line) == (allowed, line)


def test_the_verdict_names_line_pattern_and_group() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: Geomi\nAllow: /\nDisallow: /Private%2a"
    assert ask(text, "/Private*") == Judgement(False, 6, "/Private%2a", "geomi", 9)
    assert ask(text, "/", token="other") == Judgement(False, 2, "/", "*", 1)


@pytest.mark.req("ROB-14", "ROB-15")
@pytest.mark.parametrize(
    ("token", "target", "allowed"),
    [
        ("geomi", "/own", False),
        ("GEOMI", "/more", False),
        ("geomi", "/all", True),
        ("geomi-news", "/own", True),
        ("other", "/all", False),
        ("other", "/own", True),
    ],
)
def test_own_groups_together_before_everyones(token: str, target: str, allowed: bool) -> None:
    text = (
        "User-agent: geoMI\nDisallow: /own\nUser-agent: *\nDisallow: /all\n"
        "User-agent: geomi\nDisallow: /more\nUser-agent: someone\nDisallow: /"
    )
    assert ask(text, target, token).allowed is allowed


def test_an_empty_own_group_allows_all_c09() -> None:
    text = "User-agent: geomi\nDisallow:\nUser-agent: *\nDisallow: /"
    assert ask(text, "/x") == Judgement(True, agent="geomi")
    assert not ask(text, "/x", "other").allowed


def test_a_file_without_our_group_allows_all() -> None:
    assert ask("User-agent: other\nDisallow: /", "/x") == Judgement(True)
    assert ask("", "/x", "") == Judgement(True)


def test_blank_lines_do_not_end_a_group_c08() -> None:
    assert not ask("User-agent: *\nDisallow: /a\n\nDisallow: /b", "/b").allowed


def test_the_query_is_matched_c06() -> None:
    text = "User-agent: *\nDisallow: /*?sort="
    assert not ask(text, "/list?sort=up").allowed
    assert ask(text, "/list?page=2").allowed


@pytest.mark.parametrize("target", ["/robots.txt", "/robots.txt?x", "/robots%2Etxt"])
def test_robots_txt_itself_is_always_allowed(target: str) -> None:
    assert ask("User-agent: *\nDisallow: /", target).allowed


def test_who_allows_an_index_page_allows_its_folder() -> None:
    text = "User-agent: *\nAllow: /docs/index.html\nDisallow: /"
    assert ask(text, "/docs/").line == 2
    assert not ask(text, "/docs/more").allowed
    assert not ask(
        "User-agent: *\nAllow: /\nDisallow: /docs/index.html", "/docs/index.html"
    ).allowed
    assert ask("User-agent: *\nAllow: /\nDisallow: /docs/index.html", "/docs/").allowed


@pytest.mark.parametrize(
    ("token", "expected"), [("geomi", 7.0), ("GEOMI", 7.0), ("quiet", None), ("other", 2.0)]
)
def test_crawl_delay_of_the_own_group_or_everyones(token: str, expected: float | None) -> None:
    text = (
        "User-agent: geomi\nCrawl-delay: 5\nDisallow: /x\nUser-agent: quiet\nDisallow: /\n"
        "User-agent: *\nCrawl-delay: 2\nDisallow: /y\nUser-agent: geomi\nCrawl-delay: 7"
    )
    assert crawl_delay_s(parse(text.encode()), token) == expected


def test_many_names_on_one_file_are_bounded_and_right() -> None:
    file = parse(b"User-agent: a3\nDisallow: /")
    for number in range(2 * MAX_TOKENS + 1):
        assert judge(file, f"a{number}", "/").allowed is (number != 3)


@pytest.mark.parametrize(
    ("target", "lines"),
    [
        ("/a/b", [4, 3, 2]),
        ("/a/", [3, 2]),
        ("/x", [2]),
        ("/docs/index.html", [6, 2]),
        ("/docs/", [6, 2]),
        ("/robots.txt", []),
    ],
)
def test_every_rule_that_matches_the_strongest_first(target: str, lines: list[int]) -> None:
    text = (
        "User-agent: *\nDisallow: /\nAllow: /a/\nDisallow: /a/b\nDisallow: /nothing\n"
        "Allow: /docs/index.html\nUser-agent: other\nDisallow: /a/b"
    )
    file = parse(text.encode())
    assert [rule.line for rule in matching(file, "geomi", target)] == lines
    assert judge(file, "geomi", target).line == (lines[0] if lines else None)


def test_a_rule_that_matches_twice_is_named_once() -> None:
    file = parse(b"User-agent: *\nAllow: /*/index.html")
    assert len(matching(file, "geomi", "/a/index.html")) == 1


LINES = st.sampled_from(
    ["User-agent: geomi", "User-agent: *", "Disallow: /a*b$", "Allow: /a", "Disallow: /", "", "x"]
)


@given(st.lists(LINES, max_size=10), st.text(alphabet="/ab?%*$가", max_size=10))
def test_judging_never_raises_and_names_a_line_for_every_refusal(
    lines: list[str], path: str
) -> None:
    verdict = ask("\n".join(lines), "/" + path)
    assert verdict.allowed or lines[(verdict.line or 0) - 1].startswith("Disallow")


PATTERNS = st.text(alphabet="/ab*$", min_size=1, max_size=5)


@given(st.lists(st.tuples(st.booleans(), PATTERNS), max_size=8), st.text("/ab", max_size=6))
def test_the_first_of_all_that_match_decides(rules: list[tuple[bool, str]], path: str) -> None:
    """A judgement looks at few rules, and finds the same as a look at all of them."""
    lines = [f"{'Allow' if allows else 'Disallow'}: {pattern}" for allows, pattern in rules]
    file = parse("\n".join(["User-agent: *", *lines]).encode())
    found = matching(file, "geomi", "/" + path)
    assert judge(file, "geomi", "/" + path).line == (found[0].line if found else None)
