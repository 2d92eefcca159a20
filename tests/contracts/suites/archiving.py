"""What every archive keeps: captures come back at their places, in segments that others can read.

An `Archives` opener comes in as the fixture `archives`; each call opens the same archive for one
worker, as a process that has just started would.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from geomi.errors import BytesMissing, StoreError
from geomi.model.page import Capture, Fetched, Ref
from geomi.model.verdict import Outcome
from geomi.ports.archive import KeptArchive
from tests.support.waiting import waits

__all__ = ["TestErasing", "TestMending", "TestPlaces", "TestSegments", "TestSitemaps"]

JOB = "01JOB"
SEGMENT_BYTES = 2000  # one page with a body of noise fills a segment

Archives = Callable[[str], KeptArchive]


def capture(number: int, *, raw: bool = True, body: bytes = b"<p>hello") -> Capture:
    """Make a page's capture."""
    url = f"https://a.test/{number}"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    sent = b"GET /%d HTTP/1.1\r\nHost: a.test\r\n\r\n" % number
    fetched = Fetched(url=url, status=200, head=head, sent=sent, body=body)
    return Capture(url, 1_700_000_000.0, b'{"n":%d}' % number, fetched if raw else None)


def full(number: int) -> Capture:
    """Make a capture after which its segment is full."""
    return capture(number, body=os.urandom(SEGMENT_BYTES))


def kinds(path: Path) -> list[str]:
    """Read a segment as warcio does, digests checked."""
    with path.open("rb") as stream:
        return [record.rec_type for record in ArchiveIterator(stream, check_digests="raise")]


def targets(path: Path) -> list[str]:
    """Name what the records of a segment are about."""
    with path.open("rb") as stream:
        heads = [record.rec_headers for record in ArchiveIterator(stream)]
    return [head.get_header("WARC-Target-URI") or "" for head in heads]


def end_of(ref: Ref) -> int:
    """Return where a record ends."""
    return ref.offset + ref.length


class TestSitemaps:
    """Sitemaps lie beside the segments of their job, for whoever asks."""

    @pytest.mark.req("STO-02")
    @waits
    async def test_what_is_kept_is_read_replaced_and_dropped(self, archives: Archives) -> None:
        one, two = (f"a.test_8080/{digit * 64}.xml" for digit in "ab")
        kept = archives("w1").sitemaps
        assert await kept.sizes(JOB) == {}
        packed = gzip.compress(b"<urlset/>")
        for name in (one, two, one):
            await kept.keep(JOB, name, packed)
        others = archives("w2").sitemaps
        assert await others.sizes(JOB) == dict.fromkeys((one, two), len(packed))
        assert await others.sizes("another") == {}
        assert await others.read(JOB, one) == b"<urlset/>"
        await others.drop(JOB, [one, one])
        assert list(await kept.sizes(JOB)) == [two]
        with pytest.raises(BytesMissing):
            await kept.read(JOB, one)
        await kept.keep(JOB, two, b"no gzip")
        with pytest.raises(BytesMissing, match="is damaged"):
            await kept.read(JOB, two)

    @waits
    async def test_they_go_with_their_job(self, archives: Archives) -> None:
        archive, name = archives("w1"), f"a.test/{'a' * 64}.xml"
        for job in (JOB, "another"):
            await archive.sitemaps.keep(job, name, gzip.compress(b"<urlset/>"))
        await archive.erase(JOB)
        assert await archive.sitemaps.sizes(JOB) == {}
        assert list(await archive.sitemaps.sizes("another")) == [name]

    @pytest.mark.parametrize(
        "name", ["", "a.xml", f"../{'a' * 64}.xml", f"a/b/{'a' * 64}.xml", f"a/{'a' * 64}.html"]
    )
    @waits
    async def test_a_name_that_is_not_ours_is_refused(self, archives: Archives, name: str) -> None:
        kept = archives("w1").sitemaps
        for asked in (kept.keep(JOB, name, b""), kept.read(JOB, name), kept.drop(JOB, [name])):
            with pytest.raises(StoreError, match="does not name a sitemap"):
                await asked
        with pytest.raises(StoreError, match="cannot name a job"):
            await kept.sizes("../x")


