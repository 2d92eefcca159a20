"""Read the fields of a page by its type: product, questions, policy, article (ANA-14…ANA-17).

Products, FAQs and policies have fields, and articles have them if the job asks for them (C-64).
Structured data comes first if the page has it. Everything else comes from headings and the text
below them, word for word.

A product (ANA-16) has only facts that are on the page (ANA-17): a missing field is None, and so is
an unknown currency. A price comes from the text only if the text has exactly one before other
offers begin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from geomi.analyse.classify import questions_of
from geomi.analyse.fields.structured_data import (
    Object,
    objects_in,
    of_work,
    pair,
    text_from,
    text_in,
    things_of,
)
from geomi.analyse.page_text import PageText, PassageForm, Passages, TextPassage, cut, own_title
from geomi.analyse.prices_and_dates import currency_code, find_dates, find_prices, read_money
from geomi.model.index.analysis import (
    ArticleFields,
    Engine,
    ExtractedFields,
    FaqFields,
    FaqItem,
    FieldsModel,
    Money,
    PageType,
    PolicyFields,
    PolicySection,
    ProductFields,
)
from geomi.model.page import Article
from geomi.url.parse import absolute

ENGINE = Engine("rules", "fields-1")
MAX_ITEMS = 100
MAX_ANSWER_CHARS = 2000
MAX_SECTIONS = 100
MAX_SECTION_CHARS = 4000
MAX_OPENING_PASSAGES = 12
MAX_DATED_CHARS = 300  # of a line that says since when a policy holds
_DATED = re.compile(
    r"\b(?:effective|last (?:updated|modified|revised)|updated|revised|in force)\b"
    r"|시행|최종 ?(?:수정|개정)|개정|적용",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"^(?:Q|질문)\s?\d{0,3}\s?[.:)]\s*|^(?:A|답변?)\s?\d{0,3}\s?[.:)]\s*", re.IGNORECASE
)
_LAST = TextPassage(PassageForm.HEADING, "")  # closes the section before it
MAX_DESCRIPTION_CHARS = 500  # ANA-16
MIN_DESCRIPTION_CHARS = 80  # of a paragraph that may be one
MAX_NAME_CHARS = 300
MAX_FIELD_CHARS = 200
MAX_SPECIFICATIONS = 60
MAX_IMAGES = 20
MAX_PRICE_PASSAGES = 25  # where a product's own price stands
MAX_STOCK_CHARS = 120  # of a line that says whether it can be had
# schema.org/ItemAvailability; what can be ordered but not sent is not in stock.
_IN_STOCK = frozenset("instock limitedavailability onlineonly instoreonly".split())
_NOT_IN_STOCK = frozenset("outofstock soldout discontinued preorder presale backorder".split())
_FILLING = re.compile(r"[\s_-]")
_SAID_STOCK = re.compile(r"(?:^|\W)(in stock|재고 ?있음|구매 ?가능)(?:\W|$)", re.IGNORECASE)
_SAID_GONE = re.compile(
    r"\b(out of stock|sold out|currently unavailable)\b|품절|재고 ?없음", re.IGNORECASE
)
_LABELLED = re.compile(r"([^:：|]{2,40})[:：]\s+(.{1,200})")
_PROPERTIES = ("color", "material", "size", "weight", "width", "height", "depth", "model")
_LIST_PRICES = ("ListPrice", "StrikethroughPrice")


def read_fields(
    url: str, article: Article, reading: PageText, page_type: PageType, *, of_articles: bool
) -> ExtractedFields | None:
    """Return the fields of a page of a type that has some."""
    match page_type:
        case PageType.PRODUCT:
            product, confidence = read_product(url, article, reading)
            return ExtractedFields(FieldsModel.PRODUCT, product, confidence, ENGINE)
        case PageType.FAQ:
            return _faq(article, reading.passages)
        case PageType.POLICY:
            return _policy(article, reading)
        case PageType.ARTICLE if of_articles:
            return ExtractedFields(FieldsModel.ARTICLE, _story(article, reading), 0.8, ENGINE)
    return None


def _faq(article: Article, passages: Passages) -> ExtractedFields | None:
    shown = tuple(_shown_questions(passages))
    told = tuple(_told_questions(article))
    # What the page shows is what a reader asks for; what it tells may be longer or older.
    items = told if len(told) > len(shown) else shown
    if not items:
        return None
    agree = {q.question for q in shown} & {q.question for q in told}
    return ExtractedFields(
        FieldsModel.FAQ, FaqFields(items[:MAX_ITEMS]), 0.95 if agree else 0.8, ENGINE
    )


def _shown_questions(passages: Passages) -> Iterator[FaqItem]:
    asked = questions_of(passages)
    for number, start in enumerate(asked):
        end = asked[number + 1] if number + 1 < len(asked) else len(passages)
        question, below = passages[start], passages[start + 1 : end]
        answer = []
        for passage in below:
            if passage.form is PassageForm.HEADING and passage.level <= (question.level or 6):
                break  # the next part of the page
            answer.append(passage.text)
        if said := "\n".join(answer)[:MAX_ANSWER_CHARS]:
            yield FaqItem(_NUMBERED.sub("", question.text), _NUMBERED.sub("", said))


def _told_questions(article: Article) -> Iterator[FaqItem]:
    for page in things_of(article, "FAQPage", "QAPage"):
        for item in objects_in(page.get("mainEntity")):
            given = item.get("acceptedAnswer") or item.get("suggestedAnswer")
            question = text_in(item, "name", "text")
            answer = next((text_in(node, "text") for node in objects_in(given)), None)
            if question and answer:
                yield FaqItem(question, answer[:MAX_ANSWER_CHARS])


def _policy(article: Article, reading: PageText) -> ExtractedFields | None:
    sections = tuple(islice(_sections(reading.passages), MAX_SECTIONS))
    if not sections:
        return None
    dated = _effective(reading.passages)
    policy = PolicyFields(_name(article, reading), dated, sections)
    return ExtractedFields(
        FieldsModel.POLICY, policy, 0.9 if dated and len(sections) > 2 else 0.7, ENGINE
    )


def _sections(passages: Passages) -> Iterator[PolicySection]:
    """Yield each heading with what stands below it; what stands before the first has none."""
    heading, text = "", list[str]()
    for passage in (*passages, _LAST):
        if passage.form is not PassageForm.HEADING:
            text.append(passage.text)
            continue
        if text:
            yield PolicySection(heading, "\n".join(text)[:MAX_SECTION_CHARS])
        heading, text = passage.text, []


def _effective(passages: Passages) -> str | None:
    """Return the date since when a policy holds: one that is said to be it, at either end."""
    ends = (*passages[:MAX_OPENING_PASSAGES], *passages[-MAX_OPENING_PASSAGES:])
    dated = (
        found.iso
        for passage in ends
        if len(passage.text) <= MAX_DATED_CHARS and _DATED.search(passage.text)
        for found in find_dates(passage.text)
    )
    return next(dated, None)


def _story(article: Article, reading: PageText) -> ArticleFields:
    return ArticleFields(
        headline=_name(article, reading),
        author=article.author or None,
        publisher=of_work(article, "publisher.name") or pair(article, "og:site_name"),
        published_at=article.published_at or None,
        modified_at=article.modified_at or None,
        section=of_work(article, "articleSection") or pair(article, "article:section"),
        image=pair(article, "og:image"),
    )


def _name(article: Article, reading: PageText) -> str | None:
    return reading.heading or own_title(article.title) or None


def read_product(url: str, article: Article, reading: PageText) -> tuple[ProductFields, float]:
    """Return a product's fields, and how sure they are."""
    passages = reading.passages
    node = next(things_of(article, "Product", "ProductGroup"), {})
    offer = _offer(node)
    price, sale_price = _prices(node, offer, article, passages)
    named = text_in(node, "name") or pair(article, "Product.name")
    product = ProductFields(
        name=_cut(named or reading.heading, MAX_NAME_CHARS),
        description=_description(node, article, passages),
        price=price,
        sale_price=sale_price,
        sku=_cut(text_in(node, "sku", "mpn") or pair(article, "Product.sku", "Product.mpn")),
        brand=_cut(text_in(node, "brand", "manufacturer") or pair(article, "Product.brand")),
        category=_cut(text_in(node, "category") or pair(article, "Product.category")),
        in_stock=_stock(offer, article, passages),
        specifications=_specifications(node, passages),
        images=_images(node, article, url),
    )
    found = (product.name, product.price, product.description, product.in_stock)
    share = sum(field is not None for field in found) / len(found)
    return product, round(0.3 + 0.35 * share + 0.3 * (named is not None), 2)


