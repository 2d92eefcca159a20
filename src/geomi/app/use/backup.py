"""Copy a data directory into one file, and back.

A backup holds what the store referred to at one moment, and may be made while a crawl runs. The
database is copied first, then every file up to the length that the copy knows. `restore` builds
the directory beside its target, checks it, and then moves it there: it is complete or absent.

A backup and a restored directory belong to this user alone. A file that is restored may come from
anybody: what it holds is bounded in files, bytes and names, and is judged before it is written.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal, cast

from geomi.adapters.blob.directory import SUFFIX
from geomi.adapters.machine.disk import refusal
from geomi.adapters.outlet.job_folder import LINKS, WHOLE
from geomi.adapters.store.store import DatabaseStore, open_sqlite
from geomi.app.directory import DataDirectory
from geomi.app.store import DATABASE, TENANT
from geomi.app.use.providers import EVERY_JOB
from geomi.engine.inspect.export import segment_ends
from geomi.errors import ConfigError, StoreError, StoreFull
from geomi.ports.jobs import TenantJob
from geomi.settings.options import MIB

COMPRESSED = (".gz", ".tgz")
_GZIP = b"\x1f\x8b"
MAX_FILES = 10_000_000  # a page is one file of markdown
MAX_NAME_CHARS = 1000
# A header of tar that says how long the next one is: read whole, and a thousandth of it compressed.
MAX_HEADER_BYTES = MIB
MIN_FREE_BYTES = 64 * MIB  # on the disk, once everything is restored
LEAST_FILE_BYTES = 4096  # what an empty file takes of a disk, its name included


@dataclass(frozen=True, slots=True)
class BackupSummary:
    """The counts of a backup or of a restored directory."""

    path: str
    jobs: int
    files: int


@dataclass(frozen=True, slots=True)
class _Contents:
    """What a copied store refers to: its jobs, and growing files with the length it knows."""

    jobs: Sequence[str]
    lengths: Mapping[str, int]


async def backup(home: DataDirectory, target: Path) -> BackupSummary:
    """Copy a data directory into one file while crawls run."""
    with tempfile.TemporaryDirectory(prefix="geomi-") as folder:
        copy = Path(folder) / DATABASE
        await asyncio.to_thread(home.store.backup, copy)
        with closing(open_sqlite(copy, tenant=TENANT)) as store:
            contents = await _contents(store)
        if home.settings.blobs:  # what is in the bucket is not in the directory
            contents = _without_sent(home.root, contents)
        files = await asyncio.to_thread(_pack, home.root, copy, contents, target)
    return BackupSummary(str(target), len(contents.jobs), files)


def restore(source: Path, root: Path) -> BackupSummary:
    """Create a data directory from a backup; refuse one that is not empty."""
    if root.resolve() == Path.cwd():
        raise ConfigError(
            "the directory you are in cannot be put in place", hint="restore to a new one: -o DIR"
        )
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise ConfigError(
            f"`{root}` is not an empty directory", hint="restore to a new one: -o DIR"
        )
    part = root.with_name(f".{root.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        with _whole(part, root):
            files = _unpack(source, part)
            jobs = asyncio.run(_count_jobs(part / DATABASE))
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return BackupSummary(str(root), jobs, files)


async def _contents(store: DatabaseStore) -> _Contents:
    """Gather what every tenant has: a directory that is served is many people's."""
    jobs: list[str] = []
    lengths: dict[str, int] = {}
    for tenant, job in await _every_job(store):
        pages = store.open_for(tenant).pages
        jobs.append(job)
        lengths |= await segment_ends(pages, job)
        for name, file in (("jsonl", "pages.jsonl"), ("llms-full", "llms-full.txt")):
            _, lengths[f"jobs/{job}/{file}"] = await pages.cursor(job, name)
    return _Contents(jobs, lengths)


async def _every_job(store: DatabaseStore) -> list[TenantJob]:
    """Name the jobs of all tenants, each with whose it is."""
    return [
        (tenant, job.id)
        for tenant in await store.roster.tenants()
        for job in await store.open_for(tenant).jobs.list(limit=EVERY_JOB)
    ]


def _without_sent(root: Path, contents: _Contents) -> _Contents:
    """Leave out the segments that are gone from the disk: a bucket has them, verified."""
    here = {
        name: length
        for name, length in contents.lengths.items()
        if not name.endswith(SUFFIX) or (root / name).is_file()
    }
    return replace(contents, lengths=here)


def _pack(root: Path, database: Path, contents: _Contents, target: Path) -> int:
    if target.exists():
        raise ConfigError(f"`{target}` exists already", hint="name a new file")
    part = target.with_name(f".{target.name}.part")
    mode: Literal["w", "w:gz"] = "w:gz" if target.suffix in COMPRESSED else "w"
    try:
        with (
            _whole(part, target),
            _private_file(part) as file,
            tarfile.open(fileobj=file, mode=mode) as tar,
        ):
            tar.add(database, DATABASE)
            for name, length in contents.lengths.items():
                _add_beginning(tar, root / name, name, length)
            for path in _other_files(root, contents.jobs):
                tar.add(path, path.relative_to(root).as_posix())
            return _count_files(tar)
    finally:
        part.unlink(missing_ok=True)


