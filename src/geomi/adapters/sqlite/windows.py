"""Taking requests off the caps that all jobs share."""

from __future__ import annotations

import sqlite3

from geomi.adapters.ledger.window import DAY, minute_of, oldest_counted, permitted_s
from geomi.adapters.statements import statements

SQL = statements("sqlite", "windows")


def permit(db: sqlite3.Connection, *, per_hour: int, per_day: int, now_s: float) -> float:
    """Count one request if the caps leave room for it; else return when to ask again."""
    minute = minute_of(now_s)
    oldest = oldest_counted(minute, DAY)
    counts = db.execute(SQL["counts"], (oldest,)).fetchall()
    earliest_s = permitted_s(counts, per_hour=per_hour, per_day=per_day, now_s=now_s)
    if earliest_s <= now_s:
        db.execute(SQL["take"], (minute,))
        db.execute(SQL["forget"], (oldest,))
    return earliest_s
