"""What a model answered: taken over in its form and within its limits, or refused with a reason."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.analyse.language_model import (
    FIELDS,
    MAX_DESCRIPTION_CHARS,
    MAX_ITEMS,
    MAX_REASONING_CHARS,
    MAX_TEXT_CHARS,
    read_answered_fields,
    read_quality,
    read_type,
)
from geomi.engine.enrich.document import analysis_json
from geomi.model.index.analysis import (
    Analysis,
    Engine,
    FaqFields,
    FaqItem,
    FieldsModel,
    Flag,
    IndexDecision,
    IndexReason,
    Money,
    PageType,
    PolicyFields,
    PolicySection,
    ProductFields,
)

ENGINE = Engine("tiny", "http://127.0.0.1/v1")
TYPE = {"category": "faq", "confidence": 0.9, "reasoning": "questions"}
SCORES = {"originality": 1, "depth": 2.5, "readability": 10, "relevance": 0}
QUALITY = {"scores": SCORES, "overall": 6, "flags": ["outdated"], "summary": "A text."}
NO_PRODUCT: dict[str, object] = {
    "name": None, "description": None, "price": None, "salePrice": None, "sku": None,
    "brand": None, "category": None, "inStock": None, "specifications": [], "images": [],
    "confidence": 0.5,
}  # fmt: skip
POLICY: dict[str, object] = {"title": None, "effectiveDate": None, "sections": [], "confidence": 1}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*TYPE, *QUALITY, *SCORES, *NO_PRODUCT, *POLICY, "items", "amount"]),
            inner,
            max_size=8,
        )
    ),
    max_leaves=20,
)


def product(**told: object) -> ProductFields:
    """Read the answer for a product, changed."""
    fields = read_answered_fields({**NO_PRODUCT, **told}, PageType.PRODUCT, ENGINE)
    assert isinstance(fields.data, ProductFields)
    return fields.data


class TestType:
    """The category becomes the page's type (C-72)."""

    @pytest.mark.req("C-72", "ANA-05")
    def test_a_good_answer(self) -> None:
        kind = read_type(TYPE, ENGINE)
        assert (kind.page_type, kind.confidence) == (PageType.FAQ, 0.9)
        assert (kind.reasoning, kind.subtypes, kind.engine) == ("questions", (), ENGINE)

    @pytest.mark.parametrize("category", list(PageType))
    def test_every_type_is_one(self, category: str) -> None:
        assert read_type({**TYPE, "category": category}, ENGINE).page_type == category

    @pytest.mark.req("C-72", "ANA-05")
    @pytest.mark.parametrize(
        ("told", "problem"),
        [
            (None, "the answer is a JSON NoneType"),
            ([TYPE], "the answer is a JSON list"),
            ({}, "`category` is missing"),
            ({**TYPE, "category": "FAQ"}, "it is one of article, product"),
            ({**TYPE, "category": "blog"}, "`category` is `blog`"),
            ({**TYPE, "category": ["faq"]}, "`category` is missing or not text"),
            ({**TYPE, "confidence": "0.9"}, "`confidence` is not a number from 0 to 1"),
            ({**TYPE, "confidence": True}, "`confidence` is not a number"),
            ({**TYPE, "confidence": -0.01}, "`confidence` is not a number"),
            ({**TYPE, "confidence": 1.01}, "`confidence` is not a number"),
            ({**TYPE, "confidence": float("nan")}, "`confidence` is not a number"),
            ({**TYPE, "confidence": 10**400}, "`confidence` is not a number"),
            ({"category": "faq", "confidence": 1}, "`reasoning` is missing"),
        ],
        ids=str,
    )
    def test_a_bad_answer(self, told: object, problem: str) -> None:
        with pytest.raises(ValueError, match=problem):
            read_type(told, ENGINE)

    def test_a_long_reason_ends_with_a_whole_word(self) -> None:
        told = "word " * MAX_REASONING_CHARS
        reasoning = read_type({**TYPE, "reasoning": told}, ENGINE).reasoning
        assert len(reasoning) <= MAX_REASONING_CHARS
        assert set(reasoning.split()) == {"word"}

    def test_what_is_not_asked_for_is_left_out(self) -> None:
        told = {**TYPE, "page_type": "product", "should_index": True, "engine": "rules"}
        assert read_type(told, ENGINE) == read_type(TYPE, ENGINE)


