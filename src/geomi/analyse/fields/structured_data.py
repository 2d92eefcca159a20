"""Read a page's structured data, in whichever format it was written.

JSON-LD objects that were kept whole (`Article.things`) come first. A page without them may have
the same data in flat pairs, from microdata or OpenGraph. Strangers wrote the values: markup in them
is removed, and a value of the wrong type is None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape

import orjson

from geomi.model.page import Article

MAX_TEXT_CHARS = 4000
MAX_LIST = 60
STRUCTURED = ("ld:", "item:")  # what keys of JSON-LD and of microdata begin with
WORKS = (
    "Article", "NewsArticle", "BlogPosting", "TechArticle", "ScholarlyArticle", "Recipe", "HowTo",
    "CreativeWork", "WebPage", "WebSite",
)  # fmt: skip

Object = Mapping[str, object]
_TAG = re.compile(r"<[^<>]{0,500}>")


def things_of(article: Article, *kinds: str) -> Iterator[Object]:
    """Yield the objects of some types that were kept whole."""
    for thing in article.things:
        try:
            node = orjson.loads(thing)
        except orjson.JSONDecodeError:
            continue
        if isinstance(node, dict) and _types(node).intersection(kinds):
            yield node


def pair(article: Article, *names: str) -> str | None:
    """Return the first of some values, as JSON-LD or microdata: `Product.price`, `og:image`."""
    said = dict(article.metadata)
    for name in names:
        for prefix in ("", *STRUCTURED):
            if value := said.get(prefix + name):
                return value
    return None


def of_work(article: Article, *fields: str) -> str | None:
    """Return the first of some fields of what the page itself is, not of a picture on it."""
    return pair(article, *(f"{work}.{field}" for field in fields for work in WORKS))


def text_in(node: Object, *keys: str) -> str | None:
    """Return the first of some fields that has a text, or a thing with a name."""
    for key in keys:
        if (text := text_from(node.get(key))) is not None:
            return text
    return None


def text_from(value: object) -> str | None:
    """Return a value as one line of plain text: a text, a number, a thing's name, the first of."""
    match value:
        case bool():
            return None
        case str():
            plain = unescape(_TAG.sub(" ", value[:MAX_TEXT_CHARS]))
            return " ".join(plain.split()) or None
        case int() | float():
            return str(value)
        case {"name": str() as name}:
            return text_from(name)
        case {"value": str() | int() | float() as inner}:
            return text_from(inner)
        case [first, *_] if not isinstance(first, list):
            return text_from(first)
    return None


def objects_in(value: object) -> list[Object]:
    """Return a value as a list of objects, whether it is one or several."""
    several = value[:MAX_LIST] if isinstance(value, list) else [value]
    return [node for node in several if isinstance(node, dict)]


def _types(node: Object) -> set[str]:
    said = node.get("@type")
    several = said if isinstance(said, list) else [said]
    return {str(name).rpartition("/")[2] for name in several}
