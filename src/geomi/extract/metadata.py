"""What a page says about itself: title, description, canonical, author, dates, robots (META-01).

Each fact has a list of sources in the order they are trusted; the first that says something wins.
JSON-LD is read with bounds, and broken JSON-LD says nothing. The page's own robots directives are
kept as words (ROB-33, C-42); what they mean is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import orjson

from geomi.extract.dom import Document, Element, Namespace

MAX_VALUE_CHARS = 1000
MAX_OPEN_GRAPH_PAIRS = 50
MAX_JSON_LD_CHARS = 256 * 1024
MAX_JSON_LD_NODES = 200
MAX_ELEMENTS = 2000  # of each kind
ROBOTS_NAMES = ("robots", "geomi")
RIGHTS_NAMES = ("tdm-reservation", "tdm-policy")  # TDMRep §5.3

_TITLES = ("og:title", "twitter:title", "dc.title")
_DESCRIPTIONS = ("description", "og:description", "twitter:description", "dc.description")
_AUTHORS = ("author", "article:author", "dc.creator", "parsely-author", "sailthru.author")
_PUBLISHED = ("article:published_time", "datepublished", "date", "dc.date", "pubdate")
_MODIFIED = ("article:modified_time", "og:updated_time", "datemodified", "last-modified")
_OPEN_GRAPH = ("og:", "article:", "twitter:")
_KEYS = ("name", "property", "itemprop", "http-equiv")
_FACTS = ("headline", "description", "datePublished", "dateModified", "author")


@dataclass(frozen=True, slots=True)
class Metadata:
    """A page's own words about itself; `canonical` is as it was written, not resolved."""

    title: str
    description: str
    canonical: str
    language: str
    author: str
    published_at: str
    modified_at: str
    robots: frozenset[str]
    rights: tuple[tuple[str, str], ...]
    pairs: tuple[tuple[str, str], ...]


def read_metadata(document: Document) -> Metadata:
    """Collect what the head, the JSON-LD and the first heading say."""
    # The parser keeps an index of tags: asking it for each one costs less than a walk over all.
    tags, facts = _tags(document), _json_ld(document)
    return Metadata(
        title=_title(document) or _other_title(document, tags, facts),
        description=_first(tags, _DESCRIPTIONS) or facts.get("description", ""),
        canonical=_canonical(document),
        language=_language(document, tags),
        author=_first(tags, _AUTHORS) or facts.get("author", ""),
        published_at=_first(tags, _PUBLISHED) or facts.get("datePublished", "") or _time(document),
        modified_at=_first(tags, _MODIFIED) or facts.get("dateModified", ""),
        robots=_robots(tags),
        rights=tuple((name, tags[name]) for name in RIGHTS_NAMES if name in tags),
        pairs=_pairs(tags),
    )


def _tags(document: Document) -> dict[str, str]:
    tags: dict[str, str] = {}
    for element in document.select("meta")[:MAX_ELEMENTS]:
        _add_meta(tags, element)
    return tags


def _add_meta(tags: dict[str, str], element: Element) -> None:
    key = next((value for name in _KEYS if (value := element.attr(name))), "").strip().lower()
    content = _one_line(element.attr("content") or "")
    if key in ROBOTS_NAMES and key in tags:
        tags[key] += "," + content  # directives of several tags add up
    elif key and content:
        tags.setdefault(key, content)


def _title(document: Document) -> str:
    for element in document.select("title")[:MAX_ELEMENTS]:
        # An icon drawn in SVG has a title, too.
        if element.namespace is Namespace.HTML and (title := _one_line(element.text)):
            return title
    return ""


def _other_title(document: Document, tags: Mapping[str, str], facts: Mapping[str, str]) -> str:
    title = _first(tags, _TITLES) or facts.get("headline", "")
    if not title and (heading := document.select_one("h1")):
        title = _one_line(heading.text)
    return title


def _canonical(document: Document) -> str:
    for element in document.select('link[rel~="canonical" i]')[:MAX_ELEMENTS]:
        if href := (element.attr("href") or "").strip():
            return href[: 4 * MAX_VALUE_CHARS]
    return ""


def _language(document: Document, tags: Mapping[str, str]) -> str:
    root = document.root
    declared = "" if root is None else root.attr("lang") or root.attr("xml:lang")
    return declared or tags.get("content-language", "") or tags.get("og:locale", "")


def _robots(tags: Mapping[str, str]) -> frozenset[str]:
    said = ",".join(tags.get(name, "") for name in ROBOTS_NAMES)
    words = frozenset(word.strip() for word in said.lower().split(",") if word.strip())
    return words | {"noindex", "nofollow"} if "none" in words else words


def _pairs(tags: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    pairs = [(key, value) for key, value in tags.items() if key.startswith(_OPEN_GRAPH)]
    return tuple(pairs[:MAX_OPEN_GRAPH_PAIRS])


def _time(document: Document) -> str:
    found = document.select_one(
        "time[datetime][pubdate], article time[datetime], main time[datetime]"
    )
    return "" if found is None else _one_line(found.attr("datetime") or "")


def _json_ld(document: Document) -> dict[str, str]:
    """Return headline, author, dates and description of the first node that says them."""
    facts: dict[str, str] = {}
    for block in document.select('script[type="application/ld+json" i]')[:MAX_ELEMENTS]:
        for node in _nodes(block.text):
            if "datePublished" in node or "headline" in node:
                for key in _FACTS:
                    if value := _name(node.get(key)):
                        facts.setdefault(key, value)
    return facts


def _nodes(block: str) -> Iterator[dict[str, object]]:
    """Walk the objects of one JSON-LD block: itself, a list of them, or those in `@graph`."""
    if len(block) > MAX_JSON_LD_CHARS:
        return
    try:
        waiting: list[object] = [orjson.loads(block)]
    except orjson.JSONDecodeError:
        return
    for _ in range(MAX_JSON_LD_NODES):
        if not waiting:
            return
        match waiting.pop(0):
            case list() as several:
                waiting.extend(several[:MAX_JSON_LD_NODES])
            case dict() as node:
                yield node
                waiting.append(node.get("@graph"))


def _name(value: object) -> str:
    """Return a JSON-LD value as words: a string, a thing's name, or the first of several."""
    match value:
        case str():
            return _one_line(value)
        case {"name": str() as name}:
            return _one_line(name)
        case [first, *_] if not isinstance(first, list):
            return _name(first)
    return ""


def _first(tags: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((tags[name] for name in names if name in tags), "")


def _one_line(text: str) -> str:
    return " ".join(text[: 4 * MAX_VALUE_CHARS].split())[:MAX_VALUE_CHARS]
