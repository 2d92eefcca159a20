"""The archive in a directory: places, segments, full disks, and what is left of a dead worker."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomi.adapters.blob import directory as directory
from geomi.adapters.blob.directory import DirectoryArchive
from geomi.errors import StoreError, StoreFull
from geomi.model.page import Capture, Ref
from tests.contracts.suites.archiving import JOB, capture, kinds
from tests.support.waiting import waits


def opened(root: Path, *, segment_bytes: int = directory.SEGMENT_BYTES) -> DirectoryArchive:
    return DirectoryArchive(root, worker="w1", software="geomi/test", segment_bytes=segment_bytes)


@waits
async def append(archive: DirectoryArchive, *captures: Capture) -> list[tuple[Ref, Ref | None]]:
    return await archive.append(JOB, captures)


@waits
async def read(archive: DirectoryArchive, ref: Ref) -> bytes:
    return await archive.read(ref)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_nothing_is_held_back_when_append_returns(tmp_path: Path) -> None:
    """A process that is killed right after `append` loses nothing."""
    program = (
        "import asyncio, os, signal, sys; from pathlib import Path\n"
        "from geomi.adapters.blob.directory import DirectoryArchive\n"
        "from geomi.model.page import Capture\n"
        "archive = DirectoryArchive(Path(sys.argv[1]), worker='w1', software='s')\n"
        "asyncio.run(archive.append('01JOB', [Capture('u', 0.0, b'{}', None)]))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    paths = os.pathsep.join(sys.path)
    done = subprocess.run(
        (sys.executable, "-c", program, str(tmp_path)), env={"PYTHONPATH": paths}, check=False
    )
    assert done.returncode < 0
    assert kinds(tmp_path / "jobs/01JOB/warc/w1-0001.warc.gz") == ["warcinfo", "conversion"]


def test_no_captures_make_no_segment(tmp_path: Path) -> None:
    assert append(opened(tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


def test_a_finished_segment_is_told_and_its_name_is_not_used_again(tmp_path: Path) -> None:
    finished: list[str] = []
    archive = DirectoryArchive(tmp_path, worker="w1", software="s", on_finished=finished.append)
    for number in range(2):
        append(archive, capture(number))
        asyncio.run(archive.aclose())
        (tmp_path / finished[-1]).unlink()
    assert [name[-12:] for name in finished] == ["0001.warc.gz", "0002.warc.gz"]


def test_large_pages_are_compressed_beside_the_loop(tmp_path: Path) -> None:
    archive = opened(tmp_path)
    body = b"x" * (directory.INLINE_BYTES + 1)
    [(_, response)] = append(archive, capture(1, body=body))
    assert response is not None
    assert read(archive, response).endswith(body)
    asyncio.run(archive.aclose())


@waits
async def test_only_so_many_segments_stay_open(tmp_path: Path) -> None:
    archive = opened(tmp_path)
    before = open_files()
    for number in range(directory.MAX_OPEN_SEGMENTS + 1):
        await archive.append(f"job-{number}", [capture(number)])
    extra = open_files() - before
    await archive.aclose()
    assert extra <= directory.MAX_OPEN_SEGMENTS


@pytest.mark.parametrize(
    "segment",
    ["", "/etc/passwd", "../a.warc.gz", "jobs/../../x/warc/a.warc.gz", "jobs/a/warc/../b.warc.gz"],
)
def test_nothing_outside_the_root_is_trimmed(tmp_path: Path, segment: str) -> None:
    archive = opened(tmp_path)
    with pytest.raises(StoreError, match="does not name a segment"):
        archive.trim(segment, 0)


@given(st.text())
def test_no_segment_name_leads_out(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    archive = opened(tmp_path_factory.getbasetemp())
    with pytest.raises(StoreError):
        read(archive, Ref(name, 0, 1))


def test_a_link_that_leads_out_of_the_root_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "root" / "jobs" / JOB / "warc"
    folder.mkdir(parents=True)
    (tmp_path / "secret").write_bytes(b"secret")
    (folder / "w1-0001.warc.gz").symlink_to(tmp_path / "secret")
    with pytest.raises(StoreError, match="does not name a segment"):
        read(opened(tmp_path / "root"), Ref(f"jobs/{JOB}/warc/w1-0001.warc.gz", 0, 6))


def test_trim_cuts_what_was_never_committed(tmp_path: Path) -> None:
    archive = opened(tmp_path)
    [(record, _)] = append(archive, capture(1))
    asyncio.run(archive.aclose())
    path, end = tmp_path / record.segment, record.offset + record.length
    with path.open("ab") as stream:
        stream.write(b"\x1f\x8b half a record")
    archive.trim(record.segment, end)
    assert path.stat().st_size == end
    archive.trim(record.segment, end + 100)  # never longer than it was
    assert path.stat().st_size == end
    assert kinds(path) == ["warcinfo", "response", "request", "conversion"]
    archive.trim(record.segment, 0)
    archive.trim(record.segment, 0)
    assert not path.exists()


@waits
async def test_mend_puts_a_dead_workers_segments_in_order(tmp_path: Path) -> None:
    def segment(job: str, name: str, content: bytes) -> str:
        path = tmp_path / "jobs" / job / "warc" / f"{name}.warc.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path.relative_to(tmp_path).as_posix()

    torn = segment("a", "dead-0001", b"whole|half")
    whole = segment("b", "dead-0001", b"whole")
    short = segment("b", "dead-0002", b"who")
    never = segment("c", "dead-0003", b"not committed")
    alive = [segment("c", name, b"alive") for name in ("dead-0001-0001", "dead2-0001", "w1-0001")]
    gone = "jobs/c/warc/dead-0004.warc.gz"
    ends = {torn: 5, whole: 5, short: 5, gone: 5}
    lost = await opened(tmp_path).mend("dead", ends)
    assert lost == [short, gone]
    assert (tmp_path / torn).read_bytes() == b"whole"
    assert (tmp_path / whole).read_bytes() == b"whole"
    assert not (tmp_path / never).exists()
    assert all((tmp_path / name).read_bytes() == b"alive" for name in alive)


def failing(code: int, *, after: int) -> Callable[[int, memoryview], int]:
    """Return an `os.write` that takes `after` bytes and then refuses."""
    write, left = os.write, after

    def limited(fd: int, data: memoryview) -> int:
        nonlocal left
        if left == 0:
            raise OSError(code, os.strerror(code))
        taken = write(fd, data[:left])
        left -= taken
        return taken

    return limited


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_leaves_the_segment_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    archive = opened(tmp_path)
    [(record, _)] = append(archive, capture(1))
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", failing(code, after=100))
        with pytest.raises(StoreFull, match="no space is left"):
            append(archive, capture(2))
    path = tmp_path / record.segment
    assert path.stat().st_size == record.offset + record.length
    [(later, _)] = append(archive, capture(3))
    assert later.segment != record.segment
    assert read(archive, later) == b'{"n":3}'
    asyncio.run(archive.aclose())


def test_a_disk_full_from_the_start_leaves_no_segment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = opened(tmp_path)
    monkeypatch.setattr(os, "write", failing(errno.ENOSPC, after=10))
    with pytest.raises(StoreFull):
        append(archive, capture(1))
    assert list((tmp_path / "jobs" / JOB / "warc").iterdir()) == []


def test_a_disk_that_refuses_everything_is_told_as_one_that_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    archive = opened(tmp_path)
    monkeypatch.setattr(os, "write", failing(errno.ENOSPC, after=10))
    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(StoreFull):
        append(archive, capture(1))


def test_a_short_write_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:7]))
    archive = opened(tmp_path)
    [(record, _)] = append(archive, capture(1))
    monkeypatch.undo()
    assert read(archive, record) == b'{"n":1}'
    asyncio.run(archive.aclose())


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.EIO])
def test_a_refused_directory_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise OSError(code, os.strerror(code))

    archive = opened(tmp_path)
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(StoreError, match=str(tmp_path)) as caught:
        append(archive, capture(1))
    assert not isinstance(caught.value, StoreFull)
    assert bool(caught.value.hint) == (code != errno.EIO)
