"""What a language model answered about a page, as values of ours.

Everything is checked again, whatever a server promises about forms: types, ranges, lengths. What
does not fit raises `ValueError` with what is wrong, which the model is told once (C-72). Texts are
taken without characters that nobody sees, half ones among them, which no store would take.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from geomi.analyse.money import MAX_AMOUNT
from geomi.analyse.prompts import visible
from geomi.model.index.analysis import (
    Classification,
    Engine,
    ExtractedFields,
    FaqFields,
    FaqItem,
    FieldsModel,
    Flag,
    Money,
    PageQuality,
    PageType,
    PolicyFields,
    PolicySection,
    ProductFields,
)

MAX_TEXT_CHARS = 4000
MAX_DESCRIPTION_CHARS = 500  # ANA-16
MAX_REASONING_CHARS = 300
MAX_ITEMS = 100
BEST = 10.0

T = TypeVar("T")

_CODE = re.compile("[A-Za-z]{3}")


def read_type(told: object, engine: Engine) -> Classification:
    """Read the type of a page; a finer type is not asked for."""
    answer = _object(told, "the answer")
    category = _text(answer, "category", MAX_REASONING_CHARS)
    if category not in set(PageType):
        raise ValueError(f"`category` is `{category}`; it is one of {', '.join(PageType)}")
    return Classification(
        page_type=PageType(category),
        confidence=_number(answer, "confidence", 1.0),
        subtypes=(),
        reasoning=_text(answer, "reasoning", MAX_REASONING_CHARS),
        engine=engine,
    )


def read_quality(told: object, engine: Engine) -> PageQuality:
    """Read how good a page is; a flag that is not raised is down."""
    answer = _object(told, "the answer")
    scores = _object(answer.get("scores"), "scores")
    raised = _items(answer, "flags", _flag)
    return PageQuality(
        overall=_number(answer, "overall", BEST),
        depth=_number(scores, "depth", BEST),
        readability=_number(scores, "readability", BEST),
        relevance=_number(scores, "relevance", BEST),
        originality=_number(scores, "originality", BEST),
        flags=tuple((flag, flag in raised) for flag in Flag),
        engine=engine,
    )


def read_answered_fields(told: object, page_type: PageType, engine: Engine) -> ExtractedFields:
    """Read the fields of a page of a type that has some."""
    answer = _object(told, "the answer")
    confidence = _number(answer, "confidence", 1.0)
    match page_type:
        case PageType.PRODUCT:
            return ExtractedFields(FieldsModel.PRODUCT, _product(answer), confidence, engine)
        case PageType.FAQ:
            items = _items(answer, "items", _question)
            return ExtractedFields(FieldsModel.FAQ, FaqFields(items), confidence, engine)
        case PageType.POLICY:
            return ExtractedFields(FieldsModel.POLICY, _policy(answer), confidence, engine)
        case _:
            raise ValueError(f"pages of type {page_type} have no fields")


def _product(answer: Mapping[str, object]) -> ProductFields:
    specifications = _items(answer, "specifications", _pair)
    return ProductFields(
        name=_maybe(answer, "name"),
        description=_maybe(answer, "description", MAX_DESCRIPTION_CHARS),
        price=_money(answer, "price"),
        sale_price=_money(answer, "salePrice"),
        sku=_maybe(answer, "sku"),
        brand=_maybe(answer, "brand"),
        category=_maybe(answer, "category"),
        in_stock=_truth(answer, "inStock"),
        specifications=specifications,
        images=_items(answer, "images", _plain),
    )


def _policy(answer: Mapping[str, object]) -> PolicyFields:
    return PolicyFields(
        title=_maybe(answer, "title"),
        effective_date=_maybe(answer, "effectiveDate"),
        sections=_items(answer, "sections", _section),
    )


def _question(told: object) -> FaqItem:
    item = _object(told, "an item")
    return FaqItem(_text(item, "question"), _text(item, "answer"))


def _section(told: object) -> PolicySection:
    item = _object(told, "a section")
    return PolicySection(_text(item, "heading"), _text(item, "text"))


def _pair(told: object) -> tuple[str, str]:
    item = _object(told, "a specification")
    return _text(item, "key"), _text(item, "value")


def _flag(told: object) -> Flag:
    if not isinstance(told, str) or told not in set(Flag):
        raise ValueError(f"`{told}` is no flag; flags are {', '.join(Flag)}")
    return Flag(told)


def _plain(told: object) -> str:
    if not isinstance(told, str):
        raise ValueError(f"a text is wanted, not {type(told).__name__}")
    return _cut(told, MAX_TEXT_CHARS)


def _object(told: object, name: str) -> Mapping[str, object]:
    if not isinstance(told, dict):
        raise ValueError(f"{name} is a JSON {type(told).__name__}, not an object")
    return told


def _text(answer: Mapping[str, object], name: str, most: int = MAX_TEXT_CHARS) -> str:
    value = answer.get(name)
    if not isinstance(value, str):
        raise ValueError(f"`{name}` is missing or no text")
    return _cut(value, most)


def _cut(text: str, most: int) -> str:
    """Return what is seen of a text; one that is too long ends with a whole word."""
    text = visible(text).strip()
    is_torn = len(text) > most and not (text[most - 1].isspace() or text[most].isspace())
    return text[:most].rsplit(maxsplit=1)[0] if is_torn else text[:most].rstrip()


def _maybe(answer: Mapping[str, object], name: str, most: int = MAX_TEXT_CHARS) -> str | None:
    return None if answer.get(name) is None else _text(answer, name, most) or None


def _number(answer: Mapping[str, object], name: str, most: float) -> float:
    value = answer.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise ValueError(f"`{name}` is no number from 0 to {most:g}")
    return float(value)


def _truth(answer: Mapping[str, object], name: str) -> bool | None:
    value = answer.get(name)
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"`{name}` is neither true nor false nor null")
    return value


def _money(answer: Mapping[str, object], name: str) -> Money | None:
    if answer.get(name) is None:
        return None
    told = _object(answer[name], name)
    amount = told.get("amount")
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        raise ValueError(f"`{name}.amount` is no number")
    if not 0 <= amount <= MAX_AMOUNT:
        raise ValueError(f"`{name}.amount` is not from 0 to {MAX_AMOUNT:g}")
    currency = _maybe(told, "currency")
    if currency is not None and not _CODE.fullmatch(currency):
        raise ValueError(f"`{name}.currency` is `{currency}`, no ISO 4217 code")  # ANA-17
    return Money(float(amount), currency.upper() if currency else None)


def _items(answer: Mapping[str, object], name: str, read: Callable[[object], T]) -> tuple[T, ...]:
    values = answer.get(name)
    if not isinstance(values, list):
        raise ValueError(f"`{name}` is missing or no list")
    return tuple(read(value) for value in values[:MAX_ITEMS])
