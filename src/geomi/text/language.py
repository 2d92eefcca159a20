"""The language of a text, as it is declared and as its letters and small words show; its words.

Some scripts belong to one language, or nearly so: Hangul, Kana, Thai, Greek, Hebrew. Han without
Kana is Chinese. Latin and Cyrillic languages are distinguished by their most common words. There
must be several of them, and clearly more than of any other language; otherwise the language is
unknown. Only a sample is read, so that a long page costs as little as a short one.

How many words a text has depends on its language: Chinese, Japanese and Thai set no spaces between
theirs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain

import numpy as np

SAMPLE_CHARS = 600
# Korean technical prose is full of Latin names; 15 % Hangul among its signs is still Korean,
# while a Korean name in an English page stays far below. The same holds for the other scripts.
MIN_SCRIPT_SHARE = 0.15
# A template that says `en` on every page is disproved by a text that is mostly in another script.
PROOF_SHARE = 0.5
# Small words: how many different ones, how much of the text, and how much more than the next.
MIN_WORDS = 3
MIN_WORD_SHARE = 0.08
MIN_LEAD = 1.5
# Most pages say that they are English, and are: so many of its small words in the first characters
# leave no doubt, and all the others need not be counted.
CONFIRM_CHARS = 300
CONFIRM_WORDS = 5
# Of texts without spaces a word is so many letters long, on average.
CHARS_PER_WORD = {"zh": 1.7, "ja": 2.5, "th": 5.0}
_SPACE = 0x20  # and all below it: tabs, line ends
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+")
_ENGLISH = "en"
_SUBTAG_CHARS = (2, 3)
# In this order: Japanese is written with Han, too, and Ukrainian with letters of Russian.
_SCRIPTS = (
    ("ko", re.compile("[가-힣]")),
    ("ja", re.compile("[ぁ-ヿ]")),
    ("zh", re.compile("[一-鿿]")),
    ("th", re.compile("[ก-๛]")),
    ("el", re.compile("[Ͱ-Ͽ]")),
    ("he", re.compile("[א-ת]")),
    ("hi", re.compile("[ऀ-ॿ]")),
    ("ar", re.compile("[ء-ي]")),
)
# Languages that are not written in Latin letters.
OTHER_LETTERS = frozenset(
    (*(language for language, _ in _SCRIPTS), "bg", "bn", "fa", "ka", "ru", "sr", "ta", "uk", "ur")
)
# Letters of them and of Cyrillic; signs and punctuation say nothing.
_NOT_LATIN = re.compile("[\u0370-\u1dff\u3040-\ud7a3]")
_PERSIAN = re.compile("[پچژگ]")
# Scripts that more than one language of the web is written in prove nothing against a declaration.
_SHARED = frozenset(("hi", "ar"))
_SAME_SCRIPT = {"zh": frozenset(("ja", "yue", "cmn", "wuu", "lzh")), "ko": frozenset(("kor",))}
_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the and of to in is that for with as on are this be by it from or an which not "
        "you your can has was have",
        "de": "der die und das ist nicht ein eine den von mit für auf dem zu im sich des werden "
        "auch als wird sie oder bei",
        "fr": "le la les et des est une du dans pour que qui pas sur au par avec sont ce vous "
        "cette plus ou nous aux",
        "es": "el la los las y que en del una por con para es se su como más este esta lo al sus "
        "pero ha también",
        "it": "il di che la della per un una con sono non è nel dei gli alla le del si come anche "
        "più questo dal delle",
        "pt": "o os de que do da em um uma para com não por mais as dos como é na no ao se das "
        "você são também",
        "nl": "de het een van en dat niet op te voor met zijn die is aan er ook als om bij naar "
        "wordt deze uit door",
        "pl": "i w na z się nie jest do że to jak po dla od przez są co oraz ale lub który może "
        "tego przy być",
        "sv": "och att det som en på är av för med till den inte om ett har kan eller från var "
        "vi du de i så",
        "da": "og at det er en af til på med for den som ikke de kan et har der om eller vi fra "
        "du skal blev",
        "no": "og i det er som en på til av for med at ikke den har om et kan fra eller vi du var "
        "skal også",
        "fi": "ja on ei se että oli ovat myös mutta tai kun niin hän joka voi ole sekä kuin "
        "tämä olla jos mukaan",
        "cs": "a v na je se že s z do to pro jako jsou nebo které který by ale po při má být už "
        "také až jeho",
        "ro": "și în de la cu pe este care nu un o din pentru să ce mai sunt sau prin fi au al "
        "fost această",
        "hu": "a az és hogy nem is egy van meg ez de csak ha vagy el már mint volt azt amely "
        "lehet még",
        "tr": "ve bir bu için ile da de olarak çok daha en gibi olan var ne kadar ya veya değil "
        "sonra ise her",
        "id": "yang dan di dari untuk dengan pada ini tidak dalam adalah itu akan ke juga oleh "
        "atau dapat sebagai anda",
        "vi": "và của là có cho không một các được trong người với này những để đã khi về từ "
        "bạn cũng như",
        "ru": "и в не на что с по как это для из к от его или все так но при вы был мы только "
        "если можно",
        "uk": "і в не на що з до як це для та у від або ви його є але при за про також якщо "
        "може бути",
        "bg": "и в на не за да се от е с че по това как са или при който ще може към до като "
        "което са",
    }.items()
}
# Which languages a small word belongs to: one look-up a word, however many languages there are.
_SPEAKERS = {
    word: tuple(language for language in _WORDS if word in _WORDS[language])
    for word in frozenset().union(*_WORDS.values())
}


def language_of(text: str, declared: str) -> tuple[str, str]:
    """Return a text's language and what it looks like alone: subtags such as `ko`, or nothing.

    What is declared is believed, unless the script of the text disproves it.
    """
    told = _primary(declared)
    if told == _ENGLISH and _is_english(text[:SAMPLE_CHARS]):
        return told, told
    detected, share = _detect(text[:SAMPLE_CHARS])
    if told and not _is_disproved(told, detected, share):
        return told, detected
    return detected, detected


def _is_english(sample: str) -> bool:
    """Tell quickly and for certain, or not at all."""
    if not sample.isascii():
        return False
    words = sample[:CONFIRM_CHARS].lower().split()
    return len(_WORDS[_ENGLISH].intersection(words)) >= CONFIRM_WORDS


def _detect(sample: str) -> tuple[str, float]:
    """Return the language of a sample, and which share of its characters its script has."""
    foreign = "" if sample.isascii() else "".join(_NOT_LATIN.findall(sample))
    chars = len(sample) - sample.count(" ")
    if foreign and len(foreign) >= chars * MIN_SCRIPT_SHARE:
        for language, script in _SCRIPTS:
            share = len(script.findall(foreign)) / chars
            if share >= MIN_SCRIPT_SHARE:
                is_persian = language == "ar" and _PERSIAN.search(foreign) is not None
                return ("fa" if is_persian else language), share
    return _by_words(sample), 0.0


def _by_words(sample: str) -> str:
    # A word with a comma at its end is missed, which is cheaper than to look for it.
    words = sample.lower().split()
    spoken = Counter(chain.from_iterable(_SPEAKERS[word] for word in words if word in _SPEAKERS))
    ranked = spoken.most_common(2)
    if not ranked:
        return ""
    language, most = ranked[0]
    rival = ranked[1][1] if len(ranked) > 1 else 0
    is_clear = most >= len(words) * MIN_WORD_SHARE and most >= rival * MIN_LEAD
    is_varied = len(_WORDS[language].intersection(words)) >= MIN_WORDS
    return language if is_clear and is_varied else ""


def _is_disproved(told: str, detected: str, share: float) -> bool:
    return (
        share >= PROOF_SHARE
        and detected != told
        and detected not in _SHARED
        and told not in _SAME_SCRIPT.get(detected, ())
    )


def _primary(declared: str) -> str:
    """Shorten `ko-KR` or `ko_KR` to `ko`; anything that is not a language tag says nothing."""
    subtag = declared.strip().replace("_", "-").partition("-")[0].lower()
    is_tag = len(subtag) in _SUBTAG_CHARS and subtag.isascii() and subtag.isalpha()
    return subtag if is_tag and subtag != "und" else ""


def count_words(text: str, language: str) -> int:
    """Count what spaces hold apart, and estimate what none do."""
    per_word = CHARS_PER_WORD.get(language)
    if per_word is None:
        return _spaced(text)
    chars = sum(map(len, _UNSPACED.findall(text)))
    return _spaced(_UNSPACED.sub(" ", text)) + round(chars / per_word)


def _spaced(text: str) -> int:
    """Count where words begin; a list of them would cost ten times as much."""
    octets = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8)
    is_sign = octets > _SPACE
    return int(np.count_nonzero(is_sign[1:] > is_sign[:-1])) + int(is_sign[:1].sum())
