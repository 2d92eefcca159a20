"""Choose the reader of a body by its media type, or by its name if the type says little.

Most servers send markdown and API descriptions as `text/plain`. For this type the ending of the
URL and the beginning of the text decide. JSON and YAML are read only as descriptions of an API
(CTY-03).
"""

from __future__ import annotations

from enum import StrEnum


class BodyFormat(StrEnum):
    """What a body is."""

    HTML = "html"
    PLAIN = "plain"
    MARKDOWN = "markdown"
    JSON = "json"
    YAML = "yaml"
    PDF = "pdf"


XHTML = "application/xhtml+xml"
_BY_TYPE = {
    "text/plain": BodyFormat.PLAIN,
    "text/markdown": BodyFormat.MARKDOWN,
    "text/x-markdown": BodyFormat.MARKDOWN,
    "application/json": BodyFormat.JSON,
    "application/vnd.oai.openapi+json": BodyFormat.JSON,
    "application/openapi+json": BodyFormat.JSON,
    "application/yaml": BodyFormat.YAML,
    "application/x-yaml": BodyFormat.YAML,
    "application/openapi+yaml": BodyFormat.YAML,
    "application/vnd.oai.openapi": BodyFormat.YAML,
    "application/vnd.oai.openapi+yaml": BodyFormat.YAML,
    "text/yaml": BodyFormat.YAML,
    "text/x-yaml": BodyFormat.YAML,
    "application/pdf": BodyFormat.PDF,
}
_BY_ENDING = {
    ".md": BodyFormat.MARKDOWN,
    ".mdx": BodyFormat.MARKDOWN,
    ".markdown": BodyFormat.MARKDOWN,
    ".json": BodyFormat.JSON,
    ".yaml": BodyFormat.YAML,
    ".yml": BodyFormat.YAML,
}


def body_format(content_type: str, url: str) -> BodyFormat:
    """Return what a body is; whatever is not known is a page."""
    form = _BY_TYPE.get(_media(content_type), BodyFormat.HTML)
    return _by_ending(url) if form is BodyFormat.PLAIN else form


def is_readable(content_type: str) -> bool:
    """Return whether a body of this type can be read at all; a missing type is given a chance."""
    media = _media(content_type)
    return not media or media.startswith("text/") or media in _BY_TYPE or media == XHTML


# A description of an API may refer to the same long text a thousand times.
_RISKY = frozenset((BodyFormat.PDF, BodyFormat.YAML, BodyFormat.JSON))


def is_risky(content_type: str, url: str) -> bool:
    """Return whether few bytes may cost much time or memory, so that the reader can be killed."""
    return body_format(content_type, url) in _RISKY


def _media(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _by_ending(url: str) -> BodyFormat:
    name = url.partition("#")[0].partition("?")[0].rpartition("/")[2].lower()
    return _BY_ENDING.get("." + name.rpartition(".")[2], BodyFormat.PLAIN)
