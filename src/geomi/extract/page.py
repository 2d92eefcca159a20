"""The way in: one page's bytes become one `Article`.

Links and metadata are read from the whole page; then everything unwanted is taken out of the
tree, the main content is chosen from what is left (EXT-05), and text and markdown are written
from it. A page without text comes back with empty text (EXT-06); what that means is the caller's
decision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from geomi.extract.article import SELECTOR, choose
from geomi.extract.dom import Document, decode_plain, guess_language, parse_html, text_of
from geomi.extract.links import base_url, read_links
from geomi.extract.markdown import Targets, cut, to_markdown
from geomi.extract.metadata import read_metadata
from geomi.extract.prune import prune
from geomi.extract.shell import is_suspect, unfinished
from geomi.extract.template import is_asked, leave_out
from geomi.model.config import Extraction
from geomi.model.page import NO_TEMPLATE, Article, Template
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
    template: Template = NO_TEMPLATE,
) -> Article:
    """Read a page; whatever it is, an `Article` comes back.

    Args:
        url: the final URL of the response, after redirects (C-18).
        template: what the pages of this site repeat, as far as it was learned.
    """
    if content_type.partition(";")[0].strip().lower() == "text/plain":
        return _plain(decode_plain(body, content_type), url, rules)
    article = _read(parse_html(body, content_type), url, rules, max_links, template)
    if is_suspect(article.text):
        # The tree has been pruned of what tells; pages this empty are few enough to parse again.
        return replace(article, needs_browser=unfinished(parse_html(body, content_type)))
    return article


@dataclass(frozen=True, slots=True)
class _Content:
    """What the main part of a page says; a frameset has none."""

    text: str = ""
    markdown: str = ""
    language: str = ""
    strategy: str = ""
    confidence: float = 0.0
    sections: tuple[int, ...] = ()
    repeated: int = 0


def _read(
    document: Document, url: str, rules: Extraction, max_links: int, template: Template
) -> Article:
    base = base_url(document, url)
    metadata = read_metadata(document)
    anchors = read_links(document, base, max_links)
    canonical = absolute((metadata.canonical,), base)[0] if metadata.canonical else None
    content = _content(document, base, anchors.targets, metadata.language, rules, template)
    return Article(
        title=metadata.title,
        markdown=content.markdown,
        text=content.text,
        links=anchors.links,
        description=metadata.description,
        language=content.language,
        canonical=canonical or "",
        author=metadata.author,
        published_at=metadata.published_at,
        modified_at=metadata.modified_at,
        robots=metadata.robots,
        rights=metadata.rights,
        strategy=content.strategy,
        confidence=content.confidence,
        metadata=metadata.pairs,
        links_left_out=anchors.left_out,
        sections=content.sections,
        repeated=content.repeated,
    )


def _content(
    document: Document,
    base: str,
    targets: Targets,
    declared: str,
    rules: Extraction,
    template: Template,
) -> _Content:
    body = document.select_one("body")
    if body is None:
        return _Content()
    prune(body, rules.remove)
    choice = choose(body, rules.content)
    wants_all = choice.strategy == SELECTOR or not (rules.template and is_asked(template))
    sections, repeated = ((), 0) if wants_all else leave_out(choice.content, template)
    text = text_of(choice.content)[: rules.max_markdown_chars]
    return _Content(
        text=text,
        markdown=to_markdown(choice.content, base, targets, rules),
        language=_language(text, declared),
        strategy=choice.strategy,
        confidence=choice.confidence,
        sections=sections,
        repeated=repeated,
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
