"""What a sitemap lists."""

from __future__ import annotations

import gzip
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.seed.sitemap import (
    ALWAYS_INFLATED_BYTES,
    ELEMENTS_PER_URL,
    MAX_LOC_CHARS,
    MAX_MEMBERS,
    MAX_NESTING,
    MAX_RATIO,
    PIECE_BYTES,
    Sitemap,
    SitemapReader,
)
from tests.support.sitemaps import read_sitemap

A, B = "https://a.test/1", "https://a.test/2"


def urlset(*locations: str) -> bytes:
    urls = "".join(f"<url><loc>{location}</loc></url>" for location in locations)
    return f"<urlset>{urls}</urlset>".encode()


@pytest.mark.req("LNK-15")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            f"<url><loc> {A} </loc><lastmod>2024-01-02</lastmod></url><url><loc>{B}</loc></url>"
            "</urlset>",
            Sitemap(((A, "2024-01-02"), (B, ""))),
        ),
        (
            '<s:urlset xmlns:s="urn:wrong"><s:url><s:lastmod>2024</s:lastmod>'
            f"<s:loc><![CDATA[{A}]]></s:loc></s:url></s:urlset>",
            Sitemap(((A, "2024"),)),
        ),
        (
            f"<sitemapindex><sitemap><loc>{A}</loc><lastmod>2024</lastmod></sitemap>"
            f"<sitemap>\n{B}\n</sitemap></sitemapindex>",
            Sitemap((), (A, B)),
        ),
        (
            f"<urlset><url><loc>{A}?x=1&amp;y=2</loc><image:image><image:loc>{B}</image:loc>"
            '</image:image><xhtml:link rel="alternate" href="https://a.test/ko"/></url></urlset>',
            Sitemap(((f"{A}?x=1&y=2", ""),), alternates=("https://a.test/ko",)),
        ),
        (
            f'<urlset><url><loc>{A}</loc><xhtml:link rel="alternate" href="{B}"/></url>'
            f'<url><loc>{B}</loc><xhtml:link rel="alternate" href="{A}"/></url></urlset>',
            Sitemap(((A, ""), (B, ""))),
        ),
        (
            f"<urlset><url><loc>{A}</loc><news:news><news:publication_date>2024-05-06"
            "</news:publication_date><news:title>x</news:title></news:news></url></urlset>",
            Sitemap(((A, "2024-05-06"),)),
        ),
        (
            f"<rss><channel><link>{B}</link><image><url>{B}</url></image><item><link>{A}</link><pubDate>Sun</pubDate></item>"
            "</channel></rss>",
            Sitemap(((A, "Sun"),)),
        ),
        (
            f'<feed><link href="{B}"/><entry><link rel="self" href="{B}"/><link href="{A}"/>'
            "<updated>2024</updated></entry></feed>",
            Sitemap(((A, "2024"),)),
        ),
        (f"\ufeff{A}\r\n\r\n# a note\n{B} \n/relative", Sitemap(((A, ""), (B, "")))),
        (f"\ufeff\n {urlset(A).decode()}", Sitemap(((A, ""),))),
    ],
)
def test_formats_c82(text: str, expected: Sitemap) -> None:
    assert read_sitemap(text.encode()) == expected
    assert read_sitemap(gzip.compress(text.encode())) == expected


@pytest.mark.parametrize("size", [1, 2, 7, 64])
@pytest.mark.parametrize("is_packed", [False, True])
def test_the_pieces_do_not_matter(size: int, is_packed: bool) -> None:
    for body in (urlset(A, B), f"{A}\r\n{B}\n".encode(), urlset(A, "x" * 200)):
        whole = gzip.compress(body) + gzip.compress(b" ") if is_packed else body
        reader = SitemapReader()
        for start in range(0, len(whole), size):
            reader.feed(whole[start : start + size])
        assert reader.close() == read_sitemap(body)


def test_a_large_file_leaves_only_what_it_lists() -> None:
    reader = SitemapReader(max_urls=2)
    reader.feed(urlset(A, B)[: -len("</urlset>")])
    tracemalloc.start()
    for _ in range(1000):
        reader.feed(b"<url><loc>" + b"x" * PIECE_BYTES)
    used_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used_bytes < 8 * PIECE_BYTES
    assert reader.close().pages == ((A, ""), (B, ""))


def test_utf16() -> None:
    text = f'<?xml version="1.0" encoding="UTF-16"?>{urlset(A).decode()}'
    assert read_sitemap(text.encode("utf-16")).pages == ((A, ""),)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "neither"),
        (b"{}", "neither"),
        (b"<html></html>", "nothing"),
        (b"<urlset></urlset>", "nothing"),
        (b"<", "broken"),
        (b"<!DOCTYPE html><html></html>", "document type"),
        (b'<?xml version="1.0" encoding="no-such"?><urlset/>', "broken"),
        (b"\x1f\x8bnot gzip", "gzip"),
        (urlset("/relative", "ftp://a.test/"), "nothing"),
    ],
)
def test_what_is_no_sitemap_says_so(body: bytes, word: str) -> None:
    found = read_sitemap(body)
    assert (found.pages, found.sitemaps) == ((), ())
    assert word in found.problem


