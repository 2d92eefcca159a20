"""The archive in a directory: `jobs/<job>/warc/<worker>-<NNNN>.warc.gz`, one writer a segment.

What it keeps:
- when `append` returns, the system has the bytes: a killed process loses nothing committed;
- a segment is fsynced when it is full and when the archive closes. A machine that loses power in
  between may lose a segment's end; `check` finds it, so that its URLs can be fetched again;
- a segment is never opened for writing twice: a restarted worker begins the next number; `trim`
  cuts off what a dead one wrote without committing it;
- no name and no link leads out of the root, whatever the database says.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from uuid import UUID, uuid4

from geomi.adapters.blob import warc
from geomi.adapters.blob.sitemaps import DirectorySitemaps
from geomi.adapters.blob.warc import blank_file
from geomi.adapters.machine.disk import close_whole, refusal, write_whole
from geomi.errors import BytesMissing, StoreError
from geomi.model.page import Capture, Ref

MIB = 1 << 20
SEGMENT_BYTES = 64 * MIB
# A worker serves few jobs at once; past this many, the segment that was opened first is finished.
MAX_OPEN_SEGMENTS = 32
# Compressing costs about 2 ms a MiB and leaves the interpreter free meanwhile: a batch of ordinary
# pages is done in place, one with large pages in a thread. Writing is 0.03 ms and never worth one.
INLINE_BYTES = MIB

# The response and its request, where they are kept, and the record.
_Members = tuple[bytes, bytes, bytes]
SUFFIX = ".warc.gz"

_NAME = re.compile(r"[A-Za-z0-9-]+")
_SEGMENT = re.compile(r"jobs/[A-Za-z0-9-]+/warc/[A-Za-z0-9-]+\.warc\.gz")

_WRITTEN_BY = re.compile(r"jobs/[A-Za-z0-9-]+/warc/([A-Za-z0-9-]+)-[0-9]{4,9}\.warc\.gz")


class DirectoryArchive:
    """Captures in WARC segments under one directory, written by one worker.

    Args:
        worker: names the segments; two live workers never share it.
        software: who wrote the segments, as their first record says.
        on_finished: is told the name of each segment that nobody will write to any more.
    """

    def __init__(
        self,
        root: Path,
        *,
        worker: str,
        software: str,
        segment_bytes: int = SEGMENT_BYTES,
        on_finished: Callable[[str], None] = lambda _: None,
        new_id: Callable[[], UUID] = uuid4,
    ) -> None:
        self._root = root.resolve()
        self.sitemaps = DirectorySitemaps(self._root)
        self._worker = checked_name(worker, "worker")
        self._software = software
        self._segment_bytes = segment_bytes
        self._on_finished = on_finished
        self._new_id = new_id
        self._open: dict[str, _Segment] = {}
        self._numbers: dict[str, int] = {}
        self._checked_segment: str | None = None
        self._checked_path = self._root

    async def append(self, job: str, captures: Sequence[Capture]) -> list[tuple[Ref, Ref | None]]:
        """Write captures; return where each record and response lies, once the system has them."""
        if not captures:
            return []
        if _size_bytes(captures) > INLINE_BYTES:
            members = await asyncio.to_thread(self._encode, captures)
        else:
            members = self._encode(captures)
        segment = self._open.get(job) or self._start(job, captures[0].fetched_at_s)
        places = _places(segment, members)
        self._write(segment, b"".join(chain.from_iterable(members)))
        await self._roll(job)
        return places

    async def read(self, ref: Ref) -> bytes:
        """Return what the record at a place holds: a page's JSON line, or an HTTP response."""
        path = self._path(ref.segment)
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                member = os.pread(fd, ref.length, ref.offset)
            finally:
                os.close(fd)
        except FileNotFoundError as error:
            raise BytesMissing(f"`{path}` is missing", hint="restore it from a backup") from error
        except OSError as error:
            raise refusal(error, path) from error
        if len(member) < ref.length:
            raise StoreError(f"`{path}` ends inside the record at {ref.offset}")
        return warc.block(member)

    async def finish(self, job: str) -> None:
        """Finish a job's open segment, if there is one."""
        if job in self._open:
            await self._finish(job)

    async def aclose(self) -> None:
        """Finish every open segment; a later append begins a new one."""
        for job in tuple(self._open):
            await self.finish(job)

    async def mend(self, worker: str, ends: Mapping[str, int]) -> list[str]:
        """Repair a dead worker's segments and return those that lost committed bytes."""
        for segment in self.left_by(worker):
            self.trim(segment, ends.get(segment, 0))
        return await self.check(ends)

    async def check(self, ends: Mapping[str, int]) -> list[str]:
        """Return the segments that are missing or too short."""
        return [name for name, end in ends.items() if _length(self._path(name)) < end]

    @asynccontextmanager
    async def whole(self, segment: str) -> AsyncIterator[Path]:
        """Lend a segment as a file."""
        yield self._path(segment)

    async def erase(self, job: str) -> None:
        """Remove a job's segments and sitemaps."""
        await self.sitemaps.erase(job)
        folder = self._folder(job)
        try:
            if folder.exists():
                await asyncio.to_thread(shutil.rmtree, folder)
        except OSError as error:
            raise refusal(error, folder) from error

    async def blank(self, segment: str, places: Sequence[Ref], *, wall_s: float) -> None:
        """Write over records where they lie; done twice it is the same."""
        path = self._path(segment)
        await asyncio.to_thread(blank_file, path, places, erased_at_s=wall_s)

    def reaches(self, worker: str) -> bool:
        """Whether a worker writes to this directory, and not to a disk of its own."""
        return bool(self.left_by(worker))

    def left_by(self, worker: str) -> list[str]:
        """Name a worker's segments that lie here."""
        ours = segments_of(worker)
        found = self._root.glob(f"jobs/*/warc/*{SUFFIX}")
        return sorted(
            path.relative_to(self._root).as_posix() for path in found if ours.fullmatch(path.name)
        )

    def begin_after(self, job: str, number: int) -> None:
        """Let a job's next segment have a greater number than this one, which is taken."""
        self._numbers[job] = max(number, self._numbers.get(job, 0))

    def trim(self, segment: str, end: int) -> None:
        """Cut a dead worker's segment back to its committed end; at 0, remove it."""
        path = self._path(segment)
        try:
            if end == 0:
                path.unlink(missing_ok=True)
            elif _length(path) > end:
                os.truncate(path, end)
        except OSError as error:
            raise refusal(error, path) from error

    def _encode(self, captures: Sequence[Capture]) -> list[_Members]:
        return [self._members(capture) for capture in captures]

    def _members(self, capture: Capture) -> _Members:
        at_s, fetched = capture.fetched_at_s, capture.fetched
        response = request = b""
        refers_to = None
        if fetched is not None and fetched.status:
            refers_to = self._new_id()
            response = warc.response(refers_to, fetched, fetched_at_s=at_s)
            if fetched.sent:
                request = warc.request(
                    self._new_id(), fetched, fetched_at_s=at_s, concurrent_to=refers_to
                )
        record = warc.conversion(
            self._new_id(), capture.url, capture.record, fetched_at_s=at_s, refers_to=refers_to
        )
        return response, request, record

    def _start(self, job: str, now_s: float) -> _Segment:
        path, fd = self._create(job)
        segment = _Segment(job, path, path.relative_to(self._root).as_posix(), fd)
        self._open[job] = segment
        head = warc.warcinfo(
            self._new_id(), written_at_s=now_s, name=path.name, software=self._software, job=job
        )
        self._write(segment, head)
        return segment

    def _create(self, job: str) -> tuple[Path, int]:
        """Make this worker's next segment: a name that no file has had."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        folder = self._folder(job)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.begin_after(job, last_number(self._worker, (p.name for p in folder.iterdir())))
            path = folder / f"{self._worker}-{self._numbers[job] + 1:04d}{SUFFIX}"
            fd = os.open(path, flags, 0o644)
            self._numbers[job] += 1  # the file may be gone when the next one begins
            return path, fd
        except OSError as error:
            raise refusal(error, folder) from error

    def _write(self, segment: _Segment, data: bytes) -> None:
        try:
            write_whole(segment.fd, data)
        except OSError as error:
            self._abandon(segment)
            raise refusal(error, segment.path) from error
        segment.size_bytes += len(data)

    def _abandon(self, segment: _Segment) -> None:
        """Leave a segment after a failed write, as it was before: what it holds stays readable."""
        del self._open[segment.job]
        with suppress(OSError):  # whoever mends after this worker cuts it off
            os.ftruncate(segment.fd, segment.size_bytes)
            if segment.size_bytes == 0:
                segment.path.unlink(missing_ok=True)
        os.close(segment.fd)

    async def _roll(self, job: str) -> None:
        if self._open[job].size_bytes >= self._segment_bytes:
            await self._finish(job)
        while len(self._open) > MAX_OPEN_SEGMENTS:
            await self._finish(next(iter(self._open)))

    async def _finish(self, job: str) -> None:
        segment = self._open.pop(job)  # first, so that nobody appends while the disk is waited for
        try:
            await asyncio.to_thread(close_whole, segment.fd, segment.path)
        except OSError as error:
            raise refusal(error, segment.path) from error
        self._on_finished(segment.name)

    def _folder(self, job: str) -> Path:
        return self._root / folder_of(job)

    def _path(self, segment: str) -> Path:
        """Return where a segment lies, remembering the last one: readers go in order."""
        if segment == self._checked_segment:
            return self._checked_path
        if is_segment(segment):
            path = (self._root / segment).resolve()
            if path.is_relative_to(self._root):  # a link may still lead elsewhere
                self._checked_segment, self._checked_path = segment, path
                return path
        raise StoreError(f"`{segment}` does not name a segment of `{self._root}`")


@dataclass(slots=True)
class _Segment:
    """A segment that is being written; `size_bytes` counts what was written whole."""

    job: str
    path: Path
    name: str
    fd: int
    size_bytes: int = 0


def _size_bytes(captures: Sequence[Capture]) -> int:
    return sum(len(c.record) + (len(c.fetched.body) if c.fetched else 0) for c in captures)


def _places(segment: _Segment, members: Sequence[_Members]) -> list[tuple[Ref, Ref | None]]:
    places: list[tuple[Ref, Ref | None]] = []
    offset = segment.size_bytes
    for response, request, record in members:
        kept = Ref(segment.name, offset, len(response)) if response else None
        offset += len(response) + len(request)
        places.append((Ref(segment.name, offset, len(record)), kept))
        offset += len(record)
    return places


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return -1


def checked_name(name: str, what: str) -> str:
    """Return a name that can be a part of a path; `what` says whose it is."""
    if not _NAME.fullmatch(name):
        raise StoreError(f"`{name}` cannot name a {what}: use letters, digits and hyphens only")
    return name


def is_segment(name: str) -> bool:
    """Return whether this can be a segment's name at all."""
    return _SEGMENT.fullmatch(name) is not None


def folder_of(job: str) -> str:
    """Return where a job's segments lie."""
    return f"jobs/{checked_name(job, 'job')}/warc"


def segments_of(worker: str) -> re.Pattern[str]:
    """Return what the last parts of a worker's segments look like; group 1 is the number."""
    return re.compile(checked_name(worker, "worker") + r"-([0-9]{4,9})\.warc\.gz")


def worker_of(segment: str) -> str:
    """Return whose segment this is; empty where its name does not say."""
    found = _WRITTEN_BY.fullmatch(segment)
    return found[1] if found else ""


def last_number(worker: str, names: Iterable[str]) -> int:
    """Return the greatest number that a worker has given to a segment; 0 for none."""
    ours = segments_of(worker)
    found = (ours.fullmatch(name.rpartition("/")[2]) for name in names)
    return max((int(match[1]) for match in found if match), default=0)
