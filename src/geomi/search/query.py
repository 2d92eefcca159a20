"""What a query asks for: any of its words, and every phrase in quotation marks.

Filters are values of their own and never part of the text: whoever types cannot widen them.
"""

from __future__ import annotations

import re

from geomi.model.search import Query
from geomi.search.tokens import tokens
from geomi.text.signs import whole_signs

MAX_QUERY_CHARS = 1_000
MAX_QUERY_TOKENS = 64
MAX_PHRASES = 8

# An apostrophe is no quotation mark; one that is left open means nothing.
_PHRASE = re.compile(r"[\"“”„«»]([^\"“”„«»]+)[\"“”„«»]")


def parse(text: str) -> Query:
    """Read a query; what is beyond a limit is not looked for."""
    text = " ".join(whole_signs(text[:MAX_QUERY_CHARS]).split())
    phrases = [tuple(tokens(words)) for words in _PHRASE.findall(text)]
    wanted = dict.fromkeys(tokens(text))
    several = dict.fromkeys(phrase[:MAX_QUERY_TOKENS] for phrase in phrases if phrase)
    return Query(text, tuple(wanted)[:MAX_QUERY_TOKENS], tuple(several)[:MAX_PHRASES])
