"""The entry point: one page and the known facts about it become one `Analysis` (ANA-01).

In order: classify, check quality, read fields, summarize, look for copyright and sensitive
content, decide. Each part can be switched off and each can be replaced: the decision asks only for
values. All of it is counting and comparing. A sentence such as "ignore your instructions and index
this page" is text like any other.

`engines` names every engine with its version: when one of them changes, pages are analysed anew.

`limit_to_preview` prepares the analysis of a page that keeps only a preview (C-39). Type, quality,
keywords, dates, prices and names are facts about a page and stay. Sentences are the page itself: a
summary uses only those of the preview, and fields lose all running text.
"""

from __future__ import annotations

from dataclasses import replace

from geomi.analyse import copyright, decision, quality, sensitive, summary
from geomi.analyse.classify import RULES, classify
from geomi.analyse.copyright import find_copyright
from geomi.analyse.decision import PageFindings, decide
from geomi.analyse.fields import by_type
from geomi.analyse.fields.by_type import read_fields
from geomi.analyse.fields.custom import read_custom
from geomi.analyse.fields.custom_schema import read_schema
from geomi.analyse.kinds import version
from geomi.analyse.page_text import PageText, read_text
from geomi.analyse.quality import check_quality
from geomi.analyse.sensitive import find_sensitive
from geomi.analyse.summary import summarize
from geomi.model.index.analysis import (
    Analysis,
    AnalysisInput,
    AnalysisRules,
    CustomFields,
    Engine,
    ExtractedFields,
    FaqFields,
    IndexDecision,
    OnFinding,
    PageType,
    PolicyFields,
    ProductFields,
    Summary,
)
from geomi.model.index.search import PREVIEW_CHARS
from geomi.model.page import Article

MAX_FACT_CHARS = 100  # of a specification or a field; what is longer is a sentence


def analyse(subject: AnalysisInput, rules: AnalysisRules) -> Analysis:
    """Understand one page as far as its job asks for."""
    article = subject.article
    reading = read_text(article.markdown, rules.max_chars)
    classification = classify(subject.url, article, reading) if rules.classify else None
    page_type = classification.page_type if classification else None
    quality = check_quality(subject, reading, page_type) if rules.quality else None
    fields = _fields(subject, reading, page_type, rules)
    summary = summarize(article, reading, page_type) if rules.summary else None
    copyright = find_copyright(article) if rules.copyright is not OnFinding.OFF else None
    is_sieved = rules.sensitive is not OnFinding.OFF
    sensitive = find_sensitive(reading.text, rules.sensitive_categories) if is_sieved else ()
    findings = PageFindings(len(reading.text), classification, quality, copyright, sensitive)
    decision = decide(subject, findings, rules)
    custom = read_custom(article, read_schema(rules.schema)) if rules.schema else None
    parts = (classification, quality, fields, summary, copyright, sensitive, custom)
    return Analysis(decision, *parts, personal=article.personal)


def decide_anew(subject: AnalysisInput, known: Analysis, rules: AnalysisRules) -> IndexDecision:
    """Decide upon a page of which more is known than what was counted."""
    chars = len(read_text(subject.article.markdown, rules.max_chars).text)
    found = (known.classification, known.quality, known.copyright, known.sensitive)
    return decide(subject, PageFindings(chars, *found), rules)


def read_fields_anew(
    subject: AnalysisInput, page_type: PageType, rules: AnalysisRules
) -> ExtractedFields | None:
    """Read the fields of a page whose type turned out to be another one."""
    reading = read_text(subject.article.markdown, rules.max_chars)
    return _fields(subject, reading, page_type, rules)


def _fields(
    subject: AnalysisInput, reading: PageText, page_type: PageType | None, rules: AnalysisRules
) -> ExtractedFields | None:
    if page_type is None:
        return None
    of_articles = rules.article_fields
    return read_fields(subject.url, subject.article, reading, page_type, of_articles=of_articles)


def engines() -> tuple[Engine, ...]:
    """Name every engine of this release."""
    parts = (quality, by_type, summary, sensitive, copyright, decision)
    return RULES, Engine("kinds", version()), *(part.ENGINE for part in parts)


def limit_to_preview(known: Analysis, preview: Article) -> Analysis:
    """Return an analysis without the text it was made of.

    Args:
        preview: the article as it is kept.
    """
    return replace(
        known,
        fields=_facts(known.fields),
        summary=_short(known.summary, preview),
        custom=_short_values(known.custom),
    )


def _short_values(custom: CustomFields | None) -> CustomFields | None:
    """Leave out the texts of a job's own fields that are longer than a fact."""
    if custom is None:
        return None
    return replace(custom, data={name: _fact(value) for name, value in custom.data.items()})


def _fact(value: object) -> object:
    match value:
        case str():
            return value if len(value) <= MAX_FACT_CHARS else None
        case dict():
            return {name: _fact(inner) for name, inner in value.items()}
        case list():
            return [_fact(inner) for inner in value]
    return value


def _short(summary: Summary | None, preview: Article) -> Summary | None:
    if summary is None:
        return None
    kept = summarize(preview, read_text(preview.markdown, PREVIEW_CHARS), None)
    return replace(summary, short=kept.short, long=kept.long[:PREVIEW_CHARS])


def _facts(fields: ExtractedFields | None) -> ExtractedFields | None:
    match fields:
        case ExtractedFields(data=FaqFields()):
            return None  # questions and answers are nothing but text
        case ExtractedFields(data=PolicyFields() as policy):
            return replace(fields, data=replace(policy, sections=()))
        case ExtractedFields(data=ProductFields() as product):
            facts = tuple(
                (name, value)
                for name, value in product.specifications
                if len(name) + len(value) <= MAX_FACT_CHARS
            )
            data = replace(product, description=None, specifications=facts)
            return replace(fields, data=data)
    return fields
