"""Which bodies are wanted, and their text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.fetch.body import SNIFF_BYTES, accepts, decode_text

PAGES = ("text/html", "application/xhtml+xml", "text/plain")
KOREAN = "한국어 문서는 여러 가지 방법으로 적혀 있다. 이 글도 그렇다."
JAPANESE = "これはにほんごのぶんしょうです。カタカナもあります。"
CHINESE = "这是一个中文的文本，我们在这里说中国的事，他不是我的人。"
WESTERN = "Le café est fermé à cause de l'été, déjà."


@pytest.mark.parametrize(
    ("content_type", "types", "expected"),
    [
        ("text/html", PAGES, True),
        ("Text/HTML; charset=utf-8", PAGES, True),
        ("text/plain;charset=x", PAGES, True),
        ("application/xhtml+xml", PAGES, True),
        ("application/pdf", PAGES, False),
        ("image/png", PAGES, False),
        ("video/mp4", PAGES, False),
        ("application/zip", PAGES, False),
        ("application/octet-stream", PAGES, False),
        ("text/htmlx", PAGES, False),
        ("text/plain", ("text/html",), False),
        ("text/css", ("text/*",), True),
        ("image/png", ("text/*",), False),
        ("image/png", ("*/*",), True),
        ("image/png", (), True),
        ("", PAGES, True),
        ("; charset=utf-8", PAGES, True),
    ],
)
def test_accepts(content_type: str, types: tuple[str, ...], expected: bool) -> None:
    assert accepts(content_type, types) is expected


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (b"\xef\xbb\xbfabc", "text/plain; charset=euc-kr", "abc"),
        ("\ufeff가".encode("utf-16-le"), "", "가"),
        ("\ufeff가".encode("utf-16-be"), "", "가"),
        (KOREAN.encode("euc-kr"), "text/plain; charset=EUC-KR", KOREAN),
        ("똠방각하".encode("cp949"), "text/plain; charset=ks_c_5601-1987", "똠방각하"),
        (WESTERN.encode("latin-1"), 'text/plain; charset="ISO-8859-1"', WESTERN),
        ("“x”".encode("cp1252"), "text/plain; charset=latin1", "“x”"),
        (b'<?xml version="1.0" encoding="euc-kr"?>' + "가".encode("euc-kr"), "",
         '<?xml version="1.0" encoding="euc-kr"?>가'),
        (b"<meta charset=shift_jis>" + "あ".encode("cp932"), "", "<meta charset=shift_jis>あ"),
        (KOREAN.encode(), "text/plain; charset=nonsense", KOREAN),
        (b"plain", "text/plain; charset=punycode", "plain"),
        (KOREAN.encode("cp949"), "text/plain", KOREAN),
        (JAPANESE.encode("cp932"), "text/plain", JAPANESE),
        (JAPANESE.encode("euc_jp"), "text/plain", JAPANESE),
        (CHINESE.encode("gb18030"), "text/plain", CHINESE),
        (WESTERN.encode("cp1252"), "text/plain", WESTERN),
        (KOREAN.encode(), "", KOREAN),
        (b"", "", ""),
        (b"long plain text with one bad \xff octet " + b"x" * 100, "",
         "long plain text with one bad \ufffd octet " + "x" * 100),
    ],
)  # fmt: skip
def test_decode_text_g11(body: bytes, content_type: str, expected: str) -> None:
    assert decode_text(body, content_type) == expected


@pytest.mark.parametrize("shift", range(3))
def test_a_sample_that_ends_inside_a_character(shift: int) -> None:
    text = "x" * shift + "가" * SNIFF_BYTES
    assert decode_text(text.encode(), "") == text
    assert decode_text(text.encode("cp949"), "") == text


@given(st.binary(max_size=200), st.text(max_size=30))
def test_any_body_is_some_text(body: bytes, content_type: str) -> None:
    decode_text(body, content_type)


@given(st.text(max_size=100))
def test_utf8_is_read_as_it_was_written(text: str) -> None:
    written = text.encode("utf-8", "replace").decode().lstrip("\ufeff")
    assert decode_text(written.encode(), "text/plain; charset=utf-8") == written
