"""Summarise a page: its own sentences, keywords, and entities (ANA-19, ANA-20).

The short summary is the lead, or the sentence near the beginning that shares most terms with the
whole text. The long summary has the best sentences in their order. Sentences are never invented or
changed; one that is too long loses its end. Keywords are frequent terms, those of title and
headings first. Entities are dates and prices of the text, and people and organisations that
structured data names: finding names in running text needs a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from math import sqrt

from geomi.analyse.fields.structured_data import STRUCTURED, pair
from geomi.analyse.page_text import (
    MAX_SENTENCE_CHARS,
    MIN_SENTENCE_CHARS,
    PageText,
    PassageForm,
    Passages,
    cut,
    frequencies,
    own_title,
    sentences_of,
    terms_of,
)
from geomi.analyse.prices_and_dates import find_dates, find_prices
from geomi.model.index.analysis import Engine, Entity, EntityType, PageType, Summary
from geomi.model.page import Article

ENGINE = Engine("rules", "summary-1")
LONG_WORDS = 150  # ANA-19
SHORT_SENTENCES = 2
SHORT_CHARS = 300
MAX_KEYWORDS = 10
MAX_ENTITIES = 40
MAX_CANDIDATES = 60  # sentences that are weighed; what a page is about stands early
MAX_ENTITY_CHARS = 20_000
MIN_KEYWORD_COUNT = 2
MAX_FEW_TERMS = 60  # of a text so short that a term need not come twice
# A sentence of the lead is worth more than one below, and the more so the earlier it stands.
LEAD_SENTENCES = 3
LEAD_BONUS = 0.6
TITLE_WEIGHT = 4
HEADING_WEIGHT = 2

_PEOPLE = (".author.name", ".author", ".creator.name", ".editor.name")
_ORGANISATIONS = (
    "Organization.name", ".publisher.name", ".brand.name", "Product.brand", "og:site_name",
)  # fmt: skip
_PLACES = (".address.addressLocality", ".contentLocation.name", ".location.name")


def summarize(article: Article, reading: PageText, page_type: PageType | None) -> Summary:
    """Put a page in short."""
    often = frequencies(reading.terms)
    weights = _weights(article, reading, often)
    sentences = _sentences(reading.passages)
    ranked = sorted(range(len(sentences)), key=lambda n: (-_worth(n, sentences[n], weights), n))
    return Summary(
        short=_short(sentences, ranked, article),
        long=_long(sentences, ranked),
        keywords=_keywords(weights, often),
        entities=tuple(islice(_entities(article, reading, page_type), MAX_ENTITIES)),
        engine=ENGINE,
    )


def _sentences(passages: Passages) -> list[str]:
    """Return sentences of paragraphs; where a page has none, its items."""
    for form in (PassageForm.PARAGRAPH, PassageForm.ITEM):
        lines = [p.text for p in passages if p.form is form]
        for is_strict in (True, False):
            found = (
                s for line in lines for s in sentences_of(line) if _counts(s, is_strict=is_strict)
            )
            if candidates := list(islice(found, MAX_CANDIDATES)):
                return candidates
    return []


def _counts(sentence: str, *, is_strict: bool) -> bool:
    is_whole = sentence[-1] in ".!?。？！\"”'’)"
    return len(sentence) >= MIN_SENTENCE_CHARS and (is_whole or not is_strict)


def _weights(article: Article, reading: PageText, often: Mapping[str, int]) -> Counter[str]:
    """Return how much each term says: how often it comes, and more for title and headings."""
    weights = Counter(often)
    named = ((TITLE_WEIGHT, own_title(article.title)), (HEADING_WEIGHT, " ".join(reading.headings)))
    for weight, text in named:
        for term in weights.keys() & set(terms_of(text)):
            weights[term] *= weight
    return weights


def _worth(number: int, sentence: str, weights: Counter[str]) -> float:
    terms = dict.fromkeys(terms_of(sentence))  # in order, so that the sum is always the same
    lead = LEAD_BONUS * max(0, LEAD_SENTENCES - number) / LEAD_SENTENCES
    shared = sum(sqrt(weights[term]) for term in terms) / (len(terms) + 4)
    return shared * (1 + lead)


def _short(sentences: list[str], ranked: list[int], article: Article) -> str:
    if not sentences:
        return cut(article.description or article.title, SHORT_CHARS)
    text = " ".join(sentences[number] for number in sorted(ranked[:SHORT_SENTENCES]))
    return text if len(text) <= SHORT_CHARS else cut(sentences[ranked[0]], SHORT_CHARS)


def _long(sentences: list[str], ranked: list[int]) -> str:
    chosen: list[int] = []
    words = 0
    for number in ranked:
        length = len(sentences[number].split())
        if words + length <= LONG_WORDS and len(sentences[number]) <= MAX_SENTENCE_CHARS:
            chosen.append(number)
            words += length
    return " ".join(sentences[number] for number in sorted(chosen))


def _keywords(weights: Mapping[str, int], often: Mapping[str, int]) -> tuple[str, ...]:
    least = MIN_KEYWORD_COUNT if sum(often.values()) > MAX_FEW_TERMS else 1
    enough = (term for term in weights if often[term] >= least)
    return tuple(sorted(enough, key=lambda term: (-weights[term], term))[:MAX_KEYWORDS])


def _entities(article: Article, reading: PageText, page_type: PageType | None) -> Iterator[Entity]:
    """Yield what structured data names, then dates and prices of the text, each once."""
    seen: set[tuple[EntityType, str]] = set()
    for entity in (*_named(article, page_type), *_written(reading.text[:MAX_ENTITY_CHARS])):
        key = (entity.type, entity.normalized or entity.text)
        if key not in seen:
            seen.add(key)
            yield entity


def _named(article: Article, page_type: PageType | None) -> Iterator[Entity]:
    said = dict(article.metadata)
    organisations = {value for key, value in said.items() if key.endswith(_ORGANISATIONS)}
    people = dict.fromkeys([article.author] if article.author else [])
    for key, value in said.items():
        if key.startswith(STRUCTURED) and key.endswith(_PEOPLE) and "://" not in value:
            kind = said.get(f"{key.removesuffix('.name')}.@type", "")
            if kind.endswith("Organization"):
                organisations.add(value)
            else:
                people.setdefault(value)
    for name in sorted(organisations):
        yield Entity(name, EntityType.ORGANIZATION)
    for name in people:
        if name not in organisations:
            yield Entity(name, EntityType.PERSON)
    if page_type is PageType.PRODUCT and (product := pair(article, "Product.name")):
        yield Entity(product, EntityType.PRODUCT)
    for key, value in said.items():
        if key.endswith(_PLACES):
            yield Entity(value, EntityType.LOCATION)


def _written(text: str) -> Iterator[Entity]:
    for dated in find_dates(text):
        yield Entity(dated.text, EntityType.DATE, dated.iso)
    for price in find_prices(text):
        money = price.money
        normal = f"{money.currency} {money.amount:g}" if money.currency else None
        yield Entity(price.text, EntityType.PRICE, normal)
