"""An XML sitemap, an index or a feed, read as it comes: one record is kept at a time.

Names count without their prefix, because prefixes are chosen freely and real files get the
namespace wrong. A document type is refused outright: no entity is ever declared, so none is
expanded or fetched.
"""

from __future__ import annotations

import codecs
from xml.parsers import expat

from geomi.seed.listing import MAX_LOC_CHARS, Sitemap, is_location, too_many

# Extensions (languages, images, video) add some elements to each URL; a million take 0.8 s.
ELEMENTS_PER_URL = 20
MAX_NESTING = 32


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
