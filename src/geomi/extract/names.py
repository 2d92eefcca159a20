"""What the names of an element say: words of its class, id and role for or against its content.

Names are split at capitals, digits and signs, so that `postBody`, `post-body` and `post_body` say
the same. What each word weighs was learned (`tools/train_blocks.py`, in `blocks.json`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from string import ascii_lowercase

MAX_WORDS = 20  # of one element

_WORD = re.compile(r"[A-Z]?[a-z]{1,19}|[A-Z]{1,19}")
# Everything but small letters, as what stands between words.
_APART = bytes(code if chr(code) in ascii_lowercase else ord(" ") for code in range(256))


@lru_cache(maxsize=16_384)  # 5 MB with names of 50 characters, 20 MB at the worst
def words_of(names: str) -> tuple[str, ...]:
    """Return the different words of a class, id and role; the pages of a site repeat them."""
    if names.isalpha() and names.islower() and names.isascii():
        return (names,)
    if not names.islower():  # most are
        names = " ".join(_WORD.findall(names)).lower()
    words = names.encode("ascii", "replace").translate(_APART).decode("ascii").split()
    return tuple(dict.fromkeys(words))[:MAX_WORDS]


def weigh_words(names: str, weights: Mapping[str, float]) -> float:
    """Return what the words of these names weigh together."""
    return sum(filter(None, map(weights.get, words_of(names))))
