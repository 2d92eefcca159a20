"""One store's two connections, each on a thread of its own: one for transactions, one for reads.

A transaction is some twenty statements, half of which need the answer to one before: on a thread it
costs the event loop one hop, and not one for each answer. What needs no answer is sent in a
pipeline and not waited for. Driver errors become ours here. A transaction that met another one, or
lost its server, is done again from its beginning; nothing half is left by the first. Each is safe
to repeat: unique keys, tokens and attempts tell what was written before.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.types.numeric import Int8BinaryDumper
from psycopg.types.string import StrBinaryDumper, StrDumper

from geomi.adapters.store.postgres.address import DatabaseAddress
from geomi.adapters.store.postgres.arrays import register
from geomi.adapters.store.postgres.migrate import SQL, migrate
from geomi.adapters.store.postgres.session import PostgresSession
from geomi.adapters.store.session import TransactionClash
from geomi.errors import StoreBusy, StoreError, StoreFull

T = TypeVar("T")
Work = Callable[[PostgresSession], T]

CONNECT_TIMEOUT_S = 10
# A process that is stopped in the middle of a transaction holds its locks; the server ends it
# before whoever waits for them gives up.
IDLE_SHARE = 0.5
# Deleting a job of ten million URLs takes minutes; what takes longer has lost its way.
STATEMENT_TIMEOUT_S = 900.0
# A server that restarts, or a standby that takes over, is back by then.
RECONNECT_S = 60.0
LONGEST_PAUSE_S = 1.0

# Nearly every statement finds a few rows by their keys, however large the tables are. A plan is
# made once and kept: made while a table is empty, it must not be one that reads all of it.
_BY_KEYS = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_material": "off",
    "enable_bitmapscan": "off",  # it would sort what the index has in order
}

_CLASHES = (errors.DeadlockDetected, errors.SerializationFailure, TransactionClash)
_AWAY = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.IdleInTransactionSessionTimeout,
    errors.ReadOnlySqlTransaction,  # the old primary, or a standby not promoted yet
)
_BUSY = (*_CLASHES, errors.LockNotAvailable, errors.QueryCanceled, errors.TooManyConnections)
_FULL = (errors.DiskFull,)


class PostgresDatabase:
    """Transactions and reads of one store."""

    def __init__(
        self,
        address: DatabaseAddress,
        *,
        busy_timeout_s: float,
        create: bool = True,
        waits: bool = False,
    ) -> None:
        self.shown = address.shown
        self._lanes: list[_Lane] = []
        try:
            self._writer = self._open_lane("writer", address, busy_timeout_s, waits=waits)
            self._writer.run(lambda db: migrate(db, address, create=create))
            self._reader = self._open_lane("reader", address, busy_timeout_s, waits=waits)
        except BaseException:
            self.close()
            raise

    async def write(self, work: Work[T]) -> T:
        """Run one transaction; it commits when `work` returns, which may be called again."""
        return await self._writer.arun(work, in_transaction=True)

    def write_now(self, work: Work[T]) -> T:
        """Run one transaction where there is no event loop yet."""
        return self._writer.run(work, in_transaction=True)

    async def read(self, work: Work[T]) -> T:
        """Read; each statement sees what is committed when it starts."""
        return await self._reader.arun(work)

    def read_now(self, work: Work[T]) -> T:
        """Read where there is no event loop yet."""
        return self._reader.run(work)

    def backup(self, target: Path) -> None:
        """Refuse: a database server has better tools for that."""
        raise StoreError(
            f"the store `{self.shown}` is not a file that could be copied to `{target}`",
            hint="back it up with pg_dump or pg_basebackup, and the data directory beside it",
        )

    async def scrub(self) -> None:
        """Free the place of what was deleted, so that it is written over."""
        await self.read(lambda db: db.script(SQL["vacuum"]))

    def close(self) -> None:
        """Finish what is under way and close both connections."""
        for lane in self._lanes:
            lane.close()

    def _open_lane(
        self, name: str, address: DatabaseAddress, busy_timeout_s: float, *, waits: bool
    ) -> _Lane:
        lane = _Lane(name, address, busy_timeout_s)
        self._lanes.append(lane)
        if waits:
            lane.run(lambda _: None)
        else:
            lane.open()
        return lane


class _Lane:
    """One thread with one connection, which is opened anew when it is lost."""

    def __init__(self, name: str, address: DatabaseAddress, busy_timeout_s: float) -> None:
        self._address = address
        self._busy_timeout_s = busy_timeout_s
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"geomi-{name}")
        self._connection: psycopg.Connection | None = None
        self._rng = random.Random()

    def open(self) -> None:
        """Connect for the first time; a server that is not there is told at once."""
        self._thread.submit(self._open).result()

    async def arun(self, work: Work[T], *, in_transaction: bool = False) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._run, work, in_transaction)

    def run(self, work: Work[T], *, in_transaction: bool = False) -> T:
        return self._thread.submit(self._run, work, in_transaction).result()

    def close(self) -> None:
        self._thread.submit(self._disconnect).result()
        self._thread.shutdown()

    def _open(self) -> None:
        with translated(self._address.shown):
            self._connected()

    def _run(self, work: Work[T], in_transaction: bool) -> T:
        with translated(self._address.shown):
            return self._until_done(work, in_transaction)

    def _until_done(self, work: Work[T], in_transaction: bool) -> T:
        started_s, tries = time.monotonic(), 0
        while True:
            try:
                db = self._connected()
                if not in_transaction:
                    return work(PostgresSession(db))
                with db.pipeline() as pipeline, db.transaction():
                    return work(PostgresSession(db, pipeline))
            except (psycopg.Error, TransactionClash) as error:
                if time.monotonic() - started_s > self._patience_s(error):
                    raise
            tries += 1
            # Two that met each other are not to meet again: the pause is random.
            time.sleep(min(0.01 * 2**tries, LONGEST_PAUSE_S) * self._rng.random())

    def _patience_s(self, error: Exception) -> float:
        """Return how long work that failed so is repeated; below zero is never."""
        if isinstance(error, _CLASHES):
            return self._busy_timeout_s
        db = self._connection
        if db is None or db.closed or isinstance(error, _AWAY) or _is_broken(error):
            self._disconnect()
            return RECONNECT_S
        return -1.0

    def _connected(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            self._connection = None
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> psycopg.Connection:
        db = psycopg.connect(
            self._address.url,
            autocommit=True,
            connect_timeout=CONNECT_TIMEOUT_S,
            fallback_application_name="geomi",
            client_encoding="utf-8",
        )
        try:
            db.adapters.register_dumper(str, _BinaryText)
            db.adapters.register_dumper(str, _Text)
            # Otherwise each size of numbers would be a type, and a statement prepared of its own.
            db.adapters.register_dumper(int, Int8BinaryDumper)
            register(db)
            db.execute(
                "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[])"
                " AS wanted (name, value)",
                tuple(map(list, zip(*self._session_settings().items(), strict=True))),
            )
        except BaseException:
            db.close()
            raise
        return db

    def _session_settings(self) -> Mapping[str, str]:
        return {
            "search_path": f'"{self._address.schema}"',  # it may be a word of SQL
            "statement_timeout": _milliseconds(STATEMENT_TIMEOUT_S),
            "lock_timeout": _milliseconds(self._busy_timeout_s),
            "idle_in_transaction_session_timeout": _milliseconds(self._busy_timeout_s * IDLE_SHARE),
            # What is read after a lock was got has to be what the one before has written.
            "default_transaction_isolation": "read committed",
            "jit": "off",  # compiling takes longer than any of our statements
            **_BY_KEYS,
        }

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Text(StrDumper):
    """Text without NUL, which PostgreSQL cannot keep: titles and headers come from anywhere."""

    def dump(self, obj: str) -> Any:
        """Write a text."""
        return super().dump(obj.replace("\0", "\ufffd") if "\0" in obj else obj)


class _BinaryText(StrBinaryDumper):
    """The same where a whole array is sent in binary."""

    def dump(self, obj: str) -> Any:
        """Write a text."""
        return super().dump(obj.replace("\0", "\ufffd") if "\0" in obj else obj)


def _is_broken(error: Exception) -> bool:
    """Whether the driver failed, and not the server: no answer of the server lacks an SQLSTATE.

    When a server dies, the driver may report that it cannot leave its pipeline, in place of the
    end of the connection, and take the connection for open.
    """
    return isinstance(error, psycopg.OperationalError) and error.sqlstate is None


@contextmanager
def translated(shown: str) -> Iterator[None]:
    """Turn the driver's errors into ours; none of them may show a password."""
    try:
        yield
    except (psycopg.Error, TransactionClash) as error:
        if isinstance(error, _FULL):
            raise StoreFull(
                f"no space left for the store `{shown}`; nothing of the last batch was committed",
                hint="free some space on the server and run the same command again",
            ) from error
        if isinstance(error, _BUSY):
            raise StoreBusy(
                f"the store `{shown}` is held by another process: {_first_line(error)}",
                hint="wait for it, or end the process that holds it",
            ) from error
        raise StoreError(
            f"the store `{shown}` cannot be used: {_first_line(error)}",
            hint="check that the server runs, and that the user may use this database",
        ) from error


def _first_line(error: Exception) -> str:
    """Return what the server says; it never repeats a password."""
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def _milliseconds(seconds: float) -> str:
    return f"{max(1, round(seconds * 1000))}ms"
