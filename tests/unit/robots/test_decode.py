"""Bytes of a robots.txt to characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.robots.parse import as_utf8, decode


@pytest.mark.req("ROB-11")
@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("/가".encode(), "text/plain", "/가"),
        ("/가".encode(), "text/plain; charset=utf-8", "/가"),
        ("/가".encode("euc-kr"), "text/plain; charset=EUC-KR", "/가"),
        ("/가".encode("euc-kr"), "text/plain; format=flowed; Charset = 'ks_c_5601-1987'", "/가"),
        ("/é".encode("latin-1"), "text/plain;charset=iso-8859-1", "/é"),
        ("/あ".encode("cp932"), 'text/plain; charset="Shift_JIS"', "/あ"),
        ("/ж".encode("koi8-r"), "text/plain; charset=KOI8-R", "/ж"),
        ("/x".encode("utf-16-le"), "text/plain; charset=utf-16", "/x"),
        ("/x".encode("utf-16-be"), "text/plain; charset=utf-16be", "/x"),
        # A byte-order mark is accepted, and knows better than a header.
        (b"\xef\xbb\xbf/x", "", "/x"),
        ("\ufeff/가".encode(), "text/plain; charset=euc-kr", "/가"),
        ("\ufeff/x".encode("utf-16-le"), "text/plain; charset=utf-8", "/x"),
        ("\ufeff/x".encode("utf-16-be"), "", "/x"),
        # Without a word about it, octets that are no UTF-8 stay octets.
        ("/é".encode("latin-1"), "text/plain", "/%E9"),
        ("/é".encode("latin-1"), "text/plain; charset=utf-8", "/%E9"),
        (b"/x", "text/plain; charset=no-such-charset", "/x"),
        (b"/x", "text/plain; charset=a\0b", "/x"),
        (b"/x", "text/plain; charset=punycode", "/x"),
        (b"/x", "text/plain; charset", "/x"),
    ],
)
def test_header_first_then_utf8(body: bytes, content_type: str, text: str) -> None:
    assert decode(as_utf8(body, content_type)) == text


LABELS = st.sampled_from(["euc-kr", "big5", "gbk", "utf-16", "shift_jis", "utf-8", "x"])


@given(st.binary(max_size=200), LABELS)
def test_no_bytes_and_no_label_raise(body: bytes, label: str) -> None:
    decode(as_utf8(body, f"text/plain; charset={label}"))


@given(st.text(max_size=40))
def test_any_header_can_be_read(content_type: str) -> None:
    assert as_utf8(b"/x", content_type) == b"/x" or "utf" in content_type
