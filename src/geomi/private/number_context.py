"""Decide from the words before a number what it is: a telephone, a person's or another number.

Only the last word counts, and the words before it if it says nothing by itself: `number`, `no.`,
`번호`, `us at`. In Korean a word is glued to others (`사업자등록번호는`), so there its end counts.
"""

from __future__ import annotations

import re

LOOK_BACK_CHARS = 20  # the longest word that is known, and some more
MAX_GAP_CHARS = 6  # between the word and its number: `**Phone:** `, `| `
MAX_LEADING_WORDS = 3  # `call us now at`


def names_phone(before: str) -> bool:
    """Return whether a telephone number is what comes next."""
    if before.rstrip(" :\ufe0f")[-1:] in _PHONE_SIGNS:
        return bool(before)
    word, earlier, gap = _last(before)
    if word in _SHORT_PHONE:
        return gap[:1] in (".", ":", ")")
    for _ in range(MAX_LEADING_WORDS):
        if word not in _LEADING:
            break
        led, (word, earlier, _gap) = word, _last(earlier)
        if word in _LED.get(led, _REACHING):
            return True
    return word in _PHONE or _stem(word).endswith(_KOREAN_PHONE)


def names_answering_service(before: str) -> bool:
    """Say whether those are named who answer a telephone; what comes next may be something else."""
    word = _last(before)[0]
    return word in _DESK or word.endswith(_KOREAN_DESK)


def names_ssn(before: str) -> bool:
    """Return whether a social security number is what comes next."""
    word, earlier, gap = _last(before)
    is_number = "#" in gap
    if word in _FILLING:
        is_number = True
        word, earlier, _ = _last(earlier)
    if word == "ssn" or (word == "ss" and is_number) or _stem(word).endswith(_KOREAN_SSN):
        return True
    return (_last(earlier)[0], word) in _SOCIAL_SECURITY


def names_card(before: str) -> bool:
    """Return whether the number of a payment card is what comes next."""
    word, earlier, _ = _last(before)
    if word in _FILLING:
        word = _last(earlier)[0]
    return word in _CARD or _stem(word).endswith("카드")


def names_other(before: str) -> bool:
    """Return whether what comes next is the number of an order, a part, an account or the like."""
    word, earlier, gap = _last(before)
    if "#" in gap or (word == "no" and gap[:1] == ".") or (word + earlier[-2:]).lower() == "ns/":
        return True
    if word in _FILLING:
        word = _last(earlier)[0]
    return word in _OTHER or word.endswith(_KOREAN_NUMBER) or _stem(word).endswith(_KOREAN_OTHER)


def _last(text: str) -> tuple[str, str, str]:
    """Return the last word in lower case, what stands before it, and the signs after it."""
    bare = text.rstrip(_SIGNS)
    gap = text[len(bare) :]
    found = _WORD.search(bare, max(0, len(bare) - LOOK_BACK_CHARS))
    if found is None or len(gap) > MAX_GAP_CHARS:
        return "", "", gap
    word = found[0].lower()
    if not word.isascii():
        word = _PARTICLE.sub("", word) or word
    return word, bare[: found.start()], gap


def _stem(word: str) -> str:
    """Return a Korean word without the endings that say that a number follows."""
    return word if word.isascii() else _ENDING.sub("", word) or word


_SIGNS = " \t:.#=*|)](/\"'“”[>_\\`\ufe0f"
_WORD = re.compile(r"[^\W\d_]+\Z")
_PARTICLE = re.compile(r"(?:은|는|이|가|로|을|를)\Z")
_ENDING = re.compile(r"(?:등록)?(?:번호|처)?\Z")

_PHONE_SIGNS = frozenset("☎☏📞📱✆")
_SHORT_PHONE = frozenset(("ph", "t", "m", "f"))
_PHONE = frozenset(
    "tel telephone telefon phone mobile cell fax call dial whatsapp hotline sms text tél téléphone "
    "telefono teléfono telefone telefoon telefonnummer rufnummer handy mobil móvil movil cellulare "
    "celular".split()
)
_KOREAN_PHONE = ("전화", "연락", "휴대폰", "핸드폰", "팩스", "문의", "대표", "직통")
_LEADING = frozenset("no nr number us me him her them at on is now 번호".split())
# Words that say it only with one of those between: "reach 10000000 people" has none.
_REACHING = frozenset(("reach", "ring", "contact"))
_LED = {"number": frozenset(("my", "our", "his", "her", "their"))}
_DESK = frozenset(
    "office desk reception shop branch booking bookings reservations enquiries inquiries helpline "
    "surgery clinic studio service support sales ars".split()
)
_KOREAN_DESK = ("고객센터", "콜센터", "상담", "상담실", "상담원", "상담센터", "예약", "예약실")
_FILLING = frozenset("no number code id is nr 번호 넘버".split())
_SOCIAL_SECURITY = frozenset((("social", "security"), ("soc", "sec")))
_KOREAN_SSN = ("사회보장", "소셜", "시큐리티")
_CARD = frozenset(("card", "maestro", "debit", "credit", "pan", "cc"))
_OTHER = frozenset(
    "order invoice isbn issn doi serial sku upc ean gtin imei part model version build ref "
    "reference ticket case tracking account acct iban id item catalog bug issue rfc patent lot "
    "batch policy license sn pn pid uid hash timestamp epoch transaction snowflake code".split()
)
_KOREAN_OTHER = (
    "계좌", "주문", "송장", "일련", "모델", "품번", "사업자", "버전", "접수", "계약", "제품",
    "상품", "운송장", "도서", "증권", "허가", "특허", "출원", "바코드", "코드", "아이디",
)  # fmt: skip
# These are other things only as numbers: the management of a building has a telephone.
_KOREAN_NUMBER = ("관리번호", "문서번호")
