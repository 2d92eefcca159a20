"""Whether a page is indexed, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geomi.analyse.decision import PageFindings, decide, suggest_collection
from geomi.model.index.analysis import (
    AnalysisRules,
    Classification,
    Copyright,
    Engine,
    IndexDecision,
    IndexReason,
    OnFinding,
    PageQuality,
    PageType,
    SensitiveCategory,
    SensitiveFinding,
    WantedType,
)
from tests.unit.analyse.made import subject

E = Engine("test", "1")
STRICT = AnalysisRules(
    sensitive=OnFinding.SKIP,
    copyright=OnFinding.SKIP,
    page_types=(WantedType.FAQ, WantedType.POLICY),
)
WORST = replace(
    subject("x", duplicate_of="https://a.test/"),
    asks_not_to_be_indexed=True,
    personal_data="a card number",
)
CLAIMED = Copyright("© 2025 Seo", "Seo", 2025, None, True, E)
SHOWN = (SensitiveFinding(SensitiveCategory.ADULT, ("porn",), E),)


def classified(page_type: PageType) -> Classification:
    return Classification(page_type, 0.9, (), "", E)


def rated(overall: float) -> PageQuality:
    return PageQuality(overall, 5, 5, 5, None, (), E)


@pytest.mark.req("G-15", "ANA-21", "LEG-13", "SAF-03", "DUP-06")
def test_everything_may_speak_against_a_page_and_the_first_reason_is_told() -> None:
    """G-15: noindex, too short, personal data, sensitive, copyright, type, quality, duplicate."""
    page = WORST
    found = PageFindings(10, classified(PageType.LANDING), rated(2), CLAIMED, SHOWN)
    reasons = []
    for _ in IndexReason:
        decision = decide(page, found, STRICT)
        reasons.append(decision.reason)
        match decision.reason:
            case IndexReason.NOINDEX:
                page = replace(page, asks_not_to_be_indexed=False)
            case IndexReason.TOO_SHORT:
                found = replace(found, chars=100)
            case IndexReason.PERSONAL_DATA:
                page = replace(page, personal_data="")
            case IndexReason.SENSITIVE:
                found = replace(found, sensitive=())
            case IndexReason.COPYRIGHT:
                found = replace(found, copyright=replace(CLAIMED, is_reserved=False))
            case IndexReason.PAGE_TYPE:
                found = replace(found, classification=classified(PageType.FAQ))
            case IndexReason.QUALITY:
                found = replace(found, quality=rated(5))
            case IndexReason.DUPLICATE:
                page = replace(page, duplicate_of="")
    assert reasons == list(IndexReason)
    assert decision.should_index


def judged(rules: AnalysisRules, chars: int = 100, quality: float = 5.0) -> IndexDecision:
    found = PageFindings(chars, classified(PageType.NAVIGATION), rated(quality), CLAIMED, SHOWN)
    return decide(subject("x"), found, rules)


def test_a_page_says_noindex_in_its_meta_tags_or_its_response() -> None:
    long = PageFindings(100)
    said = (
        subject("x", robots=frozenset({"noindex"})),
        replace(subject("x"), asks_not_to_be_indexed=True),
    )
    for page in said:
        assert decide(page, long, AnalysisRules()).reason is IndexReason.NOINDEX


@pytest.mark.req("CTY-10", "CFG-16")
def test_too_short_is_below_the_least_length() -> None:
    assert judged(AnalysisRules(), chars=99).reason is IndexReason.TOO_SHORT
    assert judged(AnalysisRules(), chars=100).should_index
    assert judged(AnalysisRules(min_chars=0), chars=0).should_index


@pytest.mark.req("ANA-13", "CFG-17", "DUP-06")
def test_poor_is_below_the_threshold() -> None:
    refused = judged(AnalysisRules(), quality=4.9)
    assert (refused.should_index, refused.reason) == (False, IndexReason.QUALITY)
    assert "4.9" in refused.detail
    assert judged(AnalysisRules(quality_threshold=4.9), quality=4.9).should_index


@pytest.mark.req("ANA-23", "C-65", "CFG-17")
def test_only_wanted_types_where_some_are_named() -> None:
    assert judged(AnalysisRules()).should_index
    assert judged(STRICT).reason is IndexReason.SENSITIVE
    wanted = AnalysisRules(page_types=tuple(WantedType))
    assert judged(wanted).reason is IndexReason.PAGE_TYPE


@pytest.mark.req("LEG-13", "SAF-03")
def test_findings_that_are_flagged_refuse_nothing() -> None:
    assert judged(AnalysisRules()).should_index


def test_what_was_not_asked_for_decides_nothing() -> None:
    found = decide(subject("x"), PageFindings(100), STRICT)
    assert found.should_index


@pytest.mark.parametrize(
    ("page_type", "own", "suggested"),
    [
        (PageType.FAQ, "site", "faq"),
        (PageType.FAQ, "faq", None),
        (PageType.PRODUCT, "site", "our-Products"),
        (PageType.POLICY, "site", "small-print"),  # by its title
        (PageType.CONTACT, "site", None),
        (PageType.OTHER, "site", None),
        (PageType.NAVIGATION, "site", None),
    ],
)
def test_a_collection_that_is_named_after_a_type_is_suggested(
    page_type: PageType, own: str, suggested: str | None
) -> None:
    titles = {
        "contactless": "",
        "faq": "",
        "help-wanted": "",
        "our-Products": "",
        "small-print": "Terms and privacy",
        "shopping": "Our shop",
        "site": "All of it",
    }
    assert suggest_collection(page_type, own, titles) == suggested
