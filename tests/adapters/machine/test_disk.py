"""Files on a disk: whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from geomi.adapters.machine.disk import whole_file
from geomi.errors import StoreError


def test_two_that_write_one_file_do_not_write_into_each_other(tmp_path: Path) -> None:
    target = tmp_path / "all.txt"
    with whole_file(target) as first, whole_file(target) as second:
        first.write(b"a" * 100)
        second.write(b"b" * 10)
    assert target.read_bytes() == b"a" * 100
    assert [path.name for path in tmp_path.iterdir()] == ["all.txt"]


@pytest.mark.parametrize("name", ["file/below", "x" * 256])
def test_a_name_that_cannot_be_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError), whole_file(tmp_path / name):
        pass