class TestQuality:
    """Scores from 0 to 10, and seven flags that are up or down."""

    @pytest.mark.req("ANA-11", "ANA-08", "C-63")
    def test_a_good_answer(self) -> None:
        quality = read_quality(QUALITY, ENGINE)
        scores = quality.originality, quality.depth, quality.readability, quality.relevance
        assert scores == (1.0, 2.5, 10.0, 0.0)
        assert (quality.overall, quality.engine) == (6.0, ENGINE)
        assert quality.raised == (Flag.OUTDATED,)
        assert [flag for flag, _ in quality.flags] == list(Flag)

    @pytest.mark.req("ANA-11")
    @pytest.mark.parametrize(
        ("told", "problem"),
        [
            ({**QUALITY, "scores": None}, "scores is a JSON NoneType"),
            (
                {**QUALITY, "scores": {**SCORES, "depth": 10.5}},
                "`depth` is not a number from 0 to 10",
            ),
            ({**QUALITY, "scores": {**SCORES, "depth": None}}, "`depth` is not a number"),
            ({**QUALITY, "overall": 11}, "`overall` is not a number from 0 to 10"),
            ({**QUALITY, "overall": float("inf")}, "`overall` is not a number"),
            ({**QUALITY, "flags": "outdated"}, "`flags` is missing or not a list"),
            ({**QUALITY, "flags": ["excellent"]}, "`excellent` is not a flag"),
            ({**QUALITY, "flags": [["outdated"]]}, "is not a flag"),
            ({**QUALITY, "flags": [{"a": 1}]}, "is not a flag"),
            ({**QUALITY, "flags": [None]}, "is not a flag"),
        ],
        ids=str,
    )
    def test_a_bad_answer(self, told: object, problem: str) -> None:
        with pytest.raises(ValueError, match=problem):
            read_quality(told, ENGINE)