def said_stock(text: str) -> bool | None:
    """Return whether a text says that something can be had; None where it says neither or both."""
    has, has_not = _SAID_STOCK.search(text), _SAID_GONE.search(text)
    return None if bool(has) == bool(has_not) else has is not None


def _offer(node: Object) -> Object:
    """Return the first offer that says a price, else the first one."""
    offers = [
        part
        for holder in (node, *objects_in(node.get("hasVariant")))
        for offer in objects_in(holder.get("offers"))
        for part in (offer, *objects_in(offer.get("offers")))
    ]
    named = ("price", "lowPrice", "priceSpecification")
    priced = (part for part in offers if _one(part, *named) is not None)
    return next(priced, offers[0] if offers else {})


def _prices(
    node: Object, offer: Object, article: Article, passages: Passages
) -> tuple[Money | None, Money | None]:
    """Return the list price and, where a lower one is asked now, that one."""
    said = currency_code(_one(offer, "priceCurrency") or pair(article, "Product.priceCurrency"))
    asked = read_money(_one(offer, "price", "lowPrice"), said)
    listed = None
    for part in objects_in(offer.get("priceSpecification")):
        amount = read_money(part.get("price"), currency_code(part.get("priceCurrency")) or said)
        if str(part.get("priceType")).endswith(_LIST_PRICES):
            listed = amount
        else:
            asked = asked or amount
    if asked is None:
        asked = _other_price(article, said) or (None if node else _shown_price(passages))
    if asked is not None and listed is not None and listed.amount > asked.amount:
        return listed, asked
    return asked, None