def test_no_entity_is_ever_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]><urlset><url><loc>&l9;</loc></url></urlset>'
    started = time.perf_counter()
    assert "document type" in read_sitemap(bomb.encode()).problem
    assert time.perf_counter() - started < 0.5
    outside = f'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>{urlset(A).decode()}'
    assert read_sitemap(outside.encode()).pages == ()


def test_a_broken_file_gives_what_came_before() -> None:
    found = read_sitemap(urlset(A)[: -len("</urlset>")] + b"<url><loc>&nope;</loc>")
    assert found.pages == ((A, ""),)
    assert "broken" in found.problem


def test_a_broken_gzip_gives_what_came_before() -> None:
    packed = gzip.compress(urlset(A, B))
    assert "too soon" in read_sitemap(packed[:-6]).problem
    assert read_sitemap(packed[:-6]).pages == ((A, ""), (B, ""))
    assert "broken" in read_sitemap(packed + b"\x1f\x8bxxxxxxxxxxx").problem
    assert read_sitemap(packed + b"trailing").problem == ""


@pytest.mark.parametrize("extra", [0, 1])
@pytest.mark.parametrize("is_text", [False, True])
def test_the_number_of_urls_has_a_limit(extra: int, is_text: bool) -> None:
    locations = [f"{A}{number}" for number in range(5 + extra)]
    body = "\n".join(locations).encode() if is_text else urlset(*locations)
    found = read_sitemap(body, max_urls=5)
    assert len(found.pages) == 5
    assert bool(found.problem) is bool(extra)


@pytest.mark.parametrize("extra", [0, 1])
@pytest.mark.parametrize("is_packed", [False, True])
def test_the_bytes_have_a_limit(extra: int, is_packed: bool) -> None:
    body = urlset(A, B)
    found = read_sitemap(gzip.compress(body) if is_packed else body, max_bytes=len(body) - extra)
    assert found.pages == ((A, ""), (B, ""))
    assert ("larger than" in found.problem) is bool(extra)


def test_a_url_that_was_cut_is_not_listed() -> None:
    body = f"{A}\n{B}".encode()
    assert read_sitemap(body, max_bytes=len(body) - 1).pages == ((A, ""),)
    assert read_sitemap(gzip.compress(body), max_bytes=len(body) - 1).pages == ((A, ""),)


@pytest.mark.parametrize("extra", [0, 1])
def test_a_location_has_a_limit(extra: int) -> None:
    location = A.ljust(MAX_LOC_CHARS + extra, "x")
    assert len(read_sitemap(urlset(location)).pages) == 1 - extra
    assert len(read_sitemap(location.encode()).pages) == 1 - extra
    assert not read_sitemap(urlset(location * 9)).pages


def test_a_bomb_inflates_to_its_ratio_at_most_g10() -> None:
    packed = gzip.compress(urlset(A) + b" " * (4 * ALWAYS_INFLATED_BYTES))
    assert len(packed) * MAX_RATIO < ALWAYS_INFLATED_BYTES
    found = read_sitemap(packed)
    assert found.pages == ((A, ""),)
    assert f"more than {MAX_RATIO} times its size" in found.problem


@pytest.mark.parametrize("extra", [0, 1])
def test_gzip_members_have_a_limit(extra: int) -> None:
    members = [gzip.compress(f"{A}{number}\n".encode()) for number in range(MAX_MEMBERS + extra)]
    found = read_sitemap(b"".join(members))
    assert len(found.pages) == MAX_MEMBERS
    assert bool(found.problem) is bool(extra)


def test_nesting_and_elements_have_limits() -> None:
    deep = b"<a>" * (MAX_NESTING + 1)
    assert "too many elements" in read_sitemap(deep).problem
    many = b"<urlset>" + b"<x/>" * (ELEMENTS_PER_URL + MAX_NESTING + 1) + b"</urlset>"
    assert "too many elements" in read_sitemap(many, max_urls=1).problem


@given(st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    read_sitemap(body)
    read_sitemap(b"<" + body)
    read_sitemap(gzip.compress(body))


PIECES = st.sampled_from(
    [
        "<url>",
        "</url>",
        "<loc>",
        "</loc>",
        A,
        "<sitemap>",
        "</sitemap>",
        "<entry>",
        "<link/>",
        "&lt;",
    ]
)


@given(st.lists(PIECES, max_size=12))
def test_no_xml_raises(pieces: list[str]) -> None:
    read_sitemap(b"<urlset>" + "".join(pieces).encode())
