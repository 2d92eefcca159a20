"""Read a text or a query as tokens: words in lower case, or pairs of letters.

- Hangul, Han, Kana and the scripts of South-East Asia are written as overlapping pairs of signs:
  particles grow onto Korean words, and Chinese, Japanese and Thai set no spaces at all. On KorQuAD
  words reach an nDCG@10 of 0.841, pairs of Hangul 0.955, and 0.959 where the particle at the end
  of a word is left out: with the sign before it it would be a rare pair that means nothing. A noun
  of one syllable before a particle is a token of its own (0.960).
- A search finds an identifier as a whole and by its parts (`DiffExecutor`, `diff`, `executor`): on
  questions about code that took the nDCG@10 from 0.55 to 0.70.
- A plural counts as its singular (Harman's S-stemmer). Accents and the width of letters do not
  count.
- A query matches any of its words, and must match every phrase in quotation marks. Filters are
  values of their own and never part of the text: no text can widen them.

The same function reads texts and queries. If the rules change, `VERSION` changes, and geomi fills
the index again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from geomi.model.index.search import Query
from geomi.text.encoding import replace_surrogates

VERSION = 2
# Beyond this it is no word but data; what is left still finds it.
MAX_TOKEN_CHARS = 64
# Texts say the same words again and again; this many take about 10 MB.
REMEMBERED_WORDS = 50_000
# An identifier has a handful of parts; a hash in hexadecimal would have dozens.
MAX_PARTS = 8
_WORD = re.compile(r"\w+")
# Signs that are written without spaces, or with endings grown onto them; vowel signs belong to it.
_PAIRED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005\u3040-\u30ff"
    "\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
)
_HAS_PAIRED = re.compile(f"[{_PAIRED}]")
# Hangul and the others are runs of their own: `서울大` is two words.
_RUN = re.compile(f"[\uac00-\ud7a3\u1100-\u11ff]+|[{_PAIRED}]+|[^\\W{_PAIRED}]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\da-zA-Z_]+")
# Particles, behind a word of two syllables at least.
_PARTICLE = re.compile("(?<=[가-힣]{2})(?:에서|으로|에게|까지|부터|[은는이가을를의에로와과도만])$")
_SHORT_NOUN = re.compile("(?!으로)[가-힣][은는이가을를의에로와과도만]")
_ACCENTS = re.compile("[\u0300-\u036f]")
MAX_QUERY_CHARS = 1_000
MAX_QUERY_TOKENS = 64
MAX_PHRASES = 8
# An apostrophe is no quotation mark; one that is left open means nothing.
_PHRASE = re.compile(r"[\"“”„«»]([^\"“”„«»]+)[\"“”„«»]")


class Word(NamedTuple):
    """A word of a text, where it stands, and the tokens that it is found by."""

    start: int
    end: int
    tokens: tuple[str, ...]


def tokens(text: str) -> list[str]:
    """Return what a text is found by, in order."""
    found: list[str] = []
    for word in _WORD.findall(text) if text.isascii() else _RUN.findall(_folded(text)):
        if word.islower() and word.isalpha() and word.isascii():  # most words
            found.append(_singular(word[:MAX_TOKEN_CHARS]))
        else:
            found += _tokens_of(word)
    return found


def words(text: str) -> Iterator[Word]:
    """Yield the words of a text with their places; a pair of signs is a word."""
    for run in (_WORD if text.isascii() else _RUN).finditer(text):
        word, start = run[0], run.start()
        if word.isascii() or not _HAS_PAIRED.match(word):
            yield Word(start, run.end(), _tokens_of(_folded(word)))
            continue
        for at in range(max(1, len(word) - 1)):
            pair = word[at : at + 2]
            yield Word(start + at, start + at + len(pair), _tokens_of(_folded(pair)))


def _folded(text: str) -> str:
    """Write letters as the plain ones that they stand for; the number of letters may change."""
    if text.isascii():
        return text
    apart = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", apart)


def _tokens_of(word: str) -> tuple[str, ...]:
    # What is longer is said once, and would fill the memory.
    return _remembered(word) if len(word) <= MAX_TOKEN_CHARS else _made_of(word)


def _made_of(word: str) -> tuple[str, ...]:
    if _HAS_PAIRED.match(word):
        word = _PARTICLE.sub("", word)
        # A noun of one syllable is hidden in the pair that it makes with its particle.
        noun = (word[0],) if _SHORT_NOUN.fullmatch(word) else ()
        return (*(word[at : at + 2] for at in range(len(word) - 1)), *noun) or (word,)
    whole = _singular(word.strip("_").lower()[:MAX_TOKEN_CHARS])
    if not whole:
        return ()
    parts = _PART.findall(word)
    if not 1 < len(parts) <= MAX_PARTS:
        return (whole,)
    # A single letter or digit says nothing: without them both measures are 0.002 higher.
    named = (_singular(part.lower()[:MAX_TOKEN_CHARS]) for part in parts if len(part) > 1)
    return (whole, *named)


def _singular(word: str) -> str:
    if len(word) < 4 or word[-1] != "s" or not word.isascii():
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return f"{word[:-3]}y"
    return word if word.endswith(("us", "ss", "aes", "ees", "oes")) else word[:-1]


_remembered = lru_cache(REMEMBERED_WORDS)(_made_of)


def parse_query(text: str) -> Query:
    """Read a query; what is beyond a limit is not looked for."""
    text = " ".join(replace_surrogates(text[:MAX_QUERY_CHARS]).split())
    phrases = [tuple(tokens(words)) for words in _PHRASE.findall(text)]
    wanted = dict.fromkeys(tokens(text))
    several = dict.fromkeys(phrase[:MAX_QUERY_TOKENS] for phrase in phrases if phrase)
    return Query(text, tuple(wanted)[:MAX_QUERY_TOKENS], tuple(several)[:MAX_PHRASES])
