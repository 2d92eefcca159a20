"""The archive in a bucket: what is sent, when a file may go, a bucket that is away or lies."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import missing_part

if find_spec("obstore") is None:
    missing_part("an S3 client: pip install '.[s3,dev]'")

from geomi.adapters.blob.bucket import Bucket  # an extra
from geomi.adapters.blob.s3 import SEGMENT_S, S3Archive
from geomi.adapters.bucket_url import read_bucket_url
from geomi.errors import StoreError
from tests.contracts.suites.archiving import JOB, SEGMENT_BYTES, capture, end_of, full
from tests.support.s3 import S3Server
from tests.support.waiting import waits

NOBODY = "http://127.0.0.1:9"  # the port of a service that no machine runs any more


@dataclass
class Place:
    """A place in the bucket, and a disk."""

    root: Path
    server: S3Server
    url: str
    warnings: list[str] = field(default_factory=list)

    def bucket(self, *, endpoint: str = "") -> Bucket:
        """Return the bucket, or one at an endpoint where nobody is."""
        url = self.url.replace(self.server.endpoint, endpoint or self.server.endpoint)
        return Bucket(read_bucket_url(url), patience_s=0.2)

    def open(
        self, worker: str = "w1", *, endpoint: str = "", segment_s: float = SEGMENT_S
    ) -> S3Archive:
        """Open the archive."""
        return S3Archive(
            self.root,
            self.bucket(endpoint=endpoint),
            worker=worker,
            software="geomi/test",
            segment_bytes=SEGMENT_BYTES,
            segment_s=segment_s,
            warn=self.warnings.append,
        )

    def here(self) -> list[str]:
        """Name the segments on the disk."""
        found = self.root.glob("jobs/*/warc/*.warc.gz")
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def there(self) -> dict[str, int]:
        """Return the segments in the bucket with their sizes."""
        listed = self.server.objects(self.url).list().collect()
        return {found["path"]: found["size"] for found in listed}

    def spoil(self, name: str, content: bytes, *, in_parts: bool = False) -> None:
        """Put something into the bucket that nobody has sent."""
        self.server.objects(self.url).put(name, content, use_multipart=in_parts)


@pytest.fixture
def place(tmp_path: Path, s3: S3Server) -> Place:
    return Place(tmp_path, s3, s3.new_prefix())


@waits
async def test_a_segment_goes_from_the_disk_to_the_bucket(place: Place) -> None:
    archive = place.open()
    [(record, _)] = await archive.append(JOB, [capture(1)])
    size = (place.root / record.segment).stat().st_size
    assert place.there() == {}
    await archive.aclose()
    assert place.here() == []
    assert place.there() == {record.segment: size}


@waits
async def test_a_full_segment_is_sent_while_the_next_one_grows(place: Place) -> None:
    archive = place.open()
    [(first, _)] = await archive.append(JOB, [full(1)])
    [(second, _)] = await archive.append(JOB, [capture(2)])
    assert archive._sending is not None
    await archive._sending
    assert place.here() == [second.segment]
    assert list(place.there()) == [first.segment]
    assert await archive.read(first) == b'{"n":1}'
    await archive.aclose()


@waits
async def test_an_open_segment_is_sent_after_a_while(place: Place) -> None:
    archive = place.open(segment_s=0.01)
    [(record, _)] = await archive.append(JOB, [capture(1)])
    async with asyncio.timeout(10):
        while record.segment not in place.there():  # noqa: ASYNC110  # the bucket tells nobody
            await asyncio.sleep(0.01)
    [(later, _)] = await archive.append(JOB, [capture(2)])
    assert later.segment != record.segment
    await archive.aclose()
    assert list(place.there()) == [record.segment, later.segment]


@waits
async def test_an_end_in_the_middle_of_ageing_sends_everything(place: Place) -> None:
    for number in range(20):
        archive = place.open(f"w{number}", segment_s=number / 10_000)
        await archive.append(JOB, [capture(1)])
        await asyncio.sleep(0.001)
        await archive.aclose()
    assert place.here() == []
    assert len(place.there()) == 20


@waits
async def test_a_bucket_that_is_away_costs_disk_and_no_pages(place: Place) -> None:
    """What waits is sent as soon as a segment gets through again."""
    archive = place.open()
    places = await archive.append(JOB, [capture(0)])
    with place.server.away():
        for number in (1, 2):
            places += await archive.append(JOB, [full(number)])
        assert len(place.here()) == 2
    await archive.append(JOB, [full(3)])
    await archive.aclose()
    assert place.here() == []
    assert len(place.there()) == 3


@waits
async def test_what_cannot_be_sent_at_the_end_is_sent_by_the_next(place: Place) -> None:
    archive = place.open()
    [(record, _)] = await archive.append(JOB, [capture(1)])
    [(full_one, _)] = await archive.append(JOB, [full(2)])
    archive._bucket = place.bucket(endpoint=NOBODY)  # the server has gone away for good
    [(last, _)] = await archive.append(JOB, [capture(3)])
    with pytest.raises(StoreError, match="cannot be used"):
        await archive.aclose()
    assert place.here() == [record.segment, last.segment]
    assert len(place.warnings) == 1
    assert "archive segments wait on this disk for their upload" in place.warnings[0]
    heir = place.open("w2")
    ends = {ref.segment: end_of(ref) for ref in (record, full_one, last)}
    assert await heir.mend("w1", ends) == []
    assert place.here() == []
    assert [await heir.read(ref) for ref in (record, last)] == [b'{"n":1}', b'{"n":3}']


@pytest.mark.slow
@waits
async def test_a_bucket_is_waited_for_as_long_as_it_says(place: Place) -> None:
    """The client's own ten tries are over in about two seconds."""
    url = read_bucket_url(place.url.replace(place.server.endpoint, NOBODY))
    began_s = time.monotonic()
    with pytest.raises(StoreError):
        await Bucket(url, patience_s=5.0).sizes("jobs")
    assert time.monotonic() - began_s > 4.0


