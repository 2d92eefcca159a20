"""Locks of processes that start, look for dead ones and end at the same moments."""

from __future__ import annotations

import errno
import fcntl
import multiprocessing
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from geomi.adapters.machine.presence import (
    PresenceLock,
    dead_owners,
    is_abandoned,
    is_deleted,
    is_held,
    remove_locks,
)
from geomi.errors import StoreBusy

SPAWN = multiprocessing.get_context("spawn")
PROCESSES = 3
NOBODY = 4_194_304 + 1  # above every pid that Linux gives


def _stress(life: Callable[[Path, int, Barrier], None], root: Path, rounds: int) -> None:
    """Let some processes go through so many rounds together."""
    barrier = SPAWN.Barrier(PROCESSES)
    started = [
        SPAWN.Process(target=_live, args=(life, root, rounds, barrier)) for _ in range(PROCESSES)
    ]
    for process in started:
        process.start()
    for process in started:
        process.join()
    assert [process.exitcode for process in started] == [0] * PROCESSES
    assert list((root / "workers").iterdir()) == []


def _live(
    life: Callable[[Path, int, Barrier], None], root: Path, rounds: int, barrier: Barrier
) -> None:
    try:
        life(root, rounds, barrier)
    except BaseException:
        barrier.abort()  # or the others would wait for this one
        raise


def _start_together(root: Path, rounds: int, barrier: Barrier) -> None:
    """Take a lock beside others, look for the dead as every start does, and keep it."""
    for turn in range(rounds):
        owner = f"w-{turn}-{os.getpid()}"
        barrier.wait()
        with PresenceLock(root, owner):
            for _ in range(3):
                remove_locks(root, dead_owners(root))
            barrier.wait()  # until now everybody has looked
            assert is_held(root, owner), f"{owner} has lost its lock file"
            assert dead_owners(root) == [], "everybody lives"
            barrier.wait()


@pytest.mark.slow
def test_processes_that_start_together_2000_times_keep_their_locks(tmp_path: Path) -> None:
    _stress(_start_together, tmp_path, 2000)


def _take_turns(root: Path, rounds: int, barrier: Barrier) -> None:
    """Hold a lock of one name in turns; only one may hold it, and nobody loses it."""
    mine = root / f"holder-{os.getpid()}"
    barrier.wait()
    for _ in range(rounds):
        with suppress(StoreBusy), PresenceLock(root, "job-one"):
            mine.touch()
            remove_locks(root, ["job-one", *dead_owners(root)])
            assert list(root.glob("holder-*")) == [mine]
            assert is_held(root, "job-one")
            mine.unlink()


def test_one_name_has_one_holder_whoever_removes_its_lock(tmp_path: Path) -> None:
    _stress(_take_turns, tmp_path, 200)


def _die(root: Path, owner: str) -> None:
    """Leave a lock as a process does that dies."""
    with suppress(RuntimeError), PresenceLock(root, owner):
        raise RuntimeError


def test_a_lock_that_its_next_owner_took_is_not_removed(tmp_path: Path) -> None:
    _die(tmp_path, "job-one")
    assert is_abandoned(tmp_path, "job-one")
    dead = dead_owners(tmp_path)
    assert dead == ["job-one"]
    with PresenceLock(tmp_path, "job-one"):
        remove_locks(tmp_path, dead)
        assert is_held(tmp_path, "job-one")
    assert not is_held(tmp_path, "job-one")
    assert not is_abandoned(tmp_path, "job-one")


def test_the_lock_of_a_dead_owner_is_removed(tmp_path: Path) -> None:
    _die(tmp_path, "w-one")
    (tmp_path / "workers" / f"w-two.{NOBODY}.new").touch()  # its maker died before it was linked
    remove_locks(tmp_path, dead_owners(tmp_path))
    assert list((tmp_path / "workers").iterdir()) == []


def test_a_lock_is_made_anew_where_its_file_was_deleted(tmp_path: Path) -> None:
    with PresenceLock(tmp_path, "w-one") as lock:
        file = tmp_path / "workers" / "w-one.lock"
        assert not lock.keep(), "it is there"
        file.unlink()
        assert is_deleted(tmp_path, "w-one", NOBODY)
        assert not is_deleted(tmp_path, "w-one", os.getpid())
        assert lock.keep()
        assert is_held(tmp_path, "w-one")
        assert not lock.keep()
    assert not file.exists()


def test_who_lost_its_name_to_another_leaves_it_to_the_other(tmp_path: Path) -> None:
    with ExitStack() as other:
        with PresenceLock(tmp_path, "job-one") as lock:
            (tmp_path / "workers" / "job-one.lock").unlink()
            other.enter_context(PresenceLock(tmp_path, "job-one"))
            with pytest.raises(StoreBusy, match="`job-one` is in use by another geomi process"):
                lock.keep()
        assert is_held(tmp_path, "job-one"), "the other's file stays"


def test_a_file_that_goes_between_opening_and_locking_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner ends at that moment: who locks the file then locks one without a name."""
    _die(tmp_path, "job-one")
    lock = fcntl.flock
    file = tmp_path / "workers" / "job-one.lock"
    gone: list[str] = []

    def lock_late(descriptor: int, how: int) -> None:
        if not gone and os.path.samestat(os.fstat(descriptor), file.stat()):
            gone.append(file.name)
            file.unlink()
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", lock_late)
    with PresenceLock(tmp_path, "job-one"):
        assert gone == [file.name]
        assert is_held(tmp_path, "job-one")


def test_a_file_system_without_hard_links_has_locks_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with PresenceLock(tmp_path, "w-one"):
        assert is_held(tmp_path, "w-one")
        assert [file.name for file in (tmp_path / "workers").iterdir()] == ["w-one.lock"]
