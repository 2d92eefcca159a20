"""The client against a real server that answers well, badly, slowly, or not at all."""

from __future__ import annotations

import asyncio
import gc
import itertools
import socket
import time

import pytest

from geomi.adapters.http import Egress, EgressRules, HttpClient, parse_override
from geomi.adapters.http import client as client_module
from geomi.adapters.http import connection as connection_module
from geomi.adapters.http.decode import Body
from geomi.adapters.http.response import ResponseReader
from geomi.errors import ConfigError
from geomi.model.page import Fetched
from geomi.model.verdict import Outcome
from tests.adapters.http.support import (
    ENCODERS,
    LOOPBACK,
    HandClock,
    RealClock,
    fetch,
    fetch_all,
    request,
)
from tests.support.server import End, Raw, Reply, Seen, Site
from tests.support.waiting import waits

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
PAGE = b"<p>hello</p>" * 400
MIB = 1024 * 1024


def raw_fetch(*parts: bytes | float, end: End = End.CLOSE, **limits: object) -> Fetched:
    with Site({"/": Raw(parts, end)}) as site:
        return fetch_all(request(site.url(), **limits))[0]


@pytest.mark.req("HTTP-01")
def test_brings_a_page_with_its_facts() -> None:
    with Site({"/a": Reply(PAGE, headers=(("ETag", '"x"'),))}) as site:
        fetched = fetch(site.url("/a?b=c"))
    assert (fetched.status, fetched.body, fetched.failure) == (200, PAGE, None)
    assert (fetched.url, fetched.ip) == (site.url("/a?b=c"), "127.0.0.1")
    assert fetched.header("etag") == '"x"'
    assert fetched.wire_bytes == len(fetched.head) + len(PAGE)
    assert fetched.head.startswith(b"HTTP/1.1 200 OK\r\nContent-Type: text/html")
    assert [(seen.method, seen.target) for seen in site.log] == [("GET", "/a?b=c")]
    assert site.log[0].host == f"127.0.0.1:{site.port}"


@waits
async def test_times_come_from_the_clock_it_was_given() -> None:
    with Site({"/": Reply(PAGE)}) as site:
        url = site.url()
        clock = HandClock()
        client = HttpClient(Egress(LOOPBACK, clock), clock)
        fetched = await client.fetch(request(url))
        await client.aclose()
    assert (fetched.started_s, fetched.ended_s, fetched.fetch_ms) == (1000.0, 1000.0, 0)


def test_tells_what_was_sent_and_no_secret() -> None:
    names = ("user-agent", "accept", "if-none-match", "Authorization", "X-Api-Key", "Referer")
    headers = tuple((name, f"value of {name}") for name in names)
    with Site({"/a": Reply(PAGE)}) as site:
        fetched = fetch(site.url("/a?b=c"), headers=headers)
        port = site.port
    assert fetched.sent.decode().split("\r\n") == [
        "GET /a?b=c HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "user-agent: value of user-agent",
        "accept: value of accept",
        "if-none-match: value of if-none-match",
        "Authorization: [removed]",
        "X-Api-Key: [removed]",
        "Referer: [removed]",
        "Connection: keep-alive",
        "",
        "",
    ]


@pytest.mark.req("HTTP-12")
def test_sends_what_it_is_given_and_never_a_cookie() -> None:
    headers = (("user-agent", "x/1"), ("cookie", "a=b"), ("host", "evil.test"), ("x-y", "é"))
    reply = Reply(PAGE, headers=(("Set-Cookie", "session=1; Path=/"),))
    with Site({"/": reply}) as site:
        fetch_all(*[request(site.url(), headers=headers)] * 2)
    for seen in site.log:
        assert seen.headers == {
            "host": f"127.0.0.1:{site.port}",
            "user-agent": "x/1",
            "x-y": "Ã©",  # UTF-8, as the server reads it byte by byte
            "connection": "keep-alive",
        }


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\rb"])
def test_a_line_break_in_a_header_is_our_own_mistake(value: str) -> None:
    with Site({}) as site, pytest.raises(ConfigError, match="line break"):
        fetch(site.url(), headers=(("x", value),))
    assert site.log == []


@pytest.mark.parametrize("url", ["ftp://a.test/", "file:///etc/passwd", "nonsense", "http://"])
@pytest.mark.req("SEC-01")
def test_only_web_urls_lead_anywhere(url: str) -> None:
    assert fetch(url).failure is Outcome.PROTOCOL_ERROR


# connections


def test_keeps_a_connection_for_the_next_request() -> None:
    with Site({"/": Reply(PAGE), "/empty": Reply(status=204), "/to": Reply(status=302)}) as site:
        paths = ("/", "/", "/missing", "/empty", "/to", "/")
        fetched = fetch_all(*[request(site.url(path)) for path in paths])
    assert [each.status for each in fetched] == [200, 200, 404, 204, 302, 200]
    assert site.connections == 1


