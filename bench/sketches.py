"""A store that holds very many sketches, and what a look-up in it reads and costs.

The rows are those that a crawl writes, by the store's own statements; only their order differs: the
index is written sorted, which is faster and makes no difference to what is found.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from geomi.adapters.store.keys import band_keys
from geomi.adapters.store.rows import Row
from geomi.adapters.store.statements import statements
from geomi.adapters.store.store import open_sqlite
from geomi.adapters.store.tables.pages import ROWS as PAGES
from tests.contracts.suites.material import page, url

SQL = statements("store.sqlite", "settle", PAGES)
TENANT = "bench"
PAIRS_AT_ONCE = 100_000


@dataclass(frozen=True, slots=True)
class LookedUp:
    """How many pages look-ups read, the page itself included, and what one costs."""

    read: tuple[int, ...]
    cpu_us: float
    wall_us: float
    size_bytes: int

    @property
    def mean(self) -> float:
        """Pages a look-up reads."""
        return float(np.mean(self.read))

    @property
    def most(self) -> int:
        """Pages that the greediest look-up read."""
        return max(self.read)

    @property
    def shown(self) -> str:
        """A line of a table."""
        return (
            f"{self.mean:>10.1f}{np.percentile(self.read, 99):>7.0f}{self.most:>7}"
            f"   {self.cpu_us:.0f} us CPU, {self.wall_us:.0f} us a look-up; "
            f"{self.size_bytes / 1e6:,.0f} MB"
        )


async def look_up(sketches: Sequence[bytes], asked: Sequence[int]) -> LookedUp:
    """Fill a store with pages and ask it for those that are like some of them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        open_sqlite(path, tenant=TENANT).close()
        _fill(path, sketches)
        store = open_sqlite(path, tenant=TENANT)
        cpu_s, wall_s = time.process_time(), time.perf_counter()
        read = [len(await store.pages.near(sketches[number])) for number in asked]
        cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
        store.close()
        size_bytes = path.stat().st_size
    return LookedUp(tuple(read), 1e6 * cpu_s / len(asked), 1e6 * wall_s / len(asked), size_bytes)


def _fill(path: Path, sketches: Sequence[bytes]) -> None:
    with sqlite3.connect(path) as db:
        db.executemany(SQL["page"], _rows(sketches))
        pairs = np.fromiter(_pairs(sketches), [("band", np.int64), ("page", np.int64)])
        pairs.sort()
        for start in range(0, pairs.size, PAIRS_AT_ONCE):  # as objects they take ten times the room
            db.executemany(SQL["find_by"], pairs[start : start + PAIRS_AT_ONCE].tolist())
    db.close()


def _rows(sketches: Sequence[bytes]) -> Iterator[Row]:
    """Yield the columns of each page; its number in the store is its place, counted from one."""
    for number, sketch in enumerate(sketches):
        found = url(f"/articles/{number}")
        yield TENANT, number, *PAGES.row(page(found, exact_key=b"k" * 16, sketch=sketch))


def _pairs(sketches: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    for number, sketch in enumerate(sketches, 1):
        for key in band_keys(TENANT, sketch):
            yield key, number
