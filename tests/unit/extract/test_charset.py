"""Which character set a body is in (G-11)."""

from __future__ import annotations

import pytest

from geomi.extract.charset import header_charset, mislabelled_charset, utf8_text
from geomi.extract.dom import decode_plain, parse_html

KOREAN = "안녕하세요. 데비안 설치 안내서에 오신 것을 환영합니다. 똠방각하 펲시콜라"


def page(text: str, charset: str, label: str = "") -> bytes:
    meta = f'<meta charset="{label}">' if label else ""
    return f"<html><head>{meta}<title>제목</title></head><body>{text}".encode(charset)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (page(KOREAN, "utf-8"), "text/html"),
        (page(KOREAN, "utf-8"), "text/html; charset=euc-kr"),  # mislabelled by the server
        (page(KOREAN, "utf-8", "euc-kr"), "text/html"),  # mislabelled by the page
        (page(KOREAN, "utf-8-sig"), "text/html; charset=windows-1252"),
        (page(KOREAN, "cp949", "euc-kr"), "text/html"),
        (page(KOREAN, "cp949", "ks_c_5601-1987"), "text/html"),
        (page(KOREAN, "cp949"), 'text/html; x=y; Charset="EUC-KR"'),
        (page(KOREAN, "cp949"), "text/html; charset=no-such-charset"),
        (page(KOREAN, "cp949"), "text/html"),
        (page(KOREAN, "cp949"), "text/html; charset=utf-8"),
        (page(KOREAN, "cp949", "utf-8"), "text/html"),
        (page(KOREAN, "utf-16"), "text/html"),
        (page(KOREAN, "utf-16"), "text/html; charset=utf-8"),
    ],
)
def test_korean_pages_come_out_intact(body: bytes, content_type: str) -> None:
    assert KOREAN in parse_html(body, content_type).text


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (KOREAN.encode(), "text/plain", KOREAN),
        (KOREAN.encode("cp949"), "text/plain; charset=euc-kr", KOREAN),
        (KOREAN.encode("utf-8-sig"), "text/plain", KOREAN),
        (b"caf\xe9", "text/plain; charset=iso-8859-1", "café"),
        (b"plain", "text/plain; charset=utf-7", "plain"),
        (b"plain", "text/plain; charset=replacement", "plain"),
        (b"", "text/plain", ""),
    ],
)
def test_plain_text_is_decoded_alike(body: bytes, content_type: str, expected: str) -> None:
    assert decode_plain(body, content_type) == expected


def test_a_utf8_page_with_some_damage_stays_utf8() -> None:
    body = (KOREAN * 5).encode() + b"\xff" + KOREAN.encode()
    assert mislabelled_charset(body) == "utf-8"
    assert KOREAN in parse_html(body, "text/html; charset=utf-8").text


def test_western_bytes_that_call_themselves_utf8() -> None:
    assert mislabelled_charset("é à ü ".encode("latin-1")) == "windows-1252"


def test_text_cut_inside_a_character_is_still_utf8() -> None:
    assert utf8_text("한글".encode()[:-1]) == "한"
    assert utf8_text(b"\xff\xfe") is None
    assert utf8_text(b"ascii") is None


def test_an_utf16_label_on_ascii_is_not_believed() -> None:
    assert header_charset(b"<p>hi", "text/html; charset=utf-16le") is None
    assert parse_html(b"<p>hi", "text/html; charset=utf-16le").text == "hi"


def test_a_label_is_cut() -> None:
    label = header_charset(b"", "text/html; charset=" + "x" * 41)
    assert label == "x" * 40
