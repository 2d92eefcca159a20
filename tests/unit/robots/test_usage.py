"""Lines about the use of content, alone and in a robots.txt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.robots.match import crawl_delay_s, judge, usage
from geomi.robots.parse import MAX_SITEMAP_CHARS, MAX_USAGES, RFC_9309, parse
from geomi.robots.signals import MAX_USAGE_CHARS, NAMES, combined, read_usage


@pytest.mark.parametrize(
    ("value", "path", "said"),
    [
        ("", "", {}),
        ("search=yes, ai-train=no", "", {"search": "yes", "ai-train": "no"}),
        (" Search = YES ,AI-Input=No", "", {"search": "yes", "ai-input": "no"}),
        ("train-ai=n, search=y", "", {"search": "yes", "train-ai": "no"}),
        ("use=reference", "", {"use": "reference"}),
        ("use=no", "", {}),
        ("search=reference", "", {}),
        ("/docs/ ai-train=no", "/docs/", {"ai-train": "no"}),
        ("*.pdf\tai-train=no", "*.pdf", {"ai-train": "no"}),
        ("/docs/", "/docs/", {}),
        ("search=yes; ai-train=no", "", {"search": "yes", "ai-train": "no"}),
        ("train-ai=n;exceptions=all", "", {"train-ai": "no"}),
        ("search=yes, search=no", "", {"search": "no"}),
        ("use=full, use=immediate", "", {"use": "immediate"}),
        ("search=maybe, ai_train=no, =no, noise", "", {}),
    ],
)
def test_one_value(value: str, path: str, said: dict[str, str]) -> None:
    found_path, found = read_usage(value)
    assert (found_path, dict(found)) == (path, said)


def test_a_value_has_a_limit() -> None:
    tail = ",ai-train=yes"
    fits = "x" * (MAX_USAGE_CHARS - len(tail)) + tail
    assert read_usage(fits) == ("", (("ai-train", "yes"),))
    assert read_usage("x" + fits) == ("", ())


@given(st.text(max_size=60))
def test_no_value_raises(value: str) -> None:
    _, said = read_usage(value)
    assert said == combined(said)
    assert {name for name, _ in said} <= set(NAMES)


FILE = """\
Content-Signal: ai-input=no
License: https://a.test/license.xml
User-agent: one
User-agent: two
Content-Signal: ai-train=no
User-agent: three
Content-Signal: ai-train=yes
Disallow: /closed
User-agent: *
Content-Signal: search=yes, ai-train=no
Content-Usage: /open/ train-ai=y
Content-Usage: /open/secret train-ai=n
Content-Signal: /open/secret search=no
"""


@pytest.mark.parametrize(
    ("token", "target", "said"),
    [
        ("one", "/x", {"ai-input": "no", "ai-train": "no"}),
        ("two", "/x", {"ai-input": "no", "ai-train": "no"}),
        ("three", "/x", {"ai-input": "no", "ai-train": "yes"}),
        ("geomi", "/x", {"search": "yes", "ai-input": "no", "ai-train": "no"}),
        ("geomi", "/open/x", {"train-ai": "yes"}),
        ("geomi", "/open/secret?y", {"search": "no", "train-ai": "no"}),
    ],
)
def test_who_is_told_what_about_which_url(token: str, target: str, said: dict[str, str]) -> None:
    assert dict(usage(parse(FILE.encode()), token, target)) == said


def test_a_line_about_use_changes_no_rule_and_no_delay() -> None:
    lines = ["User-agent: one", "Content-Signal: ai-train=no", "User-agent: two"]
    lines += ["Crawl-delay: 3", "Content-Usage: ai=n", "Disallow: /x"]
    plain = [line for line in lines if not line.startswith("Content")]
    told, untold = (parse("\n".join(text).encode()) for text in (lines, plain))
    assert told.groups == tuple(
        replace(group, rules=tuple(replace(rule, line=6) for rule in group.rules))
        for group in untold.groups
    )
    for token in ("one", "two", "other"):
        assert judge(told, token, "/x").allowed is judge(untold, token, "/x").allowed
        assert crawl_delay_s(told, token) == crawl_delay_s(untold, token)


def test_a_file_without_groups_speaks_to_everyone() -> None:
    assert dict(usage(parse(b"Content-Signal: ai-train=no"), "geomi", "/")) == {"ai-train": "no"}


def test_a_blank_line_ends_the_group_where_the_dialect_says_so() -> None:
    text = b"User-agent: one\n\nContent-Signal: ai-train=no"
    seed_001 = replace(RFC_9309, blank_line_ends_group=True)
    assert usage(parse(text), "geomi", "/") == ()
    assert dict(usage(parse(text, seed_001), "geomi", "/")) == {"ai-train": "no"}


def test_a_file_has_limits() -> None:
    line = b"Content-Signal: ai-train=no\n"
    assert len(parse(line * MAX_USAGES).usages) == MAX_USAGES
    assert len(parse(line * (MAX_USAGES + 1)).usages) == MAX_USAGES
    long = b"License: " + b"x" * MAX_SITEMAP_CHARS
    assert len(parse(long).license) == MAX_SITEMAP_CHARS
    assert parse(long + b"x").license == ""
    assert parse(b"License: a\nLicense: b").license == "a"


def test_agents_of_many_lines_are_kept_once() -> None:
    text = "User-agent: a\n" * 100 + "Content-Signal: ai=n\nContent-Usage: ai=n\n"
    first, second = parse(text.encode()).usages
    assert first.agents is second.agents


@given(st.lists(st.sampled_from([*FILE.splitlines(), "", "#"]), max_size=12).map("\n".join))
def test_no_file_raises(text: str) -> None:
    for said in usage(parse(text.encode()), "geomi", "/open/x"):
        assert said[0] in NAMES
