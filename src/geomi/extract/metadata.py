"""What a page says about itself: title, description, canonical, author, dates, robots (META-01).

Each fact has a list of sources in the order they are trusted; the first that says something wins.
Dates are brought to ISO 8601, and one that cannot be read is none. Other versions of the page (in
other languages, as a feed) are read from its `link` elements. The page's own robots directives are
kept as words (ROB-33, C-42); what they mean is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from geomi.extract.dates import iso_date
from geomi.extract.dom import Document, Element, Namespace
from geomi.extract.notice import read_notice
from geomi.extract.structured import read_structured

MAX_VALUE_CHARS = 1000
MAX_OPEN_GRAPH_PAIRS = 50
MAX_ALTERNATES = 100
MAX_FEEDS = 20
MAX_LANGUAGE_CHARS = 35  # RFC 5646 §4.4.1
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
_PUBLISHED_TIMES = (
    'time[datetime][pubdate], time[datetime][itemprop="datePublished"]',
    "article time[datetime], main time[datetime]",
)
_MODIFIED_TIMES = ('time[datetime][itemprop="dateModified"]',)
_RELATIONS = frozenset(("canonical", "alternate", "license"))
_FEEDS = ("application/rss+xml", "application/atom+xml", "application/feed+json")


@dataclass(frozen=True, slots=True)
class Metadata:
    """A page's own words about itself; `canonical` and hrefs are as written, not resolved.

    Args:
        types: what its structured data describes, such as `Product`.
        things: products and questions of its JSON-LD, whole.
        alternates: (language, href) of the same page in other languages.
        feeds: hrefs of feeds.
    """

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
    types: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    alternates: tuple[tuple[str, str], ...] = ()
    feeds: tuple[str, ...] = ()


def read_metadata(document: Document) -> Metadata:
    """Collect what the head, the JSON-LD and the first heading say."""
    # The parser keeps an index of tags: asking it for each one costs less than a walk over all.
    tags, structured = _tags(document), read_structured(document)
    facts, linked = structured.facts, _linked(document)
    return Metadata(
        title=_title(document) or _other_title(document, tags, facts),
        description=_first(tags, _DESCRIPTIONS) or facts.get("description", ""),
        canonical=linked.canonical,
        language=_language(document, tags),
        author=_author(document, tags, facts),
        published_at=_date(
            (*_all(tags, _PUBLISHED), facts.get("datePublished", "")), document, _PUBLISHED_TIMES
        ),
        modified_at=_date(
            (*_all(tags, _MODIFIED), facts.get("dateModified", "")), document, _MODIFIED_TIMES
        ),
        robots=_robots(tags),
        rights=tuple((name, tags[name]) for name in RIGHTS_NAMES if name in tags),
        pairs=_pairs(tags) + structured.pairs + _claims(document, tags, linked),
        types=structured.types,
        things=structured.things,
        alternates=linked.alternates,
        feeds=linked.feeds,
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


@dataclass(frozen=True, slots=True)
class _Linked:
    """What the `link` elements of a page say, as it is written."""

    canonical: str
    license: str
    alternates: tuple[tuple[str, str], ...]
    feeds: tuple[str, ...]


def _linked(document: Document) -> _Linked:
    canonical = license = ""
    alternates: dict[str, str] = {}
    feeds: dict[str, None] = {}
    for link in document.select("link")[:MAX_ELEMENTS]:
        rel = (link.attr("rel") or "").lower()
        if _RELATIONS.isdisjoint(words := rel.split()):
            continue
        href = (link.attr("href") or "").strip()[: 4 * MAX_VALUE_CHARS]
        if "canonical" in words:
            canonical = canonical or href
        if "license" in words:
            license = license or href
        if "alternate" in words and href:
            _add_other(alternates, feeds, link, href)
    others = tuple(alternates.items())[:MAX_ALTERNATES]
    return _Linked(canonical, license, others, tuple(feeds)[:MAX_FEEDS])


def _add_other(
    alternates: dict[str, str], feeds: dict[str, None], link: Element, href: str
) -> None:
    language = (link.attr("hreflang") or "").strip()[:MAX_LANGUAGE_CHARS]
    if (link.attr("type") or "").strip().lower() in _FEEDS:
        feeds.setdefault(href)
    elif language:
        alternates.setdefault(language, href)


def _author(document: Document, tags: Mapping[str, str], facts: Mapping[str, str]) -> str:
    """Return who wrote a page; some name a profile's address, which is nobody's name."""
    for name in (*_all(tags, _AUTHORS), facts.get("author", "")):
        if name and not name.startswith(("http://", "https://", "@")):
            return name
    named = document.select_one('a[rel~="author"]')
    return "" if named is None else _one_line(named.text)


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


def _date(said: Iterable[str], document: Document, times: Iterable[str]) -> str:
    """Return the first date that can be read: of what is said, then of what is shown."""
    for value in said:
        if value and (date := iso_date(value)):
            return date
    for selector in times:
        found = document.select_one(selector)
        if found is not None and (date := iso_date(found.attr("datetime") or "")):
            return date
    return ""


def _claims(
    document: Document, tags: Mapping[str, str], linked: _Linked
) -> tuple[tuple[str, str], ...]:
    """Return a page's copyright notice and the licence that its head names (LEG-13)."""
    found = (("copyright", read_notice(document, tags)), ("license", linked.license))
    return tuple((name, value) for name, value in found if value)


def _all(tags: Mapping[str, str], names: tuple[str, ...]) -> list[str]:
    return [tags[name] for name in names if name in tags]


def _first(tags: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((tags[name] for name in names if name in tags), "")


def _one_line(text: str) -> str:
    return " ".join(text[: 4 * MAX_VALUE_CHARS].split())[:MAX_VALUE_CHARS]
