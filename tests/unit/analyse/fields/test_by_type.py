"""Fields of FAQs, policies and articles."""

from __future__ import annotations

import json

import pytest

from geomi.analyse.fields.by_type import MAX_ITEMS, MAX_SECTIONS, read_fields
from geomi.model.index.analysis import (
    ArticleFields,
    ExtractedFields,
    FaqFields,
    FaqItem,
    FieldsModel,
    PageType,
    PolicyFields,
)
from tests.unit.analyse.made import URL, article, reading


def read(
    markdown: str, page_type: PageType, *, all_types: bool = False, **known: object
) -> ExtractedFields | None:
    page = article(markdown, **known)  # type: ignore[arg-type]  # as in `made`
    return read_fields(URL, page, reading(markdown), page_type, of_articles=all_types)


def told_questions(*pairs: tuple[str, str]) -> str:
    items = [{"name": q, "acceptedAnswer": {"text": a}} for q, a in pairs]
    return json.dumps({"@type": "FAQPage", "mainEntity": items})


SHOWN = (
    "# FAQ\n\n## Can I wash it?\n\nYes, in\n\n- cold water\n\n## Is it strong?\n\nVery."
    "\n\n# More\n\nx"
)


@pytest.mark.req("C-64", "ANA-15")
def test_questions_as_the_page_shows_them() -> None:
    found = read(SHOWN, PageType.FAQ)
    assert found is not None
    assert found.model is FieldsModel.FAQ
    assert found.data == FaqFields(
        (
            FaqItem("Can I wash it?", "Yes, in\ncold water"),
            FaqItem("Is it strong?", "Very."),
        )
    )


@pytest.mark.req("C-64")
def test_questions_that_are_folded_away_come_from_json_ld() -> None:
    thing = told_questions(("Can I wash it?", "<p>Yes &amp; no.</p>"), ("Is it strong?", "Very."))
    found = read("# FAQ\n\nFolded.", PageType.FAQ, things=(thing,))
    assert found is not None
    assert found.data == FaqFields(
        (FaqItem("Can I wash it?", "Yes & no."), FaqItem("Is it strong?", "Very."))
    )
    both = read(SHOWN, PageType.FAQ, things=(thing,))
    assert both is not None
    assert both.confidence > found.confidence


def test_a_question_without_an_answer_is_left_out() -> None:
    thing = json.dumps(
        {
            "@type": "FAQPage",
            "mainEntity": [
                {"name": "Why?"},
                {"name": "How?", "suggestedAnswer": [{"text": "So."}]},
            ],
        }
    )
    found = read("# FAQ\n\n## When?\n\n## Where?", PageType.FAQ, things=(thing,))
    assert found is not None
    assert found.data == FaqFields((FaqItem("How?", "So."),))


def test_korean_questions_and_numbers() -> None:
    found = read(
        "# 질문\n\nQ1. 세탁할 수 있나요?\n\nA. 네.\n\nQ2. 튼튼한가요?\n\nA. 네.", PageType.FAQ
    )
    assert found is not None
    assert found.data == FaqFields(
        (FaqItem("세탁할 수 있나요?", "네."), FaqItem("튼튼한가요?", "네."))
    )


def test_a_page_without_questions_has_no_fields() -> None:
    assert read("# FAQ\n\nNothing.", PageType.FAQ) is None
    assert read("", PageType.POLICY) is None
    assert read("# FAQ\n\nx", PageType.FAQ, things=("{broken", "[]", "7")) is None


@pytest.mark.req("C-64")
@pytest.mark.parametrize(
    ("markdown", "date"),
    [
        ("# Privacy\n\nLast updated: 15 January 2025\n\n## Data\n\nName.", "2025-01-15"),
        ("# 방침\n\n본 방침은 2025년 1월 15일부터 시행합니다.\n\n## 수집\n\n이름.", "2025-01-15"),
        ("# Privacy\n\nFounded on 15 January 2025.\n\n## Data\n\nName.", None),
    ],
)
def test_a_policy_has_a_date_and_sections(markdown: str, date: str | None) -> None:
    found = read(markdown, PageType.POLICY)
    assert found is not None
    assert isinstance(found.data, PolicyFields)
    assert found.data.effective_date == date
    assert [len(section.heading) > 0 for section in found.data.sections] == [True, True]


@pytest.mark.req("ANA-14")
def test_only_some_types_have_fields() -> None:
    for page_type in (PageType.LANDING, PageType.NAVIGATION, PageType.CONTACT, PageType.OTHER):
        assert read(SHOWN, page_type, all_types=True) is None
    assert read(SHOWN, PageType.ARTICLE) is None
    product = read("# Lens", PageType.PRODUCT)
    assert product is not None
    assert product.model is FieldsModel.PRODUCT


@pytest.mark.req("C-64")
def test_an_article_has_fields_where_they_are_asked_for() -> None:
    found = read(
        "# Rest\n\nWords.",
        PageType.ARTICLE,
        all_types=True,
        author="Mira",
        published_at="2025-01-15",
        metadata=(("ld:NewsArticle.publisher.name", "Silk"), ("article:section", "Webs")),
    )
    assert found is not None
    assert found.data == ArticleFields("Rest", "Mira", "Silk", "2025-01-15", None, "Webs", None)


def test_limits() -> None:
    many = "\n\n".join(f"## Why {number}?\n\nSo." for number in range(MAX_ITEMS + 1))
    found = read(many, PageType.FAQ)
    assert found is not None
    assert isinstance(found.data, FaqFields)
    assert len(found.data.items) == MAX_ITEMS
    policy = read(many, PageType.POLICY)
    assert policy is not None
    assert isinstance(policy.data, PolicyFields)
    assert len(policy.data.sections) == MAX_SECTIONS
