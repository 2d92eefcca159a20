"""What an llms.txt lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.seed.llms import MAX_HREF_CHARS, MAX_LINKS, read


def test_links_in_order_each_once() -> None:
    text = """# Geomi\n\n> A crawler.\n
## Docs\n- [Start](https://a.test/start.md): the first page
- [Guide](/guide "the title")\n- [Start](https://a.test/start.md)
## Optional\n- [Far](<https://b.test/x>)\n"""
    assert read(text.encode()) == ("https://a.test/start.md", "/guide", "https://b.test/x")


@pytest.mark.parametrize(
    "text", ["", "no links", "[a](", "[a]()", "[a]( )", "[a](x\ny)", "](", "[a][b]", "\ufeff"]
)
def test_what_lists_nothing(text: str) -> None:
    assert read(text.encode()) == ()


@pytest.mark.parametrize("extra", [0, 1])
def test_limits(extra: int) -> None:
    many = "".join(f"[a](/{number})" for number in range(MAX_LINKS + extra))
    assert len(read(many.encode())) == MAX_LINKS
    long = f"[a]({'x' * (MAX_HREF_CHARS + extra)})"
    assert len(read(long.encode())) == 1 - extra


@given(st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    read(body)
    read(b"[a](" + body)