def test_does_not_keep_a_connection_that_the_server_closes() -> None:
    with Site({"/": Reply(PAGE, headers=(("Connection", "close"),))}) as site:
        assert [each.body for each in fetch_all(*[request(site.url())] * 2)] == [PAGE, PAGE]
    assert site.connections == 2


def test_a_kept_connection_that_dies_unanswered_is_told_as_stale() -> None:
    """The server closes as the second request arrives: when to ask again is not ours to say."""

    def answer(seen: Seen) -> Reply | Raw:
        return Raw((), End.RESET) if (seen.connection, len(site.log)) == (1, 2) else Reply(PAGE)

    with Site({"/": answer}) as site:
        fetched = fetch_all(*[request(site.url())] * 3)
    assert [each.is_stale for each in fetched] == [False, True, False]
    assert [each.failure for each in fetched] == [None, Outcome.CONNECT_ERROR, None]
    assert [seen.connection for seen in site.log] == [1, 1, 2]


@pytest.mark.parametrize("end", [End.CLOSE, End.RESET])
def test_a_new_connection_that_dies_unanswered_is_a_failure(end: End) -> None:
    with Site({"/": Raw((), end)}) as site:
        assert fetch(site.url()).failure is Outcome.CONNECT_ERROR
    assert len(site.log) == 1


def test_an_answer_that_had_begun_is_not_asked_for_again() -> None:
    def answer(seen: Seen) -> Reply | Raw:
        return Raw((b"HTTP/1.1 200 O",)) if len(site.log) == 2 else Reply(PAGE)

    with Site({"/": answer}) as site:
        fetched = fetch_all(*[request(site.url())] * 2)
    assert [each.failure for each in fetched] == [None, Outcome.PROTOCOL_ERROR]
    assert len(site.log) == 2


@waits
async def test_words_nobody_asked_for_cost_the_connection() -> None:
    """What a server says between two requests must not become the answer to the second."""
    whole = OK + b"Content-Length: 2\r\n\r\nhi"
    stray = OK + b"Content-Length: 4\r\n\r\nevil"
    with Site({"/": Raw((whole, 0.02, stray), End.KEEP)}) as site:
        client = HttpClient(Egress(LOOPBACK, RealClock()), RealClock())
        first = await client.fetch(request(site.url()))
        await asyncio.sleep(0.1)
        second = await client.fetch(request(site.url()))
        await client.aclose()
        assert [first.body, second.body] == [b"hi", b"hi"]
    assert site.connections == 2


def test_idle_connections_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MAX_IDLE", 2)
    hosts = ("a.test", "b.test", "c.test")
    with Site({"/": Reply(PAGE)}) as site:
        overrides = tuple(parse_override(f"{host}:{site.port}:127.0.0.1") for host in hosts)
        visits = [request(site.url(host=host)) for host in (*hosts, "c.test", "b.test", "a.test")]
        fetch_all(*visits, rules=EgressRules(overrides=overrides))
    assert [seen.connection for seen in site.log] == [1, 2, 3, 3, 2, 4]


@waits
async def test_idle_connections_are_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "IDLE_S", 0.05)

    with Site({"/": Reply(PAGE)}) as site:
        url = site.url()
        client = HttpClient(Egress(LOOPBACK, RealClock()), RealClock())
        await client.fetch(request(url))
        assert len(client._pool) == 1
        await asyncio.sleep(0.2)
        assert len(client._pool) == 0
        await client.fetch(request(url))
        await client.aclose()
    assert [seen.connection for seen in site.log] == [1, 2]


def test_a_connection_does_not_outlive_its_checked_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_module, "KEPT_S", 0.0)
    with Site({"/": Reply(PAGE)}) as site:
        fetch_all(*[request(site.url())] * 2)
    assert site.connections == 2


@pytest.mark.req("HTTP-15")
def test_connects_to_the_resolved_address_and_tries_the_next_one() -> None:
    """The checked addresses are tried in order; nothing is resolved a second time."""
    asked: list[str] = []

    def lookup(name: str) -> tuple[str, ...]:
        asked.append(name)
        return ("127.0.0.3", "127.0.0.2")

    with Site({"/": Reply(PAGE)}, address="127.0.0.2") as site:
        url = site.url(host="two.test")
        fetched = fetch_all(*[request(url)] * 2, rules=LOOPBACK, lookup=lookup)
    assert [(each.ip, each.body) for each in fetched] == [("127.0.0.2", PAGE)] * 2
    assert site.log[0].host == f"two.test:{site.port}"
    assert asked == ["two.test"]


def test_nobody_listening_is_a_connect_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    fetched = fetch(f"http://127.0.0.1:{port}/")
    assert fetched.failure is Outcome.CONNECT_ERROR
    assert str(port) in fetched.detail


