"""What a query asks for."""

from __future__ import annotations

import pytest

from geomi.search.tokens import MAX_PHRASES, MAX_QUERY_CHARS, MAX_QUERY_TOKENS, parse_query


@pytest.mark.parametrize(
    ("text", "tokens", "phrases"),
    [
        ("", (), ()),
        ("  open   a file ", ("open", "a", "file"), ()),
        ("file file", ("file",), ()),
        ('say "hello world" now', ("say", "hello", "world", "now"), (("hello", "world"),)),
        ("“좋은 하루” 인사", ("좋은", "좋", "하루", "인사"), (("좋은", "좋", "하루"),)),
        ('left "open', ("left", "open"), ()),
        ('"" "…"', (), ()),
        ("don't OR NEAR(a b) site:x", ("don", "t", "or", "near", "a", "b", "site", "x"), ()),
    ],
)  # fmt: skip
def test_parse(text: str, tokens: tuple[str, ...], phrases: tuple[tuple[str, ...], ...]) -> None:
    """Words and phrases; there is no language to inject anything into."""
    query = parse_query(text)
    assert (query.tokens, query.phrases) == (tokens, phrases)
    assert query.wanted == {*tokens, *(token for phrase in phrases for token in phrase)}


def test_limits() -> None:
    """An endless query is a long one, cut."""
    assert len(parse_query("x" * (MAX_QUERY_CHARS + 1)).text) == MAX_QUERY_CHARS
    some = " ".join(f"w{at}" for at in range(MAX_QUERY_TOKENS))
    assert (
        len(parse_query(some).tokens) == len(parse_query(f"{some} more").tokens) == MAX_QUERY_TOKENS
    )
    quoted = " ".join(f'"a{at}b"' for at in range(MAX_PHRASES + 1))
    assert len(parse_query(quoted).phrases) == MAX_PHRASES
