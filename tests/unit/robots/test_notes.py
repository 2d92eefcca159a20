"""What is odd about a robots.txt, line by line."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.model.config import RobotsRules
from geomi.robots.report import MAX_NOTES, notes

RULES = RobotsRules()


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("Disallow: /x", ""),
        ("disallow:", ""),
        ("# a comment", ""),
        ("", ""),
        ("Sitemap: https://a.test/s.xml", ""),
        ("Allow: *.html$", ""),
        ("Content-Signal: ai-train=no", ""),
        ("Content-Usage: /docs train-ai=n", ""),
        ("License: https://a.test/license.xml", ""),
        ("Content-Signals: search=yes", 'line 2: "Content-Signals" is read as Content-Signal'),
        ("Content-Signal: ai_train=no", 'line 2: "ai_train=no" says nothing about any use'),
        ("Dissallow: /x", 'line 2: "Dissallow" is read as Disallow'),
        ("Useragent: b", 'line 2: "Useragent" is read as User-agent'),
        ("Crawl delay: 5", 'line 2: "Crawl delay" is read as Crawl-delay'),
        ("Disallow /x", 'line 2: "Disallow /x" is read as "Disallow: /x"'),
        ("Dissalow /x", 'line 2: "Dissalow /x" is read as "Disallow: /x"'),
        ("Noise: 1", 'line 2 is not understood: "Noise: 1"'),
        ("three words here", 'line 2 is not understood: "three words here"'),
        ("<html>", 'line 2 is not understood: "<html>"'),
        ("User-agent:", "line 2: it names no agent"),
        ("Crawl-delay: soon", 'line 2: "soon" is no number of seconds'),
        ("Disallow: /a b", 'line 2: "/a b" is no path, so the rule is not read'),
        ("Disallow: x", 'line 2: "x" begins with neither / nor *, so it matches nothing'),
    ],
)
def test_one_line(line: str, note: str) -> None:
    assert notes(f"User-agent: a\n{line}\n".encode(), RULES) == ((note,) if note else ())


def test_a_rule_of_no_group() -> None:
    orphan = "stands below no User-agent line and means nothing"
    assert notes(b"Disallow: /x", RULES) == (f"line 1 {orphan}",)
    text = b"User-agent: a\n\nDisallow: /x"
    assert notes(text, RULES) == ()
    assert notes(text, replace(RULES, blank_line_ends_group=True)) == (f"line 3 {orphan}",)


def test_notes_have_limits() -> None:
    assert len(notes(b"noise\n" * MAX_NOTES, RULES)) == MAX_NOTES
    *_, last = told = notes(b"noise\n" * (MAX_NOTES + 1), RULES)
    assert (len(told), last) == (MAX_NOTES + 1, "there are more lines like these")
    assert len(notes(b"x" * 500, RULES)[0]) < 150
    assert notes(b"# a\n# b\n", replace(RULES, max_bytes=5)) == ("only the first 5 bytes are read",)


@given(st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    notes(body, RULES)
