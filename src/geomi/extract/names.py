"""What the names of an element say: words of its class, id and role for or against its content.

Names are split at capitals, digits and signs, so that `postBody`, `post-body` and `post_body` say
the same. What each word weighs was learned (`tools/train_blocks.py`, in `blocks.json`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

MAX_WORDS = 20  # of one element

_WORD = re.compile(r"[A-Z]?[a-z]{1,19}|[A-Z]{1,19}")
_APART = {code: " " for code in range(128) if not chr(code).islower()}


@lru_cache(maxsize=16_384)  # 5 MB with names of 50 characters, 20 MB at the worst
def words_of(names: str) -> tuple[str, ...]:
    """Return the different words of a class, id and role; the pages of a site repeat them."""
    if names.islower() and names.isascii():  # most are, and this takes a third of the time
        words = names.translate(_APART).split()
    else:
        words = [word.lower() for word in _WORD.findall(names)]
    return tuple(dict.fromkeys(words))[:MAX_WORDS]


def weigh_words(names: str, weights: Mapping[str, float]) -> float:
    """Return what the words of these names weigh together."""
    return sum([weights.get(word, 0.0) for word in words_of(names)])
