"""Find sensitive content by word lists, in English and Korean, with few false alarms (SAF-03).

One word proves nothing: a guide to wine mentions alcohol, and a dictionary has all words. A
category counts if a text has several of its different words, often enough for its length. So a
report that mentions a crime once does not count. Texts that avoid the words of the lists are not
found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping

from geomi.model.index.analysis import Engine, SensitiveCategory, SensitiveFinding

ENGINE = Engine("word lists", "sensitive-1")
MIN_DIFFERENT = 3
MIN_TIMES = 4
MIN_PER_1000_WORDS = 5.0
MAX_CHARS = 50_000
MAX_WORDS_TOLD = 8

_ENGLISH: Mapping[SensitiveCategory, str] = {
    SensitiveCategory.VIOLENCE: (
        "beheading|beheaded|gore|gory|massacre|mutilated|mutilation|torture|tortured|torturing|"
        "stabbed to death|bloodbath|dismembered|dismemberment|snuff|execution video|mass shooting|"
        "slaughtered|disembowelled|brutal murder|beaten to death|graphic violence|bomb making|"
        "pipe bomb|kill them|corpses"
    ),
    SensitiveCategory.ADULT: (
        "porn|porno|pornography|pornographic|xxx|nude|nudes|nudity|hardcore|blowjob|escort|escorts|"
        "erotic|erotica|fetish|milf|hentai|camgirl|camgirls|sex video|sex videos|sex cam|sex cams|"
        "adult video|adult videos|naked girls|anal sex|oral sex|threesome|orgasm|bdsm|striptease"
    ),
    SensitiveCategory.GAMBLING: (
        "casino|casinos|roulette|blackjack|baccarat|jackpot|jackpots|sportsbook|slot machine|"
        "slot machines|online slots|free spins|wager|wagering|wagers|betting odds|welcome bonus|"
        "no deposit bonus|bookmaker|bookmakers|place bets|online betting|sports betting|poker room"
    ),
    SensitiveCategory.DRUGS: (
        "cocaine|heroin|methamphetamine|crystal meth|mdma|ecstasy pills|lsd|fentanyl|crack cocaine|"
        "ketamine|get high|snort|snorting|buy weed|weed online|drug dealer|darknet market|"
        "magic mushrooms|dmt|opium|amphetamine|psilocybin|thc vape|buy xanax|oxycontin"
    ),
    SensitiveCategory.SELF_HARM: (
        "self-harm|self harm|suicide|suicidal|kill myself|end my life|cutting myself|overdose|"
        "hang myself|suicide note|want to die|slit my wrists|suicide method|suicide methods|"
        "painless death|thinspo|pro-ana"
    ),
    SensitiveCategory.HATE: (
        "white supremacy|white supremacist|white power|race war|race traitor|racial purity|"
        "subhuman|subhumans|vermin|untermenschen|ethnic cleansing|neo-nazi|neo-nazis|holohoax|"
        "white genocide|great replacement|heil hitler|gas chambers|inferior race|master race|"
        "degenerates|exterminate"
    ),
}
_KOREAN: Mapping[SensitiveCategory, str] = {
    SensitiveCategory.VIOLENCE: (
        "참수|고문|토막살인|학살|잔혹하게|난도질|흉기로|"
        "피투성이|시신을|살해 영상|총기 난사|폭발물 제조"
    ),
    SensitiveCategory.ADULT: (
        "야동|포르노|성인물|음란물|조건만남|출장안마|노출 사진|"
        "섹스|자위|야사|성인방송|19금 영상|오피걸"
    ),
    SensitiveCategory.GAMBLING: (
        "카지노|바카라|룰렛|블랙잭|슬롯머신|토토사이트|사설토토|먹튀|"
        "첫충|배팅|베팅|꽁머니|잭팟|환전 가능"
    ),
    SensitiveCategory.DRUGS: (
        "필로폰|코카인|헤로인|대마초|엑스터시|펜타닐|마약 판매|"
        "떨 판매|아이스 작대기|케타민|던지기 수법"
    ),
    SensitiveCategory.SELF_HARM: (
        "자살|자해|죽고 싶|목을 매|극단적 선택|유서|손목을 긋|번개탄|투신"
    ),
    SensitiveCategory.HATE: (
        "열등한 민족|박멸|벌레 같은|인종 청소|틀딱|한남충|김치녀|짱깨|쪽바리|똥남아|멸종시"
    ),
}
_LISTED = {
    category: tuple(f"{_ENGLISH[category]}|{_KOREAN[category]}".split("|"))
    for category in SensitiveCategory
}
_TERMS = frozenset("|".join(_ENGLISH.values()).split("|"))
_SINGLE = frozenset(term for term in _TERMS if " " not in term)
_PHRASES = _TERMS - _SINGLE
_FIRST = frozenset(term.partition(" ")[0] for term in _PHRASES)
_SYLLABLES = tuple("|".join(_KOREAN.values()).split("|"))
_WORD = re.compile(r"[a-z]+(?:[-'][a-z]+)*")
_HANGUL = re.compile("[가-힣]")


def find_sensitive(
    text: str, categories: Collection[SensitiveCategory]
) -> tuple[SensitiveFinding, ...]:
    """Return the categories that a text belongs to, with the words that show it."""
    text = text[:MAX_CHARS].lower()
    counts = _english(text)
    if _HANGUL.search(text):
        counts += _korean(text)
    length = text.count(" ") + text.count("\n") + 1
    found = []
    for category in SensitiveCategory:
        words = {word: counts[word] for word in _LISTED[category] if word in counts}
        if category in categories and _is_dense(words, length):
            often = sorted(words, key=lambda word: (-words[word], word))
            found.append(SensitiveFinding(category, tuple(often[:MAX_WORDS_TOLD]), ENGINE))
    return tuple(found)


def _is_dense(words: Mapping[str, int], length: int) -> bool:
    times = sum(words.values())
    is_often = times >= max(MIN_TIMES, MIN_PER_1000_WORDS * length / 1000)
    return is_often and len(words) >= MIN_DIFFERENT


def _english(text: str) -> Counter[str]:
    """Count listed words, and phrases of two and three words."""
    words = _WORD.findall(text)
    counts = Counter(word for word in words if word in _SINGLE)
    for number, word in enumerate(words):
        if word in _FIRST:
            for size in (2, 3):
                phrase = " ".join(words[number : number + size])
                if phrase in _PHRASES:
                    counts[phrase] += 1
    return counts


def _korean(text: str) -> Counter[str]:
    return Counter({word: times for word in _SYLLABLES if (times := text.count(word))})
