"""The way in: one page's bytes become one `Article`.

Links and metadata are read from the whole page; then everything unwanted is taken out of the
tree, the main content is chosen from what is left (EXT-05), and text and markdown are written
from it. A page without text comes back with empty text (EXT-06); what that means is the caller's
decision.
"""

from __future__ import annotations

from dataclasses import replace

from geomi.extract.article import choose
from geomi.extract.dom import Document, decode_plain, guess_language, parse_html, text_of
from geomi.extract.links import base_url, read_links
from geomi.extract.markdown import cut, to_markdown
from geomi.extract.metadata import Metadata, read_metadata
from geomi.extract.prune import prune
from geomi.extract.shell import is_suspect, unfinished
from geomi.model.config import Extraction
from geomi.model.page import Article, Link
from geomi.text.language import detect
from geomi.url.parse import absolute

DEFAULT_MAX_LINKS = 10_000
MAX_TITLE_CHARS = 200


def extract(
    body: bytes,
    url: str,
    content_type: str,
    rules: Extraction,
    *,
    max_links: int = DEFAULT_MAX_LINKS,
) -> Article:
    """Read a page; whatever it is, an `Article` comes back.

    Args:
        url: the final URL of the response, after redirects (C-18).
    """
    if content_type.partition(";")[0].strip().lower() == "text/plain":
        return _plain(decode_plain(body, content_type), url, rules)
    article = _read(parse_html(body, content_type), url, rules, max_links)
    if is_suspect(article.text):
        # The tree has been pruned of what tells; pages this empty are few enough to parse again.
        return replace(article, needs_browser=unfinished(parse_html(body, content_type)))
    return article


def _read(document: Document, url: str, rules: Extraction, max_links: int) -> Article:
    base = base_url(document, url)
    metadata = read_metadata(document)
    anchors = read_links(document, base, max_links)
    article = _head(metadata, base, anchors.links)
    body = document.select_one("body")
    if body is None:  # a frameset has none
        return article
    prune(body, rules.remove)
    choice = choose(body, rules.content)
    text = text_of(choice.content)[: rules.max_markdown_chars]
    return replace(
        article,
        text=text,
        markdown=to_markdown(choice.content, base, anchors.targets, rules),
        language=_language(text, metadata.language),
        strategy=choice.strategy,
        confidence=choice.confidence,
    )


def _head(metadata: Metadata, base: str, links: tuple[Link, ...]) -> Article:
    canonical = absolute((metadata.canonical,), base)[0] if metadata.canonical else None
    return Article(
        title=metadata.title,
        markdown="",
        text="",
        links=links,
        description=metadata.description,
        canonical=canonical or "",
        author=metadata.author,
        published_at=metadata.published_at,
        modified_at=metadata.modified_at,
        robots=metadata.robots,
        metadata=metadata.pairs,
    )


def _plain(text: str, url: str, rules: Extraction) -> Article:
    """Take a text file as it is; its title is its first line, or the last part of its URL."""
    text = text.strip()
    title = text.partition("\n")[0].strip() or url.rstrip("/").rpartition("/")[2]
    return Article(
        title=title[:MAX_TITLE_CHARS],
        markdown=cut(text, rules.max_markdown_chars),
        text=text[: rules.max_markdown_chars],
        links=(),
        language=_language(text, ""),
        strategy="plain",
        confidence=1.0,
    )


def _language(text: str, declared: str) -> str:
    return detect(text, declared) or guess_language(text)
