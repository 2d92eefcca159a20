"""Find numbers of one person: Social Security, payment card and Korean resident numbers.

Rules kept:
- SSN: three, two and four digits; no area 000, 666 or 9xx, no group 00, no serial 0000 (SSA's own
  rules since 2011). Without dashes, or after a `#`, it counts only if a word says what it is.
- Card: the length and first digits of an issuer, and Luhn's sum. Digits in fours, or as American
  Express and Diners print them, or in one piece; Maestro's in one piece only behind a word.
- Resident number: a date, a digit for century, sex and citizenship, and up to October 2020 a check
  digit; after that the last six are drawn by lot, so one piece of thirteen digits needs the sum.
- A word before a number can tell that it is something else: an order, a part, an account.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator

from geomi.model.personal_data import PiiKind, Sighting
from geomi.private.digits import APART, END, START, Run, before, only_digits
from geomi.private.number_context import names_card, names_other, names_ssn

# From here on the last six digits are drawn by lot, for whoever is born or gets a new number.
LOTS_FROM = (2020, 10)
# No clock here: a birth after this year is taken for a mistake, which keeps bar codes out.
LATEST_BIRTH_YEAR = 2045

_Issuers = tuple[tuple[int, int, tuple[int, ...]], ...]


def social_security(run: Run) -> Iterator[Sighting]:
    """Yield the numbers of the American social security."""
    for found in _SSN.finditer(run.text, run.body):
        area, group, serial = found["area"], found["group"], found["serial"]
        is_issued = area not in ("000", "666") and area < "900" and group != "00"
        if not is_issued or serial == "0000":
            continue
        words = before(run.text, found.start())
        if names_ssn(words) or (found["sign"] == "-" and not names_other(words)):
            yield _sighting(run, found, PiiKind.SSN)


def cards(run: Run) -> Iterator[Sighting]:
    """Yield the numbers of payment cards."""
    for found in _CARD.finditer(run.text, run.body):
        if _is_card(found[0], before(run.text, found.start())):
            yield _sighting(run, found, PiiKind.CREDIT_CARD)


def residents(run: Run) -> Iterator[Sighting]:
    """Yield Korean resident registration numbers."""
    for found in _RRN.finditer(run.text, run.body):
        digits = only_digits(found[0])
        born = _birth(digits)
        if born is None:
            continue
        is_drawn = born[:2] >= LOTS_FROM
        if found["sign"] if is_drawn else _resident_sum(digits):
            yield _sighting(run, found, PiiKind.RRN)


def _sighting(run: Run, found: re.Match[str], kind: PiiKind) -> Sighting:
    return Sighting(run.offset + found.start(), run.offset + found.end(), kind)


def _is_card(number: str, words: str) -> bool:
    digits = only_digits(number)
    is_maestro = _is_of(_MAESTRO, digits)
    is_issued = is_maestro or _is_of(_ISSUERS, digits)
    if not (is_issued and _luhn(digits)) or _IBAN.search(words):
        return False
    if number != digits or names_card(words):
        return True
    return not (is_maestro or names_other(words))


def _is_of(issuers: _Issuers, digits: str) -> bool:
    return any(
        low <= int(digits[: len(str(low))]) <= high and len(digits) in lengths
        for low, high, lengths in issuers
    )


def _luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B."""
    if len(set(digits)) == 1:
        return False
    doubled = (int(sign) * 2 for sign in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(two - 9 * (two > 9) for two in doubled)) % 10 == 0


def _birth(digits: str) -> tuple[int, int, int] | None:
    """Return the day of birth in a resident number; None where there was no such day."""
    century = {"1": 1900, "2": 1900, "5": 1900, "6": 1900}.get(digits[6], 2000)
    year, month, day = century + int(digits[:2]), int(digits[2:4]), int(digits[4:6])
    if not 1 <= month <= 12 or year > LATEST_BIRTH_YEAR:
        return None
    return (year, month, day) if 1 <= day <= monthrange(year, month)[1] else None


def _resident_sum(digits: str) -> bool:
    weighed = sum(int(sign) * weight for sign, weight in zip(digits, _WEIGHTS, strict=False))
    # Foreigners' numbers have had a sum of their own, two more.
    more = 2 if digits[6] in "5678" else 0
    return ((11 - weighed % 11) % 10 + more) % 10 == int(digits[12])


_SSN = re.compile(
    rf"{APART}(?P<area>\d{{3}})(?P<sign>[- ]?)(?P<group>\d\d)(?P=sign)(?P<serial>\d{{4}}){END}"
)
_CARD = re.compile(
    rf"{START}(?:\d{{13,19}}|\d{{4}}(?P<fours>[- .])\d{{4}}(?P=fours)\d{{4}}(?P=fours)\d{{4}}"
    rf"(?:(?P=fours)\d{{3}})?|3\d{{3}}(?P<others>[- .])\d{{6}}(?P=others)\d{{4,5}}){END}"
)
_IBAN = re.compile(r"\b[A-Z]{2}\d\d ?\Z")
_RRN = re.compile(rf"{START}\d{{6}}(?P<sign> ?-? ?)[1-8]\d{{6}}{END}")
_WEIGHTS = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)

# First digits, from and to, and the lengths that the issuer uses: Visa, Mastercard, American
# Express, Diners, Discover, JCB, UnionPay; and those of Korean banks' own cards.
_ISSUERS: _Issuers = (
    (4, 4, (13, 16, 19)),
    (51, 55, (16,)),
    (2221, 2720, (16,)),
    (34, 34, (15,)),
    (37, 37, (15,)),
    (300, 305, (14,)),
    (36, 36, (14,)),
    (38, 39, (14,)),
    (6011, 6011, (16, 19)),
    (644, 659, (16, 19)),
    (3528, 3589, (16,)),
    (62, 62, (16, 19)),
    (9410, 9490, (16,)),
)
# Rare cards with many first digits: one in ten numbers of pictures and articles has the sum.
_MAESTRO: _Issuers = (
    (50, 50, (16, 18, 19)),
    (56, 58, (16, 18, 19)),
    (67, 67, (16, 18, 19)),
)
