"""The links of a page, as its reader sees them (LNK-03, LNK-08).

Hrefs are deduplicated as plain strings before any object is made, because building objects for
repeated navigation links is what makes crawlers slow. They are resolved against the final URL or
the page's `<base href>` (C-18). Links into the same page (`#part`) are left out (LNK-04).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from geomi.extract.dom import Document, Element
from geomi.model.page import Link
from geomi.url.parse import absolute

MAX_HREFS = 50_000  # different ones; many may lead to the same URL
MAX_TEXT_CHARS = 200
MAX_REL_CHARS = 100
NOFOLLOW = "nofollow"


def base_url(document: Document, url: str) -> str:
    """Return what relative links are relative to: the first usable `<base href>`, else the URL."""
    if document.select_one("base") is None:
        return url
    base = document.base_url(url)
    return base if base.startswith(("http://", "https://")) else url


@dataclass(frozen=True, slots=True)
class Anchors:
    """What a page links to, and where each href as it is written leads (None: nowhere)."""

    links: tuple[Link, ...]
    targets: Mapping[str, str | None]


def read_links(document: Document, base: str, max_links: int) -> Anchors:
    """Return each linked URL once, in page order, at most `max_links` of them."""
    found: dict[str, tuple[str, str]] = {}  # the words and the rel of each href
    for anchor in document.select("a[href]") + document.select("area[href]"):
        href = anchor.attr("href") or ""
        if href in found:
            found[href] = _merged(*found[href], anchor)
        elif href[:1] != "#":
            found[href] = anchor.text, (anchor.attr("rel") or "").lower()
            if len(found) == MAX_HREFS:
                break
    targets = dict(zip(found, absolute(tuple(found), base), strict=True))
    return Anchors(_as_links(found, targets, max_links), targets)


def _merged(text: str, rel: str, again: Element) -> tuple[str, str]:
    # A URL that is linked twice may be followed if one of its links may.
    if NOFOLLOW in rel:
        rel = (again.attr("rel") or "").lower()
    return text or again.text, rel


def _as_links(
    found: Mapping[str, tuple[str, str]], targets: Mapping[str, str | None], max_links: int
) -> tuple[Link, ...]:
    links: dict[str, Link] = {}
    for url, (text, rel) in zip(targets.values(), found.values(), strict=True):
        if len(links) == max_links:
            break
        if url is not None and url not in links:
            links[url] = Link(url, _one_line(text), rel[:MAX_REL_CHARS])
    return tuple(links.values())


def _one_line(text: str) -> str:
    if len(text) <= MAX_TEXT_CHARS:
        return " ".join(text.split())
    # Cut before splitting too: the text of a link may be a whole page.
    return " ".join(text[: 5 * MAX_TEXT_CHARS].split())[:MAX_TEXT_CHARS]
