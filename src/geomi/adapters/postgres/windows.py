"""Taking requests off the caps that all jobs share."""

from __future__ import annotations

from geomi.adapters.ledger.window import DAY, minute_of, oldest_counted, permitted_s
from geomi.adapters.postgres.session import Session
from geomi.adapters.statements import statements

SQL = statements("postgres", "windows")


def permit(db: Session, *, per_hour: int, per_day: int, now_s: float) -> float:
    """Count one request if the caps leave room for it; else return when to ask again."""
    db.row(SQL["lock"])  # whoever counts has to see what the others took
    minute = minute_of(now_s)
    oldest = oldest_counted(minute, DAY)
    counts = [(row[0], row[1]) for row in db.rows(SQL["counts"], {"oldest": oldest})]
    earliest_s = permitted_s(counts, per_hour=per_hour, per_day=per_day, now_s=now_s)
    if earliest_s <= now_s:
        db.run(SQL["take"], {"minute": minute})
        db.run(SQL["forget"], {"oldest": oldest})
    return earliest_s
