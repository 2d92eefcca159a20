"""A page as it is written down: the line of pages.jsonl, the archive's capture, the store's row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import orjson

from geomi.model.entry import UrlEntry
from geomi.model.page import Article, Capture, Fetched, Fingerprint, PageRecord, Ref
from geomi.url.parse import parse as parse_url

# A page is placed in the archive when its batch is settled; until then it lies nowhere.
UNPLACED = Ref("", 0, 0)


@dataclass(frozen=True, slots=True)
class Portrait:
    """Everything known of a page that is kept.

    Args:
        twin: URL of a page that it repeats, `near` telling whether only nearly.
    """

    entry: UrlEntry
    fetched: Fetched
    article: Article
    fingerprint: Fingerprint
    twin: str
    near: bool
    fetched_at_s: float


def capture(portrait: Portrait, *, raw: bool) -> Capture:
    """Make what the archive takes; without `raw` only the record is kept."""
    return Capture(
        url=portrait.fetched.url,
        fetched_at_s=portrait.fetched_at_s,
        record=record_line(portrait),
        fetched=portrait.fetched if raw else None,
    )


def record_line(portrait: Portrait) -> bytes:
    """Write one record of pages.jsonl, without its newline."""
    entry, fetched, article = portrait.entry, portrait.fetched, portrait.article
    return orjson.dumps(
        {
            "url": entry.origin or entry.url,
            "final_url": fetched.url,
            "status": fetched.status,
            "fetched_at": datetime.fromtimestamp(portrait.fetched_at_s, UTC),
            "depth": entry.depth,
            "parent": entry.parent,
            "source": entry.source,
            "title": article.title,
            "description": article.description,
            "language": article.language,
            "markdown": article.markdown,
            "links": _links(portrait),
            "content_hash": portrait.fingerprint.content_hash,
            "simhash": f"{portrait.fingerprint.simhash:016x}",
            "content_type": fetched.header("content-type"),
            "bytes": len(fetched.body),
            "fetch_ms": fetched.fetch_ms,
            "metadata": _metadata(portrait),
        },
        option=orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS,
    )


def page_record(portrait: Portrait, *, due_s: float) -> PageRecord:
    """Make the store's row of a page, not yet placed in the archive."""
    fetched = portrait.fetched
    return PageRecord(
        url_hash=portrait.entry.url_hash,
        url=portrait.entry.url,
        final_url=fetched.url,
        status=fetched.status,
        content_type=fetched.header("content-type"),
        fetched_at_s=portrait.fetched_at_s,
        due_s=due_s,
        fingerprint=portrait.fingerprint,
        record=UNPLACED,
        response=None,
        etag=fetched.header("etag"),
        last_modified=fetched.header("last-modified"),
        title=portrait.article.title,
        duplicate_of=portrait.twin,
        near=portrait.near,
    )


def _links(portrait: Portrait) -> list[dict[str, str | bool]]:
    here = parse_url(portrait.fetched.url)
    home = f"{here.scheme}://{here.host}" if here else ""
    inside = (f"{home}/", f"{home}:")  # on another port it is still the same host
    return [
        {
            "url": link.url,
            "text": link.text,
            "rel": link.rel,
            "internal": link.url.startswith(inside),
        }
        for link in portrait.article.links
    ]


def _metadata(portrait: Portrait) -> dict[str, str | float]:
    article = portrait.article
    known: dict[str, str | float] = {
        "canonical": article.canonical,
        "author": article.author,
        "published_at": article.published_at,
        "modified_at": article.modified_at,
        "needs_browser": article.needs_browser,
        "near_duplicate_of" if portrait.near else "duplicate_of": portrait.twin,
    }
    told = {name: value for name, value in known.items() if value}
    told |= {"strategy": article.strategy, "confidence": round(article.confidence, 3)}
    return dict(article.metadata) | told