class TestFields:
    """Fields of products, FAQs and policies, and of nothing else."""

    @pytest.mark.req("ANA-15", "ANA-16")
    def test_a_product(self) -> None:
        told = {
            "name": "Scarf", "description": "Warm.", "price": {"amount": 39.5, "currency": "usd"},
            "salePrice": {"amount": 30, "currency": None}, "sku": "S-1", "brand": "Silk",
            "category": "Scarves", "inStock": True, "images": ["https://a.test/1.png"],
            "specifications": [{"key": "Colour", "value": "red"}], "confidence": 0.75,
        }  # fmt: skip
        fields = read_answered_fields(told, PageType.PRODUCT, ENGINE)
        assert (fields.model, fields.confidence, fields.engine) == (
            FieldsModel.PRODUCT, 0.75, ENGINE,
        )  # fmt: skip
        assert fields.data == ProductFields(
            name="Scarf", description="Warm.", price=Money(39.5, "USD"),
            sale_price=Money(30.0, None), sku="S-1", brand="Silk", category="Scarves",
            in_stock=True, specifications=(("Colour", "red"),), images=("https://a.test/1.png",),
        )  # fmt: skip

    @pytest.mark.req("ANA-17")
    def test_what_is_missing_is_none(self) -> None:
        assert product() == ProductFields()
        assert product(name="", brand="  ") == ProductFields()

    @pytest.mark.req("C-64")
    def test_questions(self) -> None:
        told = {"items": [{"question": "Why?", "answer": "So."}], "confidence": 1}
        fields = read_answered_fields(told, PageType.FAQ, ENGINE)
        assert (fields.model, fields.data) == (
            FieldsModel.FAQ,
            FaqFields((FaqItem("Why?", "So."),)),
        )

    @pytest.mark.req("C-64")
    def test_a_policy(self) -> None:
        sections = [{"heading": "Data", "text": "None."}]
        told = {**POLICY, "title": "Privacy", "effectiveDate": "2024-03-01", "sections": sections}
        fields = read_answered_fields(told, PageType.POLICY, ENGINE)
        assert fields.model is FieldsModel.POLICY
        assert fields.data == PolicyFields(
            "Privacy", "2024-03-01", (PolicySection("Data", "None."),)
        )

    @pytest.mark.req("ANA-14", "C-64")
    @pytest.mark.parametrize("page_type", sorted(set(PageType) - set(FIELDS)))
    def test_other_types_have_none(self, page_type: PageType) -> None:
        with pytest.raises(ValueError, match="have no fields"):
            read_answered_fields({**NO_PRODUCT, **POLICY, "items": []}, page_type, ENGINE)

    @pytest.mark.req("ANA-17")
    @pytest.mark.parametrize(
        ("told", "problem"),
        [
            ({"name": 7}, "`name` is missing or not text"),
            ({"price": 39.5}, "price is a JSON float"),
            ({"price": {"amount": "39.5", "currency": "USD"}}, "`price.amount` is not a number"),
            ({"price": {"amount": True, "currency": "USD"}}, "`price.amount` is not a number"),
            ({"price": {"amount": -1, "currency": "USD"}}, "`price.amount` is not from 0"),
            ({"price": {"amount": float("nan"), "currency": "USD"}}, "`price.amount` is not"),
            ({"price": {"amount": float("inf"), "currency": "USD"}}, "`price.amount` is not"),
            ({"price": {"amount": 10**400, "currency": "USD"}}, "`price.amount` is not"),
            (
                {"price": {"amount": 1, "currency": "$"}},
                "`price.currency` is `\\$`, not an ISO 4217",
            ),
            ({"price": {"amount": 1, "currency": "dollar"}}, "not an ISO 4217"),
            ({"price": {"amount": 1, "currency": "달러화"}}, "not an ISO 4217"),
            ({"inStock": "yes"}, "`inStock` is neither true nor false nor null"),
            ({"specifications": {"a": "b"}}, "`specifications` is missing or not a list"),
            ({"specifications": [["a", "b"]]}, "a specification is a JSON list"),
            ({"specifications": [{"key": "a"}]}, "`value` is missing"),
            ({"images": [1]}, "the answer must be text, not int"),
            ({"confidence": 2}, "`confidence` is not a number"),
        ],
        ids=str,
    )
    def test_a_bad_product(self, told: Mapping[str, object], problem: str) -> None:
        with pytest.raises(ValueError, match=problem):
            product(**told)

    @pytest.mark.req("ANA-16")
    def test_a_description_has_at_most_500_characters(self) -> None:
        assert MAX_DESCRIPTION_CHARS == 500
        exact = "x" * 500
        assert product(description=exact).description == exact
        assert product(description=f"{exact} y").description == exact
        assert product(description="x" * 501).description == exact
        assert product(description="ab " * 200).description == ("ab " * 167)[:500].strip()

    def test_lists_and_texts_have_an_end(self) -> None:
        pairs = [{"key": "k", "value": "v" * (MAX_TEXT_CHARS + 1)}] * (MAX_ITEMS + 1)
        specifications = product(specifications=pairs).specifications
        assert len(specifications) == MAX_ITEMS
        assert len(specifications[0][1]) == MAX_TEXT_CHARS


@given(told=JSON)
def test_any_answer_is_read_or_refused(told: object) -> None:
    """Nothing but `ValueError` comes out, and whatever is read can be written down."""
    decision = IndexDecision(True, IndexReason.ACCEPTED, "", ENGINE)
    for read in (read_type, read_quality):
        try:
            read(told, ENGINE)
        except ValueError:
            continue
    for page_type in FIELDS:
        try:
            fields = read_answered_fields(told, page_type, ENGINE)
        except ValueError:
            continue
        assert analysis_json(Analysis(decision, fields=fields))


@pytest.mark.parametrize("escape", ["\\ud800", "\\udfff", "\\u0000", "\\u200b", "\\u202e"])
def test_half_a_character_and_hidden_ones_are_left_out(escape: str) -> None:
    """JSON can hold half a character, which no store takes."""
    told: object = json.loads(f'{{"category": "faq", "confidence": 1, "reasoning": "a{escape}b"}}')
    kind = read_type(told, ENGINE)
    assert kind.reasoning == "ab"
    decision = IndexDecision(True, IndexReason.ACCEPTED, "", ENGINE)
    assert analysis_json(Analysis(decision, classification=kind))
