"""What a table asks of a database, SQLite or PostgreSQL, and the statements it asks with.

A table is written once for both. It hands a `Statement`, which holds one text for each of them, to
a `Session`, and the session picks its own. Work that fails leaves nothing behind; in PostgreSQL it
may be done again from its beginning, so it changes nothing but the database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeVar

from geomi.adapters.store.rows import Row

T = TypeVar("T")
Values = Mapping[str, object]
NO_VALUES: Values = {}


class TransactionClash(Exception):
    """What a transaction has read is not true any more: it has to be done once more.

    PostgreSQL does it again; in SQLite nobody else writes meanwhile.
    """


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, as each database wants it."""

    sqlite: str
    postgres: str

    def narrowed(self, columns: Iterable[str]) -> Statement:
        """Put the conditions of a filter, one for each column, into `/* conditions */`.

        A statement for all filters would have to allow for empty ones, and could use no index.
        """
        return _narrowed(self, tuple(columns))


@cache
def _narrowed(statement: Statement, columns: tuple[str, ...]) -> Statement:
    sqlite = " ".join(f"AND {column} = :{column}" for column in columns)
    postgres = " ".join(f"AND {column} = %({column})s" for column in columns)
    return Statement(
        statement.sqlite.replace("/* conditions */", sqlite),
        statement.postgres.replace("/* conditions */", postgres),
    )


class Session(Protocol):
    """Statements of one transaction, or single reads."""

    def rows(self, statement: Statement, values: Values = NO_VALUES) -> list[Row]:
        """Return every row."""
        ...

    def row(self, statement: Statement, values: Values = NO_VALUES) -> Row | None:
        """Return the first row, if there is one."""
        ...

    def value(self, statement: Statement, values: Values = NO_VALUES) -> Any:
        """Return the first column of a row that is always there."""
        ...

    def run(self, statement: Statement, values: Values = NO_VALUES) -> int:
        """Return how many rows were changed."""
        ...

    def send(self, statement: Statement, values: Values = NO_VALUES) -> None:
        """Change something, whatever the number of rows."""
        ...

    def rows_of_each(self, statement: Statement, many: Iterable[Values]) -> list[Row]:
        """Ask the same for each of some values, and return every row in their order."""
        ...

    def rows_of_all(self, statement: Statement, many: Iterable[Values]) -> list[Row]:
        """Ask the same for each of many values; PostgreSQL gets them at once, as arrays."""
        ...

    def run_each(self, statement: Statement, many: Iterable[Values]) -> int:
        """Change the same for each of some values; return how many rows were changed."""
        ...

    def send_all(self, statement: Statement, many: Iterable[Values]) -> None:
        """Change the same for each of many values; PostgreSQL gets them at once, as arrays."""
        ...


class Database(Protocol):
    """Transactions and reads of one store."""

    async def write(self, work: Callable[[Session], T]) -> T:
        """Run one transaction; it commits when `work` returns."""
        ...

    def write_now(self, work: Callable[[Session], T]) -> T:
        """Run one transaction where there is no event loop yet."""
        ...

    async def read(self, work: Callable[[Session], T]) -> T:
        """Read; `work` changes nothing."""
        ...

    def read_now(self, work: Callable[[Session], T]) -> T:
        """Read where there is no event loop yet."""
        ...


class SharedTable:
    """A table that all tenants share."""

    def __init__(self, database: Database) -> None:
        self._database = database


class OwnedTable(SharedTable):
    """A table as one tenant has it."""

    def __init__(self, database: Database, tenant: str) -> None:
        super().__init__(database)
        self._tenant = tenant
