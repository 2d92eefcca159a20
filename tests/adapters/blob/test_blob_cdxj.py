"""A CDXJ index leads a second reader to the records it names."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from geomi.adapters.blob.cdxj import index_lines
from geomi.adapters.blob.directory import DirectoryArchive
from geomi.adapters.blob.warc import CHUNK_BYTES
from geomi.errors import StoreError
from geomi.model.page import Capture, Fetched

NOON_S = 1_700_000_000.25
PAGE = Fetched(
    url="https://www.a.test/Page?b=1&a=2",
    status=200,
    headers=(("content-type", "text/html; charset=utf-8"),),
    body=b"<p>hello</p>",
)
LARGE = replace(PAGE, url="https://a.test/large", body=bytes(range(256)) * (CHUNK_BYTES // 64))
BARE = replace(PAGE, url="https://b.test/", status=204, headers=(), body=b"")


def archived(root: Path, *pages: Fetched, raw: bool = True) -> tuple[Path, int]:
    """Write pages into one segment; return it and its length."""

    async def write() -> None:
        archive = DirectoryArchive(root, worker="w", software="geomi/test")
        captures = [Capture(page.url, NOON_S, b"{}", page if raw else None) for page in pages]
        await archive.append("job", captures)
        await archive.aclose()

    asyncio.run(write())
    (segment,) = root.glob("jobs/job/warc/*.warc.gz")
    return segment, segment.stat().st_size


def test_each_line_leads_to_its_response(tmp_path: Path) -> None:
    pages = (PAGE, LARGE, BARE)
    segment, size = archived(tmp_path, *pages)
    lines = list(index_lines(segment, size))
    assert len(lines) == len(pages)
    data = segment.read_bytes()
    for line, page in zip(lines, pages, strict=True):
        _, _, told = line.decode().split(" ", 2)
        at = json.loads(told)
        offset, length = int(at["offset"]), int(at["length"])
        part = tmp_path / "part.warc.gz"
        part.write_bytes(data[offset : offset + length])
        with part.open("rb") as file:
            record = next(ArchiveIterator(file))
            assert record.content_stream().read() == page.body
        headers = record.rec_headers
        assert (record.rec_type, headers["WARC-Target-URI"]) == ("response", at["url"])
        assert headers["WARC-Payload-Digest"] == at["digest"]
        assert record.http_headers.get_statuscode() == at["status"]


def test_a_line_is_as_other_indexers_write_it(tmp_path: Path) -> None:
    segment, size = archived(tmp_path, PAGE, BARE)
    first, second = (line.decode().split(" ", 2) for line in index_lines(segment, size))
    assert first[:2] == ["test,a)/page?a=2&b=1", "20231114221320"]
    told = json.loads(first[2])
    assert list(told) == ["url", "mime", "status", "digest", "length", "offset", "filename"]
    assert (told["url"], told["mime"], told["status"]) == (PAGE.url, "text/html", "200")
    assert told["filename"] == segment.name
    assert set(map(type, told.values())) == {str}
    assert "mime" not in json.loads(second[2]), "what is not known is left out"


def test_records_without_a_response_are_not_indexed(tmp_path: Path) -> None:
    segment, size = archived(tmp_path, PAGE, raw=False)
    assert list(index_lines(segment, size)) == []


def test_what_is_not_committed_is_not_read(tmp_path: Path) -> None:
    segment, size = archived(tmp_path, PAGE)
    segment.write_bytes(segment.read_bytes() + b"half a record that a dead worker left")
    assert len(list(index_lines(segment, size))) == 1


@pytest.mark.parametrize("damage", [b"", b"x" * 100], ids=["cut", "overwritten"])
def test_a_damaged_segment_is_named(tmp_path: Path, damage: bytes) -> None:
    segment, size = archived(tmp_path, PAGE)
    segment.write_bytes(segment.read_bytes()[: size - 100] + damage)
    with pytest.raises(StoreError, match=segment.name):
        list(index_lines(segment, size))
    segment.unlink()
    with pytest.raises(StoreError, match=segment.name):
        list(index_lines(segment, size))
