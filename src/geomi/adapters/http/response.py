"""One answer, read from bytes as they come: the only module that knows the parser.

Rules: caps on the head (bytes, number of headers) and on the body hold while reading; a redirect's
body (unless it was asked for) and one of an unwanted type are never read, what of it lies in the
same packet is dropped; interim answers (1xx) are skipped. Three things that strict HTTP forbids are
accepted because servers do them: lines that end in LF alone (RFC 9112 §2.2), a header folded over
several lines (RFC 9112 §5.2), and a Content-Length beside chunks, which is then ignored and costs
the connection (RFC 9112 §6.3).
"""

from __future__ import annotations

import re

import httptools

from geomi.adapters.http.decode import MARGIN_BYTES, Body
from geomi.adapters.http.failure import FetchFailed, FetchFailure
from geomi.adapters.http.room import FREE_BYTES
from geomi.fetch.response import accepts, media_type
from geomi.model.page import Request
from geomi.model.verdict import Outcome

MAX_HEADERS = 200
MAX_HEAD_BYTES = 64 * 1024

# RFC 9110 §5.5; the parser itself no longer looks once folds are let through.
_CONTROLS = re.compile(rb"[\x00-\x08\n-\x1f\x7f]")
_HEAD_TOO_LARGE = f"the headers are larger than {MAX_HEAD_BYTES} bytes"


