"""Remove from fields everything that is not on their page: a model may have invented it (ANA-17).

- A text counts if the page has its words in their order; case, white space and markdown do not
  matter. In a pair both parts must count: a question and its answer, a name and its value.
- An amount counts if the page has that number. A currency counts if the page has it beside the
  number or elsewhere. If the page has another currency, the page's own replaces it.
- A date counts if the page has it in some form, a picture if the page shows it. A product is in
  stock, or not, if the page says so and not the opposite.

Each removal lowers the confidence in the rest. If nothing is left, the page has no fields.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import fields as names_of
from dataclasses import replace

from geomi.analyse.fields.by_type import said_stock
from geomi.analyse.language_model import visible
from geomi.analyse.page_text import shown
from geomi.analyse.prices_and_dates import find_dates, find_prices, read_amount
from geomi.model.index.analysis import (
    ArticleFields,
    ExtractedFields,
    FaqFields,
    Money,
    PolicyFields,
    ProductFields,
)

DIGITS = 3

# Particles follow a Korean word without a blank, and Chinese and Japanese have none: a word of one
# script ends where another begins, and each ideograph is one.
_WORD = re.compile(r"[가-힣]+|[\u3040-\u30ff\u3400-\u9fff]|[^\W_가-힣\u3040-\u30ff\u3400-\u9fff]+")
_PLAIN = re.compile(r"\d+(?:[.,]\d+)*")
_SPACED = re.compile(r"\d{1,3}(?:[ ']\d{3}){1,4}(?:[.,]\d{1,2})?(?!\d)")
_PICTURE = re.compile(r"!\[[^\[\]\n]{0,1000}\]\(<?([^()\s<>]{1,4000})")

Data = ProductFields | FaqFields | PolicyFields | ArticleFields


def grounded(fields: ExtractedFields, text: str) -> ExtractedFields | None:
    """Return fields without what their page does not say; None where that is all of them."""
    data = _standing(fields.data, _Page(text))
    told, left = len(_filled(fields.data)), len(_filled(data))
    if not left:
        return None
    return replace(fields, data=data, confidence=round(fields.confidence * left / told, DIGITS))


def joined(known: ExtractedFields, told: ExtractedFields) -> ExtractedFields:
    """Fill what is missing in fields from others of the same kind; what was known stays."""
    if type(known.data) is not type(told.data):
        return told
    held = {name: value for name, value in _values(known.data) if value not in (None, ())}
    data = replace(told.data, **held)  # type: ignore[arg-type]  # fields of the same type
    if data == known.data:
        return known
    return replace(told, data=data, confidence=max(known.confidence, told.confidence))


def _standing(data: Data, page: _Page) -> Data:
    match data:
        case ProductFields():
            return _product(data, page)
        case FaqFields():
            items = data.items
            return FaqFields(
                tuple(q for q in items if page.says(q.question) and page.says(q.answer))
            )
        case PolicyFields():
            return _policy(data, page)
        case ArticleFields():
            return data


def _product(product: ProductFields, page: _Page) -> ProductFields:
    pairs = product.specifications
    return replace(
        product,
        name=page.kept(product.name),
        description=page.kept(product.description),
        price=page.amount(product.price),
        sale_price=page.amount(product.sale_price),
        sku=page.kept(product.sku),
        brand=page.kept(product.brand),
        category=page.kept(product.category),
        in_stock=product.in_stock if page.stock is product.in_stock else None,
        specifications=tuple((k, v) for k, v in pairs if page.says(k) and page.says(v)),
        images=tuple(image for image in product.images if image in page.pictures),
    )


def _policy(policy: PolicyFields, page: _Page) -> PolicyFields:
    meant = [date.iso for date in find_dates(policy.effective_date or "")]
    return PolicyFields(
        title=page.kept(policy.title),
        effective_date=next((iso for iso in meant if iso in page.dates), None),
        sections=tuple(
            one
            for one in policy.sections
            if page.says(one.text) and (not one.heading or page.says(one.heading))
        ),
    )


class _Page:
    """What a page says, in the ways in which it is asked."""

    def __init__(self, text: str) -> None:
        seen = _shown(text)
        self._words = f" {_folded(seen)} "
        written = (*_SPACED.findall(seen), *_PLAIN.findall(_SPACED.sub(" ", seen)))
        self._numbers = frozenset(map(read_amount, written)) - {None}
        self._currencies: defaultdict[float, set[str | None]] = defaultdict(set)
        for price in find_prices(seen):
            self._currencies[price.money.amount].add(price.money.currency)
        self.pictures = frozenset(_PICTURE.findall(text))
        self.dates = frozenset(date.iso for date in find_dates(seen))
        self.stock = said_stock(seen)

    def says(self, text: str) -> bool:
        words = _folded(_shown(text))
        end = "" if "가" <= words[-1:] <= "힣" else " "  # a particle may follow
        return bool(words) and f" {words}{end}" in self._words

    def kept(self, text: str | None) -> str | None:
        return text if text is not None and self.says(text) else None

    def amount(self, money: Money | None) -> Money | None:
        """Keep an amount that is written here, in the currency that is written here."""
        if money is None or not {money.amount} & (self._numbers | self._currencies.keys()):
            return None
        written = self._currencies.get(money.amount, set()) - {None}
        code = money.currency
        if code is not None and (code in written or self.says(code)):
            return money
        return Money(money.amount, next(iter(written)) if len(written) == 1 else None)


def _shown(text: str) -> str:
    """Return a text as a reader sees it, each letter in its one form."""
    lines = visible(unicodedata.normalize("NFKC", text)).split("\n")
    return "\n".join(map(shown, lines))


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _values(data: Data) -> list[tuple[str, object]]:
    return [(one.name, getattr(data, one.name)) for one in names_of(data)]


def _filled(data: Data) -> list[object]:
    """Return every value that data has: each part of a list is one."""
    several = (value if isinstance(value, tuple) else (value,) for _, value in _values(data))
    return [part for parts in several for part in parts if part is not None]
