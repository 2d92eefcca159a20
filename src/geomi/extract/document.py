"""Bodies that are no HTML, each through its reader, as the same `Article` that a page becomes."""

from __future__ import annotations

from geomi.extract.dom import decode_plain
from geomi.extract.markdown import cut
from geomi.extract.media import Form
from geomi.extract.openapi import Described, describe_json, describe_yaml, looks_described
from geomi.extract.pdf import read_pdf
from geomi.extract.plain import file_name, read_markdown, read_plain
from geomi.model.config import Extraction
from geomi.model.page import Article
from geomi.text.language import language_of
from geomi.text.words import count_words

# The strategies of what has no elements that a selector could find.
WITHOUT_TREE = frozenset(("plain", "markdown", "openapi", "pdf"))

_PLAIN_TYPE = "text/plain"


def read_document(
    form: Form, body: bytes, url: str, content_type: str, rules: Extraction, max_links: int
) -> Article:
    """Read a body of a known form; `Article.unreadable` says why one is no page."""
    if form is Form.PDF:
        return _pdf(body, url, rules)
    text = decode_plain(body, content_type)
    if form is Form.MARKDOWN:
        return read_markdown(text, url, rules, max_links)
    is_named_plain = content_type.strip().lower().startswith(_PLAIN_TYPE)
    if form is Form.PLAIN or (is_named_plain and not looks_described(text)):
        return read_plain(text, url, rules)
    described = describe_json(text) if form is Form.JSON else describe_yaml(text)
    if described.problem and is_named_plain:  # a text is a text, whatever its name promised
        return read_plain(text, url, rules)
    return _api(described, rules)


def _api(described: Described, rules: Extraction) -> Article:
    if described.problem:
        return _nothing(described.problem)
    text = described.markdown[: rules.max_markdown_chars]
    language, detected = language_of(described.description or text, "")
    return Article(
        title=described.title,
        markdown=cut(described.markdown, rules.max_markdown_chars),
        text=text,
        links=(),
        description=" ".join(described.description[:1000].split()),
        language=language,
        detected_language=detected,
        words=count_words(text, language),
        outline=described.outline,
        strategy="openapi",
        confidence=1.0,
    )


def _pdf(body: bytes, url: str, rules: Extraction) -> Article:
    read = read_pdf(body)
    if read.problem:
        return _nothing(read.problem)
    text = read.markdown[: rules.max_markdown_chars]
    language, detected = language_of(text, "")
    return Article(
        title=read.title or file_name(url),
        markdown=cut(read.markdown, rules.max_markdown_chars),
        text=text,
        links=(),
        author=read.author,
        published_at=read.created,
        language=language,
        detected_language=detected,
        words=count_words(text, language),
        outline=read.outline,
        strategy="pdf",
        confidence=0.8,  # what is a heading, and in which order columns are read, is guessed
    )


def _nothing(problem: str) -> Article:
    return Article(title="", markdown="", text="", links=(), unreadable=problem)
