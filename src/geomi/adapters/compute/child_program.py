"""The child's program: `python -m geomi.adapters.compute.child_program`.

Its parent is at descriptor 0. It answers one request at a time until its parent closes the
connection. It catches nothing but the end of its memory: an error ends the process, and the parent
takes that for the answer.

Both send frames: a length in eight bytes, then the content, which is JSON or a page's bytes as they
are. JSON and not pickle, because the child has read a page that may have been written to take it
over.
"""

from __future__ import annotations

import ctypes
import io
import os
import resource
import signal
import socket
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from geomi.extract.page import extract
from geomi.model.config import Extraction
from geomi.model.page import Article
from geomi.ports.runtime import Rehearsal, RehearsedBody
from geomi.robots.parse import parse
from geomi.seed import llms
from geomi.seed.sitemap import PIECE_BYTES, SitemapReader

LENGTH = struct.Struct("!Q")
READY = b"ready"
SURVIVED = b"survived"
NO_MEMORY = 12  # the exit code of a child whose memory was up
# Markdown and text of 2 million characters and 10,000 links of 2,048 stay below half of this.
MAX_REPLY_BYTES = 64 * 1024 * 1024
# What one page may take beyond what the process needs to stand ready. A 10 MB page of dense markup
# was measured at 305 MiB.
EXTRA_MEMORY_BYTES = 512 * 1024 * 1024

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class ExtractionRequest:
    """Everything extraction needs to know of a page besides its bytes."""

    url: str
    content_type: str
    rules: Extraction
    max_links: int


_QUESTIONS: TypeAdapter[ExtractionRequest | Rehearsal] = TypeAdapter(ExtractionRequest | Rehearsal)
_ARTICLES = TypeAdapter(Article)


def frame(content: bytes) -> bytes:
    """Put a length before a frame's content."""
    return LENGTH.pack(len(content)) + content


def pack_request(question: ExtractionRequest | Rehearsal, body: bytes) -> tuple[bytes, bytes]:
    """Build the two frames of a question, the second still apart from its content.

    A body may be large, and joining would copy it.
    """
    return frame(orjson.dumps(question)) + LENGTH.pack(len(body)), body


def read_request(content: bytes) -> ExtractionRequest | Rehearsal:
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


def main() -> None:
    """Answer until the parent hangs up."""
    _die_with_parent()
    _limit_memory()
    with socket.socket(fileno=0) as parent, parent.makefile("rwb") as stream:
        _send(stream, frame(READY))
        while head := _receive(stream):
            try:
                _send(stream, _answer(read_request(head), _receive(stream)))
            except MemoryError:
                os._exit(NO_MEMORY)


def _answer(question: ExtractionRequest | Rehearsal, body: bytes) -> bytes:
    if isinstance(question, Rehearsal):
        _rehearse(question, body)
        return frame(SURVIVED)
    article = extract(
        body,
        question.url,
        question.content_type,
        question.rules,
        max_links=question.max_links,
    )
    return pack_article(article)


def _rehearse(what: Rehearsal, body: bytes) -> None:
    """Read a body as the engine reads it, for nothing but to see whether we survive."""
    match what.body:
        case RehearsedBody.ROBOTS:
            parse(body, what.robots)
        case RehearsedBody.SITEMAP:
            reader = SitemapReader()
            for start in range(0, len(body), PIECE_BYTES):
                reader.feed(body[start : start + PIECE_BYTES])
            reader.close()
        case RehearsedBody.LISTING:
            llms.read(body)
        case RehearsedBody.DOCUMENT:
            # Most children never read a document, and it is a lot to import.
            from geomi.engine.enrich.document import understand

            understand(body, what.analysis)


def _die_with_parent() -> None:
    """Ask the kernel to end us with our parent, even in the middle of native code.

    Elsewhere than on Linux the closed connection ends us, once the page at hand is done.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _limit_memory() -> None:
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + EXTRA_MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _send(stream: io.BufferedRWPair, data: bytes) -> None:
    stream.write(data)
    stream.flush()


def _receive(stream: io.BufferedRWPair) -> bytes:
    """Read one frame; empty when the parent has hung up."""
    length = stream.read(LENGTH.size)
    return stream.read(LENGTH.unpack(length)[0]) if length else b""


if __name__ == "__main__":
    main()
