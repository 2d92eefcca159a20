"""What a sitemap lists: pages, or further sitemaps (sitemaps.org, C-82, LNK-16).

Rules kept:
- XML sitemaps and indexes under any namespace or prefix, RSS and Atom feeds, and text with one URL
  a line; each may be gzipped. A broken file gives what was read before the break.
- A document type is refused outright: no entity is ever declared, so none is expanded or fetched.
- Bytes, URLs, elements, nesting and the length of a text all have limits; nothing raises.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from xml.parsers import expat

MAX_URLS = 50_000  # sitemaps.org
MAX_BYTES = 52_428_800  # sitemaps.org
MAX_LOC_CHARS = 2048  # sitemaps.org
# Extensions (languages, images, video) add some elements to each URL; a million take 0.8 s.
ELEMENTS_PER_URL = 20
MAX_NESTING = 32
MAX_RATIO = 100  # G-10: XML of URLs shrinks ten to thirty times
ALWAYS_INFLATED_BYTES = 1024 * 1024
MAX_MEMBERS = 16


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What was read.

    Args:
        pages: (location, last modification as written or empty), in the order of the file.
        sitemaps: locations of an index.
        problem: why something is missing; empty when nothing is.
    """

    pages: tuple[tuple[str, str], ...] = ()
    sitemaps: tuple[str, ...] = ()
    problem: str = ""


def read(body: bytes, *, max_urls: int = MAX_URLS, max_bytes: int = MAX_BYTES) -> Sitemap:
    """Read a sitemap, whatever the bytes are."""
    content, problem = _unpacked(body, max_bytes)
    start = content[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"<", b"\xff\xfe<", b"\xfe\xff\x00<")):
        return _read_xml(content, max_urls, problem)
    return _read_text(content, max_urls, problem)


def _unpacked(body: bytes, max_bytes: int) -> tuple[bytes, str]:
    """Undo gzip inside the limits; return what fits and what was wrong."""
    if not body.startswith(b"\x1f\x8b"):
        return body[:max_bytes], _too_large(max_bytes) if len(body) > max_bytes else ""
    room = min(max_bytes, max(ALWAYS_INFLATED_BYTES, MAX_RATIO * len(body)))
    parts: list[bytes] = []
    for _ in range(MAX_MEMBERS):
        inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            part = inflater.decompress(body, room + 1)
        except zlib.error as error:
            return b"".join(parts), f"its gzip is broken: {error}"
        parts.append(part[:room])
        if len(part) > room:
            return b"".join(parts), _too_large(room + sum(map(len, parts[:-1])))
        room -= len(part)
        body = inflater.unused_data
        if not body.startswith(b"\x1f\x8b"):
            return b"".join(parts), "" if inflater.eof else "its gzip ends too soon"
    return b"".join(parts), f"its gzip has more than {MAX_MEMBERS} members"


def _too_large(limit: int) -> str:
    return f"it is larger than {limit} bytes; the rest was not read"


def _read_text(content: bytes, max_urls: int, problem: str) -> Sitemap:
    if problem:  # a file that was cut may end in half a URL
        content = content[: max(content.rfind(b"\n"), content.rfind(b"\r")) + 1]
    locations: list[str] = []
    for line in content.decode("utf-8-sig", "replace").splitlines():
        location = line.strip()
        if not _is_location(location):
            continue
        if len(locations) == max_urls:
            problem = problem or _too_many(max_urls)
            break
        locations.append(location)
    if not locations:
        problem = problem or "it is neither XML nor a list of URLs"
    return Sitemap(tuple((location, "") for location in locations), (), problem)


def _is_location(text: str) -> bool:
    """Locations are absolute (sitemaps.org); anything else in their place is a mistake."""
    return len(text) <= MAX_LOC_CHARS and text[:8].lower().startswith(("http://", "https://"))


def _too_many(limit: int) -> str:
    return f"it lists more than {limit} URLs; the rest was not read"


def _read_xml(content: bytes, max_urls: int, problem: str) -> Sitemap:
    listing = _Listing(max_urls)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = listing.refuse
    parser.StartElementHandler = listing.start
    parser.EndElementHandler = listing.end
    parser.CharacterDataHandler = listing.text
    try:
        # A file that was cut has no end; what it has is read all the same.
        parser.Parse(content, not problem)
    except _Stop as stop:
        problem = problem or stop.reason
    except (expat.ExpatError, LookupError, ValueError) as error:
        problem = problem or f"its XML is broken: {error}"
    if not listing.pages and not listing.sitemaps:
        problem = problem or "it lists nothing"
    return Sitemap(tuple(listing.pages), tuple(listing.sitemaps), problem)


class _Stop(Exception):
    """There is nothing more to read."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


# (parent, element) that hold a location or a date; local names, because prefixes are chosen freely
# and real files get the namespace wrong. `image:loc` has another parent.
_LOCATIONS = frozenset({("url", "loc"), ("sitemap", "loc"), ("item", "link")})
_DATES = frozenset(
    {("url", "lastmod"), ("item", "pubdate"), ("entry", "updated"), ("entry", "modified")}
)
_RECORDS = frozenset({"url", "sitemap", "entry"})  # children of the root: RSS images have a url too


class _Listing:
    """Expat's callbacks; keeps one record at a time."""

    def __init__(self, max_urls: int) -> None:
        self.pages: list[tuple[str, str]] = []
        self.sitemaps: list[str] = []
        self._max_urls = max_urls
        self._elements_left = max_urls * ELEMENTS_PER_URL + MAX_NESTING
        self._path: list[str] = [""]
        self._text: list[str] | None = None
        self._chars = 0
        self._location = ""
        self._date = ""

    def refuse(self, *declaration: object) -> None:
        raise _Stop("it has a document type, which is refused")

    def start(self, name: str, attributes: dict[str, str]) -> None:
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
        if place == ("entry", "link"):
            self._take_atom(attributes)

    def text(self, data: str) -> None:
        if self._text is not None and self._chars <= MAX_LOC_CHARS:
            self._text.append(data)
            self._chars += len(data)

    def end(self, name: str) -> None:
        element = self._path.pop()
        value = "" if self._text is None else "".join(self._text).strip()
        self._text = None
        if self._is_record(element):
            self._location = self._location or value  # some indexes leave out the <loc>
            self._close(element)
        elif (self._path[-1], element) in _LOCATIONS:
            self._location = value
        elif value:
            self._date = value

    def _is_record(self, element: str) -> bool:
        return element == "item" or (element in _RECORDS and len(self._path) == 2)

    def _take_atom(self, attributes: dict[str, str]) -> None:
        if attributes.get("rel", "alternate") == "alternate":
            self._location = attributes.get("href", "").strip()

    def _close(self, record: str) -> None:
        if not _is_location(self._location):
            return
        if len(self.pages) + len(self.sitemaps) == self._max_urls:
            raise _Stop(_too_many(self._max_urls))
        if record == "sitemap":
            self.sitemaps.append(self._location)
        else:
            self.pages.append((self._location, self._date))
        self._location = ""
