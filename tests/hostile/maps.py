"""Hostile robots.txt files and sitemaps.

The first URL of a sitemap is always `/listed`, a good page: what comes before the trouble is kept.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from geomi.model.verdict import Outcome
from tests.hostile.evils import BOMB_BYTES, BOMBS, CHUNKED, DRIP_S, OK, Endless, bomb, encoding, raw
from tests.support.crawl import to
from tests.support.server import Answer, End, Raw, Reply, Route, Seen

XML = "application/xml"


def _robots_bombs() -> Iterator[tuple[str, Route]]:
    for number, codings in enumerate(BOMBS):
        name = f"bomb-{number}"
        yield name, Reply(bomb(codings), content_type="text/plain", headers=(encoding(codings),))


# Each of these says nothing that forbids a page, or fails.
ROBOTS: dict[str, Route] = {
    **dict(_robots_bombs()),
    "redirected-bomb": Reply(
        bomb("br"), status=301, headers=(("Location", "/elsewhere"), encoding("br"))
    ),
    "endless": Raw(Endless(OK + b"\r\n", b"# and so on\n" * 500)),
    "endless-line": Raw(Endless(OK + b"\r\nAllow: /", b"*x" * 5000)),
    "endless-headers": Raw(Endless(OK, b"X: y\r\n" * 100)),
    "chunk-extensions": Raw(Endless(CHUNKED, b"1;" + b"e" * 4000 + b"\r\nx\r\n")),
    "many-rules": Reply(
        b"User-agent: *\n" + b"Disallow: /*a*b*c*d*e*f$\n" * 20_000, content_type="text/plain"
    ),
    "many-agents": Reply(b"User-agent: x\n" * 40_000 + b"Disallow: /\n", content_type="text/plain"),
    "drip": Raw(Endless(OK + b"\r\n", b"#", DRIP_S)),
    "silence": raw(end=End.SILENCE),
    "reset": raw(b"HTTP/1.1 2", 0.05, end=End.RESET),
    "not-http": raw(b"SSH-2.0-OpenSSH_9.6\r\n"),
    "loop": to("/robots.txt"),
    "growing-loop": lambda seen: to(f"{seen.target}x"),
    "noise": Reply(bytes(range(256)) * 100, content_type="text/plain"),
    "utf-16": Reply("User-agent: *\nAllow: /".encode("utf-16"), content_type="text/plain"),
}
BESIDE_ROBOTS: dict[str, Route] = {"/elsewhere": Reply(b"", content_type="text/plain")}


@dataclass(frozen=True, slots=True)
class Sitemap:
    """A sitemap, made for the origin it is served from.

    Args:
        is_read: whether the page it lists first is found.
        otherwise: what its host answers elsewhere, where it lists further sitemaps.
    """

    route: Callable[[str], Route]
    outcome: Outcome = Outcome.OK
    is_read: bool = True
    otherwise: Route | None = None


def urls(origin: str, *locations: str) -> str:
    """Write the entries of a sitemap."""
    return "".join(f"<url><loc>{origin}{location}</loc></url>" for location in locations)


def urlset(origin: str, more: str = "", before: str = "") -> bytes:
    """Write a sitemap of the one good page, and more."""
    first = urls(origin, "/listed")
    return f'<?xml version="1.0"?>{before}<urlset>{first}{more}</urlset>'.encode()


def index(*locations: str) -> bytes:
    """Write a sitemap of sitemaps."""
    listed = "".join(f"<sitemap><loc>{location}</loc></sitemap>" for location in locations)
    return f"<sitemapindex>{listed}</sitemapindex>".encode()


def _reply(make: Callable[[str], bytes]) -> Callable[[str], Route]:
    return lambda origin: Reply(make(origin), content_type=XML)


def _bombs() -> Iterator[tuple[str, Sitemap]]:
    for number, codings in enumerate(BOMBS):
        reply = Reply(bomb(codings), content_type=XML, headers=(encoding(codings),))
        yield f"bomb-{number}", Sitemap(_always(reply), Outcome.TOO_LARGE, is_read=False)


def _always(route: Route) -> Callable[[str], Route]:
    return lambda origin: route


LAUGHS = "<!DOCTYPE x [<!ENTITY a0 'ha'>" + "".join(
    f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10)
)
ATTRIBUTES = " ".join(f"a{n}=''" for n in range(9999))
EXTERNAL = "<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'>]>"


def _million(origin: str) -> Raw:
    """A million URLs, none of which the crawl may ask for."""
    head = OK.replace(b"text/html", XML.encode()) + b"\r\n<urlset>"
    first = urls(origin, "/listed").encode()
    return Raw((head, first, *_thousands(), b"</urlset>"))


def _thousands() -> Iterator[bytes]:
    for thousand in range(1000):
        some = [f"<url><loc>http://o.test/{thousand}-{n}</loc></url>" for n in range(1000)]
        yield "".join(some).encode()


def _nested(seen: Seen) -> Answer:
    """An index of two indexes, each of them longer by a letter, and so on for ever."""
    origin = f"http://{seen.host}"
    return Reply(index(f"{origin}{seen.target}a", f"{origin}{seen.target}b"), content_type=XML)


SITEMAPS: dict[str, Sitemap] = {
    **dict(_bombs()),
    "gzip-file": Sitemap(
        _reply(lambda origin: gzip.compress(urlset(origin, " " * BOMB_BYTES))),
    ),
    "gzip-members": Sitemap(
        _reply(lambda origin: gzip.compress(urlset(origin)[:-9]) + gzip.compress(b" ") * 9999)
    ),
    "external-entity": Sitemap(
        _reply(lambda origin: urlset(origin, urls(origin, "/&f;"), EXTERNAL)), is_read=False
    ),
    "billion-laughs": Sitemap(
        _reply(lambda origin: urlset(origin, urls(origin, "/&a9;"), f"{LAUGHS}]>")), is_read=False
    ),
    "deep-elements": Sitemap(_reply(lambda origin: urlset(origin, "<a>" * 100_000))),
    "many-attributes": Sitemap(_reply(lambda origin: urlset(origin, f"<a {ATTRIBUTES}/>"))),
    "one-long-location": Sitemap(_reply(lambda origin: urlset(origin, urls(origin, "/" * 10**6)))),
    "unclosed": Sitemap(_reply(lambda origin: urlset(origin)[:-9])),
    "noise": Sitemap(_reply(lambda origin: urlset(origin)[:-9] + bytes(range(256)) * 99)),
    "lists-itself": Sitemap(
        lambda origin: lambda seen: Reply(index(f"{origin}{seen.target}"), content_type=XML),
        is_read=False,
    ),
    "nested-for-ever": Sitemap(_always(_nested), is_read=False, otherwise=_nested),
    "a-page": Sitemap(_always(Reply(b"<html><p>This is not a sitemap.")), is_read=False),
}
MILLION = {"a-million": Sitemap(_million)}
