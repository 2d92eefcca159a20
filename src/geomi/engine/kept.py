"""A kept page as the stages behind the crawl ask for it, read from its record alone.

What they need of a page is in the record, so that pages of last year can be understood by the rules
of today, wherever their bytes are by then.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from geomi.engine.visit.record import Fields, Metadata, links_of
from geomi.model.analysis import Subject
from geomi.model.page import Article

# What a record says of itself; its other texts are what the page said.
_OURS = frozenset(
    (
        "author", "canonical", "duplicate_of", "duplicate_reason", "extracted_with", "kind",
        "language_detected", "markdown_rule_failed", "modified_at", "needs_browser",
        "published_at", "render", "robots", "strategy",
    )
)  # fmt: skip


def subject_of(fields: Fields, *, now_s: float) -> Subject:
    """Return a kept page as it is analysed; a page that asks for `noindex` is never kept."""
    told = fields["metadata"]
    return Subject(
        url=fields["final_url"],
        article=article_of(fields),
        now_s=now_s,
        duplicate_of=_text(told, "duplicate_of"),
        similarity=_number(told, "similarity") or 1.0,
    )


def article_of(fields: Fields) -> Article:
    """Return what a record keeps of an article: its markdown and facts, not its plain text."""
    told = fields["metadata"]
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
    )


def date_of(fields: Fields) -> float:
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
