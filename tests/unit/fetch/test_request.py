"""What a request says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.errors import ConfigError
from geomi.fetch.request import (
    MAX_HEADER_CHARS,
    MAX_HEADERS,
    build,
    check_headers,
    product_token,
    user_agent,
)
from geomi.model.config import CrawlConfig, HttpRules

URL = "https://a.test/x?y=1"
DEFAULT = CrawlConfig()


def config(**settings: object) -> CrawlConfig:
    return CrawlConfig(http=replace(HttpRules(), **settings))  # type: ignore[arg-type]  # by name


@pytest.mark.req("HTTP-02", "HTTP-12")
def test_the_default_request() -> None:
    request = build(URL, DEFAULT, version="1.2")
    assert request.url == URL
    assert dict(request.headers) == {
        "user-agent": "geomi/1.2",
        "accept": "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8",
        "accept-language": "en-US,en;q=0.9,ko;q=0.8",
        "accept-encoding": "gzip, deflate, br, zstd",
    }
    assert request.types == DEFAULT.http.content_types
    assert request.max_bytes == DEFAULT.limits.max_page_bytes
    assert (request.connect_timeout_s, request.read_timeout_s) == (5.0, 30.0)


@pytest.mark.req("HTTP-05", "HTTP-06")
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (config(), "geomi/1.2"),
        (config(contact="https://b.test/bot"), "geomi/1.2 (+https://b.test/bot)"),
        (config(user_agent="MyBot/3 (+x)", contact="c"), "MyBot/3 (+x)"),
    ],
)
def test_user_agent(settings: CrawlConfig, expected: str) -> None:
    assert user_agent(settings, version="1.2") == expected
    assert dict(build(URL, settings, version="1.2").headers)["user-agent"] == expected


@pytest.mark.req("HTTP-03")
def test_a_revisit_is_conditional_c69() -> None:
    date = "Tue, 01 Oct 2024 10:00:00 GMT"
    headers = dict(build(URL, DEFAULT, version="1", etag='W/"a"', last_modified=date).headers)
    assert headers["if-none-match"] == 'W/"a"'
    assert headers["if-modified-since"] == date


@pytest.mark.parametrize("etag", ['"a\r\nX: y"', '"é"', '"' + "x" * MAX_HEADER_CHARS])
def test_an_etag_that_could_break_the_request_is_not_sent(etag: str) -> None:
    assert "if-none-match" not in dict(build(URL, DEFAULT, version="1", etag=etag).headers)


def test_other_things_than_pages_are_wanted_whatever_their_type() -> None:
    request = build(URL, DEFAULT, version="1", accept=())
    assert request.types == ()
    assert dict(request.headers)["accept"] == "*/*"


def test_own_headers_override_and_stay_at_home() -> None:
    own = config(headers=(("Accept-LANGUAGE", "ko"), ("X-Key", "secret")))
    headers = build(URL, own, version="1").headers
    assert dict(headers)["accept-language"] == "ko"
    assert dict(headers)["x-key"] == "secret"
    assert len({name for name, _ in headers}) == len(headers)
    elsewhere = dict(build(URL, own, version="1", sends_own_headers=False).headers)
    assert "x-key" not in elsewhere


@pytest.mark.parametrize(
    ("agent", "token"),
    [
        ("geomi/1.2 (+https://b.test)", "geomi"),
        ("WebKillerAI", "WebKillerAI"),
        ("KnowledgeBaseBot/1.0 (+https://example.com/bot; bot@example.com)", "KnowledgeBaseBot"),
        ("my-own_bot/2", "my-own_bot"),
    ],
)
def test_product_token_c04(agent: str, token: str) -> None:
    assert product_token(agent) == token


@pytest.mark.parametrize("agent", ["", "/1.0", "My Bot/1.0", "bot2/1.0", "봇/1.0"])
def test_a_user_agent_without_a_token_is_refused(agent: str) -> None:
    with pytest.raises(ConfigError, match="product token"):
        product_token(agent)


def test_good_headers_pass() -> None:
    check_headers((("X-Key", "a b"), ("Authorization", "Bearer x"), ("Accept-Language", "ko")))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Host", "b.test"),
        ("COOKIE", "a=b"),
        ("Connection", "close"),
        ("Transfer-Encoding", "chunked"),
        ("Proxy-Authorization", "x"),
        ("User-Agent", "Mozilla/5.0"),
        ("If-None-Match", '"x"'),
        ("Accept-Encoding", "lzma"),
        ("Range", "bytes=0-1"),
        ("", "x"),
        ("a b", "x"),
        ("X:", "x"),
        ("X-Key", ""),
        ("X-Key", "a\r\nHost: b"),
        ("X-Key", "é"),
        ("X-Key", "x" * (MAX_HEADER_CHARS + 1)),
    ],
)
def test_bad_headers_are_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError):
        check_headers(((name, value),))


@pytest.mark.parametrize("extra", [0, 1])
def test_the_number_of_headers_has_a_limit(extra: int) -> None:
    headers = tuple((f"x-{number}", "v") for number in range(MAX_HEADERS + extra))
    if extra:
        with pytest.raises(ConfigError, match="51 headers"):
            check_headers(headers)
    else:
        check_headers(headers)
