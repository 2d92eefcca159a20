"""Sort lines by their bytes, however many there are.

Lines that do not fit into memory are sorted in runs. Each run is a file without a name, and
reading merges the runs. A process that dies leaves no file behind.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from geomi.adapters.machine.disk import refusal

# A run in memory takes about three times its bytes. 32 MiB are 100,000 lines of an index; a merge
# of a thousand runs, as many as files may be open, covers a hundred million.
RUN_BYTES = 32 * 1024 * 1024


class SortedLines:
    """Takes lines in any order, each with its newline, and gives them back sorted, any time again.

    Args:
        folder: where runs may lie; the system's own place for such files is often memory.
    """

    def __init__(self, folder: Path, *, run_bytes: int = RUN_BYTES) -> None:
        self._folder = folder
        self._run_bytes = run_bytes
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._runs: list[BinaryIO] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for run in self._runs:
            run.close()

    def add(self, line: bytes) -> None:
        """Take one line."""
        self._waiting.append(line)
        self._waiting_bytes += len(line)
        if self._waiting_bytes >= self._run_bytes:
            self._write_run()

    def __iter__(self) -> Iterator[bytes]:
        """Read all lines in order; one reading ends before the next begins."""
        self._waiting.sort()
        for run in self._runs:
            run.seek(0)
        return heapq.merge(*self._runs, self._waiting)

    def _write_run(self) -> None:
        self._waiting.sort()
        try:
            run = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115  # `__exit__` closes it
            self._runs.append(run)
            run.writelines(self._waiting)
        except OSError as error:
            raise refusal(error, self._folder) from error
        self._waiting, self._waiting_bytes = [], 0
