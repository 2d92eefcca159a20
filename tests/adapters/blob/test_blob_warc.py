"""WARC records: a second reader finds what we wrote, and no value can forge a header."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from isal import igzip
from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from geomi.adapters.blob import warc
from geomi.errors import StoreError
from geomi.model.page import Fetched

FIRST = UUID(int=1)
SECOND = UUID(int=2)
NOON_S = 1_700_000_000.25

HEAD = (
    b"HTTP/1.1 200 OK\r\n"
    b"Content-Type: text/html\r\n"
    b"Content-Encoding: gzip\r\n"
    b"Content-Length: 17\r\n"
    b"transfer-encoding:\r\n chunked\r\n"
    b"X-Long: one\r\n two\r\n\r\n"
)
PAGE = Fetched(
    url="https://a.test/page?q=1",
    status=200,
    head=HEAD,
    body=b"<p>\r\n\r\nhello</p>",
    sent=b"GET /page?q=1 HTTP/1.1\r\nHost: a.test\r\nauthorization: [removed]\r\n\r\n",
    ip="192.0.2.7",
)


def read(data: bytes) -> list[tuple[Any, bytes]]:
    """Read records as warcio does, digests checked."""
    return [
        (record, record.content_stream().read())
        for record in ArchiveIterator(io.BytesIO(data), check_digests="raise")
    ]


def test_a_response_is_read_by_another_reader() -> None:
    [(record, body)] = read(warc.response(FIRST, PAGE, fetched_at_s=NOON_S))
    assert body == PAGE.body
    assert record.rec_type == "response"
    told = dict(record.rec_headers.headers)
    assert told["WARC-Record-ID"] == "<urn:uuid:00000000-0000-0000-0000-000000000001>"
    assert told["WARC-Date"] == "2023-11-14T22:13:20.250Z"
    assert told["WARC-Target-URI"] == PAGE.url
    assert told["WARC-IP-Address"] == "192.0.2.7"
    assert told["WARC-Payload-Digest"].startswith("sha1:")


def test_headers_of_the_wire_give_way_to_what_is_stored() -> None:
    [(record, _)] = read(warc.response(FIRST, PAGE, fetched_at_s=NOON_S))
    assert record.http_headers.statusline == "200 OK"
    assert record.http_headers.headers == [
        ("Content-Type", "text/html"),
        ("X-Geomi-Content-Encoding", "gzip"),
        ("X-Long", "one two"),
        ("Content-Length", str(len(PAGE.body))),
    ]


def test_an_answer_without_a_head_gets_one() -> None:
    bare = replace(PAGE, head=b"", headers=(("x-a", "1\r\nX-Forged: 2"), ("content-length", "9")))
    [(record, body)] = read(warc.response(FIRST, bare, fetched_at_s=NOON_S))
    assert body == PAGE.body
    assert record.http_headers.headers == [
        ("x-a", "1 X-Forged: 2"),
        ("Content-Length", str(len(PAGE.body))),
    ]


def test_a_conversion_refers_to_its_response() -> None:
    line = b'{"url":"https://a.test/"}'
    [(record, content)] = read(
        warc.conversion(FIRST, "https://a.test/", line, fetched_at_s=NOON_S, refers_to=SECOND)
    )
    assert content == line
    assert record.rec_type == "conversion"
    assert record.rec_headers.get_header("WARC-Target-URI") == "urn:geomi:record:https://a.test/"
    assert record.rec_headers.get_header("WARC-Refers-To") == f"<urn:uuid:{SECOND}>"
    assert record.rec_headers.get_header("Content-Type") == "application/json"


def test_a_request_belongs_to_its_response() -> None:
    [(record, body)] = read(warc.request(FIRST, PAGE, fetched_at_s=NOON_S, concurrent_to=SECOND))
    assert (record.rec_type, body) == ("request", b"")
    assert record.http_headers.statusline == "/page?q=1 HTTP/1.1"
    assert record.http_headers.protocol == "GET"
    assert record.http_headers.get_header("Host") == "a.test"
    assert record.rec_headers.get_header("WARC-Concurrent-To") == f"<{SECOND.urn}>"
    assert record.rec_headers.get_header("WARC-Target-URI") == PAGE.url
    assert record.rec_headers.get_header("WARC-Date") == "2023-11-14T22:13:20.250Z"


def test_a_conversion_without_a_response_refers_to_nothing() -> None:
    member = warc.conversion(FIRST, "https://a.test/", b"{}", fetched_at_s=NOON_S, refers_to=None)
    [(record, _)] = read(member)
    assert record.rec_headers.get_header("WARC-Refers-To") is None


def test_warcinfo_names_the_writer() -> None:
    member = warc.warcinfo(
        FIRST, written_at_s=NOON_S, name="w-0001.warc.gz", software="geomi/1\r\nx: y", job="01J"
    )
    [(record, content)] = read(member)
    assert record.rec_type == "warcinfo"
    assert record.rec_headers.get_header("WARC-Filename") == "w-0001.warc.gz"
    assert b"software: geomi/1 x: y\r\n" in content
    assert b"isPartOf: 01J\r\n" in content


@given(st.text(), st.text(), st.binary())
def test_no_url_and_no_address_forges_a_header(rest: str, ip: str, body: bytes) -> None:
    fetched = replace(PAGE, url=f"https://{rest}", ip=ip, body=body)
    [(record, content)] = read(warc.response(FIRST, fetched, fetched_at_s=NOON_S))
    assert content == body
    names = [name for name, _ in record.rec_headers.headers if name != "WARC-IP-Address"]
    assert names == [
        "WARC-Type",
        "WARC-Record-ID",
        "WARC-Date",
        "WARC-Target-URI",
        "WARC-Payload-Digest",
        "Content-Type",
        "Content-Length",
    ]


@given(st.binary())
def test_a_block_comes_back_as_it_went_in(line: bytes) -> None:
    member = warc.conversion(FIRST, "u", line, fetched_at_s=NOON_S, refers_to=None)
    assert warc.block(member) == line


@given(st.binary(), st.integers(min_value=0, max_value=200))
def test_any_head_leaves_the_body_alone(head: bytes, status: int) -> None:
    fetched = replace(PAGE, head=b"HTTP/1.1 200 OK\r\n" + head, status=status)
    held = warc.block(warc.response(FIRST, fetched, fetched_at_s=NOON_S))
    assert held.partition(b"\r\n\r\n")[2] == PAGE.body


@pytest.mark.parametrize("cut", [1, 8, 30])
def test_a_torn_member_is_an_error(cut: int) -> None:
    member = warc.conversion(FIRST, "u", b"{}", fetched_at_s=NOON_S, refers_to=None)
    with pytest.raises(StoreError, match="damaged"):
        warc.block(member[:-cut])


def test_a_member_that_is_no_record_is_an_error() -> None:
    with pytest.raises(StoreError, match="does not open as WARC"):
        warc.block(igzip.compress(b"hello"))


def test_the_other_readers_own_check_is_content(tmp_path: Any) -> None:
    path = tmp_path / "all.warc.gz"
    path.write_bytes(
        warc.warcinfo(FIRST, written_at_s=NOON_S, name="n", software="geomi", job="j")
        + warc.response(FIRST, PAGE, fetched_at_s=NOON_S)
        + warc.request(UUID(int=3), PAGE, fetched_at_s=NOON_S, concurrent_to=FIRST)
        + warc.conversion(SECOND, PAGE.url, b"{}", fetched_at_s=NOON_S, refers_to=FIRST)
    )

    class Asked:
        inputs = (str(path),)
        verbose = False

    checker = Checker(Asked())
    checker.process_all()
    assert checker.exit_value == 0
