"""Lines come back in the order of their bytes, from memory and from files alike."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geomi.adapters.machine.sorting import SortedLines
from geomi.errors import StoreError

LINES = st.lists(st.binary(max_size=8).map(lambda data: data.replace(b"\n", b"") + b"\n"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES, st.integers(1, 30))
def test_lines_are_sorted_and_can_be_read_again(
    tmp_path: Path, lines: list[bytes], run_bytes: int
) -> None:
    with SortedLines(tmp_path, run_bytes=run_bytes) as found:
        for line in lines:
            found.add(line)
        assert list(found) == sorted(lines)
        assert list(found) == sorted(lines)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("size", "files"), [(9, 0), (10, 1), (11, 1)])
def test_memory_holds_one_run_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, files: int
) -> None:
    made: list[object] = []
    make = tempfile.TemporaryFile

    def counted(dir: Path) -> object:
        made.append(dir)
        return make(dir=dir)

    monkeypatch.setattr(tempfile, "TemporaryFile", counted)
    with SortedLines(tmp_path, run_bytes=10) as lines:
        lines.add(b"x" * (size - 1) + b"\n")
        assert made == [tmp_path] * files


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with SortedLines(tmp_path / "gone", run_bytes=1) as lines, pytest.raises(StoreError, match="g"):
        lines.add(b"x\n")