def _private_file(path: Path) -> BinaryIO:
    """Make a file that this user alone may read."""
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _other_files(root: Path, jobs: Sequence[str]) -> Iterator[Path]:
    """Name what never grows: markdown files, sitemaps, whole outputs, and the links at the top."""
    for job in jobs:
        folder = root / "jobs" / job
        yield from sorted((folder / "md").rglob("*.md"))
        yield from sorted((folder / "sitemaps").rglob("*.gz"))
        yield from (path for name in WHOLE.values() if (path := folder / name).is_file())
    yield from (root / name for name in LINKS if (root / name).is_symlink())


def _add_beginning(tar: tarfile.TarFile, path: Path, name: str, length: int) -> None:
    """Add the committed part of a file that may be growing."""
    if length == 0:
        return
    if not path.is_file() or path.stat().st_size < length:
        raise StoreError(f"`{path}` is missing, or shorter than the {length:,} bytes committed")
    with path.open("rb") as file:
        member = tar.gettarinfo(arcname=name, fileobj=file)
        member.size = length
        tar.addfile(member, file)


def _unpack(source: Path, folder: Path) -> int:
    """Unpack a backup member by member, and return how many files there are but the database."""
    folder.mkdir(mode=0o700, parents=True)
    files, room = 0, shutil.disk_usage(folder).free - MIN_FREE_BYTES
    try:
        with _opened(source) as tar:
            while (member := tar.next()) is not None:
                tar.members = []  # type: ignore[attr-defined]  # each would stay in memory
                _refuse_foreign(source, member)
                files, room = files + member.isfile(), room - max(member.size, LEAST_FILE_BYTES)
                _refuse_beyond(source, files, room)
                tar.extract(member, folder, filter="data")  # no devices, no owners
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise StoreError(f"`{source}` cannot be read as a backup: {error}") from error
    except FileNotFoundError as error:
        raise ConfigError(f"there is no backup `{source}`") from error
    if not (folder / DATABASE).is_file():
        raise StoreError(f"`{source}` is not a backup of geomi: it holds no {DATABASE}")
    return files - 1


@contextmanager
def _opened(source: Path) -> Iterator[tarfile.TarFile]:
    """Open a backup for reading; what it says of a header's length is not believed."""
    with source.open("rb") as file:
        is_packed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        plain = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if is_packed else file
        bounded = cast(BinaryIO, _BoundedReads(plain))
        with plain, tarfile.open(fileobj=bounded, mode="r:") as tar:
            yield tar


@dataclass(frozen=True, slots=True)
class _BoundedReads:
    """A file of which only so much is read at once, whatever length it tells of itself."""

    file: BinaryIO

    def read(self, size: int) -> bytes:
        if not 0 <= size <= MAX_HEADER_BYTES:
            raise tarfile.ReadError(
                f"a header of {size:,} bytes; the limit is {MAX_HEADER_BYTES:,}"
            )
        return self.file.read(size)

    def seek(self, place: int) -> int:
        return self.file.seek(place)

    def tell(self) -> int:
        return self.file.tell()


def _refuse_foreign(source: Path, member: tarfile.TarInfo) -> None:
    """Raise for what no backup of geomi holds: other kinds of files, and names that lead away."""
    name = PurePosixPath(member.name)
    is_link = member.issym() and member.name in LINKS
    if not (member.isreg() or is_link):
        raise StoreError(f"`{source}` holds `{member.name[:80]}`, which is no file of a backup")
    if is_link:
        name = PurePosixPath(member.linkname)
    if name.is_absolute() or ".." in name.parts or len(member.name) > MAX_NAME_CHARS:
        raise StoreError(
            f"`{source}` cannot be read as a backup: `{str(name)[:80]}` leads outside, "
            f"or has more than {MAX_NAME_CHARS:,} characters"
        )


def _refuse_beyond(source: Path, files: int, room: int) -> None:
    """Raise where a backup holds more files than a directory has, or more than the disk takes."""
    if files > MAX_FILES:
        raise StoreError(f"`{source}` holds more than {MAX_FILES:,} files")
    if room < 0:
        raise StoreFull(
            f"`{source}` holds more than this disk has room for",
            hint=f"restore to another disk; {MIN_FREE_BYTES:,} bytes of this one stay free",
        )


def _count_files(tar: tarfile.TarFile) -> int:
    """Count what lies beside the database; links count for nothing."""
    return sum(member.isfile() for member in tar.getmembers()) - 1


async def _count_jobs(database: Path) -> int:
    """Open the store once, so that one of a newer geomi is refused before it takes its place."""
    with closing(open_sqlite(database, tenant=TENANT)) as store:
        return len(await _every_job(store))


@contextmanager
def _whole(part: Path, target: Path) -> Iterator[None]:
    """Put what was written beside a place into it, once it is whole."""
    try:
        yield
        part.replace(target)
    except OSError as error:
        raise refusal(error, target) from error