class TestPlaces:
    """What was appended is read back, by whoever asks."""

    @waits
    async def test_what_was_appended_is_read_back_at_its_place(self, archives: Archives) -> None:
        archive = archives("w1")
        places = await archive.append(JOB, [capture(1), capture(2, raw=False)])
        places += await archive.append(JOB, [capture(3)])
        expected = [b'{"n":1}', b'{"n":2}', b'{"n":3}']
        assert [await archive.read(record) for record, _ in places] == expected
        assert places[1][1] is None
        await archive.aclose()
        assert [await archives("w2").read(record) for record, _ in places] == expected
        assert places[0][1] is not None
        response = await archive.read(places[0][1])
        assert response.endswith(b"Content-Length: 8\r\n\r\n<p>hello")

    @waits
    async def test_a_failed_fetch_has_no_response(self, archives: Archives) -> None:
        nothing = Fetched(url="https://a.test/", failure=Outcome.TIMEOUT)
        archive = archives("w1")
        failed = Capture("https://a.test/", 0.0, b"{}", nothing)
        [(record, response)] = await archive.append(JOB, [failed])
        await archive.aclose()
        assert response is None
        assert await archive.read(record) == b"{}"

    @pytest.mark.parametrize(
        "segment", ["", "/etc/passwd", "../a.warc.gz", "jobs/../../x/warc/a.warc.gz", "jobs/a"]
    )
    @waits
    async def test_a_place_that_is_no_segment_is_refused(
        self, archives: Archives, segment: str
    ) -> None:
        archive = archives("w1")
        with pytest.raises(StoreError, match="does not name a segment"):
            await archive.read(Ref(segment, 0, 10))
        with pytest.raises(StoreError, match="does not name a segment"):
            await archive.check({segment: 1})
        with pytest.raises(StoreError, match="does not name a segment"):
            async with archive.whole(segment):
                pass

    @pytest.mark.parametrize("name", ["", "..", "a/b", "a.b", "a\n", "ü"])
    @waits
    async def test_a_name_that_could_lead_out_is_refused(
        self, archives: Archives, name: str
    ) -> None:
        with pytest.raises(StoreError, match="cannot name a worker"):
            archives(name)
        with pytest.raises(StoreError, match="cannot name a job"):
            await archives("w1").append(name, [capture(1)])
        with pytest.raises(StoreError, match="cannot name a job"):
            await archives("w1").erase(name)

    @waits
    async def test_what_is_not_there_is_said(self, archives: Archives) -> None:
        archive = archives("w1")
        [(record, _)] = await archive.append(JOB, [capture(1)])
        await archive.aclose()
        with pytest.raises(StoreError, match=r"w1-0009"):
            await archive.read(Ref(record.segment.replace("0001", "0009"), 0, 10))
        with pytest.raises(StoreError, match="ends inside the record"):
            await archive.read(Ref(record.segment, record.offset, record.length + 1))


class TestSegments:
    """Segments are whole WARC files, each with a name of its own."""

    @waits
    async def test_a_segment_is_a_warc_that_others_read(self, archives: Archives) -> None:
        archive = archives("w1")
        [(record, _), _] = await archive.append(JOB, [capture(1), capture(2)])
        assert record.segment == "jobs/01JOB/warc/w1-0001.warc.gz"
        await archive.aclose()
        async with archives("w2").whole(record.segment) as path:
            assert path.name == "w1-0001.warc.gz"
            assert kinds(path) == ["warcinfo"] + ["response", "request", "conversion"] * 2

    @waits
    async def test_one_that_is_written_to_is_lent_as_well(self, archives: Archives) -> None:
        archive = archives("w1")
        [(record, _)] = await archive.append(JOB, [capture(1)])
        async with archive.whole(record.segment) as path:
            await archive.aclose()
            assert kinds(path) == ["warcinfo", "response", "request", "conversion"]

    @waits
    async def test_no_segment_is_written_twice(self, archives: Archives) -> None:
        """Not when one is full, and not when a worker is started again under its name."""
        segments = []
        for _ in range(2):
            archive = archives("w1")
            for number in range(2):
                segments += [ref.segment for ref, _ in await archive.append(JOB, [full(number)])]
            await archive.aclose()
        numbers = [segment.removesuffix(".warc.gz")[-4:] for segment in segments]
        assert numbers == ["0001", "0002", "0003", "0004"]
        for segment in segments:
            async with archive.whole(segment) as path:
                assert kinds(path)[0] == "warcinfo"


