"""pages.jsonl holds exactly what was committed."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest

from geomi.adapters.outlet.appended_file import AppendedFile, json_lines
from geomi.engine.worker.publisher import Outlet
from geomi.errors import StoreError, StoreFull


def opened(path: Path, committed: int = 0) -> AppendedFile:
    lines = json_lines(path)
    assert lines.open(committed)
    return lines


def test_lines_are_added_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "out" / "pages.jsonl"
    lines = opened(path)
    assert lines.write([b'{"n":1}', b'{"n":2}']) == 16
    assert lines.write([]) == 16
    lines.close()
    lines = opened(path, 16)
    assert lines.write([b'{"n":3}']) == 24
    lines.close()
    assert path.read_bytes() == b'{"n":1}\n{"n":2}\n{"n":3}\n'


@pytest.mark.parametrize(
    ("on_disk", "committed", "kept", "is_whole"),
    [
        (b"", 0, b"", True),
        (b"a\nb\n", 4, b"a\nb\n", True),
        (b"a\nb\nhalf a li", 4, b"a\nb\n", True),
        (b"never committed\n", 0, b"", True),
        (b"a\n", 4, b"a\n", False),
        (b"", 1, b"", False),
    ],
)
def test_what_was_not_committed_is_cut_and_what_is_missing_is_said(
    tmp_path: Path, on_disk: bytes, committed: int, kept: bytes, is_whole: bool
) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_bytes(on_disk)
    lines = json_lines(path)
    assert lines.open(committed) is is_whole
    lines.close()
    assert path.read_bytes() == kept


def test_a_file_that_is_gone_is_written_anew(tmp_path: Path) -> None:
    lines: Outlet = json_lines(tmp_path / "pages.jsonl")
    assert not lines.open(10)
    assert lines.open(0)
    assert lines.write([b"{}"]) == 3
    lines.close()
    lines.close()


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pages.jsonl"
    lines = opened(path)
    lines.write([b"one"])
    write = os.write

    def two_bytes_then_none(fd: int, data: memoryview) -> int:
        if len(data) < 7:
            raise OSError(errno.ENOSPC, "full")
        return write(fd, data[:2])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", two_bytes_then_none)
        with pytest.raises(StoreFull, match=r"pages\.jsonl"):
            lines.write([b"longer"])
    assert path.read_bytes() == b"one\n"
    assert lines.write([b"two"]) == 8
    lines.close()


def test_a_refused_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StoreError, match=r"pages\.jsonl.*Permission denied"):
        json_lines(tmp_path / "pages.jsonl").open(0)
