"""The SQL of this package: `sql/NAME.sql`, one named statement each.

A statement begins with `-- name: what` and a line that says what it does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def statements(name: str) -> Mapping[str, str]:
    """Return the statements of one file by their names."""
    folder = resources.files("geomi.adapters.sqlite").joinpath("sql")
    _, *parts = _NAME.split(folder.joinpath(f"{name}.sql").read_text("utf-8"))
    texts = (part.strip().rstrip(";") for part in parts[1::2])
    return MappingProxyType(dict(zip(parts[0::2], texts, strict=True)))
