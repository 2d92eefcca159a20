"""The archive in a bucket: a worker writes segments on its disk and sends each finished one.

Rules kept:
- When `append` returns, this machine's system has the bytes: a killed process loses nothing
  committed.
- A segment's file is removed once the bucket is known to hold the same bytes. When the bucket is
  away, segments wait on the disk. They are sent with the next segment, at the end, or by the
  process that mends after this worker.
- A machine that is lost with its disk loses what it had not sent: at most one segment for each job,
  and `SEGMENT_S` seconds of pages. `check` finds the lost segments, so that their pages are fetched
  again.
- A segment on the disk is read there; every other one is read from the bucket by ranges.
- A reader that goes on where it stopped gets its next records out of one larger range
  (`ReadAhead`): a request for each record would cost tens of milliseconds. A reader that jumps gets
  no more than it asked for.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from geomi.adapters.blob import warc
from geomi.adapters.blob.bucket import Bucket
from geomi.adapters.blob.directory import DirectoryArchive, folder_of, last_number
from geomi.adapters.blob.sitemaps import BucketSitemaps
from geomi.adapters.blob.warc import blank_file
from geomi.adapters.machine.disk import refusal
from geomi.errors import BytesMissing, StoreError
from geomi.model.page import Capture, Ref

MIB = 1024 * 1024
# A segment is sent in one request, from memory.
SEGMENT_BYTES = 32 * MIB
# No segment grows for longer: it is what a lost machine takes along, and how far behind others are
# who read. At a page a second it makes a segment of some megabytes.
SEGMENT_S = 300.0
# Some sixty pages in one request.
AHEAD_BYTES = MIB
# The workers of one machine write to a segment each, and a job's pages lie in all of them in turn.
MAX_SEGMENTS = 16
ReadRange = Callable[[str, int, int], Awaitable[bytes]]


class S3Archive:
    """Captures in WARC segments of a bucket, written by one worker.

    Args:
        root: the directory where segments grow, and wait until they are sent.
        worker: names the segments; two live workers never share it.
        software: who wrote the segments, as their first record says.
        warn: is told when segments could not be sent and have to wait.
    """

    def __init__(
        self,
        root: Path,
        bucket: Bucket,
        *,
        worker: str,
        software: str,
        segment_bytes: int = SEGMENT_BYTES,
        segment_s: float = SEGMENT_S,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._root = root
        self._bucket = bucket
        self._worker = worker
        self._segment_s = segment_s
        self._warn = warn
        self._spool = DirectoryArchive(
            root,
            worker=worker,
            software=software,
            segment_bytes=segment_bytes,
            on_finished=self._send_soon,
        )
        self.sitemaps = BucketSitemaps(bucket)
        self._ahead = ReadAhead(bucket.range)
        self._begun: set[str] = set()
        self._waiting: list[str] = []
        self._sending: asyncio.Task[None] | None = None
        self._ageing: asyncio.Task[None] | None = None
        self._finishing = asyncio.Lock()

    async def append(self, job: str, captures: Sequence[Capture]) -> list[tuple[Ref, Ref | None]]:
        """Write captures; return where each record and response lies, once the system has them."""
        if captures and job not in self._begun:
            # The first look at the bucket, too: a wrong name or key is refused before any work.
            taken = await self._bucket.sizes(folder_of(job))
            self._spool.begin_after(job, last_number(self._worker, taken))
            self._begun.add(job)
            self._ageing = self._ageing or asyncio.create_task(self._age(), name="age segments")
        return await self._spool.append(job, captures)

    async def read(self, ref: Ref) -> bytes:
        """Return what the record at a place holds: a page's JSON line, or an HTTP response."""
        with suppress(BytesMissing):
            return await self._spool.read(ref)
        member = await self._ahead.range(ref.segment, ref.offset, ref.length)
        if len(member) < ref.length:
            raise StoreError(
                f"`{ref.segment}` in {self._bucket} ends inside the record at {ref.offset}"
            )
        return warc.block(member)

    async def finish(self, job: str) -> None:
        """Finish a job's open segment and send it; one that cannot be sent waits as any other."""
        async with self._finishing:
            await self._spool.finish(job)
        if self._sending is not None:
            await asyncio.shield(self._sending)

    async def aclose(self) -> None:
        """Finish every open segment and send what waits; what cannot be sent stays on the disk."""
        async with self._finishing:  # a segment that is being finished is not cut off from the rest
            if self._ageing is not None:
                self._ageing.cancel()
                self._ageing = None
            await self._spool.aclose()
        if self._sending is not None:
            await self._sending
        await self._send_waiting()

    def reaches(self, worker: str) -> bool:
        """Whatever a worker has sent is in the bucket for everybody."""
        return True

    async def mend(self, worker: str, ends: Mapping[str, int]) -> list[str]:
        """Send what a dead worker left on this disk, and return what lost committed bytes."""
        left = self._spool.left_by(worker)
        for segment in left:
            end = ends.get(segment, 0)
            self._spool.trim(segment, end)
            if end and not await self._spool.check({segment: end}):
                await self._send(segment)
        lost = await self.check(ends)
        for segment in set(left).difference(lost):
            self._spool.trim(segment, 0)  # torn here, and whole in the bucket
        return lost

    async def check(self, ends: Mapping[str, int]) -> list[str]:
        """Return the segments that are complete neither here nor in the bucket.

        One that a worker of another machine still writes to is there for nobody else: only ask for
        those of workers that are dead.
        """
        elsewhere = await self._spool.check(ends)
        sizes: dict[str, int] = {}
        for folder in sorted({name.rpartition("/")[0] for name in elsewhere}):
            sizes |= await self._bucket.sizes(folder)
        return [name for name in elsewhere if sizes.get(name, -1) < ends[name]]

    @asynccontextmanager
    async def whole(self, segment: str) -> AsyncIterator[Path]:
        """Lend a segment as a file: a second name of ours, or a copy of the bucket's."""
        with tempfile.TemporaryDirectory(prefix=".segment-", dir=self._root) as folder:
            copy = Path(folder) / segment.rpartition("/")[2]
            async with self._spool.whole(segment) as path:
                try:
                    os.link(path, copy)  # it stays readable while a worker sends it away
                except FileNotFoundError:
                    await self._bucket.fetch(segment, copy)
                except OSError as error:
                    raise refusal(error, path) from error
            yield copy

    async def erase(self, job: str) -> None:
        """Remove a job's segments, from the bucket and from the disk, and its sitemaps."""
        await self.sitemaps.erase(job)
        await self._bucket.remove(folder_of(job))
        await self._spool.erase(job)
        self._ahead.forget()

    async def blank(self, segment: str, places: Sequence[Ref], *, wall_s: float) -> None:
        """Write over records, on the disk or in a copy that takes the place of the bucket's."""
        with suppress(BytesMissing):
            return await self._spool.blank(segment, places, wall_s=wall_s)
        async with self.whole(segment) as copy:
            await asyncio.to_thread(blank_file, copy, places, erased_at_s=wall_s)
            await self._bucket.put(segment, await asyncio.to_thread(copy.read_bytes))
        self._ahead.forget()

    async def _age(self) -> None:
        """Finish what is open from time to time, whether anything is appended to it or not."""
        while True:
            await asyncio.sleep(self._segment_s)
            try:
                async with self._finishing:
                    await self._spool.aclose()
            except StoreError as error:
                self._warn(error.message)

    def _send_soon(self, segment: str) -> None:
        self._waiting.append(segment)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._try_to_send(), name=f"send {segment}")

    async def _try_to_send(self) -> None:
        try:
            await self._send_waiting()
        except StoreError as error:
            count = len(self._waiting)
            self._warn(
                f"{count} archive segments wait on this disk for their upload: {error.message}"
            )

    async def _send_waiting(self) -> None:
        while self._waiting:
            await self._send(self._waiting[0])
            del self._waiting[0]

    async def _send(self, segment: str) -> None:
        async with self._spool.whole(segment) as path:
            try:
                await self._bucket.keep(segment, path)
            except FileNotFoundError:
                return  # its job was erased meanwhile
            except OSError as error:
                raise refusal(error, path) from error
            path.unlink(missing_ok=True)


class ReadAhead:
    """Ranges of files, some of them kept; `read` asks for one and may return less than that."""

    def __init__(self, read: ReadRange) -> None:
        self._read = read
        self._windows: OrderedDict[str, _Window] = OrderedDict()

    async def range(self, name: str, start: int, length: int) -> bytes:
        """Return bytes of a file; fewer where it ends before."""
        window = self._windows.get(name)
        if window is not None and window.start <= start and start + length <= window.end:
            return window.data[start - window.start : start - window.start + length]
        is_next = window is not None and window.start <= start <= window.end + AHEAD_BYTES
        data = await self._read(name, start, max(length, AHEAD_BYTES) if is_next else length)
        self._windows[name] = _Window(start, data[:AHEAD_BYTES])
        self._windows.move_to_end(name)
        if len(self._windows) > MAX_SEGMENTS:
            self._windows.popitem(last=False)
        return data[:length]

    def forget(self) -> None:
        """Drop everything that was read."""
        self._windows.clear()


@dataclass(frozen=True, slots=True)
class _Window:
    """What was read last of a file."""

    start: int
    data: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.data)
