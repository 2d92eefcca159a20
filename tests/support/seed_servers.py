"""Servers as raw files may name them: the seed document's own, odd ones, and hostile ones."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import replace

from geomi.model.config import CrawlConfig
from tests.support.seed_dataset import Ground, seed_config
from tests.support.server import Raw, Reply, Route, Seen

SHOP = "shop.test"
DOMAINS = ("mom.gov.sg", "moh.gov.sg", "ica.gov.sg")
# seed 002 §3.1, word for word.
RECORDS = (
    {
        "url": "https://mom.gov.sg/employment-practices/employment-act",
        "title": "Employment Act - Ministry of Manpower",
        "domain": "mom.gov.sg",
        "registrable_domain": "mom.gov.sg",
        "domain_id": "gov:sg:mom.gov.sg",
        "source_type": "gov",
        "content_type": "text/html",
        "language": "en",
        "country": "sg",
        "discovered_at": "2026-01-28T10:00:00Z",
        "discovery_method": "google_search",
    },
    {
        "url": "https://mom.gov.sg/newsroom/press-releases",
        "title": "Press Releases - Ministry of Manpower",
        "domain": "mom.gov.sg",
        "registrable_domain": "mom.gov.sg",
        "domain_id": "gov:sg:mom.gov.sg",
        "source_type": "gov",
        "content_type": "text/html",
        "language": "en",
        "country": "sg",
        "discovered_at": "2026-01-28T10:01:00Z",
        "discovery_method": "google_search",
    },
)
# What seed 002 §3.2 makes of them, word for word.
CONTRACT = {
    "domain": "mom.gov.sg",
    "domain_id": "gov:sg:mom.gov.sg",
    "registrable_domain": "mom.gov.sg",
    "urls": [
        {
            "url": "https://mom.gov.sg/employment-practices/employment-act",
            "title": "Employment Act - Ministry of Manpower",
            "path": "/employment-practices/employment-act",
        },
        {
            "url": "https://mom.gov.sg/newsroom/press-releases",
            "title": "Press Releases - Ministry of Manpower",
            "path": "/newsroom/press-releases",
        },
    ],
    "technical_metadata": {
        "robots_txt": {
            "exists": True,
            "size": 1024,
            "last_modified": "2026-01-15T09:00:00Z",
            "allows_crawling": True,
            "sitemap_urls": ["https://mom.gov.sg/sitemap.xml"],
        },
        "sitemap_xml": {
            "exists": True,
            "size": 2048,
            "last_modified": "2026-01-20T14:30:00Z",
            "url_count": 156,
            "last_updated": "2026-01-20T14:30:00Z",
        },
        "server_info": {
            "server": "nginx/1.18.0",
            "content_encoding": "gzip",
            "supports_https": True,
            "response_time_avg_ms": 245,
        },
    },
    "processing_metadata": {
        "processed_at": "2026-01-28T15:30:00Z",
        "processing_duration_ms": 1250,
        "total_urls": 2,
        "partition_info": {"country": "sg", "category": "news", "date": "2026-01-28"},
    },
}
NGINX = ("Server", "nginx/1.18.0")


def robots_of(domain: str, *, size: int = 1024) -> bytes:
    """Write the robots.txt of the example."""
    rules = f"User-agent: *\nDisallow: /admin\nSitemap: https://{domain}/sitemap.xml\n#".encode()
    return rules + b" " * (size - len(rules))


def sitemap_of(domain: str, *, pages: int = 156) -> bytes:
    """Write the sitemap of the example."""
    dates = ["2026-01-20T14:30:00Z"] + ["2025-12-01"] * (pages - 1)
    urls = "".join(
        f"<url><loc>https://{domain}/page/{number}</loc><lastmod>{date}</lastmod></url>"
        for number, date in enumerate(dates)
    )
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'.encode()


def packed(plain: bytes, *, size: int) -> bytes:
    """Gzip a file to exactly so many bytes: 156 URLs do not fit into 2048 in any other way."""
    inner = zlib.compressobj(9, wbits=-15)
    deflated = inner.compress(plain) + inner.flush()
    ends = zlib.crc32(plain).to_bytes(4, "little") + len(plain).to_bytes(4, "little")
    begins = b"\x1f\x8b\x08\x10" + bytes(6)  # with a comment, which may be as long as you like
    comment = b"x" * (size - len(begins) - 1 - len(deflated) - len(ends)) + b"\0"
    return begins + comment + deflated + ends


def example(domain: str, here: list[Ground]) -> dict[str, Route]:
    """Answer as the server of the seed document does, each time after 245 ms."""
    return {path: slowly(here, 0.245, reply) for path, reply in example_files(domain).items()}


def example_files(domain: str) -> dict[str, Reply]:
    """Return the files that the server of the seed document has."""
    robots = Reply(
        gzip.compress(robots_of(domain)),
        content_type="text/plain",
        headers=(
            NGINX,
            ("Content-Encoding", "gzip"),
            ("Last-Modified", "Thu, 15 Jan 2026 09:00:00 GMT"),
        ),
    )
    sitemap = Reply(
        packed(sitemap_of(domain), size=2048),
        content_type="application/xml",
        headers=(NGINX, ("Last-Modified", "Tue, 20 Jan 2026 14:30:00 GMT")),
    )
    return {"/robots.txt": robots, "/sitemap.xml": sitemap}


def urlset(*paths: str, host: str = SHOP, date: str = "") -> Reply:
    """Make a sitemap."""
    lastmod = f"<lastmod>{date}</lastmod>" if date else ""
    urls = "".join(f"<url><loc>https://{host}{path}</loc>{lastmod}</url>" for path in paths)
    return xml(f"<urlset>{urls}</urlset>")


def index(*paths: str, host: str = SHOP) -> Reply:
    """Make an index of sitemaps."""
    listed = "".join(f"<sitemap><loc>https://{host}{path}</loc></sitemap>" for path in paths)
    return xml(f"<sitemapindex>{listed}</sitemapindex>")


def xml(text: str, *headers: tuple[str, str]) -> Reply:
    """Make an answer of XML."""
    return Reply(text.encode(), content_type="application/xml", headers=headers)


def packed_bomb(_: Seen) -> Reply:
    """Answer with much out of little."""
    squeezed = zlib.compressobj(9, wbits=31)
    body = b"".join(squeezed.compress(b"\0" * 1_000_000) for _ in range(20)) + squeezed.flush()
    return Reply(body, content_type="text/plain", headers=(("Content-Encoding", "gzip"),))


def endless(_: Seen) -> Raw:
    """Answer with rules and no end of them."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
    return Raw((head, *(b"Disallow: /%d\n" % number * 100 for number in range(1000))))


def impatient(timeout_s: float, **rules: object) -> CrawlConfig:
    """Return settings that end a tar pit soon."""
    config = seed_config(**rules)
    return replace(config, robots=replace(config.robots, total_timeout_s=timeout_s))


def trickling(_: Seen) -> Raw:
    """Answer with a byte now and then."""

    def parts() -> Iterator[bytes | float]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
        while True:
            yield b"#"
            yield 0.05

    return Raw(parts())


def slowly(here: list[Ground], seconds: float, reply: Reply) -> Route:
    """Let a time pass before an answer."""

    def answer(_: Seen) -> Reply:
        here[0].clock.advance(seconds)
        return reply

    return answer
