"""A site that has personal data in every place where a page can have text, and a search for them.

The values are made up; each is nowhere else in the repository's own words.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.support.crawl import robots, to
from tests.support.server import Reply, Route, Seen
from tests.support.webs import WORDS

EMAIL = "quentin.zebra@example.com"
SPELLED = "quentin.zebra [at] example.com"
PHONE = "010-9182-7364"
SSN = "212-09-7694"
CARD = "4539 9458 0730 2151"
RRN = "900101-1521745"
VALUES = (EMAIL, PHONE, SSN, CARD, RRN)
# What would be left of them, however they were spelled.
NEEDLES = (
    b"quentin", b"zebra@", b"zebra%40", b"9182-7364", b"01091827364", b"9182.7364", b"212-09-7694",
    b"4539 9458", b"4539945807302151", b"900101-1521745", b"1521745",
)  # fmt: skip


def routes() -> Mapping[str, Route]:
    """Make the pages; every road that one can go ends at one of them."""
    return {
        "/robots.txt": lambda seen: robots(
            f"# mail {EMAIL} if we are too slow",
            f"Contact: {EMAIL}",
            "User-agent: *",
            f"Disallow: /secret # ask {PHONE}",
            f"Sitemap: http://{seen.host}/sitemap.xml",
            f"Sitemap: http://{seen.host}/maps/{EMAIL}.xml",
        ),
        "/": _page(
            "home",
            "/full", "/gone", "/moved", "/soft", "/noindex", "/odd", "/plain.txt", "/turns",
            "/links", "/large",
            f"/users/{EMAIL}", "/users/quentin.zebra%40example.com", f"/call?phone={PHONE}",
            f"https://elsewhere.test/?mail={EMAIL}", f"/secret/{EMAIL}", "/secret/1",
        ),
        "/full": _full(),
        "/gone": Reply(f"<title>gone</title>ask {EMAIL}".encode(), status=404),
        "/moved": to(f"/users/{EMAIL}"),
        "/turns": to(f"/turns?utm_source={EMAIL}"),  # the same page by its identity
        "/soft": Reply(f"<title>Page not found: {EMAIL}</title><h1>404</h1><p>{PHONE}".encode()),
        "/noindex": _page(f"hidden {EMAIL}", head='<meta name="robots" content="noindex">'),
        "/odd": Reply(b"{}", content_type=f"application/{EMAIL}"),
        "/plain.txt": Reply(" ".join(VALUES).encode(), content_type="text/plain"),
        "/links": _page(
            "links",
            f'<a href="mailto:{EMAIL}">{EMAIL}</a>',
            f'<a href="tel:{PHONE}">{PHONE}</a>',
            f'<a href="/deep?u={EMAIL}" title="{SSN}">profile of {EMAIL}</a>',
            f'<a href="/next" rel="{EMAIL}">{CARD}</a>',
            head=f'<link rel="canonical" href="/links/{EMAIL}">'
            f'<link rel="alternate" hreflang="ko" href="/ko/{EMAIL}">'
            f'<link rel="alternate" type="application/rss+xml" href="/feed/{EMAIL}">',
        ),
        "/next": _page("next"),
        "/sitemap.xml": _sitemap,
    }  # fmt: skip


def large() -> Reply:
    """Make a page that is read in a process of its own, because of its size."""
    words = " ".join(WORDS) + " "
    return _page("large", f"<p>{EMAIL}</p>", f"<p>{words * (300_000 // len(words))}{PHONE}</p>")


def traces(root: Path, needles: Sequence[bytes] = NEEDLES) -> Iterator[tuple[str, bytes]]:
    """Yield every value that is left in a file below a folder, packed or not."""
    for path in sorted(root.rglob("*")):
        if path.is_file():
            content = path.read_bytes() + str(path).encode()
            for needle in needles:
                if needle in content or needle in _unpacked(content):
                    yield path.name, needle


def _unpacked(content: bytes) -> bytes:
    """Return what a file holds where it is packed, up to its last whole part."""
    whole = b""
    while content.startswith(b"\x1f\x8b"):
        stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        whole += stream.decompress(content)
        content = stream.unused_data
    return whole


def _page(name: str, *links: str, head: str = "") -> Reply:
    words = " ".join(f"{word} {name}" for word in WORDS)
    anchors = " ".join(
        link if link.startswith("<") else f'<a href="{link}">x</a>' for link in links
    )
    return Reply(
        f"<html lang=en><head><title>{name}</title>{head}</head>"
        f"<body><main><h1>{name}</h1><p>{words}</p>{anchors}</main></body></html>".encode()
    )


def _sitemap(seen: Seen) -> Reply:
    listed = "".join(
        f"<url><loc>http://{seen.host}{path}</loc></url>" for path in (f"/listed/{EMAIL}", "/next")
    )
    return Reply(f"<urlset>{listed}</urlset>".encode(), content_type="application/xml")


def _full() -> Reply:
    person = {"@type": "Person", "email": EMAIL, "telephone": PHONE}
    rows = "".join(f"<tr><td>{at}</td><td>{value}</td></tr>" for at, value in enumerate(VALUES))
    head = (
        f"<title>Write to {EMAIL}</title>"
        f'<meta name="description" content="Call {PHONE}"><meta name="author" content="{EMAIL}">'
        f'<meta property="og:title" content="{SSN}"><meta name="keywords" content="{CARD}">'
        f'<script type="application/ld+json">{json.dumps(person)}</script>'
    )
    body = (
        f"<h1>About {EMAIL}</h1><h2>{RRN}</h2>"
        f"<p>{' '.join(WORDS)} {SPELLED} and {' or '.join(VALUES)}</p>"
        f"<table><tr><th>n</th><th>value</th></tr>{rows}</table>"
        f"<pre><code>{EMAIL}\n{SSN}</code></pre>"
        f"<p>{PHONE.replace('-', '')}, {PHONE.replace('-', '.')}</p>"
    )
    return Reply(
        f"<html lang=en><head>{head}</head><body><main>{body}</main></body></html>".encode(),
        headers=(("ETag", f'"{EMAIL}"'), ("X-Note", PHONE)),
    )


def packed(text: bytes) -> bytes:
    """Pack as the archive does, for a test of the search itself."""
    return gzip.compress(text[:10]) + gzip.compress(text[10:])
