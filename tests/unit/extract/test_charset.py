"""Which character set a body is in (G-11)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomi.extract.dom import (
    MAX_CHARSET_CHARS,
    MIN_HIGH_BYTES,
    WESTERN_SAMPLE_BYTES,
    decode_plain,
    header_charset,
    is_broken,
    is_doubtful,
    parse_html,
    proven_text,
)

KOREAN = "안녕하세요. 데비안 설치 안내서에 오신 것을 환영합니다. 똠방각하 펲시콜라"
HANGUL = "안녕하세요. 데비안 설치 안내서에 오신 것을 환영합니다."  # EUC-KR proper has no more
JAPANESE = "こんにちは。日本語のページです。漢字とカタカナとひらがなが混ざっています。"
CHINESE = "欢迎来到安装指南。这是一个中文页面，用来测试字符集的识别。"
TAIWANESE = "歡迎來到安裝指南。這是一個中文頁面，用來測試字元集的識別。"
FRENCH = "Voilà une page française, déjà écrite à la façon d'un élève très zélé."
RUSSIAN = "Добро пожаловать в руководство по установке операционной системы."


def page(text: str, codec: str, label: str = "") -> bytes:
    meta = f'<meta charset="{label}">' if label else ""
    return f"<html><head>{meta}<title>t</title></head><body><p>{text}</p>".encode(codec)


def late(text: str, codec: str, label: str) -> bytes:
    """Make a page whose `<meta>` comes after the first 1,024 bytes."""
    return b"<html><head>" + b"<!-- -->" * 200 + page(text, codec, label)


@pytest.mark.parametrize(
    ("text", "body", "content_type"),
    [
        # byte order mark: outranks every label
        (KOREAN, page(KOREAN, "utf-8-sig"), "text/html; charset=windows-1252"),
        (KOREAN, page(KOREAN, "utf-16", "euc-kr"), "text/html; charset=euc-kr"),
        (JAPANESE, b"\xfe\xff" + page(JAPANESE, "utf-16-be"), "text/html; charset=utf-8"),
        # what the bytes prove: UTF-8, and UTF-16 by its NULs
        (KOREAN, page(KOREAN, "utf-8"), "text/html"),
        (KOREAN, page(KOREAN, "utf-8"), "text/html; charset=euc-kr"),
        (KOREAN, page(KOREAN, "utf-8", "shift_jis"), "text/html"),
        (KOREAN, page(KOREAN, "utf-8") + b"\xff" + page(KOREAN, "utf-8"), "text/html"),
        (KOREAN, page(KOREAN * 3, "utf-8")[:-6], "text/html; charset=euc-kr"),
        (KOREAN, page(KOREAN, "utf-16-le"), "text/html"),
        (KOREAN, page(KOREAN, "utf-16-be"), "text/html; charset=utf-8"),
        (JAPANESE, page(JAPANESE, "utf-16-le"), "text/html; charset=utf-16be"),
        ("plain words", page("plain words", "utf-16-be"), "text/html; charset=iso-8859-1"),
        (KOREAN, page(KOREAN, "utf-16-le"), "text/html; charset=utf-16"),
        # header
        (HANGUL, page(HANGUL, "euc-kr"), "text/html; charset=euc-kr"),
        (KOREAN, page(KOREAN, "cp949"), 'text/html; x=y; Charset="EUC-KR"'),
        (KOREAN, page(KOREAN, "cp949", "shift_jis"), "text/html; charset=ks_c_5601-1987"),
        (KOREAN, page(KOREAN, "cp949"), "text/html; charset=windows-949"),
        # a server's default is not believed where no letter stands alone
        (HANGUL, page(HANGUL, "euc-kr"), "text/html; charset=iso-8859-1"),
        (KOREAN, page(KOREAN, "cp949", "euc-kr"), "text/html; charset=windows-1252"),
        (KOREAN, page(KOREAN, "cp949", "iso-8859-1"), "text/html"),
        (JAPANESE, page(JAPANESE, "euc-jp"), "text/html; charset=iso-8859-1"),
        (RUSSIAN, page(RUSSIAN, "cp1251"), "text/html; charset=iso-8859-1"),
        (FRENCH, page(FRENCH, "cp1252", "euc-kr"), "text/html; charset=iso-8859-1"),
        ("ÀÉÎÕÜÿþð", page("ÀÉÎÕÜÿþð", "cp1252"), "text/html; charset=iso-8859-1"),
        (JAPANESE, page(JAPANESE, "shift_jis"), "text/html; charset=Shift_JIS"),
        (JAPANESE, page(JAPANESE, "cp932"), "text/html; charset=x-sjis"),
        (JAPANESE, page(JAPANESE, "euc-jp"), "text/html; charset=euc-jp"),
        (JAPANESE, page(JAPANESE, "iso-2022-jp"), "text/html; charset=iso-2022-jp"),
        (CHINESE, page(CHINESE, "gbk"), "text/html; charset=gb2312"),
        (TAIWANESE, page(TAIWANESE, "big5"), "text/html; charset=big5"),
        (RUSSIAN, page(RUSSIAN, "koi8-r"), "text/html; charset=koi8-r"),
        (FRENCH, page(FRENCH, "latin-1"), "text/html; charset=iso-8859-1"),
        # `<meta>`, also a late one, and after a header that says nothing or the impossible
        (KOREAN, page(KOREAN, "cp949", "euc-kr"), "text/html"),
        (KOREAN, late(KOREAN, "cp949", "euc-kr"), "text/html"),
        (JAPANESE, page(JAPANESE, "shift_jis", "shift_jis"), "text/html; charset=no-such-charset"),
        (JAPANESE, page(JAPANESE, "shift_jis", "shift_jis"), "text/html; charset=utf-8"),
        (KOREAN, page(KOREAN, "cp949", "euc-kr"), "text/html; charset=iso-2022-kr"),
        (KOREAN, page(KOREAN, "cp949", "euc-kr"), "text/html; charset=utf-16"),
        # sniffing, also after labels that the bytes disprove
        (KOREAN, page(KOREAN, "cp949"), "text/html"),
        (KOREAN, page(KOREAN, "cp949"), "text/html; charset=utf-8"),
        (KOREAN, page(KOREAN, "cp949", "utf-8"), "text/html"),
        (KOREAN, page(KOREAN, "cp949", "utf-8"), "text/html; charset=utf-8"),
        (JAPANESE, page(JAPANESE, "shift_jis"), "text/html"),
        (JAPANESE, page(JAPANESE, "shift_jis", "utf-8"), "text/html; charset=utf-8"),
        (JAPANESE, page(JAPANESE, "shift_jis", "utf-8"), "text/html; charset=euc-kr"),
        (JAPANESE, page(JAPANESE, "euc-jp"), "text/html"),
        (JAPANESE, page(JAPANESE, "iso-2022-jp"), "text/html"),
        (CHINESE, page(CHINESE, "gbk", "utf-8"), "text/html; charset=utf-8"),
        (TAIWANESE, page(TAIWANESE, "big5", "utf-8"), "text/html; charset=utf-8"),
        (FRENCH, page(FRENCH, "latin-1", "utf-8"), "text/html; charset=utf-8"),
        (RUSSIAN, page(RUSSIAN, "cp1251", "utf-8"), "text/html; charset=utf-8"),
        # plain ASCII, whatever it is called
        ("hello", b"<p>hello", "text/html; charset=utf-16le"),
        ("hello", b"<p>hello", "text/html; charset=iso-2022-kr"),
        ("hello", b"<p>hello", "text/html; charset=utf-7"),
    ],
)
def test_a_page_comes_out_intact(text: str, body: bytes, content_type: str) -> None:
    assert text in parse_html(body, content_type).text


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (KOREAN.encode(), "text/plain", KOREAN),
        (KOREAN.encode("cp949"), "text/plain; charset=euc-kr", KOREAN),
        (KOREAN.encode("utf-8-sig"), "text/plain", KOREAN),
        (KOREAN.encode("utf-8-sig") + b"\xff", "text/plain", KOREAN + "\ufffd"),
        (KOREAN.encode("utf-16"), "text/plain", KOREAN),
        (KOREAN.encode("utf-16-le"), "text/plain", KOREAN),
        (JAPANESE.encode("shift_jis"), "text/plain; charset=shift_jis", JAPANESE),
        (JAPANESE.encode("shift_jis"), "text/plain; charset=utf-8", JAPANESE),
        (b"caf\xe9", "text/plain; charset=iso-8859-1", "café"),
        (b"plain", "text/plain; charset=utf-7", "plain"),
        (b"plain", "text/plain; charset=replacement", "plain"),
        (b"", "text/plain", ""),
    ],
)
def test_plain_text_is_decoded_alike(body: bytes, content_type: str, expected: str) -> None:
    assert decode_plain(body, content_type) == expected


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"a\0b" * 20, id="NULs on both sides"),
        pytest.param(b"\0" * 100, id="NULs alone"),
        pytest.param(b"<p>words and words" * 9 + b"\0", id="one NUL"),
    ],
)
def test_nuls_alone_do_not_make_utf16(body: bytes) -> None:
    assert proven_text(body) == body.decode()


def test_what_proves_nothing_is_left_to_its_labels() -> None:
    assert proven_text(KOREAN.encode("cp949")) is None
    assert proven_text(JAPANESE.encode("iso-2022-jp")) is None  # ASCII, with escapes


def test_a_charset_is_disproved_by_its_broken_share() -> None:
    assert not is_broken("")
    assert not is_broken("한" * 19 + "\ufffd")
    assert is_broken("한" * 18 + "\ufffd")
    assert proven_text("한한한한".encode() + b"\xff") == "한한한한\ufffd"
    assert proven_text("한한한".encode() + b"\xff") is None


def test_few_letters_or_single_ones_leave_a_western_label_alone() -> None:
    assert is_doubtful(b"\xbe\xc8" * (MIN_HIGH_BYTES // 2), "windows-1252")
    assert not is_doubtful(b"\xbe\xc8" * (MIN_HIGH_BYTES // 2 - 1), "windows-1252")
    assert not is_doubtful(b"\xbe\xc8" * 4 + b" \xe9 \xe9", "windows-1252")
    assert not is_doubtful(b"\xbe\xc8" * 4, "euc-kr")
    far = b" " * WESTERN_SAMPLE_BYTES
    assert not is_doubtful(far + b"\xbe\xc8" * 4, "windows-1252")


def test_a_label_is_cut() -> None:
    label = header_charset(b"", "text/html; charset=" + "x" * (MAX_CHARSET_CHARS + 1))
    assert label == "x" * MAX_CHARSET_CHARS


LABELS = ("", "utf-8", "utf-16", "euc-kr", "shift_jis", "replacement", "x-user-defined", "nonsense")


@settings(max_examples=100, deadline=None)
@given(
    body=st.one_of(st.binary(max_size=60), st.text(max_size=30).map(lambda t: t.encode("utf-16"))),
    label=st.sampled_from(LABELS),
    meta=st.sampled_from(LABELS),
)
def test_no_bytes_raise_anything(body: bytes, label: str, meta: str) -> None:
    page = b"<meta charset=" + meta.encode() + b">" + body
    for content in (body, page):
        decode_plain(content, f"text/plain; charset={label}")
        assert "\0" not in parse_html(content, f"text/html; charset={label}").text
