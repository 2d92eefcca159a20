"""Which URLs a crawl takes for one page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.admit.normalize import identity
from geomi.model.config import QueryPolicy, SessionValues, UrlRules
from geomi.url.parse import display, parse

DOCS = UrlRules(query=QueryPolicy.STRIP_ALL, force_https=True, strip_www=True)
KEEP = UrlRules(query=QueryPolicy.KEEP)

RULES = st.builds(
    UrlRules,
    query=st.sampled_from(QueryPolicy),
    force_https=st.booleans(),
    strip_www=st.booleans(),
    strip_session=st.booleans(),
    session_values=st.sampled_from(SessionValues),
)
HOSTS = st.sampled_from(
    [
        "a.test",
        "www.com",
        "www.www.example.com",
        "www.example.co.uk",
        "www.com.",
        "www..com",
        "[::1]",
    ]
)
SESSIONS = st.sampled_from(
    [";jsessionid=1", "/(S(a))", "?sid=0a1b2c3d4e5f6789", "&PHPSESSID=1", "/.", "="]
)
TAILS = st.lists(
    st.text(alphabet="aZ/.%27eE?&=utm_ref;#가", max_size=12) | SESSIONS, max_size=6
).map("".join)


def key(text: str, rules: UrlRules) -> str:
    """Return the identity of a URL that must parse."""
    url = parse(text)
    assert url is not None
    return identity(url, rules)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # URL-14: whatever the order of the steps is, this is what comes of them
        (
            "http://WWW.Docs.Stripe.COM:443//api///%E4%B8%AD/?utm_source=nav&b=2#overview",
            "https://docs.stripe.com/api/%E4%B8%AD",
        ),
        ("http://docs.stripe.com/api", "https://docs.stripe.com/api"),
        ("https://docs.stripe.com/api/", "https://docs.stripe.com/api"),
        ("https://docs.stripe.com/api?utm_source=nav", "https://docs.stripe.com/api"),
        ("https://docs.stripe.com/api#overview", "https://docs.stripe.com/api"),
        ("https://www.docs.stripe.com/api", "https://docs.stripe.com/api"),
        ("https://docs.stripe.com//api///charges", "https://docs.stripe.com/api/charges"),
        ("https://Docs.Stripe.COM/api", "https://docs.stripe.com/api"),
        ("https://docs.stripe.com:443/api", "https://docs.stripe.com/api"),
        ("https://docs.stripe.com", "https://docs.stripe.com/"),
        ("http://docs.stripe.com:80/", "https://docs.stripe.com/"),
        ("http://docs.stripe.com:443/", "https://docs.stripe.com/"),
        ("http://docs.stripe.com:8080/", "https://docs.stripe.com:8080/"),
    ],
)
@pytest.mark.req("URL-04", "URL-05", "URL-06", "URL-09", "URL-10")
def test_docs_vectors(text: str, expected: str) -> None:
    """The table of seed 000 §3.3, in the key (C-18, C-22)."""
    assert key(text, DOCS) == expected


# Seed 000 §3.3, its nine rules, as people see the result.
DISPLAYED = [
    ("http://docs.stripe.com/api", "https://docs.stripe.com/api"),
    ("https://docs.stripe.com/api/", "https://docs.stripe.com/api"),
    ("https://docs.stripe.com/api?utm_source=nav", "https://docs.stripe.com/api"),
    ("https://docs.stripe.com/api#overview", "https://docs.stripe.com/api"),
    ("https://www.docs.stripe.com/api", "https://docs.stripe.com/api"),
    ("https://docs.stripe.com//api///charges", "https://docs.stripe.com/api/charges"),
    ("https://docs.stripe.com/api/%E4%B8%AD", "https://docs.stripe.com/api/中"),
    ("https://Docs.Stripe.COM/api", "https://docs.stripe.com/api"),
    ("https://docs.stripe.com:443/api", "https://docs.stripe.com/api"),
]


@pytest.mark.parametrize(("text", "expected"), DISPLAYED)
@pytest.mark.req("URL-08", "URL-11", "URL-12", "URL-13", "URL-14")
def test_docs_vectors_displayed(text: str, expected: str) -> None:
    """Every vector of the table, the decoded one included (C-19)."""
    assert display(key(text, DOCS)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a.test/p?sid=0a1b2c3d4e5f6789", "http://a.test/p"),
        ("http://a.test/p?a=1&PHPSESSID=7&b=2", "http://a.test/p?a=1&b=2"),
        ("http://a.test/p?%50HPSESSID=7", "http://a.test/p"),
        ("http://a.test/p;jsessionid=0A/?x=1", "http://a.test/p?x=1"),
        ("http://a.test/(S(0a1b))/p/", "http://a.test/p"),
        ("http://a.test/(S(0a1b))", "http://a.test/"),
        ("http://a.test/talk?session=12", "http://a.test/talk?session=12"),
    ],
)
@pytest.mark.req("TRP-03")
def test_sessions_are_no_part_of_the_key(text: str, expected: str) -> None:
    """One page has one key, whoever visits it, under any policy that keeps the query."""
    assert key(text, UrlRules()) == key(text, KEEP) == expected
    assert key(text, replace(KEEP, strip_session=False)) != key(text, KEEP) or "=12" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a.test/talk?session=12", "http://a.test/talk"),
        ("http://a.test/p?a=1&SID=x&b=2", "http://a.test/p?a=1&b=2"),
        ("http://a.test/p?sid=&a", "http://a.test/p?sid=&a"),
        ("http://a.test/p?aside=7", "http://a.test/p?aside=7"),
    ],
)
def test_short_sessions_where_the_job_says_so(text: str, expected: str) -> None:
    assert key(text, replace(KEEP, session_values=SessionValues.ANY)) == expected
    unread = replace(KEEP, session_values=SessionValues.ANY, strip_session=False)
    assert key(text, unread) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://a.test/x/", "http://a.test/x"),
        ("http://www.a.test/", "http://www.a.test/"),
        ("http://a.test:443/", "http://a.test:443/"),
        ("http://a.test/?", "http://a.test/"),
        ("http://a.test/?utm_source=x&b=2&UTM_Medium=y&a=1", "http://a.test/?b=2&a=1"),
        ("http://a.test/?%75tm_source=x", "http://a.test/"),
        ("http://a.test/?ref=x&reference=y&gclid=1", "http://a.test/?reference=y"),
        ("http://a.test/?b&a&b", "http://a.test/?b&a&b"),
        ("http://a.test/%7ex/%2f", "http://a.test/~x/%2F"),
    ],
)
@pytest.mark.req("URL-07")
def test_default_vectors(text: str, expected: str) -> None:
    """The default strips trackers only, and keeps scheme, host and the order of parameters."""
    assert key(text, UrlRules()) == expected


def test_keep() -> None:
    """`keep` keeps trackers too."""
    assert key("http://a.test/?utm_a=1&b=2", KEEP) == "http://a.test/?utm_a=1&b=2"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("www.com", "www.com"),
        ("www.com.", "www.com."),
        ("www.co.uk", "www.co.uk"),
        ("www.example.co.uk", "example.co.uk"),
        ("www.www.example.com", "example.com"),
        ("wwwx.example.com", "wwwx.example.com"),
        ("www.localhost", "www.localhost"),
    ],
)
@pytest.mark.req("URL-09")
def test_www_is_never_stripped_to_a_suffix(host: str, expected: str) -> None:
    """`www.com` is a site of its own (C-16)."""
    assert key(f"https://{host}/", DOCS) == f"https://{expected}/"


@given(
    HOSTS, TAILS, RULES, st.sampled_from(["http", "https"]), st.sampled_from(["", ":443", ":81"])
)
def test_twice_is_once(host: str, tail: str, rules: UrlRules, scheme: str, port: str) -> None:
    """A key is a URL, and its own key."""
    once = key(f"{scheme}://{host}{port}/{tail}", rules)
    assert key(once, rules) == once