class ResponseReader:
    """Reads one answer; `is_over` once nothing more is wanted of the connection."""

    def __init__(self, request: Request) -> None:
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        self.head = b""
        self.wire_bytes = 0
        self.is_over = False
        self.is_reusable = False
        self.failure: FetchFailure | None = None
        self.need_bytes = request.max_bytes  # what the body may become
        self._request = request
        self._body: Body | None = None
        self._raw_head = b""
        self._interim_answers = 0
        self._header_count = 0
        self._is_complete = False
        self._ends_with_connection = False
        self._parser = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_chunked_length=True
        )

    # what the connection calls

    def feed(self, data: bytes | memoryview) -> None:
        """Read the next bytes of the connection."""
        self.wire_bytes += len(data)
        if not self.status:
            self._raw_head += data
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError:
            raise  # our own mistake, not the server's
        except httptools.HttpParserError as error:
            self._after_error(error)
        except httptools.HttpParserUpgrade:
            self.fail(Outcome.PROTOCOL_ERROR, "the server switched to another protocol")
        if not self.status and len(self._raw_head) > MAX_HEAD_BYTES:
            self.fail(Outcome.TOO_LARGE, _HEAD_TOO_LARGE)
        if self._is_complete or (self.status and self._body is None):
            self.is_over = not self.is_held
        elif self.wire_bytes - len(self.head) > self._request.max_bytes + MARGIN_BYTES:
            self._pass_wire_cap()

    @property
    def is_held(self) -> bool:
        """Whether a large body waits for memory; `proceed` continues it."""
        return self._body is not None and self._body.is_held and self.failure is None

    def proceed(self) -> None:
        """Continue a held body; its end may have come already."""
        if self._body is None:
            return
        try:
            self._body.proceed()
        except FetchFailed as failed:
            self.fail(failed.failure.outcome, failed.failure.detail)
        if self._is_complete or self._body.is_cut:
            self.is_over = True

    def end(self, error: Exception | None) -> None:
        """Take note that the connection is closed."""
        if self.is_over or self._is_complete:
            return
        if not self.wire_bytes:
            self.fail(Outcome.CONNECT_ERROR, f"closed without an answer{_why(error)}")
        elif self._ends_with_connection and error is None:
            self._is_complete = True
            self.is_over = not self.is_held
        else:
            self.fail(Outcome.PROTOCOL_ERROR, f"closed inside its answer{_why(error)}")

    def fail(self, outcome: Outcome, detail: str) -> None:
        """End the answer here; the first failure is the one that counts."""
        if self.failure is None:
            self.failure = FetchFailure(outcome, detail)
        self.is_over = True
        self.is_reusable = False

    def release(self) -> None:
        """Drop the parser: it refers to this reader, and both would wait for a collection."""
        del self._parser

    def body(self) -> bytes:
        """Return the body of an answer that is over; raise `FetchFailed` if it broke off."""
        if self.failure is not None:
            raise FetchFailed(self.failure.outcome, self.failure.detail)
        return b"" if self._body is None else self._body.finish()

    def header(self, name: str) -> str:
        """Return the first header of that lower-case name, or the empty string."""
        for key, value in self.headers:
            if key == name:
                return value
        return ""

    # what the parser calls

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; trailers are counted and dropped."""
        self._header_count += 1
        if self._header_count > MAX_HEADERS:
            self.fail(Outcome.TOO_LARGE, f"more than {MAX_HEADERS} headers")
        elif _CONTROLS.search(value):
            self.fail(Outcome.PROTOCOL_ERROR, "a header has a control character")
        elif not self.status:
            self.headers.append((name.decode("latin-1").lower(), _text(value)))

    def on_headers_complete(self) -> None:
        """Decide what is done with the body."""
        if self._is_complete:
            return  # of a second answer, which nobody asked for
        status = self._parser.get_status_code()
        if status < 200:  # llhttp accepts nothing below 100
            self._interim_answers += 1
            self.headers.clear()
            return
        self.status = status
        self.head = self._cut_head()
        if len(self.head) > MAX_HEAD_BYTES:
            self.fail(Outcome.TOO_LARGE, _HEAD_TOO_LARGE)
        if self.head.partition(b"\n")[2].startswith((b" ", b"\t")):  # RFC 9112 §2.2: no fold
            self.fail(Outcome.PROTOCOL_ERROR, "a space precedes the first header")
        if self.failure is None:
            try:
                self._plan_body()
            except FetchFailed as failed:
                self.fail(failed.failure.outcome, failed.failure.detail)

    def on_body(self, data: bytes) -> None:
        """Decode a piece of the body."""
        if self._body is None or self._is_complete or self.failure is not None:
            return
        try:
            self._body.feed(data)
        except FetchFailed as failed:
            self.fail(failed.failure.outcome, failed.failure.detail)
        if self._body.is_cut:
            self.is_over = True

    def on_message_complete(self) -> None:
        """Take note of the end, and of whether the connection may be used again."""
        if self._is_complete or not self.status:
            return  # of a second answer, or of an interim one
        self._is_complete = True
        if self.failure is None and not self.is_over:
            has_both = self.header("content-length") and self.header("transfer-encoding")
            self.is_reusable = self._parser.should_keep_alive() and not has_both

    def on_message_begin(self) -> None:
        """Refuse to keep a connection whose server says more than it was asked."""
        if self._is_complete:
            self.is_reusable = False

    # how it is done

    def _plan_body(self) -> None:
        is_redirect = 300 <= self.status < 400 and not self._request.reads_redirects
        if is_redirect or not self._is_wanted():
            return
        coding = self.header("transfer-encoding").lower()
        if coding not in ("", "chunked", "identity"):
            raise FetchFailed(
                Outcome.PROTOCOL_ERROR, f"the transfer coding `{coding[:40]}` was not asked for"
            )
        self._body = Body(
            self.header("content-encoding"),
            self._request.max_bytes,
            truncate=self._request.truncate,
            sink=self._request.sink if self.status < 300 else None,
            free_bytes=FREE_BYTES,
        )
        length = self.header("content-length")
        self._ends_with_connection = coding != "chunked" and not length
        if length and coding != "chunked" and not self._request.truncate:
            self._check_length(int(length), is_coded=self._body.is_coded)
            if not self._body.is_coded:
                self.need_bytes = int(length)

    def _is_wanted(self) -> bool:
        """Compare the media type; an error's body is dropped, a page's is a failure."""
        content_type = self.header("content-type")
        if accepts(content_type, self._request.types):
            return True
        if self.status < 300:
            detail = f"the content type is `{media_type(content_type)[:80]}`"
            raise FetchFailed(Outcome.WRONG_TYPE, detail)
        return False

    def _check_length(self, length_bytes: int, *, is_coded: bool) -> None:
        limit_bytes = self._request.max_bytes + (MARGIN_BYTES if is_coded else 0)
        if length_bytes > limit_bytes:
            raise FetchFailed(
                Outcome.TOO_LARGE,
                f"the body has {length_bytes} bytes; the limit is {self._request.max_bytes}",
            )

    def _cut_head(self) -> bytes:
        """Take status line and headers out of what came, interim answers left out."""
        raw, self._raw_head = self._raw_head, b""
        start = 0
        for _ in range(self._interim_answers):
            start = _head_end(raw, start)
        while raw.startswith((b"\r", b"\n"), start):  # RFC 9112 §2.2: lines before the first
            start += 1
        return raw[start : _head_end(raw, start)]

    def _after_error(self, error: httptools.HttpParserError) -> None:
        if self._is_complete:  # the answer is whole; what follows it is not ours
            self.is_reusable = False
        else:
            self.fail(Outcome.PROTOCOL_ERROR, f"not a valid HTTP/1.1 answer: {error}")

    def _pass_wire_cap(self) -> None:
        if self._request.truncate and self._body is not None:
            self.is_over = True
            self.is_reusable = False
            return
        limit_bytes = self._request.max_bytes + MARGIN_BYTES
        self.fail(Outcome.TOO_LARGE, f"more than {limit_bytes} bytes came over the network")


def _head_end(raw: bytes, start: int) -> int:
    """Return where a head ends: after its empty line, whichever way lines end."""
    strict = raw.find(b"\n\r\n", start) + 3
    bare = raw.find(b"\n\n", start, strict if strict > 2 else len(raw)) + 2
    return bare if bare > 1 else strict


def _text(value: bytes) -> str:
    """Read a header's value: ASCII by the book, UTF-8 or Latin-1 in practice."""
    try:
        return value.decode("utf-8").strip()
    except UnicodeDecodeError:
        return value.decode("latin-1").strip()


def _why(error: Exception | None) -> str:
    return f" ({error})" if error is not None else ""
