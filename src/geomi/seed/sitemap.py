"""Read what a sitemap lists: pages, or more sitemaps (sitemaps.org, C-82, LNK-16).

Rules kept:
- XML sitemaps and indexes under any namespace or prefix, with the dates of the news extension and
  the other languages of a page (hreflang); RSS and Atom feeds; text with one URL a line. Each may
  be gzipped. A broken file gives what was read before the break.
- The file is read piece by piece: fifty megabytes are never in memory as a whole.
- Bytes, URLs, elements, nesting and the length of a text all have limits; nothing raises.
- Names of XML elements count without their prefix: prefixes are chosen freely, and real files get
  the namespace wrong. A document type is refused, so no entity is ever expanded or fetched.
- Gzip here is the file itself (`sitemap.xml.gz`), which the client leaves alone. Members may follow
  one another; what follows the last one and is no gzip is ignored.
- Dates are W3C dates or, in feeds, RFC 822 ones. A date without a zone is UTC. Any other text,
  and a time in the future, is ignored.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol
from xml.parsers import expat

MAX_URLS = 50_000
MAX_BYTES = 52_428_800
MAX_LOC_CHARS = 2048
PIECE_BYTES = 64 * 1024  # what is looked at before a file's kind is known, and at once
_ENOUGH_BYTES = 64  # to tell gzip, XML and text apart
# Extensions (languages, images, video) add some elements to each URL; a million take 0.8 s.
ELEMENTS_PER_URL = 20
MAX_NESTING = 32
# (parent, element) that hold a location or a date; `image:loc` has another parent.
_LOCATIONS = frozenset({("url", "loc"), ("sitemap", "loc"), ("item", "link")})
_DATES = frozenset(
    {
        ("url", "lastmod"),
        ("news", "publication_date"),
        ("item", "pubdate"),
        ("entry", "updated"),
        ("entry", "modified"),
    }
)
_RECORDS = frozenset({"url", "sitemap", "entry"})  # children of the root: RSS images have a url too
MAX_RATIO = 100  # G-10: XML of URLs shrinks ten to thirty times
ALWAYS_INFLATED_BYTES = 1024 * 1024
MAX_MEMBERS = 16
MAX_LASTMOD_CHARS = 64
_FIRST_DAYS = {len("2024"): "-01-01", len("2024-05"): "-01"}


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What was read.

    Args:
        pages: (location, last modification as written or empty), in the order of the file.
        sitemaps: locations of an index.
        problem: why something is missing; empty when nothing is.
        alternates: the same pages in other languages, where they are not listed themselves.
    """

    pages: tuple[tuple[str, str], ...] = ()
    sitemaps: tuple[str, ...] = ()
    problem: str = ""
    alternates: tuple[str, ...] = ()


def is_location(text: str) -> bool:
    """Locations are absolute; anything else in their place is a mistake."""
    return len(text) <= MAX_LOC_CHARS and text[:8].lower().startswith(("http://", "https://"))


def too_many(limit: int) -> str:
    """Say that a list is longer than what is read of it."""
    return f"it lists more than {limit} URLs; the rest was not read"


class SitemapReader:
    """Reads a sitemap from pieces; takes any number of them, and forgets them.

    Args:
        copy: takes each piece that is read, unpacked.
    """

    def __init__(
        self,
        *,
        max_urls: int = MAX_URLS,
        max_bytes: int = MAX_BYTES,
        copy: Callable[[bytes], None] = lambda _: None,
    ) -> None:
        self._copy = copy
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
        self._copy(kept)
        self._problem = self._kind.feed(kept)
        if len(kept) < len(plain) and not self._problem:
            self._problem = f"it is larger than {self._max_bytes} bytes; the rest was not read"

    def _open(self, plain: bytes) -> None:
        start = plain[:64].removeprefix(codecs.BOM_UTF8).lstrip()
        is_xml = start.startswith((b"<", b"\xff\xfe<", b"\xfe\xff\x00<"))
        self._kind = XmlReader(self._max_urls) if is_xml else _Text(self._max_urls)


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


