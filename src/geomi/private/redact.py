"""Remove personal data from a text or a page.

Rules kept:
- A value is replaced by a word such as `[redacted:email]`, so redacting twice changes nothing.
- Every part of an article that geomi stores is redacted, not the prose alone.
- What a page declares to be a name is one wherever its text has it.
- A link, feed or canonical URL with a value is dropped: half a URL leads to another place, and
  geomi would request a URL that it reads back from the archive.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial

import orjson

from geomi.model.page import Article, PageLink
from geomi.model.personal_data import PiiCounts, PiiKind, Sighting
from geomi.private.detect import count, find
from geomi.private.person import declared

Kinds = Collection[PiiKind]
Pairs = tuple[tuple[str, str], ...]
Finder = Callable[[str], list[Sighting]]


def mask(text: str, kinds: Kinds) -> str:
    """Return a text with a word for each value in its place."""
    return _mask(text, partial(find, kinds=kinds))


def _mask(text: str, look: Finder) -> str:
    places = look(text)
    if not places:
        return text
    parts: list[str] = []
    at = 0
    for place in places:
        parts += (text[at : place.start], f"[redacted:{place.kind}]")
        at = place.end
    return "".join((*parts, text[at:]))


def counted(article: Article, kinds: Kinds) -> Article:
    """Return an article that knows how many different values it holds, and stays as it was."""
    personal = _count(article, kinds, _known(article, kinds))
    return replace(article, personal=personal) if personal else article


def redacted(article: Article, kinds: Kinds) -> Article:
    """Return an article without its personal data, which knows how many there were."""
    known = _known(article, kinds)
    look = partial(find, kinds=kinds, known=known)
    clean = replace(
        article,
        title=_mask(article.title, look),
        markdown=_mask(article.markdown, look),
        text=_mask(article.text, look),
        links=_links(article.links, look),
        description=_mask(article.description, look),
        language=_mask(article.language, look),
        canonical="" if look(article.canonical) else article.canonical,
        author=_mask(article.author, look),
        published_at=_mask(article.published_at, look),
        modified_at=_mask(article.modified_at, look),
        rights=_pairs(article.rights, look),
        outline=tuple((level, _mask(text, look)) for level, text in article.outline),
        types=tuple(_mask(name, look) for name in article.types),
        alternates=tuple(pair for pair in article.alternates if not _holds(pair, look)),
        feeds=tuple(url for url in article.feeds if not look(url)),
        metadata=_pairs(article.metadata, look),
        things=tuple(_thing(thing, look) for thing in article.things),
        people=(),
        mail_links=(),
    )
    return clean if clean == article else replace(clean, personal=_count(article, kinds, known))


def _known(article: Article, kinds: Kinds) -> frozenset[str]:
    """Return the names that a page declares, where names are looked for."""
    if PiiKind.NAME not in kinds:
        return frozenset()
    return declared((*article.people, article.author), article.markdown, article.mail_links)


def _count(article: Article, kinds: Kinds, known: frozenset[str]) -> PiiCounts:
    """Count in what is stored of a page; what its markdown has is not looked for again."""
    stored = [article.title, article.description, article.author, article.canonical]
    stored += (part for pair in (*article.metadata, *article.alternates) for part in pair)
    stored += (part for link in article.links for part in (link.url, link.text))
    stored += (text for thing in article.things for text in _texts(orjson.loads(thing)))
    return count("\n".join((*stored, *article.feeds, article.markdown)), kinds, known)


def _links(links: tuple[PageLink, ...], look: Finder) -> tuple[PageLink, ...]:
    """Redact links; one look at all of them is enough for most pages."""
    if not look("\n".join("\n".join(link) for link in links)):
        return links
    kept = (link for link in links if not look(link.url))
    return tuple(PageLink(link.url, _mask(link.text, look), _mask(link.rel, look)) for link in kept)


def _pairs(pairs: Pairs, look: Finder) -> Pairs:
    return tuple((_mask(name, look), _mask(value, look)) for name, value in pairs)


def _thing(thing: str, look: Finder) -> str:
    """Redact the values of a JSON object; in its own spelling `\\n` may stand before a value."""
    node = orjson.loads(thing)
    masked = _masked(node, look)
    return thing if masked == node else orjson.dumps(masked).decode()


def _masked(value: object, look: Finder) -> object:
    match value:
        case dict():
            return {_mask(name, look): _masked(part, look) for name, part in value.items()}
        case list():
            return [_masked(part, look) for part in value]
        case str():
            return _mask(value, look)
        case int() | float() if look(str(value)):
            return _mask(str(value), look)
    return value


def _texts(value: object) -> Iterator[str]:
    match value:
        case dict():
            yield from value
            for part in value.values():
                yield from _texts(part)
        case list():
            for part in value:
                yield from _texts(part)
        case str() | int() | float():
            yield str(value)


def _holds(parts: Collection[str], look: Finder) -> bool:
    return any(look(part) for part in parts)
