"""Find prices and dates in a text, as written and as values (ANA-17).

A price is an amount and its ISO 4217 currency. Several currencies share the signs `$`, `¥` and
`kr`: `$` means US dollars unless the page says otherwise, `¥` and `kr` mean an unknown currency.
Amounts may be written in both ways: `1,299.00` and `1.299,00`.

Dates are read in English and Korean and returned as ISO 8601. An ambiguous date (`03/04/2024`) is
left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import chain, islice
from typing import NamedTuple

from geomi.model.index.analysis import Money

MAX_AMOUNT = 1e12
MAX_PRICES = 50
_DECIMALS = 2
_GROUP = 3
# ISO 4217, the currencies in use.
CODES = frozenset(
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN "
    "BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL "
    "GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF "
    "KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN "
    "MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD "
    "SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH "
    "UGX USD UYU UZS VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG".split()
)
# Those that are looked for in a text; the others are rare there, and `TOP 10` and `ALL 50` are not.
_WRITTEN = (
    "AED ARS AUD BDT BGN BHD BRL CAD CHF CLP CNY CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY "
    "KES KRW KWD KZT LKR MXN MYR NGN NOK NZD OMR PHP PKR PLN QAR RSD RUB SAR SEK SGD THB TND TWD "
    "UAH USD UYU VND ZAR".split()
)
_SIGNS = {
    "US$": "USD", "C$": "CAD", "CA$": "CAD", "A$": "AUD", "AU$": "AUD", "NZ$": "NZD", "HK$": "HKD",
    "S$": "SGD", "R$": "BRL", "$": "USD", "€": "EUR", "£": "GBP", "₩": "KRW", "₹": "INR",
    "₽": "RUB", "₺": "TRY", "₫": "VND", "₪": "ILS", "฿": "THB", "zł": "PLN", "원": "KRW",
    "円": "JPY", "元": "CNY", "¥": None, "kr": None,
}  # fmt: skip
_BEFORE = r"(?:(?:US|CA?|AU?|NZ|HK|S|R)?\$|[€£₩₹₽₺₫₪฿¥])"
_AFTER = r"(?:[€£₩₹₽₺₫₪฿]|zł\b|원(?!칙|래|인|본|하|리|가|형|료|문|서)|円|元|kr\b)"
# Groups of thousands are held apart by a comma, a stop, an apostrophe or a space, which may be one
# that no line ends at (U+00A0, U+202F).
_AMOUNT = (
    r"\d{1,3}(?:[,.' \u00a0\u202f]\d{3}){1,4}(?:[.,]\d{1,2})?(?!\d)"
    r"|\d{1,10}(?:[.,]\d{1,2})?(?!\d)"
)
_SPACES = str.maketrans("", "", " \u00a0\u202f'")
_NUMBER = re.compile(r"\d[\d.,]{0,24}")
_DECIMAL = re.compile(r"\d{1,15}(?:\.\d{1,10})?")
_CODE = "|".join(_WRITTEN)
_PRICE = re.compile(
    rf"(?P<sign>{_BEFORE}|\b(?:{_CODE}))\s?(?P<a>{_AMOUNT})"
    rf"|(?<![\d.,])(?P<b>{_AMOUNT})\s?(?P<end>{_AFTER}|(?:{_CODE})\b)"
)
_ANY_SIGN = re.compile(r"[$€£₩₹₽₺₫₪฿¥원円元]|\d ?(?:zł|kr)\b|\b[A-Z]{3}\b")
MAX_DATES = 50
_MONTHS = {
    name: number
    for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}
_MONTH = (
    r"(?P<{0}>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_YEAR = r"(?P<{0}>(?:19|20)\d\d)"
_DATE = re.compile(
    rf"\b{_MONTH.format('m1')} (?P<d1>\d{{1,2}})(?:st|nd|rd|th)?,? {_YEAR.format('y1')}\b"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)? {_MONTH.format('m2')},? {_YEAR.format('y2')}\b"
    rf"|(?<!\d){_YEAR.format('y3')}-(?P<m3>\d\d)-(?P<d3>\d\d)(?!\d)"
    rf"|(?<!\d){_YEAR.format('y4')} ?(?:년|\.) ?(?P<m4>\d{{1,2}}) ?(?:월|\.) ?(?P<d4>\d{{1,2}})"
    r"(?: ?일|\.|(?!\d))"
)
_ANY_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class PriceMention:
    """A price as it is written and as it is meant."""

    text: str
    money: Money


def find_prices(text: str) -> Iterator[PriceMention]:
    """Yield the prices of a text in their order."""
    lines = (line for line in text.split("\n") if _ANY_SIGN.search(line))
    for match in islice(chain.from_iterable(map(_PRICE.finditer, lines)), MAX_PRICES):
        sign = match["sign"] or match["end"]
        amount = read_amount(match["a"] or match["b"])
        if amount is not None:
            currency = sign if sign in CODES else _SIGNS.get(sign)
            yield PriceMention(match[0].strip(), Money(amount, currency))


def read_money(amount: object, currency: object) -> Money | None:
    """Read a price as structured data gives it: a number or a text, and a code or a sign."""
    if isinstance(amount, bool) or not isinstance(amount, int | float | str):
        return None
    code, said = currency_code(currency), str(amount).strip()
    if _DECIMAL.fullmatch(said):  # schema.org/price: a stop holds the decimals apart
        value: float | None = float(said)
    elif found := next(find_prices(said), None):
        value, code = found.money.amount, code or found.money.currency
    else:
        value = read_amount(said)
    return Money(value, code) if value is not None and value <= MAX_AMOUNT else None


def currency_code(said: object) -> str | None:
    """Return the ISO 4217 code of what a page says; None where it is none."""
    if not isinstance(said, str):
        return None
    said = said.strip()
    return said.upper() if said.upper() in CODES else _SIGNS.get(said)


def read_amount(digits: str) -> float | None:
    """Read what people write: `1,299.00`, `1.299,00`, `1 299`, `39.5`; None where it is none."""
    compact = digits.strip().translate(_SPACES)
    if not _NUMBER.fullmatch(compact):
        return None
    last = max(compact.rfind(","), compact.rfind("."))
    tail = len(compact) - last - 1
    # Three digits behind the only separator are a group: nothing costs 1.299 dollars.
    is_decimal = last >= 0 and (tail <= _DECIMALS or (tail != _GROUP and compact.count(",") == 0))
    whole = compact[:last] if is_decimal else compact
    digits_only = whole.replace(",", "").replace(".", "")
    value = float(f"{digits_only}.{compact[last + 1 :]}" if is_decimal else digits_only)
    return value if value <= MAX_AMOUNT else None


class DateMention(NamedTuple):
    """A date as it stands in a text, and as it is meant."""

    text: str
    iso: str


def find_dates(text: str) -> Iterator[DateMention]:
    """Yield the whole dates of a text; `03/04/2024` may be two, so it is none."""
    # Few lines name a year, and to look for one costs a tenth of looking for a date.
    lines = (line for line in text.split("\n") if _ANY_YEAR.search(line))
    found_in = chain.from_iterable(map(_DATE.finditer, lines))
    for match in islice(found_in, MAX_DATES):
        form = next(n for n in "1234" if match[f"y{n}"])
        month = match[f"m{form}"]
        number = _MONTHS[month[:3].lower()] if month[0].isalpha() else int(month)
        try:
            found = date(int(match[f"y{form}"]), number, int(match[f"d{form}"]))
        except ValueError:
            continue
        yield DateMention(match[0].strip(), found.isoformat())
