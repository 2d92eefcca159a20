"""The SQL of a store: files of named statements.

A statement begins with `-- name: what` and a line that says what it does; its values are named,
as `:value`. `sql/NAME.sql` holds what a table asks of both databases. Where PostgreSQL needs
another text, `sql/NAME.postgres.sql` has a statement of the same name. Each database has a folder
`sql` of its own for the statements that are written apart for their speed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType
from typing import Any

from geomi.adapters.store.mapping import RowMapper
from geomi.adapters.store.session import Statement

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_VALUE = re.compile(r"(?<!:):([a-z_]\w*)")  # two colons are a cast
_PERCENT = re.compile(r"%(?!\(\w+\)b)")  # but not that of an array that a mapper has put in


def table_statements(name: str, mapper: RowMapper[Any] | None = None) -> Mapping[str, Statement]:
    """Return the statements of a table by their names.

    Args:
        mapper: the columns of the table's rows, for statements that ask for them.
    """
    fill = mapper.fill if mapper else str
    texts = statements("store", name, mapper)
    folder = resources.files("geomi.adapters.store").joinpath("sql")
    twins = folder.joinpath(f"{name}.postgres.sql")
    own = _split(fill(twins.read_text("utf-8"))) if twins.is_file() else {}
    if strangers := own.keys() - texts.keys():
        raise ValueError(f"`{name}.postgres.sql` has no twin of {sorted(strangers)}")
    return MappingProxyType(
        {each: Statement(text, for_postgres(own.get(each, text))) for each, text in texts.items()}
    )


def statements(package: str, name: str, mapper: RowMapper[Any] | None = None) -> Mapping[str, str]:
    """Return the statements of one file of one database by their names."""
    folder = resources.files(f"geomi.adapters.{package}").joinpath("sql")
    text = folder.joinpath(f"{name}.sql").read_text("utf-8")
    return MappingProxyType(_split(mapper.fill(text) if mapper else text))


def for_postgres(text: str) -> str:
    """Write the values of a statement as PostgreSQL's driver names them."""
    return _VALUE.sub(r"%(\1)s", _PERCENT.sub("%%", text))


def migrations(package: str) -> list[str]:
    """Return a store's schema, step by step; the first four characters number a file, from 0001."""
    folder = resources.files(f"geomi.adapters.{package}").joinpath("migrations")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [file.read_text("utf-8") for file in files]


def _split(text: str) -> dict[str, str]:
    _, *parts = _NAME.split(text)
    texts = (part.strip().rstrip(";") for part in parts[1::2])
    return dict(zip(parts[0::2], texts, strict=True))
