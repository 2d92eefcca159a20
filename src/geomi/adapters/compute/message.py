"""What passes between a worker and its child: frames of JSON, plus the page's bytes as they are.

A frame is its length in eight bytes and then its content. JSON and not pickle, because the child
has read a page that may have been written to take it over.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import orjson
from pydantic import TypeAdapter, ValidationError

from geomi.model.config import Extraction
from geomi.model.page import Article

LENGTH = struct.Struct("!Q")
READY = b"ready"
# Markdown and text of 2 million characters and 10,000 links of 2,048 stay below half of this.
MAX_REPLY_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """Everything extraction needs to know of a page besides its bytes."""

    url: str
    content_type: str
    rules: Extraction
    max_links: int


_QUESTIONS = TypeAdapter(ExtractionRequest)
_ARTICLES = TypeAdapter(Article)


def frame(content: bytes) -> bytes:
    """Put a length before a frame's content."""
    return LENGTH.pack(len(content)) + content


def pack_request(question: ExtractionRequest, body: bytes) -> tuple[bytes, bytes]:
    """Build the two frames of a question, the second still apart from its content.

    A body may be large, and joining would copy it.
    """
    return frame(orjson.dumps(question)) + LENGTH.pack(len(body)), body


def read_request(content: bytes) -> ExtractionRequest:
    """Read a question's first frame."""
    return _QUESTIONS.validate_json(content)


def pack_article(article: Article) -> bytes:
    """Build the frame of an answer."""
    return frame(orjson.dumps(article, default=tuple))  # for the set of robots directives


def read_article(content: bytes) -> Article | None:
    """Read an answer; None when it is not an article."""
    try:
        return _ARTICLES.validate_json(content)
    except ValidationError:
        return None
