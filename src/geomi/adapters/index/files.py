"""A tenant's index file: writes on one thread, reads on another, neither on the event loop's.

Each tenant has a file of its own, so that nothing of one is ever in an answer to another, not even
in how rare a word is. It is apart from the store: the crawl's writer never waits for an index.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from geomi.adapters.disk import refusal
from geomi.adapters.index.writing import SQL, renew_words
from geomi.adapters.sqlite.connection import Database
from geomi.text.digest import sha256_hex

T = TypeVar("T")

# One batch of documents is written in less than a second.
BUSY_TIMEOUT_S = 30.0

_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


def index_path(folder: Path, tenant: str) -> Path:
    """Return where a tenant's index lies; a name that is no file name is written as a digest."""
    is_plain = _PLAIN_NAME.fullmatch(tenant) is not None
    return folder / f"{tenant if is_plain else '_' + sha256_hex(tenant)[:32]}.db"


class IndexFile:
    """One file, opened once."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refusal(error, path.parent) from error
        self._database = Database(path, busy_timeout_s=BUSY_TIMEOUT_S, package="index")
        self._reading = ThreadPoolExecutor(max_workers=1, thread_name_prefix="geomi-index")
        self._database.write_now(renew_words)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run one transaction."""
        return await self._database.write(work)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run reads that see one state; ranking takes milliseconds, too long for the loop."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._reading, self._read, work)

    async def scrub(self) -> None:
        """Leave nothing in the file of what was deleted."""
        await self._database.write(lambda db: db.execute(SQL["merge_words"]))
        await self._database.scrub()

    def close(self) -> None:
        """Finish what is under way and close the file."""
        self._reading.shutdown()
        self._database.close()

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._database.read() as db:
            db.execute("BEGIN")
            try:
                return work(db)
            finally:
                db.execute("ROLLBACK")
