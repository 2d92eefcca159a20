"""Pages that are much alike: their sketches, and what a store says of them."""

from __future__ import annotations

from dataclasses import replace

from geomi.dedup.sketch import BANDS, KEY_BYTES, SKETCH_BYTES
from geomi.model.page import KnownPage, PageRecord


def sketch_of(*bands: int) -> bytes:
    """Return a sketch with these bands; those that are not given are bands of nobody else."""
    start = 1000 * sum(bands) % 2**40
    own = range(start, start + BANDS - len(bands))
    keys = b"".join(band.to_bytes(KEY_BYTES, "little") for band in (*bands, *own))
    return keys.ljust(SKETCH_BYTES, b"\0")


def known(page: PageRecord) -> KnownPage:
    """Return a page as similar ones find it."""
    mark = page.fingerprint
    return KnownPage(page.url, mark.sketch, page.duplicate_of, page.url_hash, mark.exact_key)


def first(page: PageRecord) -> KnownPage:
    """Return a page as its twins find it."""
    return replace(known(page), sketch=b"")
