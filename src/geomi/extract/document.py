"""Read a body that is not HTML, as the same `Article` that a page becomes.

A PDF and a description of an API have readers of their own. Text and markdown files are read here:
their text is the markdown. Front matter is removed from the text; its title, description, author,
date and source become metadata. Links of a markdown file are read, so that a crawl can follow them;
links in code are not. `Article.unreadable` says why a body could not be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from geomi.extract.dates import iso_date
from geomi.extract.dom import binary_problem, decode_plain
from geomi.extract.markdown.writer import cut
from geomi.extract.media import BodyFormat
from geomi.extract.openapi import Described, describe_json, describe_yaml, looks_described
from geomi.extract.pdf import read_pdf
from geomi.model.config import Extraction
from geomi.model.page import Article, PageLink
from geomi.text.invisible import seen
from geomi.text.language import count_words, language_of
from geomi.url.parse import absolute

# The strategies of what has no elements that a selector could find.
WITHOUT_TREE = frozenset(("plain", "markdown", "openapi", "pdf"))
_PLAIN_TYPE = "text/plain"
MAX_TITLE_CHARS = 200
MAX_FRONT_CHARS = 20_000
MAX_FRONT_LINES = 200
MAX_LINK_CHARS = 4000
MAX_HREFS = 50_000
MAX_HEADINGS = 200
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_FRONT = re.compile(r"([A-Za-z_-]{1,40}):[ \t]*(.*)")
_CODE_SPAN = re.compile(r"(`+)[^`\n]{1,500}\1")
# The address of `[text](address "title")`; then `<https://…>` and `[name]: address`.
_TARGET = re.compile(r"\]\([ \t]{0,4}<?((?:[^\s<>()]|\([^\s<>()]{0,200}\)){1,2000})")
_BARE = re.compile(r"<(https?://[^\s<>]{1,2000})>")
_NAMED = re.compile(r" {0,3}\[([^\]\n]{1,200})\]:[ \t]*<?([^\s<>]{1,2000})>?")
_AUTHORS = ("author", "authors")
_DATES = ("date", "published", "publishdate", "published_at")
_PROVENANCE = ("source", "library")
_CHANGES = ("lastmod", "last_updated", "updated", "modified", "date_modified")


def read_document(
    form: BodyFormat, body: bytes, url: str, content_type: str, rules: Extraction, max_links: int
) -> Article:
    """Read a body of a known form; `Article.unreadable` says why one is no page."""
    if form is BodyFormat.PDF:
        return _pdf(body, url, rules)
    if problem := binary_problem(body):
        return unreadable(problem)
    text = seen(decode_plain(body, content_type))
    if form is BodyFormat.MARKDOWN:
        return read_markdown(text, url, rules, max_links)
    is_named_plain = content_type.strip().lower().startswith(_PLAIN_TYPE)
    if form is BodyFormat.PLAIN or (is_named_plain and not looks_described(text)):
        return read_plain(text, url, rules)
    described = describe_json(text) if form is BodyFormat.JSON else describe_yaml(text)
    if described.problem and is_named_plain:  # a text is a text, whatever its name promised
        return read_plain(text, url, rules)
    return _api(described, rules)


def _api(described: Described, rules: Extraction) -> Article:
    if described.problem:
        return unreadable(described.problem)
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
        return unreadable(read.problem)
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


def unreadable(problem: str) -> Article:
    """Return what becomes of a body that is no page."""
    return Article(title="", markdown="", text="", links=(), unreadable=problem)


def read_plain(text: str, url: str, rules: Extraction) -> Article:
    """Take a text file as it is; its title is its first line, or the last part of its URL."""
    text = text.strip()
    title = text.partition("\n")[0].strip() or file_name(url)
    return _article(text, title, rules, strategy="plain")


def read_markdown(text: str, url: str, rules: Extraction, max_links: int) -> Article:
    """Take a markdown file as it is, without its front matter."""
    front, text = _front_matter(text.strip().replace("\r\n", "\n"))
    prose = list(_prose(text))
    outline = tuple(_outline(prose))
    title = front.get("title") or next((words for _, words in outline), "") or file_name(url)
    article = _article(text, title, rules, strategy="markdown", declared=front.get("lang", ""))
    return replace(
        article,
        description=front.get("description", ""),
        author=_first(front, _AUTHORS),
        published_at=iso_date(_first(front, _DATES)),
        modified_at=iso_date(_first(front, _CHANGES)),
        links=_links(prose, url, max_links),
        outline=outline,
        metadata=tuple(
            (name, front[name][:MAX_TITLE_CHARS]) for name in _PROVENANCE if front.get(name)
        ),
    )


def file_name(url: str) -> str:
    """Return the last part of a URL's path."""
    return url.partition("#")[0].partition("?")[0].rstrip("/").rpartition("/")[2]


