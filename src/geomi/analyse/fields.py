"""What a page says in fields: its product, its questions, the parts of its policy (ANA-14…ANA-17).

Run for products, FAQs and policies, and for articles where that is asked for (C-64). Structured
data is believed where the page carries it; everything else comes from headings and what stands
below them, word for word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from geomi.analyse.data import objects_in, of_work, pair, text_in, things_of
from geomi.analyse.dates import find_dates
from geomi.analyse.product import read_product
from geomi.analyse.prose import Form, Passage, Passages
from geomi.analyse.purpose import questions_of
from geomi.analyse.reading import Reading, own_title
from geomi.model.index.analysis import (
    ArticleFields,
    Engine,
    ExtractedFields,
    FaqFields,
    FaqItem,
    FieldsModel,
    PageType,
    PolicyFields,
    PolicySection,
)
from geomi.model.page import Article

ENGINE = Engine("rules", "fields-1")
MAX_ITEMS = 100
MAX_ANSWER_CHARS = 2000
MAX_SECTIONS = 100
MAX_SECTION_CHARS = 4000
MAX_OPENING_PASSAGES = 12
MAX_DATED_CHARS = 300  # of a line that says since when a policy holds

_DATED = re.compile(
    r"\b(?:effective|last (?:updated|modified|revised)|updated|revised|in force)\b"
    r"|시행|최종 ?(?:수정|개정)|개정|적용",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"^(?:Q|질문)\s?\d{0,3}\s?[.:)]\s*|^(?:A|답변?)\s?\d{0,3}\s?[.:)]\s*", re.IGNORECASE
)
_LAST = Passage(Form.HEADING, "")  # closes the section before it


def read_fields(
    url: str, article: Article, reading: Reading, page_type: PageType, *, of_articles: bool
) -> ExtractedFields | None:
    """Return the fields of a page of a type that has some."""
    match page_type:
        case PageType.PRODUCT:
            product, confidence = read_product(url, article, reading)
            return ExtractedFields(FieldsModel.PRODUCT, product, confidence, ENGINE)
        case PageType.FAQ:
            return _faq(article, reading.passages)
        case PageType.POLICY:
            return _policy(article, reading)
        case PageType.ARTICLE if of_articles:
            return ExtractedFields(FieldsModel.ARTICLE, _story(article, reading), 0.8, ENGINE)
    return None


def _faq(article: Article, passages: Passages) -> ExtractedFields | None:
    shown = tuple(_shown_questions(passages))
    told = tuple(_told_questions(article))
    # What the page shows is what a reader asks for; what it tells may be longer or older.
    items = told if len(told) > len(shown) else shown
    if not items:
        return None
    agree = {q.question for q in shown} & {q.question for q in told}
    return ExtractedFields(
        FieldsModel.FAQ, FaqFields(items[:MAX_ITEMS]), 0.95 if agree else 0.8, ENGINE
    )


def _shown_questions(passages: Passages) -> Iterator[FaqItem]:
    asked = questions_of(passages)
    for number, start in enumerate(asked):
        end = asked[number + 1] if number + 1 < len(asked) else len(passages)
        question, below = passages[start], passages[start + 1 : end]
        answer = []
        for passage in below:
            if passage.form is Form.HEADING and passage.level <= (question.level or 6):
                break  # the next part of the page
            answer.append(passage.text)
        if said := "\n".join(answer)[:MAX_ANSWER_CHARS]:
            yield FaqItem(_NUMBERED.sub("", question.text), _NUMBERED.sub("", said))


def _told_questions(article: Article) -> Iterator[FaqItem]:
    for page in things_of(article, "FAQPage", "QAPage"):
        for item in objects_in(page.get("mainEntity")):
            given = item.get("acceptedAnswer") or item.get("suggestedAnswer")
            question = text_in(item, "name", "text")
            answer = next((text_in(node, "text") for node in objects_in(given)), None)
            if question and answer:
                yield FaqItem(question, answer[:MAX_ANSWER_CHARS])


def _policy(article: Article, reading: Reading) -> ExtractedFields | None:
    sections = tuple(islice(_sections(reading.passages), MAX_SECTIONS))
    if not sections:
        return None
    dated = _effective(reading.passages)
    policy = PolicyFields(_name(article, reading), dated, sections)
    return ExtractedFields(
        FieldsModel.POLICY, policy, 0.9 if dated and len(sections) > 2 else 0.7, ENGINE
    )


def _sections(passages: Passages) -> Iterator[PolicySection]:
    """Yield each heading with what stands below it; what stands before the first has none."""
    heading, text = "", list[str]()
    for passage in (*passages, _LAST):
        if passage.form is not Form.HEADING:
            text.append(passage.text)
            continue
        if text:
            yield PolicySection(heading, "\n".join(text)[:MAX_SECTION_CHARS])
        heading, text = passage.text, []


def _effective(passages: Passages) -> str | None:
    """Return the date since when a policy holds: one that is said to be it, at either end."""
    ends = (*passages[:MAX_OPENING_PASSAGES], *passages[-MAX_OPENING_PASSAGES:])
    dated = (
        found.iso
        for passage in ends
        if len(passage.text) <= MAX_DATED_CHARS and _DATED.search(passage.text)
        for found in find_dates(passage.text)
    )
    return next(dated, None)


def _story(article: Article, reading: Reading) -> ArticleFields:
    return ArticleFields(
        headline=_name(article, reading),
        author=article.author or None,
        publisher=of_work(article, "publisher.name") or pair(article, "og:site_name"),
        published_at=article.published_at or None,
        modified_at=article.modified_at or None,
        section=of_work(article, "articleSection") or pair(article, "article:section"),
        image=pair(article, "og:image"),
    )


def _name(article: Article, reading: Reading) -> str | None:
    return reading.heading or own_title(article.title) or None
