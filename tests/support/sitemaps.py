"""Read a whole sitemap at once, as a crawl reads it piece by piece."""

from __future__ import annotations

from geomi.seed.sitemap import MAX_BYTES, MAX_URLS, PIECE_BYTES, Sitemap, SitemapReader


def read_sitemap(body: bytes, *, max_urls: int = MAX_URLS, max_bytes: int = MAX_BYTES) -> Sitemap:
    """Read a sitemap, whatever the bytes are."""
    reader = SitemapReader(max_urls=max_urls, max_bytes=max_bytes)
    for start in range(0, len(body), PIECE_BYTES):
        reader.feed(body[start : start + PIECE_BYTES])
    return reader.close()
