"""Facts about a whole store: what ties its time to a clock, and who holds its hosts."""

from __future__ import annotations

import json

from geomi.adapters.store.rows import legible
from geomi.adapters.store.session import Session
from geomi.adapters.store.statements import table_statements
from geomi.ports.runtime import ClockAnchor

SQL = table_statements("facts")
ANCHOR = "anchor"


def get_fact(db: Session, key: str) -> str | None:
    """Find a fact."""
    row = db.row(SQL["get"], {"key": key})
    return row[0] if row else None


def change_fact(db: Session, key: str, value: str, *, instead_of: str | None) -> str | None:
    """Write a fact in place of the one that was read; return the one that another has written."""
    db.row(SQL["lock"], {"key": key})
    holding = get_fact(db, key)
    if holding is not None and holding != instead_of:
        return holding
    db.send(SQL["put"], {"key": key, "value": value})
    return None


def put_fact(db: Session, key: str, value: str) -> None:
    """Write a fact, whatever it was before."""
    db.send(SQL["put"], {"key": key, "value": value})


def get_anchor(db: Session) -> ClockAnchor | None:
    """Return what ties the store's time to a machine's clock."""
    text = get_fact(db, ANCHOR)
    return None if text is None else _read_anchor(text)


def set_anchor(db: Session, anchor: ClockAnchor, instead_of: ClockAnchor | None) -> ClockAnchor:
    """Tie the store's time anew unless another process did; return the anchor that holds."""
    before = _write_anchor(instead_of) if instead_of else None
    holding = change_fact(db, ANCHOR, _write_anchor(anchor), instead_of=before)
    return anchor if holding is None else _read_anchor(holding)


def greatest_end_s(db: Session) -> float:
    """Return the latest time at which any response is known to have ended."""
    return float(db.value(SQL["greatest_end"]))


def lease_owners(db: Session) -> list[str]:
    """Name whoever holds a lease that was never given back, also one that has run out."""
    return [owner for (owner,) in db.rows(SQL["lease_owners"])]


def _read_anchor(text: str) -> ClockAnchor:
    with legible("meta", ANCHOR):
        return ClockAnchor(*json.loads(text))


def _write_anchor(anchor: ClockAnchor) -> str:
    return json.dumps([anchor.boot_id, anchor.reading_s, anchor.time_s])