class XmlReader:
    """Reads one file from pieces; nothing raises."""

    def __init__(self, max_urls: int) -> None:
        self._max_urls = max_urls
        self._pages: list[tuple[str, str]] = []
        self._sitemaps: list[str] = []
        self._alternates: dict[str, None] = {}
        self._elements_left = max_urls * ELEMENTS_PER_URL + MAX_NESTING
        self._path: list[str] = [""]
        self._text: list[str] | None = None
        self._chars = 0
        self._location = ""
        self._date = ""
        self._is_first = True
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._take

    def feed(self, piece: bytes) -> str:
        """Read the next piece; return why no more is wanted, or the empty string."""
        if self._is_first:  # white space before an XML declaration is a mistake that is forgiven
            piece = piece.removeprefix(codecs.BOM_UTF8).lstrip()
            self._is_first = False
        return self._parse(piece, is_last=False)

    def close(self, problem: str) -> Sitemap:
        """Return what was read; `problem` is what was wrong with the bytes."""
        # A file that was cut has no end; what it has is read all the same.
        problem = problem or self._parse(b"", is_last=True)
        if not self._pages and not self._sitemaps:
            problem = problem or "it lists nothing"
        listed = {location for location, _ in self._pages}
        alternates = tuple(href for href in self._alternates if href not in listed)
        return Sitemap(tuple(self._pages), tuple(self._sitemaps), problem, alternates)

    def _parse(self, piece: bytes, *, is_last: bool) -> str:
        try:
            self._parser.Parse(piece, is_last)
        except _Stop as stop:
            return stop.reason
        except (expat.ExpatError, LookupError, ValueError) as error:
            return f"its XML is broken: {error}"
        return ""

    def _refuse(self, *declaration: object) -> None:
        raise _Stop("it has a document type, which is refused")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        element = name.rpartition(":")[2].lower()
        parent = self._path[-1]
        self._elements_left -= 1
        if self._elements_left < 0 or len(self._path) > MAX_NESTING:
            raise _Stop("it has too many elements; the rest was not read")
        is_record = self._is_record(element)
        self._path.append(element)
        if is_record:
            self._location = self._date = ""
        place = (parent, element)
        is_wanted = is_record or place in _LOCATIONS or place in _DATES
        self._text, self._chars = ([] if is_wanted else None), 0
        if element == "link" and attributes.get("rel", "alternate").lower() == "alternate":
            self._take_link(parent, attributes.get("href", "").strip())

    def _take(self, data: str) -> None:
        if self._text is not None and self._chars <= MAX_LOC_CHARS:
            self._text.append(data)
            self._chars += len(data)

    def _end(self, name: str) -> None:
        element = self._path.pop()
        value = "" if self._text is None else "".join(self._text).strip()
        self._text = None
        if self._is_record(element):
            self._location = self._location or value  # some indexes leave out the <loc>
            self._close_record(element)
        elif (self._path[-1], element) in _LOCATIONS:
            self._location = value
        elif value:
            self._date = value

    def _is_record(self, element: str) -> bool:
        return element == "item" or (element in _RECORDS and len(self._path) == 2)

    def _take_link(self, parent: str, href: str) -> None:
        """Take Atom's location, or a page in another language; those have their own limit."""
        if parent == "entry":
            self._location = href
        elif parent == "url" and is_location(href) and len(self._alternates) < self._max_urls:
            self._alternates[href] = None

    def _close_record(self, record: str) -> None:
        if not is_location(self._location):
            return
        if len(self._pages) + len(self._sitemaps) == self._max_urls:
            raise _Stop(too_many(self._max_urls))
        if record == "sitemap":
            self._sitemaps.append(self._location)
        else:
            self._pages.append((self._location, self._date))
        self._location = ""


class _Stop(Exception):
    """There is nothing more to read."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Gunzip:
    """Inflates one file; `problem` tells why no more comes out of it."""

    MAGIC = b"\x1f\x8b"

    def __init__(self) -> None:
        self.problem = ""
        self._inflater = _new_inflater()
        self._members = 1
        self._is_over = False
        self._in_bytes = self._out_bytes = 0

    def pieces(self, packed: bytes, size: int) -> Iterator[bytes]:
        """Yield what a piece of the file holds, in pieces of at most `size` bytes."""
        self._in_bytes += len(packed)
        while packed and not self.problem and not self._is_over:
            try:
                plain = self._inflater.decompress(packed, size)
            except zlib.error as error:
                self.problem = f"its gzip is broken: {error}"
                return
            packed = self._inflater.unconsumed_tail
            self._out_bytes += len(plain)
            if self._out_bytes > max(ALWAYS_INFLATED_BYTES, MAX_RATIO * self._in_bytes):
                self.problem = f"its gzip holds more than {MAX_RATIO} times its size"
            yield plain
            if self._inflater.eof:
                packed = self._next_member()

    def close(self) -> str:
        """Return what was wrong with the file, also that it has no end."""
        is_whole = self._is_over or self._inflater.eof
        return self.problem or ("" if is_whole else "its gzip ends too soon")

    def _next_member(self) -> bytes:
        rest = self._inflater.unused_data
        if not rest.startswith(self.MAGIC):
            self._is_over = bool(rest)
            return b""
        self._members += 1
        if self._members > MAX_MEMBERS:
            self.problem = f"its gzip has more than {MAX_MEMBERS} members"
            return b""
        self._inflater = _new_inflater()
        return rest


def _new_inflater() -> zlib._Decompress:
    return zlib.decompressobj(zlib.MAX_WBITS | 16)


def lastmod_s(text: str, *, wall_s: float) -> float | None:
    """Return the time a text means, in seconds of the wall clock; None where it means none."""
    if not text or len(text) > MAX_LASTMOD_CHARS:
        return None
    for parse in (_w3c, parsedate_to_datetime):
        try:
            at = parse(text)
            changed_s = at.replace(tzinfo=at.tzinfo or UTC).timestamp()
        except (ValueError, OverflowError):
            continue
        return changed_s if 0 < changed_s <= wall_s else None
    return None


def _w3c(text: str) -> datetime:
    """Read a W3C date; `2024` and `2024-05` are its first day."""
    return datetime.fromisoformat(text + _FIRST_DAYS.get(len(text), ""))
