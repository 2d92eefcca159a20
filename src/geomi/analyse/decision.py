"""Decide whether geomi indexes a page, and name the first reason against it (ANA-21, G-15).

The reasons, in this order: noindex, too short, personal data, sensitive, copyright, another page
type, low quality, duplicate. A part of the analysis that is switched off decides nothing. The
decision uses only numbers and findings, so no sentence of a page can influence it.

`suggest_collection` names the collection that a tenant has named after pages of a type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from geomi.model.index.analysis import (
    AnalysisInput,
    AnalysisRules,
    Classification,
    Copyright,
    Engine,
    IndexDecision,
    IndexReason,
    OnFinding,
    PageQuality,
    PageType,
    SensitiveFinding,
)

ENGINE = Engine("rules", "gate-1")

_Refusal = tuple[IndexReason, str]
# The words by which people name a collection of such pages. What leads elsewhere, and what is of no
# type, belongs nowhere in particular.
_NAMES = {
    PageType.ARTICLE: "article articles blog guides news posts",
    PageType.PRODUCT: "catalog catalogue product products shop",
    PageType.FAQ: "faq faqs help questions",
    PageType.POLICY: "legal policies policy privacy terms",
    PageType.LANDING: "landing marketing",
    PageType.CONTACT: "contact contacts",
}
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class PageFindings:
    """What was found of a page, by whatever engine; None is what nobody looked for.

    Args:
        chars: how long its text is, code and marks left out.
    """

    chars: int
    classification: Classification | None = None
    quality: PageQuality | None = None
    copyright: Copyright | None = None
    sensitive: tuple[SensitiveFinding, ...] = ()


def decide(subject: AnalysisInput, findings: PageFindings, rules: AnalysisRules) -> IndexDecision:
    """Decide by what is known of a page."""
    refusals = (
        *_by_its_own_words(subject, findings.chars, rules),
        *_by_content(subject, findings, rules),
        *_by_worth(subject, findings, rules),
    )
    if not refusals:
        return IndexDecision(True, IndexReason.ACCEPTED, "no rule excludes it", ENGINE)
    reason, detail = refusals[0]
    return IndexDecision(False, reason, detail, ENGINE)


def suggest_collection(page_type: PageType, own: str, titles: Mapping[str, str]) -> str | None:
    """Return the collection that is named after a type; None if there is none, or it is `own`.

    Args:
        titles: of the tenant's collections, by their ids. An id counts more than a title.
    """
    words = frozenset(_NAMES.get(page_type, "").split())
    by_id = [name for name in titles if words & _words(name)]
    by_title = [name for name, title in titles.items() if words & _words(title)]
    suited = by_id or by_title
    return None if own in suited else next(iter(suited), None)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _by_its_own_words(
    subject: AnalysisInput, chars: int, rules: AnalysisRules
) -> Iterator[_Refusal]:
    if subject.asks_not_to_be_indexed or "noindex" in subject.article.robots:
        yield IndexReason.NOINDEX, "the page says noindex"
    if chars < rules.min_chars:
        yield IndexReason.TOO_SHORT, f"{chars} characters; analysis.min_chars is {rules.min_chars}"


def _by_content(
    subject: AnalysisInput, findings: PageFindings, rules: AnalysisRules
) -> Iterator[_Refusal]:
    if subject.personal_data:
        yield IndexReason.PERSONAL_DATA, subject.personal_data
    if rules.sensitive is OnFinding.SKIP and findings.sensitive:
        yield IndexReason.SENSITIVE, ", ".join(found.category for found in findings.sensitive)
    claim = findings.copyright
    if rules.copyright is OnFinding.SKIP and claim is not None and claim.is_reserved:
        yield IndexReason.COPYRIGHT, claim.notice or f"claimed by {claim.holder}"


def _by_worth(
    subject: AnalysisInput, findings: PageFindings, rules: AnalysisRules
) -> Iterator[_Refusal]:
    kind, quality = findings.classification, findings.quality
    wanted = set(map(str, rules.page_types))
    if kind is not None and wanted and kind.page_type not in wanted:
        listed = ", ".join(rules.page_types)
        yield IndexReason.PAGE_TYPE, f"{kind.page_type}; the job wants {listed}"
    if quality is not None and quality.overall < rules.quality_threshold:
        detail = f"{quality.overall} of 10; analysis.quality_threshold is {rules.quality_threshold}"
        yield IndexReason.QUALITY, detail
    if subject.duplicate_of:
        yield IndexReason.DUPLICATE, f"repeats {subject.duplicate_of}"
