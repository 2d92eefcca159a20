"""Write a page down, and read it back: the line of pages.jsonl, the capture, the store's row.

`KeptPage` is everything that is known of a page; `StoredPage` is what is written of it. The record
holds what later stages need, so that an old page can be analysed by the rules of today without its
bytes: `subject_of` and `article_of` read it from the record alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypedDict

import orjson

from geomi.fetch.request import modified
from geomi.fetch.response import RenderDecision
from geomi.model.config import CrawlConfig
from geomi.model.entry import UrlEntry
from geomi.model.index.analysis import AnalysisInput
from geomi.model.markdown import MarkdownRules
from geomi.model.page import (
    Article,
    Capture,
    Duplicate,
    DuplicateReason,
    Fetched,
    Fingerprint,
    PageLink,
    PageRecord,
    Ref,
)
from geomi.model.personal_data import PiiKind
from geomi.model.robots import Signal, Signals
from geomi.text.identifiers import sha256_hex
from geomi.url.parse import display, split

# A page is placed in the archive when its batch is settled; until then it lies nowhere.
UNPLACED = Ref("", 0, 0)
RULES_CHARS = 12
# What a record says of itself; its other texts are what the page said.
_OURS = frozenset(
    (
        "author", "canonical", "duplicate_of", "duplicate_reason", "extracted_with", "kind",
        "language_detected", "markdown_rule_failed", "modified_at", "needs_browser",
        "published_at", "render", "robots", "strategy",
    )
)  # fmt: skip


class HeadingFields(TypedDict):
    """A heading as a record has it."""

    level: int
    text: str


Metadata = dict[
    str,
    str
    | float
    | list[str]
    | list[HeadingFields]
    | dict[str, str]
    | dict[str, int]
    | dict[str, float]
    | dict[str, Signal],
]


class LinkFields(TypedDict):
    """A link as a record has it."""

    url: str
    text: str
    rel: str
    internal: bool


class RecordFields(TypedDict):
    """One record of pages.jsonl; docs/reference/output.md says what each field means."""

    url: str
    url_display: str
    final_url: str
    status: int
    fetched_at: datetime | str
    depth: int
    parent: str | None
    source: str
    title: str
    description: str
    language: str
    markdown: str
    links: list[LinkFields]
    content_hash: str
    simhash: str
    content_type: str
    bytes: int
    fetch_ms: int
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class KeptPage:
    """Everything known of a page that is kept.

    Args:
        nofollow: whether the page asks that its links are left alone.
        rules: `reading_rules` of the job.
    """

    entry: UrlEntry
    fetched: Fetched
    article: Article
    fingerprint: Fingerprint
    duplicate: Duplicate | None
    rendering: RenderDecision
    nofollow: bool
    signals: Signals
    rules: str
    fetched_at_s: float


@dataclass(frozen=True, slots=True)
class StoredPage:
    """What is written down of a page: its row and its record."""

    page: PageRecord
    capture: Capture


def reading_rules(config: CrawlConfig, own: MarkdownRules, *, version: str) -> str:
    """Return a short digest of all that decides what the same URL gives and what is read of it.

    Of the job's own headers the names alone: records are passed on, and a header may be a secret.
    Of its own markdown rules, too: what a function does cannot be told from outside.
    """
    http, limits = config.http, config.limits
    asked = (http.user_agent, http.accept, http.accept_language, http.content_types)
    named = sorted(name.lower() for name, _ in http.headers)
    taken = (config.extract, config.safety, limits.max_page_bytes, limits.max_links_per_page)
    written = sorted((tag, getattr(rule, "__qualname__", "")) for tag, rule in own.items())
    kept = (config.store.text,) if config.store.is_preview else ()
    shown = ("sign_in",) if http.sign_in else ()
    told = (version, asked, named, taken, *written, *kept, *shown)
    return sha256_hex(repr(told))[:RULES_CHARS]


def capture(page: KeptPage, *, raw: bool) -> Capture:
    """Make what the archive takes; without `raw` only the record is kept."""
    return Capture(
        url=page.fetched.url,
        fetched_at_s=page.fetched_at_s,
        record=write_line(_fields(page)),
        fetched=page.fetched if raw else None,
    )


def page_record(page: KeptPage, *, due_s: float) -> PageRecord:
    """Make the store's row of a page, not yet placed in the archive."""
    fetched = page.fetched
    return PageRecord(
        url_hash=page.entry.url_hash,
        url=page.entry.url,
        final_url=fetched.url,
        status=fetched.status,
        content_type=fetched.header("content-type"),
        fetched_at_s=page.fetched_at_s,
        due_s=due_s,
        fingerprint=page.fingerprint,
        record=UNPLACED,
        response=None,
        etag=fetched.header("etag"),
        last_modified=modified(fetched),
        title=page.article.title,
        duplicate_of=page.duplicate.of if page.duplicate else "",
        duplicate_reason=page.duplicate.reason if page.duplicate else None,
        strategy=page.article.strategy,
        confidence=page.article.confidence,
    )


def write_line(fields: RecordFields) -> bytes:
    """Write one record of pages.jsonl, without its newline."""
    return orjson.dumps(fields, option=orjson.OPT_UTC_Z | orjson.OPT_OMIT_MICROSECONDS)


def read_line(line: bytes) -> RecordFields:
    """Read a record back."""
    fields: RecordFields = orjson.loads(line)
    return fields


def links_of(fields: RecordFields) -> tuple[PageLink, ...]:
    """Return the links of a record as its page had them."""
    return tuple(PageLink(link["url"], link["text"], link["rel"]) for link in fields["links"])


