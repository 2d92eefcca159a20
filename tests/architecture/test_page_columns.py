"""A page column stands in few files, because rows are mapped by name from the dataclass."""

from __future__ import annotations

import ast
import re
from dataclasses import fields

import pytest

from geomi.model.page import PageRecord
from tests.architecture.tree import PACKAGE, modules

STORE = PACKAGE / "adapters" / "store"
MIGRATIONS = ("sqlite/migrations", "postgres/migrations")
DECLARED = "model/page.py"
MOST_FILES = 4
# No statement selects, orders or changes pages by these: they come in and go out with the row.
CARRIED = ("content_type", "etag", "last_modified", "title")


@pytest.mark.parametrize("column", CARRIED)
def test_a_column_stands_in_at_most_four_files(column: str) -> None:
    """The dataclass, what fills it, and the migration that made it in each database."""
    assert column in {field.name for field in fields(PageRecord)}
    made = {folder for folder in MIGRATIONS if _naming(column, folder)}
    assert made == set(MIGRATIONS)
    assert len({DECLARED, *_fillers(), *made, *_naming(column)}) <= MOST_FILES


def test_records_of_pages_are_filled_in_one_place() -> None:
    """Whoever adds a field finds one call to put it into."""
    assert _fillers() == {"engine/visit/record.py"}


def _naming(column: str, folder: str = "") -> set[str]:
    """Return the files that name a column: migrations only where they are asked for."""
    word = re.compile(rf"\b{column}\b")
    return {
        file.relative_to(STORE).as_posix()
        for file in (STORE / folder).rglob("*")
        if file.suffix in {".py", ".sql"}
        and (folder or file.parent.name != "migrations")
        and word.search(file.read_text("utf-8"))
    }


def _fillers() -> set[str]:
    """Return the modules that make the record of a page from anything but a row."""
    return {
        module.name
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "PageRecord"
    }