def _other_price(article: Article, said: str | None) -> Money | None:
    """Return the price that microdata or OpenGraph name."""
    return read_money(
        pair(article, "Product.price", "product:price:amount", "og:price:amount"),
        said or pair(article, "product:price:currency", "og:price:currency"),
    )


def _shown_price(passages: Passages) -> Money | None:
    """Return the price that a page shows, if it shows one and no other."""
    shown = {price.money for p in passages[:MAX_PRICE_PASSAGES] for price in find_prices(p.text)}
    return shown.pop() if len(shown) == 1 else None


def _description(node: Object, article: Article, passages: Passages) -> str | None:
    said = text_in(node, "description") or pair(article, "Product.description")
    if said is None:
        paragraphs = (p.text for p in passages if p.form is PassageForm.PARAGRAPH)
        long = (text for text in paragraphs if len(text) > MIN_DESCRIPTION_CHARS)
        said = article.description or next(long, None)
    return _cut(said, MAX_DESCRIPTION_CHARS)


def _stock(offer: Object, article: Article, passages: Passages) -> bool | None:
    said = str(_one(offer, "availability") or pair(article, "Product.availability") or "")
    state = _FILLING.sub("", said.rstrip("/").rpartition("/")[2]).lower()
    if state in _IN_STOCK or state in _NOT_IN_STOCK:
        return state in _IN_STOCK
    lines = (p.text for p in passages[:MAX_PRICE_PASSAGES])
    opening = "\n".join(line for line in lines if len(line) <= MAX_STOCK_CHARS)
    return said_stock(opening)


def _specifications(node: Object, passages: Passages) -> tuple[tuple[str, str], ...]:
    """Return properties by name: from structured data, else from tables and labelled items."""
    found: dict[str, str] = {}
    for part in objects_in(node.get("additionalProperty")):
        name, value = text_from(part.get("name")), text_from(part.get("value"))
        if name and value:
            found.setdefault(name[:MAX_FIELD_CHARS], value[:MAX_FIELD_CHARS])
    for key in _PROPERTIES:
        if (value := text_from(node.get(key))) is not None:
            found.setdefault(key, value[:MAX_FIELD_CHARS])
    for passage in passages:
        cells = passage.text.split(" | ")
        if passage.form is PassageForm.ROW and len(cells) == 2 and all(cells):
            found.setdefault(cells[0][:MAX_FIELD_CHARS], cells[1][:MAX_FIELD_CHARS])
        elif passage.form is PassageForm.ITEM and (label := _LABELLED.fullmatch(passage.text)):
            found.setdefault(label[1], label[2])
    return tuple(found.items())[:MAX_SPECIFICATIONS]


def _images(node: Object, article: Article, url: str) -> tuple[str, ...]:
    said = node.get("image")
    several = said[:MAX_IMAGES] if isinstance(said, list) else [said]
    hrefs = [p.get("url") if isinstance(p, dict) else p for p in several]
    found = [href for href in hrefs if isinstance(href, str)]
    if not found and (shown := pair(article, "Product.image", "og:image")):
        found = [shown]
    return tuple(dict.fromkeys(filter(None, absolute(found, url))))


def _one(node: Object, *keys: str) -> object:
    return next((value for key in keys if (value := node.get(key)) not in (None, "", [])), None)


def _cut(text: str | None, max_chars: int = MAX_FIELD_CHARS) -> str | None:
    return cut(text, max_chars) if text else None