@waits
async def test_a_cancelled_fetch_leaves_no_connection_behind() -> None:
    with Site({"/": Raw((), End.SILENCE)}) as site:
        url = site.url()
        client = HttpClient(Egress(LOOPBACK, RealClock()), RealClock())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await client.fetch(request(url))
        idle = len(client._pool)
        await client.aclose()
        assert idle == 0


def test_a_fetch_leaves_no_body_to_the_garbage_collector() -> None:
    """The parser and its reader hold each other; a body must not wait for a collection."""
    routes = {"/": Reply(PAGE), "/bad": Reply(PAGE, headers=(("Content-Encoding", "gzip"),))}
    with Site(routes) as site:
        visits = [request(site.url(path)) for path in ("/", "/bad", "/", "/bad")]
        gc.collect()
        gc.disable()
        try:
            fetch_all(*visits)
            alive = [each for each in gc.get_objects() if isinstance(each, ResponseReader | Body)]
        finally:
            gc.enable()
    assert alive == []


# bodies


@pytest.mark.req("HTTP-09")
@pytest.mark.parametrize("encoder", ENCODERS)
def test_decodes_compressed_pages(encoder: str) -> None:
    coding, encode = ENCODERS[encoder]
    coded = encode(PAGE)
    with Site({"/": Reply(coded, headers=(("Content-Encoding", coding),))}) as site:
        fetched = fetch(site.url())
    assert (fetched.body, fetched.wire_bytes) == (PAGE, len(fetched.head) + len(coded))


def test_reads_chunks_and_bodies_that_end_with_the_connection() -> None:
    chunks = OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n"
    assert raw_fetch(chunks, 0.01, b"2\r\nlo\r\n0\r\nX: y\r\n\r\n").body == b"hello"
    assert raw_fetch(OK + b"\r\nhel", 0.01, b"lo").body == b"hello"


@pytest.mark.parametrize("status", [200, 302, 404])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_a_bomb_goes_off_nowhere(encoder: str, status: int) -> None:
    """A redirect's body is never inflated; an error page's bomb costs only its body."""
    coding, encode = ENCODERS[encoder]
    headers = (("Content-Encoding", coding), ("Location", "/x"))
    with Site({"/": Reply(encode(bytes(8 * MIB)), status, headers=headers)}) as site:
        fetched = fetch(site.url(), max_bytes=2 * MIB)
    expected = Outcome.TOO_LARGE if status == 200 else None
    assert (fetched.status, fetched.failure, fetched.body) == (status, expected, b"")


def test_a_redirect_is_an_answer() -> None:
    reply = Reply(b"moved", 301, headers=(("Location", "/b"),))
    with Site({"/": reply, "/b": Reply(PAGE)}) as site:
        fetched = fetch(site.url())
    assert (fetched.status, fetched.header("location"), fetched.body) == (301, "/b", b"")
    assert [seen.path for seen in site.log] == ["/"]


def test_an_unwanted_type_ends_before_its_body() -> None:
    parts = (b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n",)
    fetched = raw_fetch(*parts, end=End.SILENCE, types=("text/html",))
    assert (fetched.failure, fetched.status) == (Outcome.WRONG_TYPE, 200)
    assert fetched.header("content-type") == "video/mp4"


def test_a_robots_file_is_cut_at_its_limit() -> None:
    endless = itertools.chain([OK + b"\r\n"], itertools.repeat(b"Disallow: /x\n" * 100))
    with Site({"/": Raw(endless)}) as site:
        fetched = fetch(site.url(), max_bytes=5000, truncate=True)
    assert (fetched.failure, len(fetched.body)) == (None, 5000)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param((OK + b"Content-Length: 9\r\n\r\nhi",), Outcome.PROTOCOL_ERROR, id="short"),
        pytest.param(
            (OK + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n",), Outcome.PROTOCOL_ERROR, id="chunk"
        ),
        pytest.param((b"SSH-2.0-OpenSSH\r\n",), Outcome.PROTOCOL_ERROR, id="another protocol"),
        pytest.param(
            (OK + b"Content-Encoding: gzip\r\n\r\nplain",), Outcome.BAD_ENCODING, id="not gzip"
        ),
    ],
)
def test_a_broken_answer_is_a_failure(parts: tuple[bytes, ...], expected: Outcome) -> None:
    fetched = raw_fetch(*parts)
    assert (fetched.failure, fetched.body) == (expected, b"")
    assert fetched.detail


def test_a_reset_in_the_middle_is_a_failure() -> None:
    fetched = raw_fetch(OK + b"Content-Length: 9\r\n\r\nhi", 0.05, end=End.RESET)
    assert fetched.failure is Outcome.PROTOCOL_ERROR


