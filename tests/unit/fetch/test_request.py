"""What a request says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.errors import ConfigError
from geomi.fetch.request import (
    ENCODINGS,
    MAX_HEADER_CHARS,
    MAX_HEADERS,
    SITEMAP_BYTES,
    build,
    check_headers,
    check_http,
    product_token,
    user_agent,
)
from geomi.model.config import CrawlConfig, HttpRules, RobotsRules
from geomi.model.request_log import RequestPurpose

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


@pytest.mark.req("HTTP-06")
def test_every_header_is_the_jobs_own_choice() -> None:
    own = config(
        user_agent="MyBot/3 (+x)", accept="text/html", accept_language="ko", accept_encoding="gzip"
    )
    assert build(URL, own, version="1").headers == (
        ("user-agent", "MyBot/3 (+x)"),
        ("accept", "text/html"),
        ("accept-language", "ko"),
        ("accept-encoding", "gzip"),
    )
    bare = config(accept="", accept_language="", accept_encoding="")
    assert build(URL, bare, version="1").headers == (("user-agent", "geomi/1"),)


@pytest.mark.parametrize("purpose", RequestPurpose)
def test_only_a_page_is_wanted_in_certain_types(purpose: RequestPurpose) -> None:
    request = build(URL, DEFAULT, version="1", purpose=purpose)
    is_page = purpose is RequestPurpose.PAGE
    assert request.purpose is purpose
    assert request.types == (DEFAULT.http.content_types if is_page else ())
    looks_like_one = is_page or purpose is RequestPurpose.SERVER
    assert dict(request.headers)["accept"] == (DEFAULT.http.accept if looks_like_one else "*/*")


def test_robots_has_limits_of_its_own_c12_g09() -> None:
    robots = RobotsRules(
        connect_timeout_s=2, read_timeout_s=3, total_timeout_s=4, max_bytes=600_000
    )
    own = CrawlConfig(
        robots=robots, http=HttpRules(connect_timeout_s=6, read_timeout_s=7, total_timeout_s=8)
    )
    asked = {purpose: build(URL, own, version="1", purpose=purpose) for purpose in RequestPurpose}
    times = {
        purpose: (one.connect_timeout_s, one.read_timeout_s, one.total_timeout_s)
        for purpose, one in asked.items()
    }
    assert times.pop(RequestPurpose.ROBOTS) == (2, 3, 4)
    assert set(times.values()) == {(6, 7, 8)}
    assert asked[RequestPurpose.ROBOTS].max_bytes == 600_000
    assert asked[RequestPurpose.ROBOTS].truncate
    assert asked[RequestPurpose.SITEMAP].max_bytes == SITEMAP_BYTES
    assert asked[RequestPurpose.LISTING].max_bytes == own.limits.max_page_bytes


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


@pytest.mark.parametrize("coding", [*ENCODINGS, "GZIP;q=0.5", "gzip , br", ""])
def test_encodings_that_can_be_undone_pass(coding: str) -> None:
    check_http(HttpRules(accept_encoding=coding))


@pytest.mark.parametrize("coding", ["*", "lzma", "gzip, compress", "br;q=1, dcz"])
def test_encodings_that_cannot_be_undone_are_refused(coding: str) -> None:
    with pytest.raises(ConfigError, match="cannot undo"):
        check_http(HttpRules(accept_encoding=coding))


@pytest.mark.parametrize(
    "settings",
    [
        {"user_agent": "Bot/1 (+https://\u00e9.test)"},
        {"contact": "a\r\nHost: b"},
        {"accept": "text/\u2028html"},
        {"accept_language": "x" * (MAX_HEADER_CHARS + 1)},
        {"headers": (("Cookie", "a=b"),)},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_what_no_request_can_carry_is_refused(settings: dict[str, object]) -> None:
    """A name that cannot be sent would otherwise be left out, and we would come without one."""
    with pytest.raises(ConfigError):
        check_http(config(**settings).http)
