"""How good a page is."""

from __future__ import annotations

import pytest

from geomi.analyse.quality import check_quality
from geomi.model.index.analysis import Flag, PageQuality, PageType
from geomi.model.page import PageLink
from tests.unit.analyse.made import reading, subject

SENTENCES = (
    "A loom is a frame that holds threads apart while others are drawn between them. "
    "The first looms leaned on a wall, and stones kept their threads straight. "
    "Silk needs less weight than wool because its threads are smooth. "
    "In 1804 a loom read its pattern from cards, and it could weave a portrait. "
)
GOOD = "# Looms and their threads\n\n" + "\n\n".join(
    f"## Part {number}\n\n{SENTENCES}\n\n- beech frame, {number} cm\n- silk thread"
    for number in range(1, 9)
)
KOREAN = "# 거미줄 관찰\n\n" + "\n\n".join(
    f"## 기록 {number}\n\n거미는 저녁마다 낡은 줄을 거두고 아침마다 새 줄을 칩니다. "
    "이슬이 맺힌 날에는 "
    "거미줄이 무거워져 가운데가 조금 처집니다. 우리는 온실을 돌며 남은 실을 모으고 길이를 잽니다. "
    "가장 긴 실은 스물네 뼘이었고, 가장 질긴 실은 사과 한 알을 들었습니다."
    for number in range(1, 9)
)


def check(
    markdown: str, page_type: PageType | None = PageType.ARTICLE, **known: object
) -> PageQuality:
    return check_quality(subject(markdown, **known), reading(markdown), page_type)  # type: ignore[arg-type]  # as in `made`


def flags(markdown: str, **known: object) -> dict[Flag, bool | None]:
    return dict(check(markdown, PageType.ARTICLE, **known).flags)


@pytest.mark.req("ANA-08", "ANA-09")
def test_a_good_page_is_better_than_a_poor_one_in_every_way() -> None:
    good = check(GOOD, title="Looms and their threads")
    poor = check("Click here!!! " * 3, title="Looms and their threads")
    assert good.overall >= 8
    assert poor.overall < 4
    assert good.depth > poor.depth
    assert good.relevance is not None
    assert poor.relevance is not None
    assert good.relevance > poor.relevance
    assert check(f"# Looms\n\n{SENTENCES * 9}").depth > check(f"# Looms\n\n{SENTENCES}").depth + 2


@pytest.mark.req("ANA-09")
def test_korean_is_read_as_well() -> None:
    assert check(KOREAN, title="거미줄 관찰").overall >= 5


@pytest.mark.req("ANA-08")
def test_scores_stay_between_0_and_10_and_the_same() -> None:
    for markdown in ("", "x", GOOD, "�" * 500, KOREAN):
        quality = check(markdown, title="Looms")
        scores = (quality.overall, quality.depth, quality.readability, quality.relevance)
        assert all(0 <= score <= 10 for score in scores if score is not None)
        assert quality == check(markdown, title="Looms")


@pytest.mark.req("ANA-09")
def test_what_nobody_can_know_is_none() -> None:
    quality = check(GOOD, title="Looms")
    assert quality.originality is None
    told = dict(quality.flags)
    assert set(told) == set(Flag)
    assert told[Flag.AUTO_GENERATED] is None
    assert told[Flag.DUPLICATE_SUSPECTED] is None
    assert told[Flag.OUTDATED] is None
    assert check("words without a title").relevance is None


@pytest.mark.req("ANA-10")
def test_a_copy_says_something_about_originality() -> None:
    copy = check(GOOD, title="Looms", duplicate_of="https://a.test/")
    assert copy.originality == 0
    assert Flag.DUPLICATE_SUSPECTED in copy.raised
    assert dict(check(GOOD, duplicate_of="").flags)[Flag.DUPLICATE_SUSPECTED] is False


@pytest.mark.req("ANA-10")
@pytest.mark.parametrize(("words", "is_thin"), [(199, True), (200, False)])
def test_thin_is_below_200_words(words: int, is_thin: bool) -> None:
    assert flags("loom " * words)[Flag.THIN_CONTENT] is is_thin


@pytest.mark.req("ANA-10")
def test_keywords_are_stuffed() -> None:
    stuffed = "Cheap looms! Buy cheap looms, cheap looms online, best cheap looms near me. " * 20
    assert flags(stuffed)[Flag.KEYWORD_STUFFING] is True
    assert flags(GOOD * 1)[Flag.KEYWORD_STUFFING] is not None
    assert flags("short text")[Flag.KEYWORD_STUFFING] is None


@pytest.mark.req("ANA-10")
def test_a_menu_is_boilerplate() -> None:
    names = [f"Department number {number}" for number in range(30)]
    links = tuple(PageLink(f"https://a.test/{number}", name) for number, name in enumerate(names))
    menu = "\n".join(f"- [{name}](https://a.test/{n})" for n, name in enumerate(names))
    assert flags(menu, links=links)[Flag.BOILERPLATE_HEAVY] is True
    assert flags(f"{menu}\n\n{SENTENCES * 5}", links=links)[Flag.BOILERPLATE_HEAVY] is False


@pytest.mark.req("ANA-10")
@pytest.mark.parametrize(
    ("title", "published_at", "modified_at", "text", "expected"),
    [
        ("Looms", "2015-03-01", "", "Old words.", True),
        ("Looms", "2015-03-01", "2025-02-02", "Kept up.", False),
        ("Looms", "2015-03-01", "", "As of 2025 this holds.", False),
        ("Best looms of 2018", "", "", "A list.", True),
        ("Best looms of 2025", "", "", "A list.", False),
        ("Looms in 2040", "", "", "A vision.", False),
        ("Looms", "", "", "In 1804 a loom read cards.", None),
    ],
)
def test_outdated(
    title: str, published_at: str, modified_at: str, text: str, expected: bool | None
) -> None:
    known = {"title": title, "published_at": published_at, "modified_at": modified_at}
    assert flags(text, **known)[Flag.OUTDATED] is expected


@pytest.mark.req("ANA-10")
@pytest.mark.parametrize(
    "text",
    ["caf� d� l� gare", "{{name}} {{price}} {{stock}} [object Object]", "<div> <span> </td>"],
)
def test_broken_formatting(text: str) -> None:
    broken = check(text, title="Looms")
    assert Flag.BROKEN_FORMATTING in broken.raised
    assert broken.readability <= 5
    assert flags(SENTENCES)[Flag.BROKEN_FORMATTING] is False


def test_what_is_thin_for_an_article_is_enough_for_a_contact_page() -> None:
    text = "# Contact\n\nWe read every letter and answer on weekdays. " + "Mail us at noon. " * 12
    assert check(text, PageType.CONTACT).depth > check(text, PageType.ARTICLE).depth
    assert check(text, None).depth > 0
