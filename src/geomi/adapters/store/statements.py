"""The SQL of a store: `sql/NAME.sql` in its package, one named statement each.

A statement begins with `-- name: what` and a line that says what it does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def statements(package: str, name: str) -> Mapping[str, str]:
    """Return the statements of one file by their names."""
    folder = resources.files(f"geomi.adapters.{package}").joinpath("sql")
    _, *parts = _NAME.split(folder.joinpath(f"{name}.sql").read_text("utf-8"))
    texts = (part.strip().rstrip(";") for part in parts[1::2])
    return MappingProxyType(dict(zip(parts[0::2], texts, strict=True)))


def migrations(package: str) -> list[str]:
    """Return a store's schema, step by step; the first four characters number a file, from 0001."""
    folder = resources.files(f"geomi.adapters.{package}").joinpath("migrations")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [file.read_text("utf-8") for file in files]
