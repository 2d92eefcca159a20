"""Read the structured data of a page, JSON-LD and microdata, as types and flat pairs (META-01).

An object becomes pairs named after its type and the path to the value: `ld:Product.offers.price`.
From a list of objects the first is taken, from a list of values all. Long texts are left out,
because the page has them. Everything is bounded, and broken JSON-LD is ignored.

Products and questions of the JSON-LD are also kept whole, as JSON (ANA-14): their properties and
questions are lists, of which flat pairs would keep only the first object. Parts that are too deep,
too long or too many are cut. A page cannot make its record larger than `MAX_THINGS` ×
`MAX_THING_CHARS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from geomi.extract.dom import Document, Element

MAX_BLOCKS = 50
MAX_BLOCK_CHARS = 256 * 1024
MAX_NODES = 200
MAX_DEPTH = 4
MAX_PAIRS = 40
MAX_PAIR_CHARS = 300  # a longer value is text, which the page has
MAX_KEY_CHARS = 100
MAX_TYPES = 20
MAX_ITEMS = 10  # of microdata: each is looked through from its beginning to its end
MAX_PROPERTIES = 500
MAX_AUTHORS = 10
# What a page's own facts are read from.
_FACTS = ("headline", "description", "datePublished", "dateModified", "author")
_ARTICLE_SIGNS = ("datePublished", "headline")
_SCHEMA = "schema.org/"
_PEOPLE = (".author", ".creator")  # who may be an organisation
_MAKERS = frozenset(("author", "creator", "editor", "contributor"))
_ITEM_NAMES = ("Person.name", ".author", ".creator")
MAX_PEOPLE = 50
# Looking for `itemscope` everywhere is a walk over the page; these are in the index of tags, and a
# page with microdata has one of them.
_ITEM_SIGNS = (
    "meta[itemprop]", "time[itemprop]", "html[itemscope]", "body[itemscope]",
    "article[itemscope]", "main[itemscope]",
)  # fmt: skip
Pairs = dict[str, str]
MAX_THINGS = 4
MAX_THING_CHARS = 24_000  # of the texts in one; fifty questions with answers of two paragraphs
MAX_TEXT_CHARS = 2000
MAX_THING_KEY_CHARS = 100
MAX_FIELDS = 60
MAX_LIST = 60
MAX_THING_DEPTH = 6
_WANTED = frozenset(("Product", "ProductGroup", "FAQPage", "QAPage"))


@dataclass(frozen=True, slots=True)
class Structured:
    """What structured data says: which kinds of things, their values, and the article's facts.

    Args:
        people: the names of persons, and of makers of something.
    """

    types: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    facts: Pairs
    things: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


def read_structured(document: Document) -> Structured:
    """Read the JSON-LD of a page, and its microdata if there is no JSON-LD."""
    types: dict[str, None] = {}
    pairs: Pairs = {}
    facts: Pairs = {}
    things: list[str] = []
    people: dict[str, None] = {}
    for block in document.select('script[type="application/ld+json" i]')[:MAX_BLOCKS]:
        for node in _nodes(block.text):
            _add_facts(facts, node)
            kind = _type(node.get("@type"))
            types.setdefault(kind)
            _flatten(pairs, f"ld:{kind or 'Thing'}", node, 0)
            _add_people(people, node, 0)
            if len(things) < MAX_THINGS and is_wanted(_types(node.get("@type"))):
                things.append(keep_whole(node))
    if not types and any(document.select_one(sign) is not None for sign in _ITEM_SIGNS):
        _add_items(document, types, pairs)
        people |= dict.fromkeys(value for key, value in pairs.items() if key.endswith(_ITEM_NAMES))
    types.pop("", None)
    return Structured(
        tuple(types)[:MAX_TYPES],
        tuple(pairs.items())[:MAX_PAIRS],
        facts,
        tuple(things),
        tuple(people),
    )


def _nodes(block: str) -> Iterator[dict[str, object]]:
    """Walk the objects of one JSON-LD block: itself, a list of them, or those in `@graph`."""
    if len(block) > MAX_BLOCK_CHARS:
        return
    try:
        waiting: list[object] = [orjson.loads(block)]
    except orjson.JSONDecodeError:
        return
    for _ in range(MAX_NODES):
        if not waiting:
            return
        match waiting.pop(0):
            case list() as several:
                waiting.extend(several[:MAX_NODES])
            case dict() as node:
                if "@type" in node or "@graph" not in node:
                    yield node
                waiting.append(node.get("@graph"))


def _add_facts(facts: Pairs, node: dict[str, object]) -> None:
    """Take headline, author, dates and description of the first node that says them."""
    if any(sign in node for sign in _ARTICLE_SIGNS):
        for key in _FACTS:
            if value := _words(node.get(key)):
                facts.setdefault(key, value)


def _add_people(people: dict[str, None], node: dict[str, object], depth: int) -> None:
    """Take the names of persons, and of makers of something."""
    for key, value in node.items():
        if len(people) >= MAX_PEOPLE:
            return
        for part in value[:MAX_PEOPLE] if isinstance(value, list) else (value,):
            if isinstance(part, dict) and depth < MAX_DEPTH:
                _add_people(people, part, depth + 1)
            if key in _MAKERS or (key == "name" and "Person" in _types(node.get("@type"))):
                people.setdefault(_words(part)[:MAX_PAIR_CHARS])
    people.pop("", None)


def _flatten(pairs: Pairs, path: str, node: dict[str, object], depth: int) -> None:
    for key, value in node.items():
        if len(pairs) >= MAX_PAIRS:
            return
        if key[:1] == "@" and not (key == "@type" and path.endswith(_PEOPLE)):
            continue
        name = f"{path}.{key}"[:MAX_KEY_CHARS]
        if isinstance(value, list) and value and isinstance(value[0], dict):
            value = value[0]
        if isinstance(value, dict):
            if depth < MAX_DEPTH:
                _flatten(pairs, name, value, depth + 1)
        elif 0 < len(words := _values(value)) <= MAX_PAIR_CHARS:
            pairs.setdefault(name, words)


def _values(value: object) -> str:
    """Write a value, or several, as text."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return " ".join(value[: 2 * MAX_PAIR_CHARS].split())
        case list():
            plain = (v for v in value[:MAX_AUTHORS] if not isinstance(v, list))
            return ", ".join(filter(None, map(_values, plain)))
    return ""