@pytest.mark.parametrize(
    ("start", "again"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 50, id="headers"),
        pytest.param(OK + b"\r\n", b"x" * 50_000, id="body"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 9000, id="chunks"),
    ],
)
def test_an_endless_answer_ends(start: bytes, again: bytes) -> None:
    with Site({"/": Raw(itertools.chain([start], itertools.repeat(again)))}) as site:
        fetched = fetch(site.url(), max_bytes=200_000)
    assert fetched.failure is Outcome.TOO_LARGE
    assert fetched.wire_bytes < 800_000


# time


@pytest.mark.req("HTTP-11")
@pytest.mark.parametrize(
    "parts",
    [
        pytest.param((), id="no answer"),
        pytest.param((b"HTTP/1.1 200 OK\r\n",), id="no end of headers"),
        pytest.param((OK + b"Content-Length: 9\r\n\r\nhi",), id="no end of body"),
    ],
)
def test_silence_ends_a_fetch(parts: tuple[bytes, ...]) -> None:
    """G-09."""
    fetched = raw_fetch(*parts, end=End.SILENCE, read_timeout_s=0.1)
    assert (fetched.failure, "0.1 s" in fetched.detail) == (Outcome.TIMEOUT, True)


@pytest.mark.req("HTTP-10", "HTTP-11")
@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\nX: ", OK + b"\r\n"])
def test_a_drip_does_not_outlast_the_total_deadline(start: bytes) -> None:
    drip: list[bytes | float] = [b"x", 0.02]
    parts = itertools.chain([start], itertools.cycle(drip))
    begun_s = time.monotonic()
    with Site({"/": Raw(parts)}) as site:
        fetched = fetch(site.url(), read_timeout_s=0.3, total_timeout_s=0.4)
    assert fetched.failure is Outcome.TIMEOUT
    assert 0.35 < fetched.ended_s - fetched.started_s < 2.0
    assert time.monotonic() - begun_s < 5.0


def test_an_answer_that_waited_for_a_stopped_process_is_late() -> None:
    """It is whole when the process goes on, but its host may be somebody else's by then."""

    async def stopped(site: Site) -> Fetched:
        clock = RealClock()
        client = HttpClient(Egress(LOOPBACK, clock), clock)
        fetching = asyncio.create_task(client.fetch(request(site.url(), total_timeout_s=0.2)))
        while not site.log:  # noqa: ASYNC110  # another thread's list
            await asyncio.sleep(0)
        time.sleep(0.3)  # noqa: ASYNC251  # what a stop looks like from within
        try:
            return await fetching
        finally:
            await client.aclose()

    with Site({"/": Reply(PAGE)}) as site:
        fetched = asyncio.run(stopped(site))
    assert (fetched.failure, fetched.body) == (Outcome.TIMEOUT, b"")


def test_an_answer_below_the_minimum_speed_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "WINDOW_S", 0.1)
    drip: list[bytes | float] = [b"x" * 10, 0.02]
    parts = itertools.chain([OK + b"\r\n"], itertools.cycle(drip))
    with Site({"/": Raw(parts)}) as site:
        fetched = fetch(site.url())
    assert (fetched.failure, "bytes came in 0.1 s" in fetched.detail) == (Outcome.TIMEOUT, True)


def test_a_fast_enough_answer_may_take_many_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_module, "WINDOW_S", 0.1)
    steady: list[bytes | float] = [b"x" * 4000, 0.05]
    assert len(raw_fetch(OK + b"\r\n", *steady * 8).body) == 32_000


def test_an_error_status_counts_although_its_body_never_ends() -> None:
    parts = (b"HTTP/1.1 503 Busy\r\nRetry-After: 9\r\nContent-Length: 99\r\n\r\nso",)
    fetched = raw_fetch(*parts, end=End.SILENCE, read_timeout_s=0.1)
    assert (fetched.status, fetched.failure, fetched.body) == (503, None, b"")
    assert fetched.header("retry-after") == "9"
    assert fetched.detail


def test_a_connection_that_is_never_accepted_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):  # the queue is full now
            url = f"http://127.0.0.1:{port}/"
            for limits in ({"connect_timeout_s": 0.2}, {"total_timeout_s": 0.2}):
                fetched = fetch_all(request(url, **limits))[0]
                assert (fetched.failure, "0.2 s" in fetched.detail) == (Outcome.TIMEOUT, True)


@pytest.mark.parametrize(("status", "taken"), [(200, b"a body"), (404, b"")])
def test_a_sink_takes_the_body_of_a_good_answer(status: int, taken: bytes) -> None:
    pieces: list[bytes] = []
    with Site({"/": Reply(b"a body", status=status)}) as site:
        (fetched,) = fetch_all(request(site.url("/"), sink=pieces.append))
    assert b"".join(pieces) == taken
    assert fetched.body == (b"" if taken else b"a body")
