"""Where parsers disagree: our answers, with the reasons in docs/explanation/robots.md."""

from __future__ import annotations

import pytest

from geomi.robots.match import judge
from geomi.robots.parse import parse


@pytest.mark.parametrize(
    ("lines", "target", "is_covered"),
    [
        pytest.param("Disallow: /ツ", "/%E3%83%84", True, id="2.2.2 octets outside ASCII"),
        pytest.param("Disallow: /%E3%83%84", "/ツ", True, id="2.2.2 and in the URL"),
        pytest.param("Disallow: /%62%61%7A", "/baz", True, id="2.2.2 unreserved in a rule"),
        pytest.param("Disallow: /wp-admin", "/wp%2Dadmin", True, id="2.2.2 unreserved in a URL"),
        pytest.param("Disallow: /%7Emak", "/~mak", True, id="2.2.2 tilde"),
        pytest.param("Disallow: /a<d", "/a%3cd", True, id="2.2.2 what no URL holds"),
        pytest.param("Disallow: /a%2Fb", "/a/b", False, id="2.2.2 reserved stays"),
        pytest.param("Disallow: /x%2Ax", "/x*x", True, id="2.2.3 an escaped star"),
        pytest.param("Disallow: /x%24", "/x$y", True, id="2.2.3 an escaped dollar"),
        pytest.param("Disallow: /x$/abc", "/x%24/abc", True, id="2.2.3 a dollar in the middle"),
        pytest.param("Disallow: /x/abc$", "/x/abc$", False, id="2.2.3 a dollar at the end"),
        pytest.param(f"Disallow: /{'a' * 20_000}", f"/{'a' * 20_000}", True, id="2.5 long line"),
        pytest.param(f"Disallow: /{'a' * 20_000}", "/aa", False, id="2.5 long line, short URL"),
        pytest.param("Disallow: http://a.test/x", "/http://a.test/x", False, id="2.2 no path"),
        pytest.param("Disallow /x", "/x", True, id="2.2 no colon"),
        pytest.param("Disallow: /", "/robots.txt", False, id="2.2.2 robots.txt itself"),
    ],
)
def test_rules(lines: str, target: str, is_covered: bool) -> None:
    verdict = judge(parse(f"User-agent: *\n{lines}".encode()), "geomi", target)
    assert verdict.allowed is not is_covered


@pytest.mark.parametrize(
    ("name", "token", "is_meant"),
    [
        ("Foo Bar", "foo", True),
        ("Foo Bar", "foo bar", False),
        ("2bot", "2bot", True),
        ("Jävla-Bot", "jävla-bot", True),
        ("hedwig", "hedwig-images", False),
        ("hedwig-images", "hedwig", False),
        ("hedwig-news", "hedwig-news2", False),
        ("foo*bot", "foobot", False),
        ("Geomi/2.0", "geomi", True),
    ],
)
def test_agents(name: str, token: str, is_meant: bool) -> None:
    file = parse(f"User-agent: {name}\nDisallow: /".encode())
    assert judge(file, token, "/x").allowed is not is_meant


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("User-agent: geomi\nUnknown: 1\nUser-agent: *\nDisallow: /", False),
        ("user agent harry potter\ndisallow /", True),
        ("Disallow: /\nUser-agent: geomi\nAllow: /y", True),
        ("User-agent: *\nDisallow: /\nAllow: /docs/index.html", False),
    ],
)
def test_groups(text: str, allowed: bool) -> None:
    assert judge(parse(text.encode()), "geomi", "/x").allowed is allowed