def _words(value: object) -> str:
    """Return a value as words: a string, a thing's name, or those of several."""
    match value:
        case str():
            return " ".join(value[: 4 * MAX_PAIR_CHARS].split())
        case {"name": str() as name}:
            return _words(name)
        case list():
            names = (_words(v) for v in value[:MAX_AUTHORS] if not isinstance(v, list))
            return ", ".join(dict.fromkeys(filter(None, names)))
    return ""


def _type(value: object) -> str:
    return next(iter(_types(value)), "")


def _types(value: object) -> tuple[str, ...]:
    several = value[:MAX_TYPES] if isinstance(value, list) else [value]
    return tuple(_short(name) for name in several if isinstance(name, str))


def _short(name: str) -> str:
    name = name.strip().rstrip("/#")
    return name.rpartition(_SCHEMA)[2].rpartition(":")[2][:MAX_KEY_CHARS]


def _add_items(document: Document, types: dict[str, None], pairs: Pairs) -> None:
    """Read microdata: `itemscope` is a thing, `itemprop` one of its values."""
    for item in document.select("[itemscope]")[:MAX_ITEMS]:
        if item.attr("itemprop") is not None:
            continue  # a part of another thing, which is read with it
        kind = _short((item.attr("itemtype") or "").split(" ")[0])
        types.setdefault(kind)
        for part in item.select("[itemprop]")[:MAX_PROPERTIES]:
            if len(pairs) >= MAX_PAIRS:
                return
            name = f"item:{kind or 'Thing'}.{part.attr('itemprop')}"[:MAX_KEY_CHARS]
            if part.attr("itemscope") is None and (value := _shown(part)):
                pairs.setdefault(name, value)


def _shown(part: Element) -> str:
    """Return a property's value: where the machine reads it, else what the page shows."""
    for name in ("content", "datetime", "href", "src"):
        if (value := part.attr(name)) is not None:
            break
    else:
        value = part.text
    value = " ".join(value[: 2 * MAX_PAIR_CHARS].split())
    return value if len(value) <= MAX_PAIR_CHARS else ""


def is_wanted(kinds: tuple[str, ...]) -> bool:
    """Return whether an object of these types is kept whole."""
    return not _WANTED.isdisjoint(kinds)


def keep_whole(node: dict[str, object]) -> str:
    """Return an object as JSON, cut where it is out of bounds."""
    return orjson.dumps(_bounded(node, _Room(MAX_THING_CHARS), 0)).decode()


@dataclass(slots=True)
class _Room:
    """How many characters there still is room for."""

    chars: int

    def take(self, text: str, limit: int) -> str:
        taken = text[: min(limit, self.chars)]
        self.chars -= len(taken)
        return taken


def _bounded(value: object, room: _Room, depth: int) -> object:
    match value:
        case str():
            return room.take(value, MAX_TEXT_CHARS)
        case dict() if depth < MAX_THING_DEPTH:
            return {
                room.take(key, MAX_THING_KEY_CHARS): _bounded(part, room, depth + 1)
                for key, part in list(value.items())[:MAX_FIELDS]
                if room.chars > 0
            }
        case list() if depth < MAX_THING_DEPTH:
            return [_bounded(part, room, depth + 1) for part in value[:MAX_LIST] if room.chars > 0]
        case bool() | int() | float():
            return value
    return None