class TestMending:
    """A crash leaves segments that are put in order, or known to be lost."""

    @waits
    async def test_check_names_segments_that_lost_bytes(self, archives: Archives) -> None:
        archive = archives("w1")
        [(record, _)] = await archive.append(JOB, [capture(1)])
        gone, end = "jobs/01JOB/warc/w1-0009.warc.gz", end_of(record)
        for _ in ("while it is written to", "and after"):
            assert await archive.check({record.segment: end, gone: 1}) == [gone]
            assert await archive.check({record.segment: end + 1}) == [record.segment]
            await archive.aclose()
        assert await archive.check({}) == []

    @waits
    async def test_what_a_dead_worker_committed_is_kept(self, archives: Archives) -> None:
        """Its open segment holds one page that was committed, and one that was not."""
        dead, heir = archives("dead"), archives("heir")
        [(sent, _)] = await dead.append(JOB, [full(1)])
        [(record, _)] = await dead.append(JOB, [capture(2)])
        await dead.append(JOB, [capture(3)])
        [(never, _)] = await dead.append("01OTHER", [capture(4)])
        [(alive, _)] = await archives("dead-0001").append(JOB, [capture(5)])
        gone = "jobs/01JOB/warc/dead-0009.warc.gz"
        ends = {sent.segment: end_of(sent), record.segment: end_of(record), gone: 5}
        for _ in ("once", "and again, should the first have been cut short"):
            assert await heir.mend("dead", ends) == [gone]
            assert await heir.read(sent) == b'{"n":1}'
            assert await heir.read(record) == b'{"n":2}'
            assert await heir.check({never.segment: 1}) == [never.segment]
            assert await heir.check({alive.segment: end_of(alive)}) == []


class TestErasing:
    """A job's segments go, and no other's."""

    @waits
    async def test_an_erased_job_has_no_segments(self, archives: Archives) -> None:
        archive = archives("w1")
        [(record, _)] = await archive.append(JOB, [full(1)])
        [(late, _)] = await archive.append(JOB, [capture(2)])
        [(other, _)] = await archive.append("01OTHER", [capture(3)])
        await archive.aclose()
        again = archives("w2")
        await again.erase(JOB)
        await again.erase(JOB)
        for ref in (record, late):
            assert await again.check({ref.segment: 1}) == [ref.segment]
            with pytest.raises(StoreError):
                await again.read(ref)
        assert await again.read(other) == b'{"n":3}'

    @waits
    async def test_a_blanked_record_is_gone_and_the_others_are_where_they_were(
        self, archives: Archives
    ) -> None:
        archive = archives("w1")
        first, gone, last = await archive.append(JOB, [capture(n) for n in range(3)])
        await archive.aclose()
        again = archives("w2")
        erased = [ref for ref in gone if ref is not None]
        for _ in ("once", "and again, should the first have been cut short"):
            await again.blank(first[0].segment, erased, wall_s=1_700_000_000.0)
        assert await again.read(first[0]) == b'{"n":0}'
        assert await again.read(last[0]) == b'{"n":2}'
        assert [await again.read(ref) for ref in erased] == [b"", b""]
        async with again.whole(first[0].segment) as path:
            assert [kinds(path).count(kind) for kind in ("response", "request", "conversion")] == [
                2, 2, 2,
            ]  # fmt: skip
            assert kinds(path).count("metadata") == 3
            assert not [url for url in targets(path) if url.endswith("/1")]
