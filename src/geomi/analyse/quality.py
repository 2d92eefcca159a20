"""Score a page: depth, readability, relevance from 0 to 10, and seven flags (ANA-08…ANA-10).

The scores count: how much a page says for its type, how its sentences and paragraphs are built, and
whether its text is about its title. Two things stay None: whether a machine wrote the text, and
whether it is original, unless geomi knows a copy. The same page always gets the same numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from itertools import chain, islice
from math import log

from geomi.analyse.page_text import (
    PageText,
    PassageForm,
    Passages,
    frequencies,
    own_title,
    sentences_of,
    terms_of,
)
from geomi.model.index.analysis import AnalysisInput, Engine, Flag, PageQuality, PageType

ENGINE = Engine("rules", "quality-1")
TOP = 10.0
THIN_WORDS = 200  # ANA-10
# Words at which nothing is missing any more: half of the good pages of a type have them.
FULL_WORDS = {
    PageType.ARTICLE: 900, PageType.POLICY: 700, PageType.FAQ: 400, PageType.PRODUCT: 250,
    PageType.LANDING: 250, PageType.NAVIGATION: 250, PageType.CONTACT: 80,
}  # fmt: skip
OTHER_FULL_WORDS = 400
FEW_WORDS = 12  # and below it nothing is said
GOOD_SENTENCE_WORDS = (6, 26)
GOOD_PARAGRAPH_WORDS = 130
MIN_PARAGRAPH_CHARS = 40  # what is shorter is a label or a name
WORDS_PER_HEADING = 350
LETTERS_SHARE = 0.8  # of what is no space; figures, signs and stops are the rest of a good text
MAX_SENTENCES = 150
MAX_COUNTED_LINES = 1000
MAX_COUNTED = 60  # passages that are looked at for numbers
SAMPLE_CHARS = 1500
TOP_TERMS = 12  # what a text is about
MAX_HEADINGS = 20
# A term that is so large a part of all terms of a text is there for a search engine. Glossaries and
# references of one thing reach 7 %.
STUFFED_SHARE = 0.12
STUFFED_PHRASE_SHARE = 0.06
MIN_STUFFED_TERMS = 80
BOILERPLATE_LINK_SHARE = 0.75
MAX_MENU_CHARS = 80  # of one line
MIN_MENU_CHARS = 200  # of all of them
OLD_YEARS = 4
MAX_YEAR_CHARS = 20_000
MAX_BROKEN_CHARS = 50_000
MAX_BROKEN_SIGNS = 2
BROKEN_SHARE = 0.0015  # of the characters, one in 700
LONG_WORD_CHARS = 60
MAX_LONG_WORDS = 3
LONG_WORDS_SHARE = 0.02
# What each flag costs the whole; that of a copy is in its originality.
COSTS = {
    Flag.THIN_CONTENT: 0.5, Flag.KEYWORD_STUFFING: 3.0, Flag.BOILERPLATE_HEAVY: 1.5,
    Flag.OUTDATED: 0.5, Flag.BROKEN_FORMATTING: 2.0,
}  # fmt: skip

_DIGIT = re.compile(r"\d")
_YEAR = re.compile(r"(?<!\d)(?:19[89]|20[0-4])\d(?!\d)")
_BROKEN = re.compile(
    r"�|\[object Object\]|\{\{[^{}\n]{1,60}\}\}|&(?:nbsp|amp|lt|gt|quot|#\d{2,5});"
    r"|</?(?:div|span|p|td|tr|script|style)\b|Ã[\x80-\xbf]|â€"
)


def check_quality(
    subject: AnalysisInput, reading: PageText, page_type: PageType | None
) -> PageQuality:
    """Score a page; what a page should say depends on its type."""
    flags = _flags(subject, reading)
    depth = _depth(subject.article.words, reading.passages, page_type)
    readability = _readability(reading, is_broken=bool(flags[Flag.BROKEN_FORMATTING]))
    relevance = _relevance(subject, reading)
    originality = _score(1 - subject.similarity) if subject.duplicate_of else None
    known = [score for score in (depth, readability, relevance, originality) if score is not None]
    cost = sum(COSTS.get(flag, 0.0) for flag, is_up in flags.items() if is_up)
    return PageQuality(
        overall=round(max(sum(known) / len(known) - cost, 0.0), 1),
        depth=depth,
        readability=readability,
        relevance=relevance,
        originality=originality,
        flags=tuple(flags.items()),
        engine=ENGINE,
    )


def _depth(words: int, passages: Passages, page_type: PageType | None) -> float:
    """Return how much is said: words on a logarithmic scale, then parts, then particulars."""
    full = FULL_WORDS.get(page_type, OTHER_FULL_WORDS) if page_type else OTHER_FULL_WORDS
    said = log(max(words, 1) / FEW_WORDS) / log(full / FEW_WORDS)
    forms = Counter(p.form for p in passages)
    parts = forms[PassageForm.HEADING] / 5
    particulars = (
        forms[PassageForm.ITEM] + forms[PassageForm.ROW] + 4 * forms[PassageForm.CODE]
    ) / 12
    numbers = sum(_DIGIT.search(p.text) is not None for p in passages[:MAX_COUNTED]) / 8
    return _score(
        0.75 * _bounded(said) + 0.1 * _bounded(parts) + 0.15 * _bounded(max(particulars, numbers))
    )


def _readability(reading: PageText, *, is_broken: bool) -> float:
    """Return how well a text is built: sentences, paragraphs, headings, letters among signs."""
    forms = (PassageForm.PARAGRAPH, PassageForm.ITEM)
    lines = (p.text for p in reading.passages[:MAX_COUNTED_LINES] if p.form in forms)
    paragraphs = [line for line in lines if len(line) > MIN_PARAGRAPH_CHARS]
    sizes = [line.count(" ") + 1 for line in paragraphs]
    words = max(sum(sizes), 1)
    long = sum(size for size in sizes if size > GOOD_PARAGRAPH_WORDS) / words
    structure = _bounded(len(reading.headings) * WORDS_PER_HEADING / words)
    sample = reading.text[:SAMPLE_CHARS].replace(" ", "")
    letters = _bounded(sum(map(str.isalpha, sample)) / max(len(sample), 1) / LETTERS_SHARE)
    built = 0.5 * _sentences(paragraphs) + 0.2 * (1 - long) + 0.15 * structure + 0.15 * letters
    return _score(built * (0.5 if is_broken else 1.0))


def _sentences(paragraphs: list[str]) -> float:
    """Return which share of the sentences has a good length; twice as long is half as good."""
    found = islice(chain.from_iterable(map(sentences_of, paragraphs)), MAX_SENTENCES)
    lengths = [sentence.count(" ") + 1 for sentence in found]
    if not lengths:
        return 0.5  # a list or a table; its lines may be very clear
    low, high = GOOD_SENTENCE_WORDS
    good = sum(low <= length <= high for length in lengths)
    passable = sum(high < length <= 2 * high for length in lengths)
    return 0.35 + 0.65 * (good + 0.5 * passable) / len(lengths)


def _relevance(subject: AnalysisInput, reading: PageText) -> float | None:
    """Return whether the text is about what its title says; None where there is nothing to ask."""
    article = subject.article
    promised = set(terms_of(f"{own_title(article.title)} {reading.heading}"))
    if not promised or not reading.terms:
        return None
    counts = frequencies(reading.terms)
    kept = sum(term in counts or term.removesuffix("s") in counts for term in promised)
    top = {term for term, _ in counts.most_common(TOP_TERMS)}
    headings = " ".join(reading.headings[1:MAX_HEADINGS])
    told = set(terms_of(f"{article.description} {headings}")) | promised
    focus = len(top & told) / len(top)
    return _score(0.55 * kept / len(promised) + 0.45 * _bounded(2 * focus))


def _flags(subject: AnalysisInput, reading: PageText) -> dict[Flag, bool | None]:
    return {
        Flag.THIN_CONTENT: subject.article.words < THIN_WORDS,
        Flag.DUPLICATE_SUSPECTED: None
        if subject.duplicate_of is None
        else subject.duplicate_of != "",
        Flag.KEYWORD_STUFFING: _is_stuffed(reading.terms),
        Flag.BOILERPLATE_HEAVY: _is_boilerplate(subject, reading.passages),
        Flag.AUTO_GENERATED: None,
        Flag.OUTDATED: _is_outdated(subject, reading.text),
        Flag.BROKEN_FORMATTING: _is_broken(reading.text),
    }


def _is_stuffed(terms: tuple[str, ...]) -> bool | None:
    if len(terms) < MIN_STUFFED_TERMS:
        return None
    often = Counter(terms).most_common(1)[0][1]
    phrases = Counter(zip(terms, terms[1:], terms[2:], strict=False)).most_common(1)[0][1]
    return often > STUFFED_SHARE * len(terms) or phrases > STUFFED_PHRASE_SHARE * len(terms)


def _is_boilerplate(subject: AnalysisInput, passages: Passages) -> bool:
    """Say whether next to nothing is the page's own: short lines, most of them texts of links."""
    linked = {link.text for link in subject.article.links if link.text}
    prose = menu = 0
    for passage in passages:
        if len(passage.text) > MAX_MENU_CHARS:
            prose += len(passage.text)
        elif passage.text in linked:
            menu += len(passage.text)
    return menu > MIN_MENU_CHARS and menu > BOILERPLATE_LINK_SHARE * (menu + prose)


