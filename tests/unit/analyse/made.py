"""Pages made for these tests."""

from __future__ import annotations

from geomi.analyse.page_text import PageText, Passages, read_text
from geomi.model.index.analysis import AnalysisInput
from geomi.model.page import Article, PageLink
from geomi.text.language import count_words

NOW_S = 1_763_251_200.0  # 2025-11-16
URL = "https://silk.test/page"


def passages(markdown: str) -> Passages:
    """Read markdown as the analysis does."""
    return reading(markdown).passages


def reading(markdown: str) -> PageText:
    """Read markdown, and its terms."""
    return read_text(markdown, 100_000)


def article(
    markdown: str,
    *,
    title: str = "",
    description: str = "",
    types: tuple[str, ...] = (),
    metadata: tuple[tuple[str, str], ...] = (),
    things: tuple[str, ...] = (),
    links: tuple[PageLink, ...] = (),
    author: str = "",
    published_at: str = "",
    modified_at: str = "",
    robots: frozenset[str] = frozenset(),
    language: str = "en",
) -> Article:
    """Make what extraction would have made of such a page."""
    return Article(
        title=title,
        markdown=markdown,
        text=markdown,
        links=links,
        description=description,
        language=language,
        types=types,
        metadata=metadata,
        things=things,
        author=author,
        published_at=published_at,
        modified_at=modified_at,
        robots=robots,
        confidence=0.9,
        words=count_words(markdown, language),
    )


def subject(
    markdown: str = "", *, duplicate_of: str | None = None, **known: object
) -> AnalysisInput:
    """Make a page to be understood."""
    return AnalysisInput(URL, article(markdown, **known), NOW_S, duplicate_of=duplicate_of)  # type: ignore[arg-type]  # the fields of `article`
