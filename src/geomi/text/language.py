"""The language of a text, from what is declared and from its letters.

A declared language is believed, shortened to its primary subtag. Without one, enough Hangul makes
a text Korean. Anything else is left open: the empty string says "not known", and a caller with a
better detector may go on from there. Only a sample is read, so that a long page costs as little
as a short one.
"""

from __future__ import annotations

import re

SAMPLE_CHARS = 1000
# Korean technical prose is full of Latin names; 15 % Hangul among its letters is still Korean,
# while a Korean name in an English page stays far below.
MIN_HANGUL_SHARE = 0.15
_SUBTAG_CHARS = (2, 3)
_HANGUL = re.compile("[가-힣]")


def detect(text: str, declared: str) -> str:
    """Return the primary language subtag in lower case (`ko`), or the empty string."""
    return _primary(declared) or ("ko" if _is_korean(text[:SAMPLE_CHARS]) else "")


def _primary(declared: str) -> str:
    """Shorten `ko-KR` or `ko_KR` to `ko`; anything that is not a language tag says nothing."""
    subtag = declared.strip().replace("_", "-").partition("-")[0].lower()
    is_tag = len(subtag) in _SUBTAG_CHARS and subtag.isascii() and subtag.isalpha()
    return subtag if is_tag and subtag != "und" else ""


def _is_korean(sample: str) -> bool:
    hangul = len(_HANGUL.findall(sample))
    return hangul > 0 and hangul >= sum(map(str.isalpha, sample)) * MIN_HANGUL_SHARE
