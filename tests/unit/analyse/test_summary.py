"""A page in short."""

from __future__ import annotations

import pytest

from geomi.analyse.summary import MAX_ENTITIES, MAX_KEYWORDS, summarize
from geomi.model.index.analysis import Entity, EntityType, PageType, Summary
from tests.unit.analyse.made import article, reading

TEXT = (
    "# Why our spiders rest\n\n"
    "Orb-weavers take down their webs every evening. We gather the silk that they leave behind. "
    "On Sundays nobody works in the greenhouse.\n\n"
    "## Silk\n\nThe silk of spiders is thin. Spiders spin silk from early spring. "
    "Tea is served at four.\n\n"
    "```\nnot a sentence.\n```\n"
)
KOREAN = (
    "# 거미가 쉬는 날\n\n거미는 저녁마다 낡은 거미줄을 거둡니다. "
    "우리는 아침마다 거미줄을 모읍니다. "
    "일요일에는 아무도 온실에서 일하지 않습니다."
)


def short(markdown: str, page_type: PageType | None = None, **known: object) -> Summary:
    page = article(markdown, **known)  # type: ignore[arg-type]  # as in `made`
    return summarize(page, reading(markdown), page_type)


@pytest.mark.req("ANA-19")
@pytest.mark.parametrize(
    ("text", "title"), [(TEXT, "Why our spiders rest"), (KOREAN, "거미가 쉬는 날")]
)
def test_the_short_form_is_one_or_two_sentences_of_the_page(text: str, title: str) -> None:
    found = short(text, title=title)
    assert found.short
    assert all(part.strip(".") in text for part in found.short.split(". "))
    assert 1 <= found.short.count(".") <= 2
    assert len(found.long.split()) <= 150


@pytest.mark.req("ANA-19")
def test_the_long_form_has_at_most_150_words_in_their_order() -> None:
    text = " ".join(f"Sentence number {n} speaks of looms and threads." for n in range(100))
    found = short(text)
    assert 0 < len(found.long.split()) <= 150
    numbers = [int(word) for word in found.long.split() if word.isdigit()]
    assert numbers == sorted(numbers)


@pytest.mark.req("ANA-19")
def test_keywords_are_terms_of_the_text() -> None:
    assert {"silk", "spider"} & set(short(TEXT, title="Why our spiders rest").keywords[:3])
    assert "거미줄" in short(KOREAN, title="거미가 쉬는 날").keywords
    assert len(short(" ".join(f"word{n}x" for n in range(50))).keywords) <= MAX_KEYWORDS


def test_a_page_without_sentences_is_described_by_itself() -> None:
    assert short("# Web", title="Web", description="A web.").short == "A web."
    assert short("").short == ""
    assert short("- first thing of a list here\n- second thing of it").short.startswith(
        "first thing"
    )


@pytest.mark.req("ANA-20")
def test_dates_and_prices_are_entities() -> None:
    found = short(
        "On 15 January 2025 it cost €39.50. Later, 2025-01-15, it cost 39.50 € still. ¥980."
    )
    assert found.entities == (
        Entity("15 January 2025", EntityType.DATE, "2025-01-15"),
        Entity("€39.50", EntityType.PRICE, "EUR 39.5"),
        Entity("¥980", EntityType.PRICE, None),
    )


@pytest.mark.req("ANA-20")
def test_people_and_organisations_come_from_structured_data_alone() -> None:
    found = short(
        "Hana Seo met Teo of Acme Inc. in Paris.",
        PageType.PRODUCT,
        author="Mira Okafor",
        metadata=(
            ("ld:Article.author.@type", "Organization"),
            ("ld:Article.author.name", "Silk Works"),
            ("ld:Article.publisher.name", "Namu Press"),
            ("ld:Product.name", "Orb Kit"),
            ("ld:Store.address.addressLocality", "Namu Hill"),
            ("ld:Recipe.author.name", "Hana Seo"),
            ("ld:NewsArticle.author", "https://silk.test/people/teo"),
            ("ld:Product.brand.name", "Silk Works"),
        ),
    )
    assert {(entity.text, entity.type) for entity in found.entities} == {
        ("Mira Okafor", EntityType.PERSON),
        ("Hana Seo", EntityType.PERSON),
        ("Silk Works", EntityType.ORGANIZATION),
        ("Namu Press", EntityType.ORGANIZATION),
        ("Orb Kit", EntityType.PRODUCT),
        ("Namu Hill", EntityType.LOCATION),
    }


def test_an_organisation_that_wrote_a_page_is_no_person() -> None:
    found = short("Words.", author="Namu Press", metadata=(("og:site_name", "Namu Press"),))
    assert found.entities == (Entity("Namu Press", EntityType.ORGANIZATION),)


def test_entities_have_a_limit() -> None:
    dates = " ".join(f"2025-01-{day:02}" for day in range(1, 29))
    prices = " ".join(f"${amount}" for amount in range(1, 40))
    assert len(short(f"{dates} {prices}").entities) == MAX_ENTITIES
