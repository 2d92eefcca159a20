"""What a sitemap lists: pages, or further sitemaps (sitemaps.org, C-82, LNK-16).

Rules kept:
- XML sitemaps and indexes under any namespace or prefix, with the dates of the news extension and
  the other languages of a page (hreflang); RSS and Atom feeds; text with one URL a line. Each may
  be gzipped. A broken file gives what was read before the break.
- Read piece by piece: a file of fifty megabytes is never in memory as a whole.
- Bytes, URLs, elements, nesting and the length of a text all have limits; nothing raises.
"""

from __future__ import annotations

import codecs
from typing import Protocol

from geomi.seed.gunzip import Gunzip
from geomi.seed.listing import MAX_BYTES, MAX_LOC_CHARS, MAX_URLS, Sitemap, is_location, too_many
from geomi.seed.xml import XmlReader

PIECE_BYTES = 64 * 1024  # what is looked at before a file's kind is known, and at once


def read(body: bytes, *, max_urls: int = MAX_URLS, max_bytes: int = MAX_BYTES) -> Sitemap:
    """Read a sitemap, whatever the bytes are."""
    reader = SitemapReader(max_urls=max_urls, max_bytes=max_bytes)
    for start in range(0, len(body), PIECE_BYTES):
        reader.feed(body[start : start + PIECE_BYTES])
    return reader.close()


class SitemapReader:
    """Reads a sitemap from pieces; takes any number of them, and forgets them."""

    def __init__(self, *, max_urls: int = MAX_URLS, max_bytes: int = MAX_BYTES) -> None:
        self._max_urls = max_urls
        self._max_bytes = self._room = max_bytes
        self._start = b""
        self._gunzip: Gunzip | None = None
        self._kind: _Kind | None = None
        self._problem = ""

    def feed(self, piece: bytes) -> None:
        """Read the next piece; once the file is broken or too large, pieces are dropped."""
        if self._problem:
            return
        if self._gunzip is not None:
            self._inflate(piece)
        elif self._kind is not None:
            self._take(piece)
        else:
            self._start += piece
            if len(self._start) >= _ENOUGH_BYTES:
                self._begin()

    def close(self) -> Sitemap:
        """Return what was read."""
        if self._gunzip is None and self._kind is None and not self._problem:
            self._begin()
        if self._gunzip is not None and not self._problem:
            self._problem = self._gunzip.close()
        if self._kind is None:
            self._open(b"")
        assert self._kind is not None, "a file of no bytes is opened, too"
        return self._kind.close(self._problem)

    def _begin(self) -> None:
        start, self._start = self._start, b""
        if start.startswith(Gunzip.MAGIC):
            self._gunzip = Gunzip()
            self._inflate(start)
        else:
            self._take(start)

    def _inflate(self, piece: bytes) -> None:
        assert self._gunzip is not None, "only what is gzipped is inflated"
        for plain in self._gunzip.pieces(piece, PIECE_BYTES):
            self._take(plain)
            if self._problem:
                return
        self._problem = self._gunzip.problem

    def _take(self, plain: bytes) -> None:
        if not plain:
            return
        if self._kind is None:
            self._open(plain)
        assert self._kind is not None, "the first piece tells the kind"
        kept = plain[: self._room]
        self._room -= len(kept)
        self._problem = self._kind.feed(kept)
        if len(kept) < len(plain) and not self._problem:
            self._problem = f"it is larger than {self._max_bytes} bytes; the rest was not read"

    def _open(self, plain: bytes) -> None:
        start = plain[:64].removeprefix(codecs.BOM_UTF8).lstrip()
        is_xml = start.startswith((b"<", b"\xff\xfe<", b"\xfe\xff\x00<"))
        self._kind = XmlReader(self._max_urls) if is_xml else _Text(self._max_urls)


_ENOUGH_BYTES = 64  # to tell gzip, XML and text apart


class _Kind(Protocol):
    """One kind of file; `feed` returns why no more is wanted, or the empty string."""

    def feed(self, piece: bytes) -> str: ...

    def close(self, problem: str) -> Sitemap: ...


class _Text:
    """One URL a line."""

    def __init__(self, max_urls: int) -> None:
        self._max_urls = max_urls
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._pages: list[tuple[str, str]] = []

    def feed(self, piece: bytes) -> str:
        text = self._rest + self._decoder.decode(piece)
        *lines, self._rest = text.replace("\r", "\n").split("\n")
        # A line without an end is no URL, however much of it comes.
        self._rest = self._rest[: MAX_LOC_CHARS + 1]
        return "" if all(map(self._keep, lines)) else too_many(self._max_urls)

    def close(self, problem: str) -> Sitemap:
        # A file that was cut may end in half a URL.
        if not problem and not self._keep(self._rest):
            problem = too_many(self._max_urls)
        if not self._pages:
            problem = problem or "it is neither XML nor a list of URLs"
        return Sitemap(tuple(self._pages), (), problem)

    def _keep(self, line: str) -> bool:
        location = line.strip()
        if not is_location(location):
            return True
        if len(self._pages) == self._max_urls:
            return False
        self._pages.append((location, ""))
        return True
