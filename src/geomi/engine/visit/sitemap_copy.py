"""Keep the bytes of sitemaps beside the pages of their job (STO-02).

Rules kept:
- A copy holds the text of a sitemap that the reader unpacked, packed again by us: the bytes that
  the site packed may be anything.
- One sitemap and one job have limits in bytes. What is beyond them is read, and not kept.
- Where personal data is taken out of pages, nothing is kept as it came (C-47).
- The name comes from the host and from the digest of the URL, never from the site's words.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from geomi.engine.world import World
from geomi.errors import StoreError, StoreFull
from geomi.model.event import Warned
from geomi.text.identifiers import sha256_hex
from geomi.url.host import site_folder
from geomi.url.parse import split

MAX_PACKED_BYTES = 8 * 1024 * 1024  # of one sitemap: some 100 MB of XML
GZIP = 31  # zlib's way to say so


@dataclass(frozen=True, slots=True)
class SitemapFile:
    """A sitemap as it is kept; `name` is `{domain}/{hash}.xml`, or `.txt` for a list of lines."""

    name: str
    packed: bytes


class SitemapCopy:
    """Packs a sitemap while it is read."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(wbits=GZIP)
        self._packed = bytearray()
        self._start = b""
        self._is_whole = True

    def take(self, plain: bytes) -> None:
        """Take the next piece; beyond the limit all of it is forgotten."""
        if not self._is_whole:
            return
        self._start = self._start or plain.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")[:1]
        self._packed += self._packer.compress(plain)
        if len(self._packed) > MAX_PACKED_BYTES:
            self._is_whole = False
            self._packed.clear()

    def file(self, url: str) -> SitemapFile | None:
        """Return what is kept of the sitemap at a URL; None where nothing is."""
        if not self._is_whole or not self._start:
            return None
        ending = "xml" if self._start == b"<" else "txt"
        domain = site_folder(split(url))
        packed = bytes(self._packed) + self._packer.flush()
        return SitemapFile(f"{domain}/{sha256_hex(url)}.{ending}", packed)


async def keep_sitemaps(
    world: World, job: str, files: Sequence[SitemapFile], *, max_bytes: int
) -> None:
    """Put sitemaps beside the pages of their job, as far as there is room for them.

    A bucket that is away costs no page.
    """
    left_out = 0
    try:
        kept = dict(await world.archive.sitemaps.sizes(job))
        for file in files:
            others = sum(size for name, size in kept.items() if name != file.name)
            if others + len(file.packed) > max_bytes:
                left_out += 1
                continue
            await world.archive.sitemaps.keep(job, file.name, file.packed)
            kept[file.name] = len(file.packed)
    except StoreFull:
        raise
    except StoreError as error:
        message = f"{len(files)} sitemaps are not kept: {error.message}"
        world.sink.emit(Warned(job, message, "the crawl itself has read them"))
    if left_out:  # told once for a batch: a site may have a thousand
        message = f"{left_out} sitemaps are not kept: the limit is {max_bytes:,} bytes for a job"
        world.sink.emit(Warned(job, message, "store.sitemap_bytes sets the limit"))