@waits
async def test_nothing_is_begun_where_nothing_could_be_sent(place: Place) -> None:
    """A wrong bucket or key is found out before the first page is written, not at the end."""
    with pytest.raises(StoreError, match="cannot be used"):
        await place.open(endpoint=NOBODY).append(JOB, [capture(1)])
    assert place.here() == []


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 5000], ids=["empty", "short", "long"])
@waits
async def test_a_file_stays_until_the_bucket_holds_the_same(place: Place, content: bytes) -> None:
    archive = place.open()
    [(record, _)] = await archive.append(JOB, [capture(1)])
    place.spoil(record.segment, content)
    with pytest.raises(StoreError, match="is not what was sent"):
        await archive.aclose()
    assert place.here() == [record.segment]
    assert await archive.read(record) == b'{"n":1}'


@waits
async def test_a_segment_that_was_sent_before_is_not_sent_twice(place: Place) -> None:
    """Its answer was lost; or it was sent with an end that was never committed."""
    ways = [(b"", False), (b"not committed", False), (b"", True)]  # in parts: its ETag is no MD5
    for number, (tail, in_parts) in enumerate(ways, start=1):
        archive = place.open(f"w{number}")
        [(record, _)] = await archive.append(JOB, [capture(1)])
        sent = (place.root / record.segment).read_bytes() + tail
        place.spoil(record.segment, sent, in_parts=in_parts)
        await archive.aclose()
        assert place.here() == []
        assert place.there()[record.segment] == len(sent)


@waits
async def test_a_copy_that_is_torn_gives_way_to_the_one_in_the_bucket(place: Place) -> None:
    """Power was lost after a segment was sent, and its file came back shorter."""
    archive = place.open("dead")
    [(record, _)] = await archive.append(JOB, [capture(1)])
    path = place.root / record.segment
    content = path.read_bytes()
    place.spoil(record.segment, content)
    os.truncate(path, 10)
    assert await place.open("heir").mend("dead", {record.segment: end_of(record)}) == []
    assert place.here() == []
    assert await place.open("heir").read(record) == b'{"n":1}'


def test_a_killed_worker_loses_nothing_it_has_committed(place: Place) -> None:
    program = (
        "import asyncio, os, signal, sys; from pathlib import Path\n"
        "from geomi.adapters.blob.bucket import Bucket\n"
        "from geomi.adapters.bucket_url import read_bucket_url\n"
        "from geomi.adapters.blob.s3 import S3Archive\n"
        "from geomi.model.page import Capture\n"
        "async def work():\n"
        "    bucket = Bucket(read_bucket_url(sys.argv[2]))\n"
        "    archive = S3Archive(Path(sys.argv[1]), bucket, worker='dead', software='s')\n"
        "    [(ref, _)] = await archive.append('01JOB', [Capture('u', 0.0, b'{}', None)])\n"
        "    print(ref.segment, ref.offset + ref.length, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(work())\n"
    )
    done = subprocess.run(
        (sys.executable, "-c", program, str(place.root), place.url),
        env={"PYTHONPATH": os.pathsep.join(sys.path), **place.server.environment},
        stdout=subprocess.PIPE,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    segment, end = done.stdout.decode().split()
    assert asyncio.run(place.open("heir").mend("dead", {segment: int(end)})) == []
    assert place.there() == {segment: int(end)}
    assert place.here() == []


@waits
async def test_no_message_has_a_credential_in_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong-and-secret")
    with pytest.raises(StoreError, match="SignatureDoesNotMatch") as caught:
        await place.open().append(JOB, [capture(1)])
    told = f"{caught.value.message} {caught.value.hint} {caught.value.__cause__}"
    assert "AWS_ACCESS_KEY_ID" in told
    for secret in ("wrong-and-secret", *place.server.environment.values()):
        assert secret not in told
