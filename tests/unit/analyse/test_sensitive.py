"""Sensitive content by word lists."""

from __future__ import annotations

import pytest

from geomi.analyse.sensitive import find_sensitive
from geomi.model.index.analysis import SensitiveCategory

ALL = tuple(SensitiveCategory)


def found(text: str) -> set[SensitiveCategory]:
    return {finding.category for finding in find_sensitive(text, ALL)}


@pytest.mark.req("SAF-03")
@pytest.mark.parametrize(
    ("text", "category"),
    [
        (
            "Our online casino has roulette, blackjack and free spins. Claim your welcome bonus!",
            "gambling",
        ),
        ("국내 최고 카지노, 바카라와 룰렛, 꽁머니 지급. 먹튀 없는 카지노.", "gambling"),
        ("Hardcore porn, nude camgirls and sex videos. More porn inside.", "adult"),
        ("야동과 포르노, 성인방송을 무료로. 매일 새로운 야동.", "adult"),
        ("We sell cocaine, heroin and mdma. Buy weed and cocaine from a drug dealer.", "drugs"),
        ("필로폰, 코카인, 대마초 팝니다. 필로폰 던지기 수법.", "drugs"),
        ("The massacre left corpses, some beheaded, some mutilated. Torture and gore.", "violence"),
        ("I am suicidal, I want to die, I wrote a suicide note about self-harm.", "self_harm"),
        ("White power! The race war against subhumans, vermin and race traitor filth.", "hate"),
    ],
)
def test_a_category_is_found(text: str, category: str) -> None:
    assert category in found(text)


@pytest.mark.req("SAF-03")
@pytest.mark.parametrize(
    "text",
    [
        "The report names one massacre, and the court spoke of torture. "
        + "It was a long day. " * 200,
        "A casino stood at the corner. We walked past the casino to buy thread.",
        "The nude in art history: Titian and Manet.",
        "Suicide prevention lines are open day and night.",
        "Poppy seeds, opium and the history of trade. " + "Ships came and went. " * 300,
        "거미는 카지노 근처에도 산다.",
        "",
    ],
)
def test_a_word_here_and_there_proves_nothing(text: str) -> None:
    assert found(text) == set()


@pytest.mark.req("SAF-03")
def test_only_the_wanted_categories_are_told() -> None:
    text = "Casino, roulette, blackjack, free spins and the casino again."
    assert find_sensitive(text, (SensitiveCategory.ADULT,)) == ()
    (finding,) = find_sensitive(text, (SensitiveCategory.GAMBLING,))
    assert finding.words[0] == "casino"
    assert finding.engine.version
