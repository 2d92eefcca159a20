"""What may be written down of an analysis where of the page's text only a preview is kept (C-39).

Type, quality, keywords, dates, prices and names are facts about a page. Sentences are the page: a
summary is made of those in the preview alone, and of fields whatever is running text is left out.
"""

from __future__ import annotations

from dataclasses import replace

from geomi.analyse.reading import read_text
from geomi.analyse.summary import summarize
from geomi.model.index.analysis import (
    Analysis,
    CustomFields,
    ExtractedFields,
    FaqFields,
    PolicyFields,
    ProductFields,
    Summary,
)
from geomi.model.index.search import PREVIEW_CHARS
from geomi.model.page import Article

MAX_FACT_CHARS = 100  # of a specification or a field; what is longer is a sentence


def withhold(known: Analysis, preview: Article) -> Analysis:
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
