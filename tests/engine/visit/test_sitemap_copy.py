"""What is kept of a sitemap that was read."""

from __future__ import annotations

import gzip
import random
from hashlib import sha256

import pytest

from geomi.engine.visit import sitemap_copy as room
from geomi.engine.visit.sitemap_copy import SitemapCopy

URL = "https://a.test:8443/map.xml"
HASH = sha256(URL.encode()).hexdigest()


@pytest.mark.req("STO-02")
@pytest.mark.parametrize(
    ("pieces", "ending"),
    [
        ((b"\xef\xbb\xbf<urlset>", b"</urlset>"), "xml"),
        ((b" \n", b"<urlset/>"), "xml"),
        ((b"https://a.test/\n",), "txt"),
    ],
)
def test_a_copy_is_named_by_host_and_url(pieces: tuple[bytes, ...], ending: str) -> None:
    copy = SitemapCopy()
    for piece in pieces:
        copy.take(piece)
    file = copy.file(URL)
    assert file is not None
    assert file.name == f"a.test_8443/{HASH}.{ending}"
    assert gzip.decompress(file.packed) == b"".join(pieces)


@pytest.mark.parametrize(("more", "is_kept"), [(0, True), (200_000, False)])
def test_a_copy_above_the_limit_is_forgotten(
    monkeypatch: pytest.MonkeyPatch, more: int, is_kept: bool
) -> None:
    monkeypatch.setattr(room, "MAX_PACKED_BYTES", 100_000)
    copy = SitemapCopy()
    copy.take(b"<" + random.Random(1).randbytes(90_000 + more))
    copy.take(b">")
    assert (copy.file(URL) is not None) is is_kept


def test_nothing_is_no_copy() -> None:
    assert SitemapCopy().file(URL) is None
