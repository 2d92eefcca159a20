"""Backups are private, and a restored file of anybody's is bounded in all that it says."""

from __future__ import annotations

import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from geomi.adapters.telemetry.fan_out import EventFanOut
from geomi.app import open_directory
from geomi.app.store import DATABASE
from geomi.app.use import backup as use
from geomi.cli.prepare import doctor
from geomi.errors import GeomiError, StoreError, StoreFull
from geomi.settings.options import Settings
from tests.support.waiting import waits

TIB = 1024**4


def packed(path: Path, *members: tarfile.TarInfo, database: bytes = b"no database") -> Path:
    """Write a backup with these members behind a database; only its bytes are there."""
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as tar:
        first = tarfile.TarInfo(DATABASE)
        first.size = len(database)
        tar.addfile(first, BytesIO(database))
        for member in members:
            tar.addfile(member)
    return path


def member(
    name: str, *, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0
) -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type, one.linkname, one.size = kind, link, size
    return one


def refusal_of(source: Path, root: Path) -> GeomiError:
    """Restore what must be refused, and leave nothing behind."""
    with pytest.raises(StoreError) as caught:
        use.restore(source, root)
    assert [one.name for one in root.parent.iterdir() if "restored" in one.name] == []
    return caught.value


@waits
async def backed_up(root: Path, file: Path) -> None:
    async with open_directory(root, Settings(), lambda _: EventFanOut()) as home:
        await use.backup(home, file)


@pytest.mark.parametrize("name", ["b.tar", "b.tar.gz"])
def test_a_backup_and_a_data_directory_are_of_this_user_alone(tmp_path: Path, name: str) -> None:
    root, file = tmp_path / "above" / "data", tmp_path / name
    backed_up(root, file)
    assert (root.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_directory_that_is_there_keeps_its_mode_and_doctor_tells(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    backed_up(tmp_path, tmp_path / "b.tar")
    assert tmp_path.stat().st_mode & 0o777 == 0o750
    assert f"others can enter it: chmod 700 {tmp_path}" in doctor._writable(tmp_path).detail
    tmp_path.chmod(0o700)
    assert "others" not in doctor._writable(tmp_path).detail


def test_a_restored_directory_is_of_this_user_alone(tmp_path: Path) -> None:
    backed_up(tmp_path / "data", tmp_path / "b.tar")
    root = tmp_path / "new" / "restored"
    told = use.restore(tmp_path / "b.tar", root)
    assert (told.jobs, told.files, root.stat().st_mode & 0o777) == (0, 0, 0o700)


@pytest.mark.parametrize(
    "foreign",
    [
        member("../outside"),
        member("/tmp/geomi-outside"),
        member("jobs/../../outside"),
        member("jobs/x", kind=tarfile.SYMTYPE, link="/etc"),
        member("md", kind=tarfile.SYMTYPE, link="../outside"),
        member("md", kind=tarfile.SYMTYPE, link="/etc"),
        member("jobs/x", kind=tarfile.LNKTYPE, link=DATABASE),
        member("jobs/x", kind=tarfile.FIFOTYPE),
        member("jobs/x", kind=tarfile.CHRTYPE),
        member("jobs/" + "x/" * 498 + "y"),  # 1,002 characters
    ],
)
def test_a_backup_with_what_geomi_never_writes_is_refused(
    tmp_path: Path, foreign: tarfile.TarInfo
) -> None:
    error = refusal_of(packed(tmp_path / "evil.tar", foreign), tmp_path / "restored")
    assert "no file of a backup" in error.message or "leads outside" in error.message
    assert not (tmp_path / "outside").exists()


def test_a_name_may_be_so_long_and_no_longer(tmp_path: Path) -> None:
    most = "jobs/" + "x/" * 497 + "y"
    for extra, words in (("", "database"), ("z", "1,000 characters")):
        error = refusal_of(packed(tmp_path / "b.tar", member(most + extra)), tmp_path / "restored")
        assert words in error.message, error.message


@pytest.mark.parametrize("name", ["b.tar", "b.tar.gz"])
def test_a_backup_cannot_fill_the_disk(tmp_path: Path, name: str) -> None:
    """What it says of its size is added up before a byte of it is written."""
    source = packed(tmp_path / name, member("jobs/a/huge.warc.gz", size=512 * TIB))
    error = refusal_of(source, tmp_path / "restored")
    assert isinstance(error, StoreFull) and "room for" in error.message


def test_a_backup_has_so_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use, "MAX_FILES", 3)
    files = [member(f"jobs/a/md/{number}.md") for number in range(3)]
    error = refusal_of(packed(tmp_path / "b.tar", *files), tmp_path / "restored")
    assert "more than 3 files" in error.message
    error = refusal_of(packed(tmp_path / "c.tar", *files[:2]), tmp_path / "restored")
    assert "3 files" not in error.message


def test_a_header_of_a_backup_is_not_read_whatever_its_length(tmp_path: Path) -> None:
    """A name of a gigabyte is a megabyte, compressed."""
    source = packed(tmp_path / "b.tar.gz", member("x", kind=tarfile.GNUTYPE_LONGNAME, size=2**30))
    assert "limit is 1,048,576" in refusal_of(source, tmp_path / "restored").message
