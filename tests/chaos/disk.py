"""Disks that are full, refuse, or take their time."""

from __future__ import annotations

import errno
import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.chaos.ground import LONGEST_CRAWL_S, Ground
from tests.chaos.layer import Plan
from tests.chaos.table import NOTHING, Row

NEVER = 10**9
# Room for the empty database and some pages. The crawl of 200 takes about 3 MB, and 1.2 MB where
# its database is a server: from a disk of 1.3 MB on nothing would run full there.
SMALL_KB, MORE_KB, LARGE_KB = 700, 400, 65_536
FSYNC_S = 0.2


def refuse(ground: Ground, error: int, points: list[int], *, for_good: bool) -> Row:
    """Refuse an operation, or all from there on, until the crawl gives up; then resume it."""
    what = "ENOSPC" if error == errno.ENOSPC else "EIO"
    row = Row(f"{what} {'from' if for_good else 'at'} one operation", ground.back.name)
    for point in points:
        with ground.case() as case:
            until = NEVER if for_good else point + 1
            crawl = case.start(Plan(fail_at=point, fail_until=until, error=error))
            code = crawl.wait(LONGEST_CRAWL_S)
            words = crawl.words()
            case.note_held()
            row.add(case.finish(), case.held, about=f"operation {point}")
            if code is None or code < 0 or "Traceback" in words:
                row.wrong.append(f"operation {point}: ended with {code}: {words[-600:]}")
    return row


def fill(ground: Ground, *, runs: int, rng: random.Random) -> Row:
    """Let a real file system run full under a crawl, give it room, and resume."""
    row = Row("full disk (tmpfs)", ground.back.name)
    for _ in range(runs):
        small_kb = SMALL_KB + rng.randrange(MORE_KB)
        with ground.case() as case, _small_disk(case.data, small_kb) as disk:
            code = case.start().wait(LONGEST_CRAWL_S)
            case.note_held()
            disk.grow()
            row.add(case.finish(), case.held)
            if code != 3:
                row.wrong.append(f"a full disk ended it with {code}")
    return row


def can_mount() -> bool:
    """Whether this user may mount a small file system."""
    return os.geteuid() == 0 and subprocess.run(["mountpoint", "-q", "/proc"]).returncode == 0


def slow(ground: Ground, *, runs: int) -> Row:
    """Let every fsync take its time; nothing else may be different."""
    row = Row(f"fsync takes {FSYNC_S:g} s more", ground.back.name)
    for _ in range(runs):
        with ground.case() as case:
            row.add(case.finish(Plan(fsync_s=FSYNC_S)), NOTHING)
    return row


class _Disk:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def grow(self) -> None:
        """Give it room."""
        self._mount("-o", f"remount,size={LARGE_KB}k")

    def mount(self, size_kb: int) -> None:
        self._folder.mkdir()
        self._mount("-t", "tmpfs", "-o", f"size={size_kb}k", "tmpfs")

    def _mount(self, *options: str) -> None:
        subprocess.run(["mount", *options, str(self._folder)], check=True)


@contextmanager
def _small_disk(folder: Path, size_kb: int) -> Iterator[_Disk]:
    disk = _Disk(folder)
    disk.mount(size_kb)
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(folder)], check=True)