def duplicate_fields(duplicate: Duplicate | None) -> Metadata:
    """Say which page a page repeats, why, and how alike the two are where that was measured."""
    if duplicate is None:
        return {}
    fields: Metadata = {"duplicate_of": duplicate.of, "duplicate_reason": duplicate.reason}
    if duplicate.similarity and duplicate.reason is not DuplicateReason.EXACT:
        fields["similarity"] = round(duplicate.similarity, 3)
    return fields


def signal_fields(signals: Signals) -> Metadata:
    """Say what is reserved and what is permitted, where anything is said."""
    return {"signals": dict(signals.pairs)} if signals.pairs else {}


def _fields(page: KeptPage) -> RecordFields:
    entry, fetched, article = page.entry, page.fetched, page.article
    return {
        "url": entry.origin or entry.url,
        "url_display": display(entry.origin or entry.url),
        "final_url": fetched.url,
        "status": fetched.status,
        "fetched_at": datetime.fromtimestamp(page.fetched_at_s, UTC),
        "depth": entry.depth,
        "parent": entry.parent,
        "source": entry.source,
        "title": article.title,
        "description": article.description,
        "language": article.language,
        "markdown": article.markdown,
        "links": _links(page),
        "content_hash": page.fingerprint.content_hash,
        "simhash": f"{page.fingerprint.simhash:016x}",
        "content_type": fetched.header("content-type"),
        "bytes": len(fetched.body),
        "fetch_ms": fetched.fetch_ms,
        "metadata": _metadata(page),
    }


def _links(page: KeptPage) -> list[LinkFields]:
    here = split(page.fetched.url)
    home = f"{here.scheme}://{here.host}"
    inside = (f"{home}/", f"{home}:")  # on another port it is still the same host
    return [
        {
            "url": link.url,
            "text": link.text,
            "rel": link.rel,
            "internal": link.url.startswith(inside),
        }
        for link in page.article.links
    ]


def _metadata(page: KeptPage) -> Metadata:
    article, rendering = page.article, page.rendering
    known: Metadata = {
        "canonical": article.canonical,
        "language_detected": article.detected_language,
        "words": article.words,
        "headings": [HeadingFields(level=level, text=text) for level, text in article.outline],
        "types": list(article.types),
        "things": list(article.things),
        "alternates": dict(article.alternates),
        "feeds": list(article.feeds),
        "author": article.author,
        "published_at": article.published_at,
        "modified_at": article.modified_at,
        "kind": article.kind,
        "kinds": dict(article.kinds),
        "needs_browser": rendering.reason,
        "render": ("static" if rendering.is_wanted else "never") if rendering.reason else "",
        "robots": "nofollow" if page.nofollow else "",
        "signed_in": page.fetched.signed_in,
        "repeated_sections": article.repeated,
        "pii": {kind.value: many for kind, many in article.personal},
    }
    told: Metadata = {name: value for name, value in known.items() if value}
    told |= duplicate_fields(page.duplicate) | signal_fields(page.signals)
    told |= {"strategy": article.strategy, "confidence": round(article.confidence, 3)}
    return dict(article.metadata) | told | {"extracted_with": page.rules}


def subject_of(fields: RecordFields, *, now_s: float) -> AnalysisInput:
    """Return a kept page as it is analysed; a page that asks for `noindex` is never kept."""
    told = fields["metadata"]
    return AnalysisInput(
        url=fields["final_url"],
        article=article_of(fields),
        now_s=now_s,
        duplicate_of=_text(told, "duplicate_of"),
        similarity=_number(told, "similarity") or 1.0,
    )


def article_of(fields: RecordFields) -> Article:
    """Return what a record keeps of an article: its markdown and facts, not its plain text."""
    told = fields["metadata"]
    found = dict(_numbers(told, "pii"))
    return Article(
        title=fields["title"],
        markdown=fields["markdown"],
        text="",
        links=links_of(fields),
        description=fields["description"],
        language=fields["language"],
        canonical=_text(told, "canonical"),
        author=_text(told, "author"),
        published_at=_text(told, "published_at"),
        modified_at=_text(told, "modified_at"),
        strategy=_text(told, "strategy"),
        confidence=_number(told, "confidence"),
        detected_language=_text(told, "language_detected"),
        words=int(_number(told, "words")),
        types=_texts(told, "types"),
        things=_texts(told, "things"),
        metadata=tuple((n, v) for n, v in told.items() if isinstance(v, str) and n not in _OURS),
        kind=_text(told, "kind"),
        kinds=tuple(_numbers(told, "kinds")),
        personal=tuple((kind, int(found[kind])) for kind in PiiKind if kind in found),
    )


def date_of(fields: RecordFields) -> float:
    """Return when a page was changed by its own word, or else when it was fetched."""
    told = fields["metadata"]
    texts = (_text(told, "modified_at"), _text(told, "published_at"), str(fields["fetched_at"]))
    return next((at_s for text in texts if (at_s := _seconds(text)) is not None), 0.0)


def _seconds(text: str) -> float | None:
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _text(told: Metadata, name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else ""


def _texts(told: Metadata, name: str) -> tuple[str, ...]:
    value = told.get(name)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _numbers(told: Metadata, name: str) -> Iterator[tuple[str, float]]:
    values = told.get(name)
    for key, value in values.items() if isinstance(values, dict) else ():
        if isinstance(value, int | float):
            yield key, float(value)


def _number(told: Metadata, name: str) -> float:
    value = told.get(name)
    return value if isinstance(value, int | float) else 0.0
