"""Fields that stand on their page: what a model has made up is left out (ANA-17).

A text counts where the page holds its words in their order, whatever case, white space and
markdown lie between. An amount counts where its figures stand on the page.
"""

from __future__ import annotations

import re
from dataclasses import replace

from geomi.model.analysis import Faq, Fields, Money, Policy, Product

_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")


def grounded(fields: Fields, text: str) -> Fields:
    """Return fields without what their page does not say."""
    page = _Page(text)
    match fields.data:
        case Product():
            return replace(fields, data=_product(fields.data, page))
        case Faq():
            items = tuple(one for one in fields.data.items if page.says(one.question))
            return replace(fields, data=Faq(items))
        case Policy():
            return replace(fields, data=_policy(fields.data, page))
        case _:
            return fields


class _Page:
    """The words of a page, one blank between two."""

    def __init__(self, text: str) -> None:
        self._words = f" {_folded(text)} "
        self._figures = frozenset(_DIGITS.findall(text.replace(",", "").replace(".", "")))

    def says(self, text: str) -> bool:
        words = _folded(text)
        return bool(words) and f" {words} " in self._words

    def kept(self, text: str | None) -> str | None:
        return text if text is not None and self.says(text) else None

    def amount(self, money: Money | None) -> Money | None:
        """Keep an amount whose figures stand here, with or without its cents."""
        if money is None:
            return None
        whole, cents = f"{money.amount:.2f}".split(".")
        wanted = {whole + cents} | ({whole} if cents == "00" else {whole + cents.rstrip("0")})
        return money if wanted & self._figures else None


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _product(product: Product, page: _Page) -> Product:
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
        specifications=tuple((key, value) for key, value in pairs if page.says(value)),
    )


def _policy(policy: Policy, page: _Page) -> Policy:
    return replace(
        policy,
        title=page.kept(policy.title),
        sections=tuple(one for one in policy.sections if page.says(one.heading)),
    )
