"""Read the links of a page, as its reader sees them (LNK-03, LNK-08).

Duplicate hrefs are removed as plain strings, before any object is made: objects for repeated
navigation links make crawlers slow. Hrefs are resolved against the final URL or the page's
`<base href>` (C-18). Links into the same page (`#part`) are left out (LNK-04). Targets that a
browser loads by itself count too: the frames of old manuals, redirects in `<meta>`, and the next
page of a series. An `<iframe>` counts only on the page's own host: others are videos, maps and
advertisements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from geomi.extract.dom import Document, Element
from geomi.model.page import PageLink
from geomi.url.parse import absolute, split

MAX_HREFS = 50_000  # different ones; many may lead to the same URL
MAX_FRAMES = 100  # of each kind
MAX_TEXT_CHARS = 200
MAX_REL_CHARS = 100
MAX_MAIL_LINKS = 100  # looked at, however often one comes again
MAX_ADDRESS_CHARS = 320  # RFC 5321 §4.5.3.1: 64 before the `@`, 255 after it
_MAILTO = "mailto:"
NOFOLLOW = "nofollow"


def base_url(document: Document, url: str) -> str:
    """Return what relative links are relative to: the first usable `<base href>`, else the URL."""
    if document.select_one("base") is None:
        return url
    base = document.base_url(url)
    return base if base.startswith(("http://", "https://")) else url


@dataclass(frozen=True, slots=True)
class Anchors:
    """What a page links to, and where each href as it is written leads (None: nowhere).

    Args:
        left_out: how many links there are beyond the limit.
    """

    links: tuple[PageLink, ...]
    targets: Mapping[str, str | None]
    left_out: int = 0


NO_ANCHORS = Anchors((), {})


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
    for href in _unasked(document, base):
        found.setdefault(href, ("", ""))
    targets = dict(zip(found, absolute(tuple(found), base), strict=True))
    links = _as_links(found, targets, max_links)
    left_out = _many(targets) - len(links) if len(links) == max_links else 0
    return Anchors(links, targets, left_out)


def read_mail_links(document: Document) -> tuple[tuple[str, str], ...]:
    """Return the text and the address of each link to write to, which leads to no page (LNK-04)."""
    found: dict[tuple[str, str], None] = {}
    for anchor in document.select(f'a[href^="{_MAILTO}" i]')[:MAX_MAIL_LINKS]:
        address = (anchor.attr("href") or "")[len(_MAILTO) :].partition("?")[0]
        text = _one_line(anchor.text)
        if text and len(address) <= MAX_ADDRESS_CHARS:
            found.setdefault((text, unquote(address)))
    return tuple(found)


def _unasked(document: Document, base: str) -> Iterator[str]:
    """Yield where a browser goes without a click."""
    # The parser keeps an index of tags: asking it for one that is not there costs next to nothing.
    frames = document.select("frame[src]")[:MAX_FRAMES]
    yield from (frame.attr("src") or "" for frame in frames)
    yield from _own_frames(document, base)
    if document.select("meta[http-equiv]") and (refresh := document.meta_refresh()) is not None:
        yield refresh[1]
    for link in document.select("link[rel~=next i]")[:MAX_FRAMES]:
        yield link.attr("href") or ""


def _own_frames(document: Document, base: str) -> Iterator[str]:
    frames = document.select("iframe[src]")[:MAX_FRAMES]
    if not frames:
        return
    hrefs = [frame.attr("src") or "" for frame in frames]
    for href, url in zip(hrefs, absolute(hrefs, base), strict=True):
        if url is not None and split(url).host == split(base).host:
            yield href


def _merged(text: str, rel: str, again: Element) -> tuple[str, str]:
    # A URL that is linked twice may be followed if one of its links may.
    if NOFOLLOW in rel:
        rel = (again.attr("rel") or "").lower()
    return text or again.text, rel


def _as_links(
    found: Mapping[str, tuple[str, str]], targets: Mapping[str, str | None], max_links: int
) -> tuple[PageLink, ...]:
    links: dict[str, PageLink] = {}
    for url, (text, rel) in zip(targets.values(), found.values(), strict=True):
        if len(links) == max_links:
            break
        if url is not None and url not in links:
            links[url] = PageLink(url, _one_line(text), rel[:MAX_REL_CHARS])
    return tuple(links.values())


def _many(targets: Mapping[str, str | None]) -> int:
    return len(set(targets.values()) - {None})


def _one_line(text: str) -> str:
    if len(text) <= MAX_TEXT_CHARS:
        return " ".join(text.split())
    # Cut before splitting too: the text of a link may be a whole page.
    return " ".join(text[: 5 * MAX_TEXT_CHARS].split())[:MAX_TEXT_CHARS]