def _article(
    text: str, title: str, rules: Extraction, *, strategy: str, declared: str = ""
) -> Article:
    language, detected = language_of(text, declared)
    return Article(
        title=title[:MAX_TITLE_CHARS],
        markdown=cut(text, rules.max_markdown_chars),
        text=text[: rules.max_markdown_chars],
        links=(),
        language=language,
        detected_language=detected,
        words=count_words(text, language),
        strategy=strategy,
        confidence=1.0,
    )


def _front_matter(text: str) -> tuple[Mapping[str, str], str]:
    """Split what stands between two lines of `---` from the text; only plain values are read."""
    if not text.startswith("---\n"):
        return {}, text
    end = text.find("\n---", 3, MAX_FRONT_CHARS)
    if end < 0:
        return {}, text
    found: dict[str, str] = {}
    for line in text[4:end].split("\n")[:MAX_FRONT_LINES]:
        if match := _FRONT.fullmatch(line.rstrip()):
            found.setdefault(match[1].lower(), match[2].strip("\"' ")[:MAX_FRONT_CHARS])
    return found, text[end + 4 :].partition("\n")[2].lstrip()


def _prose(text: str) -> Iterator[str]:
    """Return the lines that are not code."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        else:
            yield line


def _outline(prose: list[str]) -> Iterator[tuple[int, str]]:
    left = MAX_HEADINGS
    for line in prose:
        if line.lstrip()[:1] == "#" and left and (match := _HEADING.fullmatch(line)) and match[2]:
            left -= 1
            yield len(match[1]), match[2][:MAX_TITLE_CHARS]


def _links(prose: list[str], url: str, max_links: int) -> tuple[PageLink, ...]:
    found: dict[str, str] = {}
    for line in prose:
        for href, words in _hrefs(line[:MAX_LINK_CHARS]):
            if href[:1] != "#" and len(found) < MAX_HREFS:
                found.setdefault(href, words)
    links: dict[str, PageLink] = {}
    for target, words in zip(absolute(tuple(found), url), found.values(), strict=True):
        if target is not None and len(links) < max_links:
            links.setdefault(target, PageLink(target, words[:MAX_TITLE_CHARS]))
    return tuple(links.values())


def _hrefs(line: str) -> Iterator[tuple[str, str]]:
    if "](" in line or "<http" in line or "]:" in line:
        line = _CODE_SPAN.sub("", line)
        for match in _TARGET.finditer(line):
            words = _words_before(line, match.start())
            if words is not None:
                yield match[1], words
        for match in _BARE.finditer(line):
            yield match[1], match[1]
        if (named := _NAMED.match(line)) and named[1][0] != "^":
            yield named[2], named[1]


def _words_before(line: str, end: int) -> str | None:
    """Return the words of a link that end here; None where they are those of an image."""
    if line[end - 1 : end] == ")":
        return ""  # an image is what is linked
    start = line.rfind("[", 0, end)
    is_image = start < 0 or line[start - 1 : start] == "!"
    return None if is_image else " ".join(line[start + 1 : end].split())


def _first(front: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((front[name] for name in names if front.get(name)), "")
