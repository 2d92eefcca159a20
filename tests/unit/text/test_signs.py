"""Texts that can be written."""

from __future__ import annotations

import pytest

from geomi.text.encoding import replace_surrogates


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", ""),
        ("plain", "plain"),
        ("한글 😀 é", "한글 😀 é"),
        ("half \ud83d of a sign \udc80", "half ? of a sign ?"),
    ],
    ids=["empty", "plain", "whole", "halves"],
)
def test_whole_signs(text: str, whole: str) -> None:
    """Only halves are changed."""
    assert replace_surrogates(text) == whole