def _is_outdated(subject: AnalysisInput, text: str) -> bool | None:
    """Return whether a page speaks of the past: by its dates, its title, the years it speaks of."""
    year = datetime.fromtimestamp(max(subject.now_s, 0.0), UTC).year
    article = subject.article
    dates = (article.published_at[:4], article.modified_at[:4], *_YEAR.findall(article.title))
    claimed = [int(date) for date in dates if date.isdigit()]
    if not claimed:
        return None
    if year - max(claimed) < OLD_YEARS:
        return False
    spoken = (int(found) for found in _YEAR.findall(text[:MAX_YEAR_CHARS]))
    newest = max(claimed + [found for found in spoken if found <= year])
    return year - newest >= OLD_YEARS


def _is_broken(text: str) -> bool:
    sample = text[:MAX_BROKEN_CHARS]
    torn = len(_BROKEN.findall(sample))
    words = sample.split()
    long = sum(len(word) > LONG_WORD_CHARS and not word.startswith("http") for word in words)
    is_torn = torn > max(MAX_BROKEN_SIGNS, BROKEN_SHARE * len(sample))
    return is_torn or long > max(MAX_LONG_WORDS, LONG_WORDS_SHARE * len(words))


def _bounded(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _score(share: float) -> float:
    return round(TOP * _bounded(share), 1)
