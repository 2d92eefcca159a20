"""Which processes are alive on this machine: each worker and each job holds a lock file.

A lock file that no process holds means that its process died. The operating system ends the lock
at the moment the process ends, whatever ended it. A pid could be reused, and a heartbeat has to be
waited for.

A lock's file never stands under its name without its lock: it is made and locked under another
name, which nobody looks at, and then linked. Only who has locked a file removes it. So who finds a
file free knows that its owner died, and who holds one loses it to nobody of us. Somebody may delete
it by hand: `keep` makes it anew.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from types import TracebackType

from geomi.errors import StoreBusy, StoreError

LOOKS = 10
LOOK_S = 0.01
# What a file system without hard links answers; a file is then made under its name, and locked.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


class PresenceLock:
    """Holds a lock by its name, a worker's or a job's, for as long as its process lives."""

    def __init__(self, root: Path, owner: str) -> None:
        self._path = _file(root, owner)
        self._descriptor = -1

    def __enter__(self) -> PresenceLock:
        self._descriptor = self._lock()
        return self

    def keep(self) -> bool:
        """Make the file anew if somebody deleted it; return whether that was so."""
        if _is_at(self._descriptor, self._path):
            return False
        old, self._descriptor = self._descriptor, self._lock()
        os.close(old)
        return True

    def _lock(self) -> int:
        """Take the lock; who looks whether it is free may hold it for a moment."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            for _ in range(LOOKS):
                found = _made(self._path)
                if found is None:
                    found = _locked(self._path)
                if found is not None:
                    return found
                time.sleep(LOOK_S)
        except OSError as error:
            raise StoreError(f"cannot lock `{self._path}`: {error.strerror}") from error
        raise StoreBusy(
            f"`{self._path.stem}` is in use by another geomi process",
            hint="wait for it, stop it, or crawl without --resume",
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the lock; after an error the file stays, and the next start ends our leases."""
        if kind is None and _is_at(self._descriptor, self._path):
            with suppress(OSError):  # a file that stays is put in order by the next start
                self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


class _Lock(Enum):
    """How a lock is found by who does not hold it."""

    ABSENT = auto()
    FREE = auto()
    HELD = auto()


def is_held(root: Path, owner: str) -> bool:
    """Return whether a process that lives holds a lock."""
    return _look(_file(root, owner)) is _Lock.HELD


def is_abandoned(root: Path, owner: str) -> bool:
    """Return whether a lock is here and its process is not: a death that needs no waiting."""
    return _look(_file(root, owner)) is _Lock.FREE


def is_deleted(root: Path, owner: str, pid: int | None) -> bool:
    """Return whether a process has no file and is not here either.

    Args:
        pid: its number, if it is known to be of this machine; it may have been given to another.
    """
    return _look(_file(root, owner)) is _Lock.ABSENT and not (pid and _is_running(pid))


def dead_owners(root: Path) -> list[str]:
    """Name the owners whose lock is left but no longer held."""
    files = sorted((root / "workers").glob("*.lock"))
    return [file.stem for file in files if _look(file) is _Lock.FREE]


def remove_locks(root: Path, owners: Sequence[str]) -> None:
    """Remove the locks of dead workers once their leases have ended; a new owner's stays.

    What a process left that died while it made its file goes, too.
    """
    for path in (*(_file(root, owner) for owner in owners), *(root / "workers").glob("*.new")):
        with suppress(OSError):  # it is gone already, or the next start puts it in order
            descriptor = _locked(path)
            if descriptor is not None:
                path.unlink(missing_ok=True)
                os.close(descriptor)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is somebody else's
        return True
    return True


def _file(root: Path, owner: str) -> Path:
    return root / "workers" / f"{owner}.lock"


def _made(path: Path) -> int | None:
    """Make a lock's file and hold it; None where there is one."""
    draft = path.with_suffix(f".{os.getpid()}.new")
    descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.link(draft, path)
    except (BlockingIOError, FileExistsError, FileNotFoundError):  # FileNotFound: it was swept away
        os.close(descriptor)
        return None
    except OSError as error:
        os.close(descriptor)
        if error.errno not in _NO_LINKS:
            raise
        return _locked(path, os.O_CREAT)
    finally:
        draft.unlink(missing_ok=True)
    return descriptor


def _locked(path: Path, flags: int = 0) -> int | None:
    """Lock a file that is there; None where it is held, or is another one meanwhile."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | flags, 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(descriptor, path):
            return descriptor
    except BlockingIOError:
        pass
    os.close(descriptor)
    return None


def _look(path: Path) -> _Lock:
    """Look whether a lock is held; several processes may look at the same moment."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return _Lock.ABSENT
    except OSError:
        return _Lock.HELD  # nothing says that its owner died
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return _Lock.FREE if _is_at(descriptor, path) else _look(path)
    except OSError:
        return _Lock.HELD
    finally:
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is the one that stands under a name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
