"""What a process has in hand, read when it is dead, and what it costs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from geomi.adapters.machine.mark import SIZE_BYTES, MarkFile, read_mark, remove_mark
from geomi.errors import StoreError
from geomi.model.worker import MAX_LABEL_CHARS, WorkInHand, WorkKind, pack_work, unpack_work
from geomi.ports.runtime import MARK_LENGTH

WORK = WorkInHand("tenant", WorkKind.PAGE, b"\0\xff name", "https://a.test/거미")


def frame(work: WorkInHand = WORK) -> bytes:
    packed = pack_work(work)
    return MARK_LENGTH.pack(len(packed)) + packed


def test_a_mark_is_there_until_it_is_cleared(tmp_path: Path) -> None:
    with MarkFile(tmp_path, "w-1") as mark:
        assert read_mark(tmp_path, "w-1") is None
        mark.put(frame())
        assert read_mark(tmp_path, "w-1") == WORK
        mark.clear()
        assert read_mark(tmp_path, "w-1") is None
        mark.put(frame())
        mark.clear()
        mark.leave()
        mark.put(frame())
        assert read_mark(tmp_path, "w-1") is None
    assert list((tmp_path / "workers").iterdir()) == []


def test_the_mark_of_a_killed_process_is_read_by_others(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from geomi.adapters.machine.mark import MarkFile\n"
        "mark = MarkFile(Path(sys.argv[1]), 'w-1').__enter__()\n"
        "mark.put(bytes.fromhex(sys.argv[2]))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        (sys.executable, "-c", program, str(tmp_path), frame().hex()),
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert read_mark(tmp_path, "w-1") == WORK
    remove_mark(tmp_path, "w-1")
    assert read_mark(tmp_path, "w-1") is None
    remove_mark(tmp_path, "w-1")


def test_after_an_error_the_mark_stays(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), MarkFile(tmp_path, "w-1") as mark:
        mark.put(frame())
        mark.leave()
        mark.clear()
        raise RuntimeError
    assert read_mark(tmp_path, "w-1") == WORK


@pytest.mark.parametrize(
    "data", [b"", b"\0", b"\xff\xff", b"\0\x05null ", b"\0\x02[]", b"\0\x01\xff", bytes(9000)]
)
def test_a_mark_that_is_damaged_says_nothing(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "workers").mkdir()
    (tmp_path / "workers" / "w-1.mark").write_bytes(data)
    assert read_mark(tmp_path, "w-1") is None


def test_a_long_label_is_cut(tmp_path: Path) -> None:
    long = WorkInHand("t" * 64, WorkKind.DOCUMENT, b"n" * 64, "🕷" * (MAX_LABEL_CHARS + 1))
    assert len(frame(long)) < SIZE_BYTES
    kept = unpack_work(pack_work(long))
    assert kept is not None
    assert kept.label == "🕷" * MAX_LABEL_CHARS
    odd = unpack_work(pack_work(WorkInHand("t", WorkKind.PAGE, b"", "a\0b\ud800")))
    assert odd is not None
    assert odd.label == "ab?"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "workers").write_text("a file")
    with pytest.raises(StoreError, match=r"`.*w-1\.mark` cannot be used"):
        MarkFile(tmp_path, "w-1").__enter__()
