"""Keys of an archive's index. The expected ones are what the Internet Archive's `surt` gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.url.parse import parse
from geomi.url.surt import MAX_UNESCAPES, surt

SESSION = "0123456789abcdef0123456789ABCDEF"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://www.Example.com/A/b/", "com,example)/a/b"),
        ("http://www2.example.com:80/?", "com,example)/"),
        ("http://www.com/", "com)/"),
        ("https://ex.com./x#y", "com,ex)/x"),
        ("https://user:pw@ex.com:8443/x", "com,ex:8443)/x"),
        ("http://127.0.0.1:8080/x", "1,0,0,127:8080)/x"),
        ("https://[::1]:81/x", "::1:81)/x"),
        ("https://ex.com/a//b/../c/", "com,ex)/a/c"),
        ("https://ex.com/..%2fx", "com,ex)/../x"),
        ("https://ex.com//", "com,ex)/"),
        ("https://ex.com/%41%2f%7euser?q=%20x+y&z", "com,ex)/a/~user?q=%20x+y&z"),
        ("https://ex.com/%25/%2541", "com,ex)/%25/a"),
        ("https://ex.com/%EA%B0%80?q=%EA%B0%80", "com,ex)/%ea%b0%80?q=%ea%b0%80"),
        ("https://ex.com/a?B=2&a=1&a=0", "com,ex)/a?a=0&a=1&b=2"),
        ("https://ex.com/x?a=&b", "com,ex)/x?a=&b"),
        ("https://ex.com/x?&&a=1&", "com,ex)/x?&&&a=1"),
        (f"https://ex.com/x?PHPSESSID={SESSION}&a=1", "com,ex)/x?a=1"),
        (f"https://ex.com/x?sid={SESSION}", "com,ex)/x"),
        ("https://ex.com/a?cfid=1&cftoken=2&b=1", "com,ex)/a?b=1"),
        (f"https://ex.com/x?aspsessionid{'q' * 8}={'z' * 24}&y=1", "com,ex)/x?y=1"),
        (f"https://ex.com/(S({'a1' * 12}))/y.aspx", "com,ex)/y.aspx"),
        (f"https://ex.com/({'a1' * 12})/y.aspx?z", "com,ex)/y.aspx?z"),
    ],
)
def test_keys(url: str, key: str) -> None:
    parsed = parse(url)
    assert parsed is not None
    assert surt(parsed) == key


def test_unescaping_has_a_limit() -> None:
    def nested(layers: int) -> str:
        parsed = parse(f"https://ex.com/%{'25' * layers}41")
        assert parsed is not None
        return surt(parsed)

    assert nested(MAX_UNESCAPES - 1) == "com,ex)/a"
    assert nested(MAX_UNESCAPES) == "com,ex)/%2541"


@given(st.text(alphabet="aZ9%2f./?&=;()가 \\", max_size=30))
def test_any_url_has_a_key_on_one_line(tail: str) -> None:
    parsed = parse(f"https://a.test/{tail}")
    assert parsed is not None
    key = surt(parsed)
    assert key.isascii()
    assert key.isprintable()
    assert " " not in key
