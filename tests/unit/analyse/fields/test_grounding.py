"""Fields of a model stand on their page, or they are left out (ANA-17)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.analyse.fields.grounding import grounded, joined
from geomi.model.index.analysis import (
    ArticleFields,
    Engine,
    ExtractedFields,
    FaqFields,
    FaqItem,
    FieldsModel,
    Money,
    PolicyFields,
    PolicySection,
    ProductFields,
)

ENGINE = Engine("tiny", "server")
RULES = Engine("rules", "fields-1")
PAGE = """# Silk Scarf, red

**A light scarf** of _pure silk_, [woven by hand](https://a.test/how-we-weave) in Lyon.

Price: $1,299.00 (was 1 499,50 €). In stock.

![Front](https://a.test/front.png)

| Colour | deep red |
| Width | 40 cm |

- SKU: SC-100
"""
KOREAN = """# 실크 스카프

리옹에서 손으로 짠 실크 스카프를 39,000원에 판매합니다. 브랜드는 geomi입니다. 현재 품절입니다.
"""


def fields(
    data: ProductFields | FaqFields | PolicyFields | ArticleFields, confidence: float = 1.0
) -> ExtractedFields:
    """Make fields as a model would have told them."""
    return ExtractedFields(FieldsModel.PRODUCT, data, confidence, ENGINE)


def product(page: str = PAGE, **told: object) -> ProductFields:
    """Return what is left of a product; its name stands on the page."""
    name = "실크 스카프" if page == KOREAN else "Silk Scarf"
    left = grounded(fields(ProductFields(**{"name": name, **told})), page)  # type: ignore[arg-type]  # fields of Product
    assert left is not None
    assert isinstance(left.data, ProductFields)
    return left.data


@pytest.mark.req("ANA-17")
@pytest.mark.parametrize(
    ("page", "text", "stands"),
    [
        (PAGE, "Silk Scarf, red", True),
        (PAGE, "SILK   scarf\nRED", True),
        (PAGE, "A light scarf of pure silk, woven by hand in Lyon", True),  # markdown between
        (PAGE, "**pure** silk", True),
        (PAGE, "Silk Scarf, blue", False),
        (PAGE, "red Silk Scarf", False),  # the words, in another order
        (PAGE, "carf", False),
        (PAGE, "Silk Scar", False),
        (PAGE, "", False),
        (PAGE, "…", False),
        (KOREAN, "실크 스카프", True),  # a particle follows where it stands in the sentence
        (KOREAN, "손으로 짠 실크 스카프", True),
        (KOREAN, "geomi", True),
        (KOREAN, "크 스카프", False),
        (KOREAN, "실크 넥타이", False),
        ("Les prix de l\u2019e\u0301toile", "étoile", True),  # one letter, two ways to write it
        ("Ｓｉｌｋ　scarf", "silk scarf", True),
        ("Donau\u00addampf\u200bschiff", "Donaudampfschiff", True),  # what nobody sees
        ("日本の絹スカーフです", "絹スカーフ", True),
        ("snake\\_case", "snake_case", True),
    ],
)
def test_texts(page: str, text: str, stands: bool) -> None:
    left = grounded(fields(ProductFields(brand=text)), page)
    assert (left is not None) == stands


@pytest.mark.req("ANA-17", "ANA-16")
@pytest.mark.parametrize(
    ("page", "told", "left"),
    [
        (PAGE, Money(1299.0, "USD"), Money(1299.0, "USD")),
        (PAGE, Money(1499.5, "EUR"), Money(1499.5, "EUR")),
        (PAGE, Money(1299.0, "EUR"), Money(1299.0, "USD")),  # the page writes a dollar there
        (PAGE, Money(1299.0, None), Money(1299.0, "USD")),
        (PAGE, Money(12.99, "USD"), None),  # the same figures, another number
        (PAGE, Money(129900.0, "USD"), None),
        (PAGE, Money(1.0, "USD"), None),
        (PAGE, Money(0.0, "USD"), None),
        ("1,299", Money(1299.0, "USD"), Money(1299.0, None)),  # no currency is written
        ("1,299 (all prices in USD)", Money(1299.0, "USD"), Money(1299.0, "USD")),
        ("$39 (prices in CAD)", Money(39.0, "CAD"), Money(39.0, "CAD")),
        ("39.90", Money(39.9, None), Money(39.9, None)),
        ("39,90 €", Money(39.9, "EUR"), Money(39.9, "EUR")),
        ("£7.5", Money(7.5, "GBP"), Money(7.5, "GBP")),
        ("1.299,00 €", Money(1299.0, "EUR"), Money(1299.0, "EUR")),
        ("1 299 kr", Money(1299.0, "SEK"), Money(1299.0, None)),  # of three kingdoms
        ("1’299.00".replace("’", "'") + " CHF", Money(1299.0, "CHF"), Money(1299.0, "CHF")),
        ("₩39,000", Money(39000.0, "KRW"), Money(39000.0, "KRW")),
        (KOREAN, Money(39000.0, "KRW"), Money(39000.0, "KRW")),
        (KOREAN, Money(39000.0, "USD"), Money(39000.0, "KRW")),
        (KOREAN, Money(390.0, "KRW"), None),
        ("３９，０００원", Money(39000.0, "KRW"), Money(39000.0, "KRW")),
        ("in 2024", Money(20.24, "USD"), None),
        ("", Money(1e12, "USD"), None),
    ],
    ids=lambda value: str(value)[:24],
)
def test_amounts(page: str, told: Money, left: Money | None) -> None:
    kept = grounded(fields(ProductFields(price=told, sale_price=told)), page)
    data = kept.data if kept else ProductFields()
    assert isinstance(data, ProductFields)
    assert (data.price, data.sale_price) == (left, left)


@pytest.mark.req("ANA-17")
class TestProducts:
    """Everything that a model adds to a page is gone."""

    def test_pairs_stand_whole(self) -> None:
        pairs = (
            ("Colour", "deep red"),
            ("Weight", "40 cm"),
            ("Width", "50 cm"),
            ("Width", "40 cm"),
        )
        assert product(specifications=pairs).specifications == (pairs[0], pairs[3])

    def test_pictures_are_those_of_the_page(self) -> None:
        told = ("https://a.test/front.png", "https://evil.test/x.png", "javascript:alert(1)", "h")
        assert product(images=told).images == told[:1]
        linked = ("https://a.test/how-we-weave",)
        assert product(images=linked).images == ()

    @pytest.mark.parametrize(
        ("page", "told", "left"),
        [
            (PAGE, True, True),
            (PAGE, False, None),
            (KOREAN, True, None),
            (KOREAN, False, False),
            ("Silk Scarf", True, None),
            ("Silk Scarf", False, None),
            ("Silk Scarf: red in stock, blue sold out", True, None),
        ],
    )
    def test_stock_is_what_the_page_says(self, page: str, told: bool, left: bool | None) -> None:
        assert product(page, in_stock=told).in_stock is left

    def test_the_more_is_made_up_the_less_is_believed(self) -> None:
        told = ProductFields(name="Silk Scarf", brand="Acme", sku="SC-100", category="Hats")
        left = grounded(fields(told, confidence=0.9), PAGE)
        assert left is not None
        assert left.data == ProductFields(name="Silk Scarf", sku="SC-100")
        assert left.confidence == 0.45

    def test_nothing_left_is_no_fields(self) -> None:
        assert grounded(fields(ProductFields(name="Anvil", price=Money(5, "USD"))), PAGE) is None
        assert grounded(fields(ProductFields()), PAGE) is None


@pytest.mark.req("ANA-17", "C-64")
def test_a_question_counts_with_its_answer() -> None:
    page = "## Do you ship to Korea?\n\nYes, in [three days](https://a.test/s).\n\n## Why?\n\nSo."
    good = FaqItem("Do you ship to Korea?", "Yes, in three days.")
    told = (good, FaqItem("Why?", "Call 555 now."), FaqItem("Is it free?", "So."))
    left = grounded(fields(FaqFields(told)), page)
    assert left is not None
    assert left.data == FaqFields((good,))
    assert left.confidence == 0.333


@pytest.mark.req("ANA-17", "C-64")
@pytest.mark.parametrize(
    ("page", "told", "left"),
    [
        ("Effective March 1, 2024", "2024-03-01", "2024-03-01"),
        ("시행일: 2024년 3월 1일", "2024-03-01", "2024-03-01"),
        ("Effective March 1, 2024", "1 March 2024", "2024-03-01"),
        ("Effective March 1, 2024", "2025-03-01", None),
        ("Effective March 1, 2024", "soon", None),
        ("Effective some day", "2024-03-01", None),
    ],
)
def test_dates(page: str, told: str, left: str | None) -> None:
    policy = PolicyFields("Privacy", told, ())
    kept = grounded(fields(policy), f"# Privacy\n\n{page}")
    assert kept is not None
    assert kept.data == PolicyFields("Privacy", left, ())


@pytest.mark.req("ANA-17", "C-64")
def test_sections_stand_with_their_text() -> None:
    page = "# Terms\n\nBe kind.\n\n## Data\n\nWe keep none."
    good = (PolicySection("Data", "We keep none."), PolicySection("", "Be kind."))
    told = (*good, PolicySection("Data", "We sell all."), PolicySection("Money", "We keep none."))
    kept = grounded(fields(PolicyFields(None, None, told)), page)
    assert kept is not None
    assert kept.data == PolicyFields(None, None, good)


def test_a_story_is_not_asked_for() -> None:
    story = ArticleFields("Headline", None, None, None, None, None, None)
    kept = grounded(fields(story), "")
    assert kept is not None
    assert kept.data == story


class TestJoined:
    """A model fills gaps; what was read without it stays."""

    def test_what_was_known_stays(self) -> None:
        known = ExtractedFields(
            FieldsModel.PRODUCT, ProductFields(name="Scarf", in_stock=False), 0.65, RULES
        )
        told = fields(ProductFields(name="Silk", in_stock=True, brand="Lyon"), confidence=0.5)
        both = joined(known, told)
        assert both.data == ProductFields(name="Scarf", in_stock=False, brand="Lyon")
        assert (both.confidence, both.engine) == (0.65, ENGINE)

    def test_nothing_new_is_no_word_of_a_model(self) -> None:
        known = ExtractedFields(FieldsModel.PRODUCT, ProductFields(name="Scarf"), 0.65, RULES)
        assert joined(known, fields(ProductFields(name="Silk"))) is known

    def test_fields_of_another_kind_take_their_place(self) -> None:
        known = ExtractedFields(FieldsModel.PRODUCT, ProductFields(name="Scarf"), 0.65, RULES)
        told = fields(FaqFields((FaqItem("Why?", "So."),)))
        assert joined(known, told) is told


@given(page=st.text(max_size=200), text=st.text(max_size=40), amount=st.floats(0, 1e12))
def test_no_page_and_no_answer_breaks_it(page: str, text: str, amount: float) -> None:
    told = ProductFields(
        name=text, price=Money(amount, "USD"), specifications=((text, text),), images=(text,)
    )
    grounded(fields(told), page)
    grounded(fields(FaqFields((FaqItem(text, text),))), page)
    grounded(fields(PolicyFields(text, text, (PolicySection(text, text),))), page)
