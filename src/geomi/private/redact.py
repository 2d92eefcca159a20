"""Remove personal data from a text or a page.

Rules kept:
- A value is replaced by a word such as `[redacted:email]`, so redacting twice changes nothing.
- Every part of an article that geomi stores is redacted, not the prose alone.
- A link, feed or canonical URL with a value is dropped: half a URL leads to another place, and
  geomi would request a URL that it reads back from the archive.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

import orjson

from geomi.model.page import Article, PageLink
from geomi.model.personal_data import PiiCounts, PiiKind
from geomi.private.detect import count, find

Kinds = Collection[PiiKind]
Pairs = tuple[tuple[str, str], ...]


def mask(text: str, kinds: Kinds) -> str:
    """Return a text with a word for each value in its place."""
    places = find(text, kinds)
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
    personal = _count(article, kinds)
    return replace(article, personal=personal) if personal else article


def redacted(article: Article, kinds: Kinds) -> Article:
    """Return an article without its personal data, which knows how many there were."""
    clean = replace(
        article,
        title=mask(article.title, kinds),
        markdown=mask(article.markdown, kinds),
        text=mask(article.text, kinds),
        links=_links(article.links, kinds),
        description=mask(article.description, kinds),
        language=mask(article.language, kinds),
        canonical="" if find(article.canonical, kinds) else article.canonical,
        author=mask(article.author, kinds),
        published_at=mask(article.published_at, kinds),
        modified_at=mask(article.modified_at, kinds),
        rights=_pairs(article.rights, kinds),
        outline=tuple((level, mask(text, kinds)) for level, text in article.outline),
        types=tuple(mask(name, kinds) for name in article.types),
        alternates=tuple(pair for pair in article.alternates if not _holds(pair, kinds)),
        feeds=tuple(url for url in article.feeds if not find(url, kinds)),
        metadata=_pairs(article.metadata, kinds),
        things=tuple(_thing(thing, kinds) for thing in article.things),
    )
    return clean if clean == article else replace(clean, personal=_count(article, kinds))


def _count(article: Article, kinds: Kinds) -> PiiCounts:
    """Count in what is stored of a page; what its markdown has is not looked for again."""
    stored = [article.title, article.description, article.author, article.canonical]
    stored += (part for pair in (*article.metadata, *article.alternates) for part in pair)
    stored += (part for link in article.links for part in (link.url, link.text))
    stored += (text for thing in article.things for text in _texts(orjson.loads(thing)))
    return count("\n".join((*stored, *article.feeds, article.markdown)), kinds)


def _links(links: tuple[PageLink, ...], kinds: Kinds) -> tuple[PageLink, ...]:
    """Redact links; one look at all of them is enough for most pages."""
    if not find("\n".join("\n".join(link) for link in links), kinds):
        return links
    kept = (link for link in links if not find(link.url, kinds))
    return tuple(PageLink(link.url, mask(link.text, kinds), mask(link.rel, kinds)) for link in kept)


def _pairs(pairs: Pairs, kinds: Kinds) -> Pairs:
    return tuple((mask(name, kinds), mask(value, kinds)) for name, value in pairs)


def _thing(thing: str, kinds: Kinds) -> str:
    """Redact the values of a JSON object; in its own spelling `\\n` may stand before a value."""
    node = orjson.loads(thing)
    masked = _masked(node, kinds)
    return thing if masked == node else orjson.dumps(masked).decode()


def _masked(value: object, kinds: Kinds) -> object:
    match value:
        case dict():
            return {mask(name, kinds): _masked(part, kinds) for name, part in value.items()}
        case list():
            return [_masked(part, kinds) for part in value]
        case str():
            return mask(value, kinds)
        case int() | float() if find(str(value), kinds):
            return mask(str(value), kinds)
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


def _holds(parts: Collection[str], kinds: Kinds) -> bool:
    return any(find(part, kinds) for part in parts)
