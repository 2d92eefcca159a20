"""Read a page's metadata: title, description, canonical, author, dates, robots (META-01).

Each fact has a list of sources in the order of trust; the first one with a value wins.
Dates are brought to ISO 8601; a date that cannot be read is left out. Other versions of the page
(in other languages, as a feed) are read from its `link` elements. The page's own robots directives
are kept as words (ROB-33, C-42); what they mean is decided elsewhere.

The copyright notice (LEG-13) is in the frame of a page, which is removed from its content. So it is
read here: from the meta tags, then from the last `footer`, then from the last short elements. The
sign is searched as a plain string, and regular expressions read only the text around it: over whole
footers they took a twentieth of the time of an extraction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from geomi.extract.dates import iso_date
from geomi.extract.dom import Document, Element, Namespace
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
MAX_NOTICE_CHARS = 200
MAX_FOOTERS = 5
MAX_FOOTER_CHARS = 20_000
MAX_LAST = 25  # elements of each name
MAX_LAST_CHARS = 600
BEFORE_CHARS = 60  # what may stand before a sign and belong to it
_NAMES = ("copyright", "dcterms.rights", "dc.rights", "rights")
_LAST_TAGS = ("small", "p", "div")
# In the spellings that there are: to lower a footer costs as much as all the rest.
_SIGNS = ("©", "(c)", "(C)", "Copyright", "copyright", "COPYRIGHT", "저작권자")
_RESERVED_SIGNS = (
    "All rights reserved", "All Rights Reserved", "all rights reserved", "ALL RIGHTS RESERVED",
    "무단",
)  # fmt: skip
# A year, a holder or a sign makes a notice of a word that is often a link's text.
_NOTICE = re.compile(
    r"(?:©|\(c\) ?(?=(?:19|20)\d\d)|copyrights?(?= ?(?:©|\(c\)|by |\d))|저작권자)[^\n]{2,200}",
    re.IGNORECASE,
)
_END = re.compile(r"(?<=[a-z가-힣])[.!?] |\s[|•·]\s| {3,}")
_RESERVED = re.compile(r"[^.|\n]{0,60}(?:all rights reserved|무단[^.|\n]{0,40}금지)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Metadata:
    """A page's own words about itself; `canonical` and hrefs are as written, not resolved.

    Args:
        types: what its structured data describes, such as `Product`.
        things: products and questions of its JSON-LD, whole.
        people: the names of persons in its structured data.
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
    people: tuple[str, ...] = ()
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
        people=structured.people,
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


def read_notice(document: Document, tags: Mapping[str, str]) -> str:
    """Return a page's copyright notice in one line; empty where it has none."""
    for name in _NAMES:
        if said := tags.get(name, ""):
            return said[:MAX_NOTICE_CHARS]
    return next(filter(None, map(find_notice, _endings(document))), "")


def find_notice(text: str) -> str:
    """Return the last notice in a text."""
    for part in _around(text, _SIGNS):
        if notices := _NOTICE.findall(part):
            return _whole(notices[-1])
    for part in _around(text, _RESERVED_SIGNS):
        if (alone := _RESERVED.search(part)) is not None:
            return _line(alone[0])
    return ""


def _endings(document: Document) -> Iterator[str]:
    """Yield the texts that may hold a notice, the last one first."""
    for footer in reversed(document.select("footer")[-MAX_FOOTERS:]):
        yield footer.text[-MAX_FOOTER_CHARS:]
    for tag in _LAST_TAGS:
        texts = (element.text for element in document.select(tag)[-MAX_LAST:])
        yield "\n".join(text for text in texts if len(text) <= MAX_LAST_CHARS)


def _around(text: str, signs: tuple[str, ...]) -> Iterator[str]:
    """Yield what stands around the last of each sign."""
    for sign in signs:
        if (at := text.rfind(sign)) >= 0:
            yield text[max(0, at - BEFORE_CHARS) : at + MAX_NOTICE_CHARS]


def _whole(notice: str) -> str:
    """Return a notice up to the end of its sentence, and the one that reserves all rights."""
    end = _END.search(notice, 2)
    if end is None:
        return _line(notice)
    rest = notice[end.start() :].lstrip(" .|•·")
    reserved = _RESERVED.match(rest)
    return _line(f"{notice[: end.start() + 1].strip()} {reserved[0] if reserved else ''}")


def _line(text: str) -> str:
    return " ".join(text.split())[:MAX_NOTICE_CHARS].rstrip(" |•·")
