"""Count the tokens of a text by a rule of geomi's own that needs no vocabulary: `geomi-1`.

It replaces the tokenizers of language models, whose files are large or must be fetched. It was
fitted to `cl100k_base` from above: a chunk of 500 tokens should not have more there. Over passages
of about 1,200 characters it counts 1.16 times as many tokens in English documentation, 1.10 in
English pages of every kind, 1.27 in Korean documentation and 1.06 in Korean encyclopaedia
articles; it is below in 0.2, 8, 0 and 12 % of them (docs/adr/0017-chunks-and-index.md).

If a text is cut at white space, its two parts together never have fewer tokens than the whole.
"""

from __future__ import annotations

import re

from geomi.model.index.chunk import Tokenizer

# Each match is one token, also an empty one. Spaces between words cost nothing, as in most models.
_TOKEN = re.compile(
    r"[a-z]{1,8} ?|[A-Z](?:[a-z]{1,8}|[A-Z]{0,2}) ?"
    r"|[!-/:-@\[-`{-~]{1,2} ?|[0-9]{1,3} ?"
    r"|\n[ \t\n]*| {2,}"
    # A word in Hangul is one token more than it has syllables, and so is each from the fourth on.
    r"|(?=[가-힣])(?:(?<![가-힣])|(?<=[가-힣]{3}))"
    r"|(?=[\U00010000-\U0010ffff])"  # emoji and the like: two
    r"|[\u00c0-\u036f\u0400-\u052f]{1,2}"  # Latin with accents, Cyrillic
    r"|[^\s\x00-\x7f] ?"
)


def count_tokens(text: str) -> int:
    """Count the tokens of a text."""
    return len(_TOKEN.findall(text))


GEOMI_1 = Tokenizer("geomi-1", count_tokens)
