"""Answers are read by the book, inside their caps, wherever packets begin and end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomi.adapters.http.decode import MARGIN_BYTES
from geomi.adapters.http.failure import FetchFailed
from geomi.adapters.http.response import MAX_HEAD_BYTES, MAX_HEADERS, ResponseReader
from geomi.model.verdict import Outcome
from tests.adapters.http.support import request

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def read(*packets: bytes, is_closed: bool = False, **limits: object) -> ResponseReader:
    reader = ResponseReader(request("http://a.test/", **limits))
    for packet in packets:
        if not reader.is_over:
            reader.feed(packet)
    if is_closed:
        reader.end(None)
    return reader


def outcome(reader: ResponseReader) -> Outcome | None:
    return reader.failure.outcome if reader.failure is not None else None


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        pytest.param(OK + b"Content-Length: 2\r\n\r\nhi", b"hi", id="length"),
        pytest.param(OK + b"Content-Length: 0\r\n\r\n", b"", id="empty"),
        pytest.param(CHUNKED + b"2\r\nhi\r\n0\r\n\r\n", b"hi", id="chunks"),
        pytest.param(CHUNKED + b"2;a=b\r\nhi\r\n0\r\nX-T: 1\r\n\r\n", b"hi", id="trailers"),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", b"", id="204"),
        pytest.param(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", b"", id="304"),
        pytest.param(b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", b"hi", id="no reason"),
        pytest.param(
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n"
            + OK
            + b"Content-Length: 2\r\n\r\nhi",
            b"hi",
            id="interim answers",
        ),
    ],
)
def test_reads_a_whole_answer_and_keeps_the_connection(answer: bytes, body: bytes) -> None:
    reader = read(answer)
    assert (reader.is_over, reader.is_reusable, reader.body()) == (True, True, body)
    assert reader.wire_bytes == len(answer)
    assert reader.head.startswith(b"HTTP/1.1 ") and reader.head.endswith(b"\r\n\r\n")
    assert reader.head.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nhi", id="close"),
        pytest.param(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", id="HTTP/1.0"),
        pytest.param(OK + b"Content-Length: 2\r\n\r\nhi and more", id="more than its length"),
        pytest.param(
            OK + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            id="length beside chunks",
        ),
        pytest.param(
            OK + b"Content-Length: 2\r\n\r\nhi" + OK + b"Content-Length: 2\r\n\r\nho",
            id="a second answer",
        ),
    ],
)
def test_reads_a_whole_answer_and_gives_up_the_connection(answer: bytes) -> None:
    reader = read(answer)
    assert (reader.is_over, reader.is_reusable, reader.body()) == (True, False, b"hi")


def test_a_body_may_end_with_the_connection() -> None:
    reader = read(OK + b"\r\nhe", b"llo", is_closed=True)
    assert (reader.body(), reader.is_reusable) == (b"hello", False)


def test_lines_may_end_in_a_line_feed_alone() -> None:
    reader = read(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi")
    assert (reader.body(), reader.head) == (b"hi", b"HTTP/1.1 200 OK\nContent-Length: 2\n\n")


def test_header_names_are_lower_case_and_values_are_text() -> None:
    head = OK + b"X-A:  one \r\nLocation: /\xc3\xa9\r\nX-B: \xe9\r\n"
    reader = read(head + b"Content-Length: 0\r\n\r\n")
    assert reader.headers[:3] == [("x-a", "one"), ("location", "/é"), ("x-b", "é")]


@pytest.mark.parametrize(
    ("fields", "values"),
    [
        pytest.param(b"X: one\r\n two\r\n\tthree\r\n", ["one two\tthree"], id="folds"),
        pytest.param(b"X:\r\n one\r\nY: two\r\n", ["one", "two"], id="nothing on the first line"),
        pytest.param(b"X: one\n two\n", ["one two"], id="line feeds alone"),
        pytest.param(b"X: one\r\n  \r\nY: two\r\n", ["one", "two"], id="a fold of nothing"),
    ],
)
def test_a_folded_header_is_one_line(fields: bytes, values: list[str]) -> None:
    """RFC 9112 §5.2: real servers still fold; each fold is read as spaces."""
    answer = OK + fields + b"Content-Length: 2\r\n\r\nhi"
    for packets in ((answer,), [answer[at : at + 1] for at in range(len(answer))]):
        reader = read(*packets)
        assert [value for name, value in reader.headers if name in "xy"] == values
        assert (reader.body(), reader.head, reader.is_reusable) == (b"hi", answer[:-2], True)


@pytest.mark.parametrize(
    "packet",
    [
        b"<html>no status line",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 99 Low\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
        OK + b"no colon here\r\n\r\n",
        OK + b"X: a\x00b\r\n\r\n",
        OK + b"X: a\x1bb\r\n\r\n",
        OK + b"X: a\rb\r\n\r\n",
        OK + b" X: a\r\nContent-Length: 0\r\n\r\n",  # RFC 9112 §2.2: nothing there to fold
        OK + b"X : a\r\n\r\n",
        OK + b"Content-Length: 2\r\n 3\r\n\r\nhi",
        OK + b"Transfer-Encoding: chun\r\n ked\r\n\r\n",
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
        OK + b"Content-Length: -1\r\n\r\n",
        OK + b"Content-Length: 99999999999999999999\r\n\r\n",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
        CHUNKED + b"zz\r\nhi\r\n0\r\n\r\n",
        CHUNKED + b"2\r\nhi and more\r\n0\r\n\r\n",
        CHUNKED + b"fffffffffffffffff\r\nhi\r\n",
    ],
)
def test_refuses_what_is_not_http(packet: bytes) -> None:
    reader = read(packet)
    assert (outcome(reader), reader.is_over) == (Outcome.PROTOCOL_ERROR, True)


@pytest.mark.parametrize(
    ("packet", "expected"),
    [
        (b"", Outcome.CONNECT_ERROR),
        (b"HTTP/1.1 2", Outcome.PROTOCOL_ERROR),
        (OK + b"X: y\r\n", Outcome.PROTOCOL_ERROR),
        (OK + b"Content-Length: 3\r\n\r\nhi", Outcome.PROTOCOL_ERROR),
        (CHUNKED + b"2\r\nhi\r\n", Outcome.PROTOCOL_ERROR),
    ],
)
def test_a_connection_that_closes_too_early_is_a_failure(packet: bytes, expected: Outcome) -> None:
    assert outcome(read(*([packet] if packet else []), is_closed=True)) is expected


def test_a_reset_is_no_end_of_a_body() -> None:
    reader = read(OK + b"\r\nhello")
    reader.end(ConnectionResetError("reset by peer"))
    assert outcome(reader) is Outcome.PROTOCOL_ERROR


def test_bounds_the_number_of_headers() -> None:
    def answer(count: int) -> bytes:
        return OK + b"X: y\r\n" * (count - 1) + b"Content-Length: 0\r\n\r\n"

    assert outcome(read(answer(MAX_HEADERS))) is None
    assert outcome(read(answer(MAX_HEADERS + 1))) is Outcome.TOO_LARGE


def test_bounds_the_size_of_the_head() -> None:
    def answer(size: int) -> bytes:
        rest = OK + b"Content-Length: 0\r\nX: \r\n\r\n"
        return rest.replace(b"X: ", b"X: " + b"y" * (size - len(rest)))

    assert len(answer(MAX_HEAD_BYTES)) == MAX_HEAD_BYTES
    assert outcome(read(answer(MAX_HEAD_BYTES))) is None
    assert outcome(read(answer(MAX_HEAD_BYTES + 1))) is Outcome.TOO_LARGE


@pytest.mark.parametrize(
    ("start", "again"),
    [
        pytest.param(b"HTTP/1.1 200 ", b"O" * 1000, id="status line"),
        pytest.param(OK + b"X: ", b"y" * 1000, id="one header"),
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 40, id="interim answers"),
    ],
)
def test_an_endless_head_ends(start: bytes, again: bytes) -> None:
    reader = read(start + again, *[again] * 70)
    assert outcome(reader) is Outcome.TOO_LARGE
    assert reader.wire_bytes <= MAX_HEAD_BYTES + len(start) + len(again)


def test_endless_trailers_end() -> None:
    reader = read(CHUNKED + b"0\r\n", *[b"X: y\r\n"] * (MAX_HEADERS + 1))
    assert outcome(reader) is Outcome.TOO_LARGE


def test_a_declared_length_above_the_limit_ends_before_the_body() -> None:
    assert outcome(read(OK + b"Content-Length: 100\r\n\r\n", max_bytes=100)) is None
    reader = read(OK + b"Content-Length: 101\r\n\r\n", max_bytes=100)
    assert (outcome(reader), reader.status) == (Outcome.TOO_LARGE, 200)


@pytest.mark.parametrize("head", [OK + b"\r\n", CHUNKED + b"fffffff\r\n"])
def test_an_endless_body_ends_at_the_limit(head: bytes) -> None:
    limit = 10_000
    reader = read(head, *[b"x" * 1000] * 50, max_bytes=limit)
    assert outcome(reader) is Outcome.TOO_LARGE
    assert reader.wire_bytes <= len(head) + limit + 1000


def test_bytes_on_the_wire_are_bounded_even_if_they_decode_to_nothing() -> None:
    padded = b"1;" + b"e" * 1000 + b"\r\nx\r\n"
    for truncate, expected in ((False, Outcome.TOO_LARGE), (True, None)):
        reader = read(CHUNKED, *[padded] * 200, max_bytes=1000, truncate=truncate)
        assert (outcome(reader), reader.is_over, reader.is_reusable) == (expected, True, False)
        assert reader.wire_bytes < 1000 + MARGIN_BYTES + 3000


def test_a_long_body_is_cut_on_request() -> None:
    """C-11: what came of robots.txt inside the limit is kept."""
    for head in (OK + b"Content-Length: 5000\r\n\r\n", OK + b"\r\n", CHUNKED + b"1388\r\n"):
        reader = read(head, b"x" * 3000, max_bytes=1000, truncate=True)
        assert (reader.body(), reader.is_over, reader.is_reusable) == (b"x" * 1000, True, False)


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirects_body_is_not_read(status: int) -> None:
    head = b"HTTP/1.1 %d Moved\r\nLocation: /x\r\nContent-Encoding: gzip\r\n" % status
    reader = read(head + b"Content-Length: 5000\r\n\r\n" + b"x" * 100)
    assert (reader.is_over, reader.is_reusable, reader.body()) == (True, False, b"")
    whole = read(head + b"Content-Length: 4\r\n\r\nxxxx")
    assert (whole.is_over, whole.is_reusable, whole.body()) == (True, True, b"")


def test_a_page_of_another_type_ends_before_its_body() -> None:
    types = ("text/html", "text/plain")

    def answer(status: int, content_type: bytes) -> ResponseReader:
        head = b"HTTP/1.1 %d X\r\nContent-Length: 9000\r\n" % status
        kind = b"Content-Type: " + content_type + b"\r\n" if content_type else b""
        return read(head + kind + b"\r\n", types=types)

    wrong = answer(200, b"image/png")
    assert (outcome(wrong), wrong.status, wrong.is_over) == (Outcome.WRONG_TYPE, 200, True)
    assert [outcome(answer(200, kind)) for kind in (b"Text/HTML; charset=x", b"")] == [None, None]
    error = answer(503, b"application/json")
    assert (outcome(error), error.is_over, error.body()) == (None, True, b"")


ANSWERS = (
    OK + b"Content-Length: 5\r\n\r\nhello",
    CHUNKED + b"3\r\nhel\r\n2\r\nlo\r\n0\r\nX: y\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nhello",
    OK + b"\r\nhello",
    b"\r\n" + OK + b"Content-Length: 5\r\n\r\nhello",
)


@settings(max_examples=100, deadline=None)
@given(answer=st.sampled_from(ANSWERS), cuts=st.lists(st.integers(0, 120), max_size=6))
def test_where_packets_end_makes_no_difference(answer: bytes, cuts: list[int]) -> None:
    edges = sorted({0, len(answer), *(cut for cut in cuts if cut < len(answer))})
    packets = [answer[start:end] for start, end in pairwise(edges)]
    reader = read(*packets, is_closed=True)
    assert (reader.body(), reader.status) == (b"hello", 200)
    assert reader.head == read(answer, is_closed=True).head


@settings(max_examples=200, deadline=None)
@given(packets=st.lists(st.binary(max_size=60), max_size=5), start=st.sampled_from([b"", *ANSWERS]))
def test_no_bytes_raise_anything(packets: list[bytes], start: bytes) -> None:
    reader = read(start[:40], *packets, is_closed=True)
    assert reader.is_over
    try:
        reader.body()
    except FetchFailed as failed:
        assert failed.failure.detail
