"""A statement of a table has a second text for PostgreSQL only where that says something else."""

from __future__ import annotations

import re

import pytest

from geomi.adapters.store.statements import for_postgres, statements
from tests.architecture.tree import PACKAGE

TWINS = sorted((PACKAGE / "adapters" / "store" / "sql").glob("*.postgres.sql"))
COMMENT = re.compile(r"--.*")


@pytest.mark.parametrize("name", [path.name.removesuffix(".postgres.sql") for path in TWINS])
def test_a_twin_says_something_else(name: str) -> None:
    """What is written twice is changed in one of the two places."""
    shared = statements("store", name)
    own = statements("store", f"{name}.postgres")
    assert own
    assert [each for each, text in own.items() if said(text) == said(shared[each])] == []


@pytest.mark.parametrize(
    ("text", "other", "is_same"),
    [
        ("-- One.\nSELECT a\nFROM b WHERE c = :c", "-- Two.\nSELECT a FROM b\nWHERE c = :c", True),
        ("SELECT a FROM b WHERE c = :c", "SELECT a FROM b WHERE c = %(c)s", True),
        ("SELECT a FROM b", "SELECT a FROM b FOR UPDATE", False),
        ("SELECT :c", "SELECT :c::bigint", False),
    ],
    ids=["layout", "values", "lock", "cast"],
)
def test_what_says_the_same_is_found(text: str, other: str, is_same: bool) -> None:
    assert (said(text) == said(other)) is is_same


def said(text: str) -> str:
    """Return what a statement says to PostgreSQL, whatever its layout and its comments."""
    named = re.sub(r"%\((\w+)\)[sb]", r":\1", COMMENT.sub("", text))
    return " ".join(for_postgres(named).split())
