"""Bring a store to this version's schema: numbered files, forward only, all in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from geomi.adapters.store.statements import migrations
from geomi.errors import StoreTooNew


def migrate(db: sqlite3.Connection, path: Path, package: str) -> None:
    """Apply what is missing; refuse a store that a newer geomi has written."""
    steps = migrations(package)
    if _version(db) == len(steps):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        _apply(db, steps, path)
    except BaseException:
        db.rollback()
        raise
    db.execute("COMMIT")


def _apply(db: sqlite3.Connection, steps: list[str], path: Path) -> None:
    done = _version(db)  # again: another process may have been faster
    if done > len(steps):
        raise StoreTooNew(
            f"the store `{path}` has schema {done}; this geomi knows schemas up to {len(steps)}",
            hint="use a newer geomi, or another data directory",
        )
    for step in steps[done:]:
        for statement in _split(step):
            db.execute(statement)
    db.execute(f"PRAGMA user_version = {len(steps)}")  # a pragma takes no bound parameter


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _split(script: str) -> Iterator[str]:
    """Cut a script into statements; `executescript` would commit before its first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
