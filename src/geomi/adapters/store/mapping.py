"""Rows of a table from the fields of a dataclass, by name, and back.

A field is a column of the same name. A field that is a dataclass itself is a group of columns
behind a prefix, where the table says so, and JSON everywhere else; so are tuples. A table with a
new column needs a field of that name and a migration, and no statement is written anew: the
statements take their columns from here.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

from geomi.adapters.store.rows import Row, encode, legible, reviver

D = TypeVar("D")
Convert = Callable[[Any], Any]

_POSTGRES_TYPES: dict[Any, str] = {
    str: "text",
    bytes: "bytea",
    int: "bigint",
    float: "float8",
    bool: "boolean",
}


@dataclass(frozen=True, slots=True)
class ColumnKind:
    """How a column keeps a value, where its field's type does not say it."""

    type: type
    read: Convert
    write: Convert


@dataclass(frozen=True, slots=True)
class _Column:
    """One column: its name, its type in PostgreSQL, and the value of a field on both ways."""

    name: str
    type: str
    read: Convert
    write: Convert

    def take(self, values: Iterator[Any]) -> Any:
        return self.read(next(values))


@dataclass(frozen=True, slots=True)
class _Group:
    """The columns of one dataclass; of one that is missing all are NULL."""

    kind: Any
    parts: Mapping[str, _Column | _Group]
    is_optional: bool

    def columns(self) -> Iterator[_Column]:
        for part in self.parts.values():
            if isinstance(part, _Group):
                yield from part.columns()
            else:
                yield part

    def take(self, values: Iterator[Any]) -> Any:
        if self.is_optional:
            row = [next(values) for _ in self.columns()]
            if row[0] is None:
                return None
            values = iter(row)
        return self.kind(**{name: part.take(values) for name, part in self.parts.items()})

    def give(self, value: Any, row: list[Any]) -> None:
        if value is None:
            row += (None for _ in self.columns())
            return
        for name, part in self.parts.items():
            field = getattr(value, name)
            if isinstance(part, _Group):
                part.give(field, row)
            else:
                row.append(part.write(field))


class RowMapper(Generic[D]):
    """The columns of one dataclass in one table.

    Args:
        named_by: the column that names a damaged row, where it is not the first.
        prefixes: fields that are groups of columns, and what their columns' names begin with.
        kinds: fields whose columns keep something else than the field.
        without: fields that have no column and keep their defaults.
    """

    def __init__(
        self,
        kind: type[D],
        table: str,
        *,
        named_by: str = "",
        prefixes: Mapping[str, str] = types.MappingProxyType({}),
        kinds: Mapping[str, ColumnKind] = types.MappingProxyType({}),
        without: frozenset[str] = frozenset(),
    ) -> None:
        self._table = table
        self._prefixes = prefixes
        self._kinds = kinds
        self._group = self._group_of(kind, "", without, is_optional=False)
        self._columns = tuple(self._group.columns())
        self.names = tuple(column.name for column in self._columns)
        self._name = self.names.index(named_by) if named_by else 0

    def read(self, row: Row) -> D:
        """Read a row; one that cannot be read is named."""
        with legible(self._table, row[self._name]):
            value: D = self._group.take(iter(row))
            return value

    def row(self, value: D) -> list[Any]:
        """Write a row, in the order of the columns."""
        row: list[Any] = []
        self._group.give(value, row)
        return row

    def values(self, value: D) -> dict[str, object]:
        """Write a row by the names of its columns."""
        return dict(zip(self.names, self.row(value), strict=True))

    def fill(self, statement: str) -> str:
        """Put the columns into a statement, where it asks for them.

        `/* columns */` are their names, `/* values */` what is bound to them by name, `/* marks */`
        the same by place, `/* updates */` what an upsert writes, `/* arrays */` whole columns as
        PostgreSQL takes them.
        """
        for asked, parts in (
            ("/* columns */", self.names),
            ("/* values */", (f":{name}" for name in self.names)),
            ("/* marks */", "?" * len(self.names)),
            ("/* updates */", (f"{name} = excluded.{name}" for name in self.names)),
            ("/* arrays */", (f"%({one.name})b::{one.type}[]" for one in self._columns)),
        ):
            if asked in statement:
                statement = statement.replace(asked, ", ".join(parts))
        return statement

    def _group_of(
        self, kind: Any, prefix: str, without: frozenset[str], *, is_optional: bool
    ) -> _Group:
        hints = get_type_hints(kind)
        parts = {
            field.name: self._part(field.name, hints[field.name], prefix)
            for field in fields(kind)
            if field.name not in without
        }
        return _Group(kind, parts, is_optional)

    def _part(self, name: str, hint: Any, prefix: str) -> _Column | _Group:
        inner, is_optional = _without_none(hint)
        if name in self._prefixes:
            return self._group_of(inner, self._prefixes[name], frozenset(), is_optional=is_optional)
        column = prefix + name
        if name in self._kinds:
            kind = self._kinds[name]
            return _Column(column, _POSTGRES_TYPES[kind.type], kind.read, kind.write)
        stored, read, write = _conversion(inner)
        if is_optional:
            read, write = partial(_unless_none, read), partial(_unless_none, write)
        return _Column(column, _POSTGRES_TYPES[stored], read, write)


def _without_none(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) in (types.UnionType, Union):
        (inner,) = (arg for arg in get_args(hint) if arg is not type(None))
        return inner, True
    return hint, False


def _conversion(hint: Any) -> tuple[Any, Convert, Convert]:
    """Return what a column keeps of a field, and how it is read and written."""
    if get_origin(hint) is tuple or is_dataclass(hint):
        return str, partial(_from_json, reviver(hint)), encode
    if issubclass(hint, StrEnum):
        return str, hint, str
    if hint in (float, bool):  # SQLite keeps truth as a number, and a whole number is a time, too
        return hint, hint, hint
    return hint, _as_it_is, _as_it_is


def _unless_none(convert: Convert, value: Any) -> Any:
    return None if value is None else convert(value)


def _as_it_is(value: Any) -> Any:
    return value


def _from_json(revive: Convert, text: str) -> Any:
    return revive(json.loads(text))
