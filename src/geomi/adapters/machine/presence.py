"""Which processes are alive on this machine: each worker and each job holds a lock file.

A lock file that no process holds means that its process died. The operating system ends the lock
at the moment the process ends, whatever ended it. A pid could be reused, and a heartbeat has to be
waited for.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from geomi.errors import StoreBusy, StoreError

LOOKS = 10
LOOK_S = 0.01


class PresenceLock:
    """Holds a lock by its name, a worker's or a job's, for as long as its process lives."""

    def __init__(self, root: Path, owner: str) -> None:
        self._path = root / "workers" / f"{owner}.lock"
        self._descriptor = -1

    def __enter__(self) -> PresenceLock:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._lock()
        except BlockingIOError as error:
            os.close(self._descriptor)
            raise StoreBusy(
                f"`{self._path.stem}` is in use by another geomi process",
                hint="wait for it, stop it, or crawl without --resume",
            ) from error
        except OSError as error:
            raise StoreError(f"cannot lock `{self._path}`: {error.strerror}") from error
        return self

    def _lock(self) -> None:
        """Take the lock; `dead_owners` may hold it for a moment to check it."""
        for _ in range(LOOKS):
            try:
                return fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(LOOK_S)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the lock; after an error the file stays, and the next start ends our leases."""
        if kind is None:
            with suppress(OSError):  # a file that stays is put in order by the next start
                self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def is_held(root: Path, owner: str) -> bool:
    """Return whether a process that lives holds a lock."""
    file = root / "workers" / f"{owner}.lock"
    return file.exists() and not _is_free(file)


def is_abandoned(root: Path, owner: str) -> bool:
    """Return whether a lock is here and its process is not: a death that needs no waiting."""
    file = root / "workers" / f"{owner}.lock"
    return file.exists() and _is_free(file)


def dead_owners(root: Path, holders: Sequence[str] = ()) -> list[str]:
    """Name the workers whose lock is left but no longer held, and holders of leases without one.

    A worker locks before it borrows; a lease without a lock comes from another machine's disk, such
    as a backup that was restored.
    """
    files = sorted((root / "workers").glob("*.lock")) if (root / "workers").is_dir() else []
    left = [file.stem for file in files if _is_free(file)]
    gone = [owner for owner in holders if not (root / "workers" / f"{owner}.lock").exists()]
    return [*left, *gone]


def remove_locks(root: Path, owners: list[str]) -> None:
    """Remove the locks of dead workers once their leases have ended."""
    for owner in owners:
        (root / "workers" / f"{owner}.lock").unlink(missing_ok=True)


def _is_free(file: Path) -> bool:
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
