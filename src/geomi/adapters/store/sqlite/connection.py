"""One store's two connections: a writer on its own thread, a reader on the event loop's.

Writes wait for other processes on the writer's thread. Point reads run in place, because a WAL
reader never waits and a thread hop would cost more than the read; they belong to the loop's
thread. Driver errors become ours here, and a failed transaction leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from geomi.adapters.store.rows import Row
from geomi.adapters.store.session import NO_VALUES, Statement, Values
from geomi.adapters.store.sqlite.migrate import migrate
from geomi.errors import StoreBusy, StoreError, StoreFull

T = TypeVar("T")

WRITER_CACHE_KIB = 65_536  # room for the unique keys (about 40 bytes) of 1.5 million URLs
READER_CACHE_KIB = 16_384

# A checkpoint writes each changed page once however often it changed: 16 MiB of log instead of 4
# took a tenth of the written bytes away over 300,000 new URLs, 900 a transaction.
CHECKPOINT_PAGES = 4000

# The link look-up has nine sizes; with every other statement they fit without being prepared again.
CACHED_STATEMENTS = 256

_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class SqliteSession:
    """Statements of one connection while some work has it.

    Statements that are written for SQLite alone go to the connection itself, by `execute` and
    `executemany`.
    """

    __slots__ = ("execute", "executemany")

    def __init__(self, db: sqlite3.Connection) -> None:
        self.execute = db.execute
        self.executemany = db.executemany

    def rows(self, statement: Statement, values: Values = NO_VALUES) -> list[Row]:
        """Return every row."""
        return self.execute(statement.sqlite, values).fetchall()

    def row(self, statement: Statement, values: Values = NO_VALUES) -> Row | None:
        """Return the first row, if there is one."""
        row: Row | None = self.execute(statement.sqlite, values).fetchone()
        return row

    def value(self, statement: Statement, values: Values = NO_VALUES) -> Any:
        """Return the first column of a row that is always there."""
        return self.execute(statement.sqlite, values).fetchone()[0]

    def run(self, statement: Statement, values: Values = NO_VALUES) -> int:
        """Return how many rows were changed."""
        return self.execute(statement.sqlite, values).rowcount

    def send(self, statement: Statement, values: Values = NO_VALUES) -> None:
        """Change something, whatever the number of rows."""
        self.execute(statement.sqlite, values)

    def rows_of_each(self, statement: Statement, many: Iterable[Values]) -> list[Row]:
        """Ask the same for each of some values, and return every row in their order."""
        text = statement.sqlite
        return [row for values in many for row in self.execute(text, values).fetchall()]

    def rows_of_all(self, statement: Statement, many: Iterable[Values]) -> list[Row]:
        """Ask the same for each of many values."""
        return self.rows_of_each(statement, many)

    def run_each(self, statement: Statement, many: Iterable[Values]) -> int:
        """Change the same for each of some values; return how many rows were changed."""
        return max(0, self.executemany(statement.sqlite, many).rowcount)

    def send_all(self, statement: Statement, many: Iterable[Values]) -> None:
        """Change the same for each of many values."""
        self.executemany(statement.sqlite, many)


class SqliteDatabase:
    """Transactions and reads of one file; its schema is that of a package of adapters."""

    def __init__(self, path: Path, *, busy_timeout_s: float, package: str = "store.sqlite") -> None:
        self.path = path
        self._package = package
        self._busy_timeout_s = busy_timeout_s
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="geomi-store")
        try:
            self._writer = self._thread.submit(self._open_writer).result()
            self._writing = SqliteSession(self._writer)
            with translated(path):
                self._reader = self._connect(READER_CACHE_KIB)
                self._reader.execute("PRAGMA query_only = 1")
                self._reading = SqliteSession(self._reader)
        except BaseException:
            self._thread.shutdown()
            raise

    async def write(self, work: Callable[[SqliteSession], T]) -> T:
        """Run one transaction; it commits when `work` returns."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._transact, work)

    def write_now(self, work: Callable[[SqliteSession], T]) -> T:
        """Run one transaction where there is no event loop yet."""
        return self._thread.submit(self._transact, work).result()

    async def read(self, work: Callable[[SqliteSession], T]) -> T:
        """Read in place."""
        return self.read_now(work)

    def read_now(self, work: Callable[[SqliteSession], T]) -> T:
        """Read where there is no event loop yet."""
        with translated(self.path):
            return work(self._reading)

    @contextmanager
    def reading(self) -> Iterator[SqliteSession]:
        """Lend the reader."""
        with translated(self.path):
            yield self._reading

    def backup(self, target: Path) -> None:
        """Copy the store as it is now, while others go on writing."""
        with translated(target):
            source, copy = self._connect(READER_CACHE_KIB), sqlite3.connect(target)
            try:
                source.backup(copy)
            finally:
                copy.close()
                source.close()

    async def scrub(self) -> None:
        """Leave nothing in the file, or in its log, of rows that were deleted."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._scrub)

    def close(self) -> None:
        """Finish the write under way and close both connections."""
        self._reader.close()
        self._thread.submit(self._writer.close).result()
        self._thread.shutdown()

    def _open_writer(self) -> sqlite3.Connection:
        with translated(self.path):
            db = self._connect(WRITER_CACHE_KIB)
            try:
                self._prepare(db)
            except BaseException:
                db.close()
                raise
            return db

    def _prepare(self, db: sqlite3.Connection) -> None:
        self._use_wal(db)
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        migrate(db, self.path, self._package)

    def _use_wal(self, db: sqlite3.Connection) -> None:
        """Switch to WAL; SQLite does not wait when two processes do so at once, therefore we do."""
        deadline_s = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                db.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if _code(error) not in _BUSY or time.monotonic() > deadline_s:
                    raise
                time.sleep(0.01)
            else:
                return

    def _connect(self, cache_kib: int) -> sqlite3.Connection:
        db = sqlite3.connect(
            self.path,
            timeout=self._busy_timeout_s,
            isolation_level=None,
            cached_statements=CACHED_STATEMENTS,
            check_same_thread=False,  # the reader may be opened before its loop's thread starts
        )
        db.execute(f"PRAGMA cache_size = -{cache_kib}")
        return db

    def _scrub(self) -> None:
        with translated(self.path):
            self._writer.execute("VACUUM")
            (is_busy, *_) = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if is_busy:
            raise StoreBusy(
                f"another process reads `{self.path}`; its log still holds what was deleted",
                hint="end the other process and give the same command again",
            )

    def _transact(self, work: Callable[[SqliteSession], T]) -> T:
        db = self._writer
        with translated(self.path):
            db.execute("BEGIN IMMEDIATE")
            try:
                result = work(self._writing)
                db.execute("COMMIT")
            except BaseException:
                db.rollback()
                raise
        return result


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except sqlite3.Error as error:
        code = _code(error)
        if code in _FULL:
            raise StoreFull(
                f"no space left for the store `{path}`; nothing of the last batch was committed",
                hint="free some space and run the same command again",
            ) from error
        if code in _BUSY:
            raise StoreBusy(
                f"the store `{path}` is locked by another process",
                hint="wait for it, or end the process that holds it",
            ) from error
        raise StoreError(
            f"the store `{path}` cannot be used: {error}",
            hint="check that its folder exists, can be written and holds a store of geomi",
        ) from error


def _code(error: sqlite3.Error) -> int:
    """Return the primary code, except where only the extended one tells a full disk."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code if code in _FULL else code & 0xFF
