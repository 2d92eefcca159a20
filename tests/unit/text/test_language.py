"""The language of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.text.language import SAMPLE_CHARS, detect


@pytest.mark.parametrize(
    ("text", "declared", "expected"),
    [
        ("", "ko-KR", "ko"),
        ("", " EN_us ", "en"),
        ("", "zh-Hant-TW", "zh"),
        ("안녕하세요", "en", "en"),  # what is declared is believed
        ("안녕하세요 여러분", "", "ko"),
        ("apt-get 명령으로 패키지를 설치합니다 (Debian GNU/Linux)", "x-unknown-y", "ko"),
        ("An English page that names 서울 once and goes on for a while in English.", "", ""),
        ("plain English", "", ""),
        ("日本語", "und", ""),
        ("", "", ""),
        ("", "한국", ""),
        ("x" * SAMPLE_CHARS + "안녕하세요" * 1000, "", ""),  # only a sample is read
    ],
)
def test_language(text: str, declared: str, expected: str) -> None:
    assert detect(text, declared) == expected


@given(st.text(), st.text())
def test_the_answer_is_a_subtag_or_nothing(text: str, declared: str) -> None:
    language = detect(text, declared)
    assert language == "" or (language.isascii() and language.islower() and len(language) in (2, 3))
