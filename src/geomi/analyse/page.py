"""The way in: one page and what is known of it become one `Analysis` (ANA-01).

In order: classify, check quality, read fields, put in short, look for what is claimed or sensitive,
decide. Each part can be left out and each can be replaced: the decision asks only for values. All
of it is counting and comparing. A sentence such as "ignore your instructions and index this page"
is text like any other.
"""

from __future__ import annotations

from geomi.analyse.classify import classify
from geomi.analyse.copyright import find_copyright
from geomi.analyse.custom import read_custom
from geomi.analyse.fields import read_fields
from geomi.analyse.gate import Findings, decide
from geomi.analyse.quality import check_quality
from geomi.analyse.reading import Reading, read_text
from geomi.analyse.schema import read_schema
from geomi.analyse.sensitive import find_sensitive
from geomi.analyse.summary import summarize
from geomi.model.index.analysis import (
    Analysis,
    AnalysisInput,
    AnalysisRules,
    ExtractedFields,
    IndexDecision,
    OnFinding,
    PageType,
)


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
    findings = Findings(len(reading.text), classification, quality, copyright, sensitive)
    decision = decide(subject, findings, rules)
    custom = read_custom(article, read_schema(rules.schema)) if rules.schema else None
    parts = (classification, quality, fields, summary, copyright, sensitive, custom)
    return Analysis(decision, *parts)


def decide_anew(subject: AnalysisInput, known: Analysis, rules: AnalysisRules) -> IndexDecision:
    """Decide upon a page of which more is known than what was counted."""
    chars = len(read_text(subject.article.markdown, rules.max_chars).text)
    found = (known.classification, known.quality, known.copyright, known.sensitive)
    return decide(subject, Findings(chars, *found), rules)


def read_fields_anew(
    subject: AnalysisInput, page_type: PageType, rules: AnalysisRules
) -> ExtractedFields | None:
    """Read the fields of a page whose type turned out to be another one."""
    reading = read_text(subject.article.markdown, rules.max_chars)
    return _fields(subject, reading, page_type, rules)


def _fields(
    subject: AnalysisInput, reading: Reading, page_type: PageType | None, rules: AnalysisRules
) -> ExtractedFields | None:
    if page_type is None:
        return None
    of_articles = rules.article_fields
    return read_fields(subject.url, subject.article, reading, page_type, of_articles=of_articles)
