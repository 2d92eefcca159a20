"""The archive in the hands of others: pywb shows every page, warcio reads every request."""

from __future__ import annotations

import gzip
import shutil
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from geomi.adapters.blob.warc import FIELD_NAME, RECORD_URI, blank_members, members
from tests.conftest import missing_part
from tests.e2e.command import LOCAL, records, run
from tests.support.pywb import programs, replayed
from tests.support.server import Reply, Seen, Site

PAGES = 20
SECRET = "the-secret-of-the-crawl"
HEADERS = ("-H", f"Authorization: Bearer {SECRET}", "-H", f"X-Own-Key: {SECRET}")


def html(number: int) -> bytes:
    """Make a page; every one is linked from the first."""
    links = "".join(f'<a href="{path(n)}">page {n}</a> ' for n in range(1, PAGES))
    text = f"This is what page {number} of {PAGES} says about its own number, {number * 7}. " * 9
    return f"<!doctype html><title>Page {number}</title><p>{text}<p>{links}".encode()


def path(number: int) -> str:
    """Return where a page is; some have a query."""
    return "/" if number == 0 else f"/find?page={number}" if number % 5 == 0 else f"/{number}.html"


def find(seen: Seen) -> Reply:
    """Answer with a page that its query names, packed as servers pack pages."""
    body = gzip.compress(html(int(seen.target.partition("=")[2])))
    return Reply(body, headers=(("Content-Encoding", "gzip"), ("ETag", '"1"')))


@dataclass(frozen=True, slots=True)
class Archived:
    """What a crawl of the site left, and what its server saw."""

    root: Path
    urls: dict[str, bytes]
    asked: dict[str, dict[str, str]]

    @property
    def segments(self) -> list[Path]:
        return sorted(self.root.glob("jobs/*/warc/*.warc.gz"))


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archived]:
    root = tmp_path_factory.mktemp("replay") / "data"
    routes: dict[str, Any] = {path(n): Reply(html(n)) for n in range(PAGES) if "?" not in path(n)}
    with Site(routes | {"/find": find}) as site:
        told = run("crawl", site.url("/"), "-o", str(root), "-q", "--delay", "0", *HEADERS, *LOCAL)
        assert told.returncode == 0, told.stderr
        urls = {site.url(path(number)): html(number) for number in range(PAGES)}
        yield Archived(root, urls, {site.url(seen.target): seen.headers for seen in site.log})


def told(segments: list[Path]) -> list[tuple[Any, bytes]]:
    """Read records as warcio does, digests checked."""
    found = []
    for segment in segments:
        with segment.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                found.append((record, record.content_stream().read()))
    return found


@pytest.mark.slow
def test_pywb_shows_the_html_of_every_page(archived: Archived, tmp_path: Path) -> None:
    """With an index that it makes itself, as `wb-manager add` does."""
    pywb = programs() or missing_part("pywb: make test installs it")
    with replayed(pywb, tmp_path, archived.segments) as replay:
        shown = {url: replay.get(url) for url in archived.urls}
        framed = replay.get(next(iter(archived.urls)), kind="mp_")
    assert shown == {url: (200, "text/html", body) for url, body in archived.urls.items()}
    assert len(shown) == PAGES
    assert framed[:2] == (200, "text/html") and b"page 7" in framed[2]


@pytest.mark.slow
def test_the_archive_says_what_was_sent(archived: Archived) -> None:
    """Each answer has its request, as the server saw it, but for what may be a secret."""
    found = told(archived.segments)
    kinds = [record.rec_type for record, _ in found]
    assert kinds == ["warcinfo", *["response", "request", "conversion"] * PAGES]
    for (response, _), (request, body), (page, _) in zip(*[iter(found[1:])] * 3, strict=True):
        name = response.rec_headers.get_header("WARC-Record-ID")
        url = response.rec_headers.get_header("WARC-Target-URI")
        assert request.rec_headers.get_header("WARC-Concurrent-To") == name
        assert page.rec_headers.get_header("WARC-Refers-To") == name
        assert page.rec_headers.get_header("WARC-Target-URI") == RECORD_URI + url
        assert request.rec_headers.get_header("WARC-Target-URI") == url
        sent = {key.lower(): value for key, value in request.http_headers.headers}
        seen = dict(archived.asked[url])
        assert seen["x-own-key"] == SECRET
        hidden = dict.fromkeys(("authorization", "x-own-key"), "[removed]")
        assert (body, sent) == (b"", seen | hidden)
    for segment in archived.segments:
        assert SECRET.encode() not in gzip.decompress(segment.read_bytes())


@pytest.mark.slow
def test_an_archive_without_requests_is_read_as_before(archived: Archived, tmp_path: Path) -> None:
    """As it was written at first: no request, and the record under the URL of its response."""
    root = tmp_path / "data"
    shutil.copytree(archived.root, root, symlinks=True)
    for segment in root.glob("jobs/*/warc/*.warc.gz"):
        _write_as_before(segment)
    kinds = [record.rec_type for record, _ in told(sorted(root.glob("jobs/*/warc/*.warc.gz")))]
    assert "request" not in kinds
    index = run("export", "-f", "cdxj", "-o", str(root)).stdout
    assert index == run("export", "-f", "cdxj", "-o", str(archived.root)).stdout != ""
    lines = run("export", "-f", "jsonl", "-o", str(root)).stdout
    assert lines == run("export", "-f", "jsonl", "-o", str(archived.root)).stdout
    assert len(lines.splitlines()) == len(records(root)) == PAGES
    assert run("export", "-f", "kb", "--to", str(tmp_path / "kb"), "-o", str(root)).returncode == 0
    bodies = {file.read_bytes() for file in (tmp_path / "kb").rglob("raw/*.html")}
    assert bodies == set(archived.urls.values())


def _write_as_before(segment: Path) -> None:
    """Give a segment the form of 0.1.0, every record where it was: places are in the store."""
    data, old = segment.read_bytes(), []
    with segment.open("rb") as file:
        for member in members(file, len(data)):
            packed = data[member.offset : member.offset + member.length]
            if b"\r\nWARC-Type: request\r\n" in member.head:
                packed = blank_members(member.length, erased_at_s=0.0)
            elif b"\r\nWARC-Type: conversion\r\n" in member.head:
                line = f"\r\nWARC-Target-URI: {RECORD_URI}".encode()
                former = gzip.decompress(packed).replace(line, b"\r\nWARC-Target-URI: ", 1)
                packed = _packed(former, member.length)
            old.append(packed)
    written = b"".join(old)
    assert len(written) == len(data)
    segment.write_bytes(written)


def _packed(record: bytes, length: int) -> bytes:
    """Pack a record into a gzip member of a length: an extra field of zeros fills it (RFC 1952)."""
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(record) + packer.flush()
    padding = length - len(packed) - 10 - 2 - len(FIELD_NAME) - 2 - 8
    field = FIELD_NAME + struct.pack("<H", padding) + bytes(padding)
    head = struct.pack("<BBBBIBBH", 0x1F, 0x8B, 8, 4, 0, 0, 255, len(field))
    return head + field + packed + struct.pack("<II", zlib.crc32(record), len(record))
